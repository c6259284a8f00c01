/** The kinds of trial: how each measures. Each has a folder in kinds/. Pure. @import { Arm } from './types.ts' */

/**
 * turns: arms stand at once and get the load in turn; load: a window under load, or idle; search: such windows until a
 * limit is found; rollout: a control plane configures many sidecars; growth: sidecars are added to it step by step.
 * @typedef {'turns' | 'load' | 'search' | 'rollout' | 'growth'} TrialKind
 */

/**
 * Lists the kinds of an experiment's trials, in the order in which they are run.
 * @param {{ measure: ('turns' | 'load')[] | null, search: object | null, grows: object | null, axes: { sidecars?: unknown[] } }} experiment
 * @returns {TrialKind[]}
 */
export function kindsOf({ measure, search, grows, axes }) {
  if (grows !== null) return ['growth']
  if (axes.sidecars !== undefined) return ['rollout']
  return search === null ? (measure ?? ['load']) : ['search']
}

/**
 * Finds the kind of an arm's trials, which records of older versions do not say.
 * @param {Pick<Arm, 'load' | 'conditions'>} arm @param {{ searches: boolean, grows: boolean }} run @returns {TrialKind}
 */
export function kindOfArm({ load, conditions }, { searches, grows }) {
  if (searches) return 'search'
  if (conditions.sidecars !== undefined) return grows ? 'growth' : 'rollout'
  return load.isBesideOthers ? 'turns' : 'load'
}
