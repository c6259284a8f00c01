import { capacity } from './capacity/index.js'
import { cost } from './cost/index.js'
import { growth } from './growth/index.js'
import { rollout } from './rollout/index.js'
import { search } from './search/index.js'

/**
 * The kinds of trials by their names. A new kind is a folder, its name in model/types/plan.ts, and a line here. Pure.
 * @import { Arm, Plan, PlaneChoice, TrialKind } from '../model/types.ts'
 * @import { Kind } from '../run/kind.js' @import { Sections } from './sections.js'
 */

/** @typedef {{ search: { kind: string } | null, grows: { deadlineSeconds: number } | null, sizesControlOf: number | null,
 *   axes: { sidecars?: unknown[] } }} Asking an experiment */

/**
 * The part of a kind in a request and in a plan.
 * @typedef {object} KindPlan
 * @property {Record<string, import('zod').ZodType>} [fields] of an experiment file that it alone reads
 * @property {(experiment: Asking) => boolean} [isAsked] an experiment that says so has its trials; absent: where no other is
 * @property {<E extends Asking>(experiment: E, p99Ms: number) => E} [limit] looks for limits that hold this p99
 * @property {(arms: Arm[], runsControl: (choice: PlaneChoice) => boolean) => string[]} [noteArms] notes of a plan
 * @property {true} [choosesTrials] its trials and arms follow from those before, so a plan has no trials and rounds
 * @property {(plan: Plan) => { planned: string, announced: string, less: string, loop?: string }} [tellTrials] its trials in
 *   words, and options that make them fewer; absent: trials and rounds are counted
 * @property {(seconds: number, ratePerSecond: number) => number} [chooseWindowSeconds] of an open loop
 * @property {(experiment: Asking) => Partial<Plan['settings']>} [settings] of its own
 * @property {true} [hasControlPlane] many sidecars have one, whose name is part of an arm's
 * @property {true} [hasUncontrolled] an arm without a control plane has no conditions of one
 * @property {(experiment: Asking) => boolean} [isAllReal] no sidecar is simulated
 */

/**
 * A kind of trials, one object in its folder: what runs it and what reports it are loaded when a run, or a report, has such
 * trials.
 * @typedef {KindPlan & { name: TrialKind, loadCourse: () => Promise<Kind>, loadSections: () => Promise<Sections> }} KindOfTrials
 */

/** @type {Record<TrialKind, KindOfTrials>} */
export const KINDS = { cost, capacity, search, rollout, growth }

export const KIND_NAMES = /** @type {TrialKind[]} */ (Object.keys(KINDS))

/** Fields of an experiment file that one kind alone reads. */
export const KIND_FIELDS = { ...search.fields, ...growth.fields, ...rollout.fields }

/**
 * Lists the kinds of an experiment's trials, in the order in which they are run.
 * @param {Asking & { measure: ('cost' | 'capacity')[] | null }} experiment @returns {TrialKind[]}
 */
export function kindsOf(experiment) {
  const special = KIND_NAMES.findLast(kind => KINDS[kind].isAsked?.(experiment))
  return special ? [special] : (experiment.measure ?? ['capacity'])
}
