/**
 * The kinds of trials, as records name them; each has a folder in kinds/. `balance` computes alone, and has no trials.
 */
export const KIND_NAMES = /** @type {const} */ (['load', 'search', 'rollout', 'growth'])

/** @typedef {typeof KIND_NAMES[number]} KindName */
