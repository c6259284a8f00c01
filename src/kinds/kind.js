/** A kind of trials tells its part of a request and of a plan. Pure. @import { Arm, AxisName, Plan, PlaneChoice } from '../model/types.ts' */

/** @typedef {{ search: { kind: string } | null, grows: { deadlineSeconds: number } | null, sizesControlOf: number | null,
 *   axes: { sidecars?: unknown[] } }} Asking an experiment */

/**
 * @typedef {object} KindPlan
 * @property {Record<string, import('zod').ZodType>} [fields] of an experiment file that it alone reads
 * @property {(experiment: Asking) => boolean} [isRequested] an experiment that says so has its trials; absent: where no other is
 * @property {<E extends Asking>(experiment: E, p99Ms: number) => E} [limit] looks for limits that hold this p99
 * @property {(arms: Arm[], runsControl: (choice: PlaneChoice) => boolean) => string[]} [noteArms] notes of a plan
 * @property {true} [choosesTrials] its trials and arms follow from those before, so a plan has no trials and rounds
 * @property {(plan: Plan) => { planned: string, announced: string, less: string, hasProfile?: false, loop?: string, chooses?: AxisName[] }} [tellTrials] its trials in
 *   words, and options that make them fewer; absent: trials and rounds are counted
 * @property {(seconds: number, ratePerSecond: number) => number} [chooseWindowSeconds] of an open loop
 * @property {(experiment: Asking) => Partial<Plan['settings']>} [settings] of its own
 * @property {true} [hasControlPlane] many sidecars have one, whose name is part of an arm's
 * @property {true} [hasUncontrolled] an arm without a control plane has no conditions of one
 * @property {(experiment: Asking) => boolean} [isAllReal] no sidecar is simulated
 */

// A module of types.
export {}
