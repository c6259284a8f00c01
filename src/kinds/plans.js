import { CONTROL_PLANE_AXES } from '../model/axes/control-plane.js'
import { growsSchema, growthPlan } from './growth/plan.js'
import { searchPlan, searchSchema } from './search/plan.js'

/** The plan of each kind of trial, and what it can be asked. Pure. */
/** @import { Arm, Plan, PlaneChoice, TrialKind } from '../model/types.ts' */

/** @typedef {{ search: { kind: string } | null, grows: { deadlineSeconds: number } | null, sizesControlOf: number | null,
 *   axes: { sidecars?: unknown[] } }} Asking an experiment */

/**
 * @typedef {object} KindPlan
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

/** @type {Record<TrialKind, KindPlan>} */
export const PLANS = {
  cost: {},
  capacity: {},
  search: searchPlan,
  rollout: {
    isAsked: ({ axes }) => axes.sidecars !== undefined,
    hasControlPlane: true,
    isAllReal: ({ sizesControlOf }) => sizesControlOf !== null,
    settings: ({ sizesControlOf }) => (sizesControlOf === null ? {} : { sizesControlOf }),
  },
  growth: growthPlan,
}

/**
 * Lists the kinds of an experiment's trials, in the order in which they are run.
 * @param {Asking & { measure: ('cost' | 'capacity')[] | null }} experiment @returns {TrialKind[]}
 */
export function kindsOf(experiment) {
  const kinds = /** @type {TrialKind[]} */ (Object.keys(PLANS))
  const special = kinds.findLast(kind => PLANS[kind].isAsked?.(experiment))
  return special ? [special] : (experiment.measure ?? ['capacity'])
}

/** Parts of an experiment file that one kind alone reads. */
export const OWN_PARTS = {
  search: searchSchema.nullable().default(null),
  /** Sidecars are added step by step, until one is not done within this time. */
  grows: growsSchema.nullable().default(null),
  /** The needs of the control plane of so many sidecars are told from its rollouts. */
  sizesControlOf: CONTROL_PLANE_AXES.sidecars.schema.nullable().default(null),
}
