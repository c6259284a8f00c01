/**
 * The kinds of trial: how each measures. Each has a folder in kinds/. Pure.
 */

/**
 * load: a window under load, or idle; search: such windows, one after the other, until a limit is found; rollout: a control
 * plane gives many sidecars their configurations; growth: sidecars are added to a control plane step by step.
 * @typedef {'load' | 'search' | 'rollout' | 'growth'} TrialKind
 */

/**
 * The kind of an experiment's trials.
 * @param {{ search: object | null, grows: object | null, axes: { sidecars?: unknown[] } }} experiment
 * @returns {TrialKind}
 */
export function kindOf({ search, grows, axes }) {
  if (grows !== null) return 'growth'
  if (axes.sidecars !== undefined) return 'rollout'
  return search === null ? 'load' : 'search'
}
