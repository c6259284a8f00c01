/**
 * The contract between a run and a kind of trial. A kind is a folder in kinds/ and a line of its registry; a run calls its
 * kind, and branches nowhere on which it is.
 * name: recorded with each trial; hasRequests: `false` skips the equal-work checks; start: starts the services of an arm, and
 * returns what the start alone has shown in `findings`; measure: runs the trials of its part of the plan.
 * @import { Manifest, Part, Plan, Trial, TrialRecord } from '../model/types.ts'
 * @import { Reusable } from './reusable.js'
 * @import { Watcher } from './events.js'
 * @import { Assess, Turns } from './rounds.js'
 * @import { RunOne, RunTogether } from './run.js'
 * @import { StartServices } from './start-services.js'
 * @typedef {{ name: string, hasRequests?: false, start: StartServices, measure: (pass: Pass) => Promise<void> }} Kind
 */

/**
 * Findings from the start of services. observed: for the raw files; record: fields for the record of each trial; isOver: no
 * window follows; assertWhole: rejects if a part of the start failed, so that the trial fails.
 * @typedef {{ observed: Partial<import('./trial.js').Observed>, record: Partial<TrialRecord>, isOver: boolean,
 *   assertWhole: () => Promise<void> }} StartFindings
 */

/**
 * A part of a plan under way. cpus: of the machine of the services; adopt: copies a record of an earlier run into this one, as
 * that of `trial`; recordedRounds: the rounds in the manifest; isRecorded: true: `run` only reads the trial back, since it was
 * measured before a resume; announce: sends watchers a changed plan; secondsAfter: estimated seconds of the kinds after this one.
 * @typedef {{ plan: Plan & Part, cpus: number, run: RunOne, runTogether: RunTogether, reusable: Reusable, turns: Turns,
 *   adopt: (known: { folder: string, record: TrialRecord }, trial: Trial) => TrialRecord, assess: Assess,
 *   recordedRounds: number, isRecorded: (trial: Pick<Trial, 'id'>) => boolean,
 *   writeManifest: (fields: Partial<Manifest>) => Manifest, announce: (plan: Plan) => void,
 *   secondsAfter: number, watch: Watcher['watch'], say: (line: string) => void, signal: AbortSignal }} Pass
 */

/**
 * The place and the means of trials. Folders are paths of this process; `target.locate` makes those of other processes. raw: has
 * a folder for each trial; certificates: of all key types, as in certificate-files.js; pipyScripts: the scripts of Pipy as a
 * sidecar, unless an arm has a variant; echo: those of the applications; load: those of the generator.
 * @import { Layout, Programs, RunSettings, Site } from '../model/types.ts'
 * @typedef {Record<'results' | 'raw' | 'certificates' | 'pipyScripts' | 'echo' | 'load', string>} Folders
 * @typedef {{ site: Site, programs: Programs, layout: Layout, folders: Folders, settings: RunSettings, kind: Kind }} Testbed
 */

/**
 * Equal-work checks that passed before, by all that they depend on. find: null: it has not passed yet.
 * @typedef {{ find: (dependencies: object) => any, keep: (dependencies: object, rows: any[]) => void }} ParityCache
 */

/**
 * Checks that the planes of arms do equal work. nextIndex: returns a number that no other start of services has; cache: absent:
 * every check is made; leaveOut: is called with arms that do not serve; absent: they end the run; findShortage: says in words
 * that local ports are short; null: they are not; absent: ask the kernel.
 * @typedef {{ testbed: Testbed, arms: import('../model/types.ts').Arm[], nextIndex: () => number, signal: AbortSignal,
 *   say: (line: string) => void, cache?: ParityCache,
 *   leaveOut?: (arms: import('../model/types.ts').Arm[], reason: string) => void,
 *   findShortage?: () => string | null }} GateOptions
 * @typedef {(options: GateOptions) => Promise<import('../model/types.ts').ParityRow[]>} GateParity
 */

// This file has types only: the empty export makes it a module.
export {}
