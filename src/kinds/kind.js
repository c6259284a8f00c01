/**
 * Types of the part of a kind of trials in requests and plans. Pure.
 * @import { Arm, AxisName, Plan, PlaneChoice } from '../model/types.ts'
 */

/**
 * The fields of an experiment by which its kind is chosen.
 * @typedef {object} ExperimentFields
 * @property {{ kind: string } | null} search
 * @property {{ deadlineSeconds: number } | null} grows
 * @property {number | null} sizesControlOf sidecars
 * @property {{ sidecars?: unknown[] }} axes
 */
/**
 * The trials of a plan in words.
 * @typedef {object} PlanWords
 * @property {string} planned the trials, for `plan`
 * @property {string} announced the trials, for the first line of a run
 * @property {string} less options that make the trials fewer
 * @property {false} [hasProfile] profiles do not apply
 * @property {string} [loop] the name of the load, instead of its kind and rate
 * @property {AxisName[]} [chooses] axes whose values the trials find
 */

/**
 * The part of a kind that a request and a plan read.
 * @typedef {object} KindPlan
 * @property {Record<string, import('zod').ZodType>} [fields] fields of an experiment file that this kind alone reads
 * @property {(experiment: ExperimentFields) => boolean} [isRequested] true: all trials of the experiment are of this kind;
 *   absent: `measure` of the experiment names it
 * @property {<E extends ExperimentFields>(experiment: E, p99Ms: number) => E} [withP99Bound] returns the experiment with this p99
 *   as its bound (`--p99`); absent: the kind has none
 * @property {(arms: Arm[], runsControl: (choice: PlaneChoice) => boolean) => string[]} [noteArms] renders notes about arms for the
 *   plan; absent: there are none
 * @property {true} [choosesTrials] each trial depends on the results before it, so a plan has no trials and rounds
 * @property {(plan: Plan) => PlanWords} [summarisePlan] renders its trials in words; absent: trials and rounds are counted
 * @property {(seconds: number, ratePerSecond: number) => number} [chooseWindowSeconds] returns the seconds of a window of an open
 *   loop, at least those that are planned; absent: as planned
 * @property {(experiment: ExperimentFields) => Partial<Plan['settings']>} [createSettings] creates the settings that this kind adds to
 *   those of the run
 * @property {true} [hasControlPlane] a control plane configures the sidecars, and its name is part of an arm's
 * @property {true} [hasUncontrolled] arms may have no control plane, and then none of its conditions
 * @property {(experiment: ExperimentFields) => boolean} [isAllReal] true: no sidecar may be simulated; absent: they may
 */

// This file has types only: the empty export makes it a module.
export {}
