/**
 * The kinds of trial: how each measures. Each has a folder in kinds/.
 * turns: arms stand at once and get the load in turn; load: a window under load, or idle; search: such windows until a
 * limit is found; rollout: a control plane configures many sidecars; growth: sidecars are added to it step by step.
 * @typedef {'turns' | 'load' | 'search' | 'rollout' | 'growth'} TrialKind
 */

// A module of types.
export {}
