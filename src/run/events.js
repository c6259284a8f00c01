/**
 * Events of a run in progress. Moments (`atMs`) are epoch milliseconds.
 * @import { Arm, AxisName, ProcessSpec, Sample, Trial, TrialRecord } from '../model/types.ts'
 * @typedef {'parity' | 'starting' | 'warm-up' | 'window' | 'tail' | 'stopping'} Phase
 */

/**
 * The plan is known. It is sent again with the same id when the plan changes.
 * @typedef {object} Planned
 * @property {'planned'} kind
 * @property {{ id: string, experiment: string, question: string }} run
 * @property {Arm[]} arms
 * @property {number} rounds
 * @property {number | null} trials null: a search, whose length is not known
 * @property {number} seconds the estimated length of the run
 * @property {AxisName[]} contrasts axes on which a plane is compared with itself
 * @property {number} atMs
 */
/**
 * @typedef {object} TrialStarted
 * @property {'trial-started'} kind
 * @property {Trial} trial
 * @property {string} progress a text such as 'repeat 2 of 6'
 * @property {number | null} secondsLeft of the run; null: not known
 * @property {number} atMs
 */
/**
 * A sample of the processes of a trial, in its warm-up or window. On a cluster, all samples come when the window ends.
 * @typedef {object} Sampled
 * @property {'sampled'} kind
 * @property {ProcessSpec[]} specs in the order of the readings
 * @property {Sample} sample
 * @property {number} windowStartMs
 */
/**
 * The requests of the load so far, about once a second.
 * @typedef {object} Counted
 * @property {'counted'} kind
 * @property {number} requests since the generator started
 * @property {number} failed of these
 * @property {number} atMs
 */
/**
 * @typedef {object} TrialEnded
 * @property {'trial-ended'} kind
 * @property {TrialRecord} record
 * @property {string | null} progress null: the record was read back or adopted, not measured now
 * @property {number} atMs
 */
/**
 * A round of one kind of trial is over, with the trials that it repeated.
 * @typedef {object} RepeatEnded
 * @property {'repeat-ended'} kind
 * @property {number} round
 * @property {number} rounds planned
 * @property {boolean} isMost the run may end before `rounds`
 * @property {string[]} arms ids
 * @property {number} secondsLeft of the run; 0: not known
 * @property {number} atMs
 */
/**
 * @typedef {Planned | TrialStarted | { kind: 'phase', phase: Phase, atMs: number } | Sampled | Counted | TrialEnded | RepeatEnded
 *   | { kind: 'ended', outcome: 'finished' | 'interrupted' | 'failed', atMs: number }} RunEvent
 */
/**
 * @typedef {object} Watcher
 * @property {(line: string) => void} say prints a line of progress
 * @property {(event: RunEvent) => void} [watch] gets the events as they happen, and must return soon
 * @property {(event: RunEvent) => void} [follow] gets the phases of trials, samples and counts; absent: they are not made, since
 *   they take CPU from what is measured
 */

// This file has types only: the empty export makes it a module.
export {}
