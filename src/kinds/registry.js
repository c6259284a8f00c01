/**
 * The courses of the kinds of trials by their names, each loaded when a run has trials of it: others are not in memory beside
 * what is measured. A new kind is a folder, its name in model/types/plan.ts, and a line here, in plans.js and in sections.js;
 * run/kind.js has the contract. @import { Kind } from '../run/kind.js' @import { TrialKind } from '../model/types.ts'
 */

/** @type {Record<TrialKind, () => Promise<{ kind: Kind }>>} */
const COURSES = {
  cost: () => import('./cost/course.js'),
  capacity: () => import('./capacity/course.js'),
  search: () => import('./search/course.js'),
  rollout: () => import('./rollout/course.js'),
  growth: () => import('./growth/course.js'),
}

export const KIND_NAMES = /** @type {TrialKind[]} */ (Object.keys(COURSES))

/** Loads what runs the trials of a kind. @param {TrialKind} name */
export async function loadKind(name) {
  return (await COURSES[name]()).kind
}
