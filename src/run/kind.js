/**
 * The contract between a run and a kind of trial. A kind is a folder in kinds/ and a line of its registry; a run calls its
 * kind, and never branches on which kind it is.
 * @import { Arm, Layout, Manifest, ParityRow, Part, Plan, Programs, RunSettings } from '../model/types.ts'
 * @import { Site, Trial, TrialRecord } from '../model/types.ts'
 * @import { Reusable } from './reusable.js'
 * @import { Watcher } from './events.js'
 * @import { Turns } from './rounds.js'
 * @import { Assess } from './stopping-rule.js'
 * @import { RunTrial, RunTrials } from './run.js'
 * @import { StartServices } from './start-services.js'
 * @import { Observed } from './trial.js'
 */

/**
 * @typedef {object} Kind
 * @property {string} name recorded with each trial
 * @property {false} [hasRequests] `false` skips the equal-work checks
 * @property {StartServices} start starts the services of an arm; its result has in `findings` what the start alone has shown
 * @property {(part: PartContext) => Promise<void>} measure runs the trials of its part of the plan; rejects if one cannot be run,
 *   or with the signal's reason
 */

/**
 * Findings from the start of services.
 * @typedef {object} StartFindings
 * @property {Partial<Observed>} observed for the raw files
 * @property {Partial<TrialRecord>} record fields for the record of each trial
 * @property {boolean} isOver no window follows
 * @property {() => Promise<void>} assertWhole rejects if a part of the start failed, so that the trial fails
 */

/**
 * A part of a plan under way.
 * @typedef {object} PartContext
 * @property {Plan & Part} plan
 * @property {number} cpus of the machine of the services
 * @property {RunTrial} run runs one trial
 * @property {RunTrials} runTrials runs trials of interleaved arms
 * @property {Reusable} reusable
 * @property {Turns} turns
 * @property {(earlier: { folder: string, record: TrialRecord }, trial: Trial) => TrialRecord} adopt copies a record of an earlier
 *   run into this one, as that of `trial`
 * @property {Assess} assess
 * @property {number} recordedRounds the rounds in the manifest
 * @property {(trial: Pick<Trial, 'id'>) => boolean} isRecorded true: `run` only reads the trial back, since it was measured
 *   before a resume
 * @property {(fields: Partial<Manifest>) => Manifest} writeManifest changes fields, and returns the whole manifest
 * @property {(plan: Plan) => void} announce sends watchers a changed plan
 * @property {number} secondsAfter estimated seconds of the kinds after this one
 * @property {Watcher['watch']} watch
 * @property {(line: string) => void} say prints a line
 * @property {AbortSignal} signal
 */

/**
 * Paths of this process; `target.locate` makes those of other processes.
 * @typedef {object} Folders
 * @property {string} results
 * @property {string} raw has a folder for each trial
 * @property {string} certificates of all key types, as in certificate-files.js
 * @property {string} pipyScripts the scripts of Pipy as a sidecar, unless an arm has a variant
 * @property {string} echo the scripts of the applications
 * @property {string} load the scripts of the generator
 */

/**
 * The place and the means of trials.
 * @typedef {{ site: Site, programs: Programs, layout: Layout, folders: Folders, settings: RunSettings, kind: Kind }} Testbed
 */

/**
 * Equal-work checks that passed before, by all that they depend on.
 * @typedef {object} ParityCache
 * @property {(dependencies: object) => any} find returns the check; null: it has not passed yet
 * @property {(dependencies: object, rows: any[]) => void} keep
 */

/**
 * @typedef {object} GateOptions
 * @property {Testbed} testbed
 * @property {Arm[]} arms
 * @property {() => number} nextIndex returns a number that no other start of services has
 * @property {AbortSignal} signal
 * @property {(line: string) => void} say prints a line
 * @property {ParityCache} [cache] absent: every check is made
 * @property {(arms: Arm[], reason: string) => void} [leaveOut] is called with arms that do not serve; absent: they end the run
 * @property {() => string | null} [findShortage] returns a sentence if local ports are short, else null; absent: asks the kernel
 */

/**
 * Checks that the planes of arms do equal work.
 * @typedef {(options: GateOptions) => Promise<ParityRow[]>} GateParity
 */

// This file has types only: the empty export makes it a module.
export {}
