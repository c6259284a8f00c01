/**
 * The contract between a run and a kind of trial. A kind is a folder in kinds/ and a line of its registry; a run is given
 * one, and asks nowhere which.
 * @import { Manifest, Plan, Trial, TrialRecord } from '../model/types.ts'
 * @import { Reusable } from './reusable.js'
 * @import { Turns } from './rounds.js'
 * @import { RunOne, RunTogether } from './run.js'
 * @import { Started, StartServices } from './start-services.js'
 * @import { Assess } from './stopping.js'
 * @import { Observed } from './trial.js'
 */

/**
 * @typedef {object} Kind
 * @property {string} name recorded with each trial
 * @property {false} [hasRequests] no work could be unequal; absent: planes are tried for equal work before the first trial
 * @property {StartServices} start starts the services of an arm; what that alone has shown is `seen` of the result
 * @property {(pass: Pass) => Promise<void>} measure runs the trials of a plan
 */

/**
 * What the start of services has shown.
 * @typedef {object} Seen
 * @property {Partial<Observed>} observed for the raw files
 * @property {Partial<TrialRecord>} record
 * @property {boolean} isOver no window follows
 * @property {() => Promise<void>} assertWhole rejects where a part of it failed, so that no window can follow
 */

/**
 * A plan under way.
 * @typedef {object} Pass
 * @property {Plan} plan
 * @property {number} cpus of the machine of the services
 * @property {RunOne} run
 * @property {RunTogether} runTogether
 * @property {(known: { folder: string, record: TrialRecord }, trial: Trial) => TrialRecord} adopt takes a record of an
 *   earlier run into this one
 * @property {Reusable} reusable
 * @property {Turns} turns
 * @property {Assess} assess
 * @property {number} recordedRounds that a resumed run has
 * @property {(found: Partial<Manifest>) => Manifest} writeManifest
 * @property {(plan: Plan) => void} announce tells watchers a plan that has changed
 * @property {(line: string) => void} say
 * @property {AbortSignal} signal
 */

// A module of types.
export {}
