/**
 * The contract between a run and a kind of trial. A kind is a folder in kinds/ and a line of its registry; a run is given
 * one, and asks nowhere which.
 * name: recorded with each trial; hasRequests: absent: planes are tried for equal work before the first trial; start:
 * starts the services of an arm, and tells what that has shown in `seen`; measure: runs the trials of a plan.
 * @import { Manifest, Part, Plan, Trial, TrialRecord } from '../model/types.ts' @import { Reusable } from './reusable.js'
 * @import { Watcher } from './events.js' @import { Turns } from './rounds.js' @import { RunOne, RunTogether } from './run.js'
 * @import { StartServices } from './start-services.js' @import { Assess } from './stopping.js'
 * @typedef {{ name: string, hasRequests?: false, start: StartServices, measure: (pass: Pass) => Promise<void> }} Kind
 */

/**
 * Findings from the start of services. observed: for the raw files; isOver: no window follows; assertWhole: rejects where
 * a part of it failed, so that no window can follow.
 * @typedef {{ observed: Partial<import('./trial.js').Observed>, record: Partial<TrialRecord>, isOver: boolean,
 *   assertWhole: () => Promise<void> }} StartFindings
 */

/**
 * A part of a plan under way. cpus: of the machine of the services; adopt: takes a record of an earlier run into this one;
 * recordedRounds: of a resumed run; isRecorded: whether `run` only reads a trial back, since it was measured before a
 * resume; announce: tells watchers a plan that has changed; secondsAfter: that the kinds after it take, estimated.
 * @typedef {{ plan: Plan & Part, cpus: number, run: RunOne, runTogether: RunTogether, reusable: Reusable, turns: Turns,
 *   adopt: (known: { folder: string, record: TrialRecord }, trial: Trial) => TrialRecord, assess: Assess,
 *   recordedRounds: number, isRecorded: (trial: Pick<Trial, 'id'>) => boolean,
 *   writeManifest: (fields: Partial<Manifest>) => Manifest, announce: (plan: Plan) => void,
 *   secondsAfter: number, watch: Watcher['watch'], say: (line: string) => void, signal: AbortSignal }} Pass
 */

/**
 * The place and the means of trials. Folders are as this process sees them; a target says where processes see them. raw: a
 * folder for each trial; certificates: of all key types, as in certificate-files.js; pipyScripts: the sidecar that Pipy
 * runs, unless an arm has a variant; echo: the applications; load: its scripts; kind: of the trials.
 * @import { Layout, Programs, RunSettings, Site } from '../model/types.ts'
 * @typedef {Record<'results' | 'raw' | 'certificates' | 'pipyScripts' | 'echo' | 'load', string>} Folders
 * @typedef {{ site: Site, programs: Programs, layout: Layout, folders: Folders, settings: RunSettings, kind: Kind }} Testbed
 */

/**
 * Checks that passed before, by all that they depend on.
 * @typedef {{ find: (dependencies: object) => any, keep: (dependencies: object, rows: any[]) => void }} ParityCache
 */

/**
 * Tries the planes of arms for equal work; nextIndex: a number for each start of services; cache: of checks that passed
 * before, absent: every one is made; leaveOut: is called with arms that do not serve, absent: they end the run;
 * findShortage: of local ports, in words.
 * @typedef {{ testbed: Testbed, arms: import('../model/types.ts').Arm[], nextIndex: () => number, signal: AbortSignal,
 *   say: (line: string) => void, cache?: ParityCache,
 *   leaveOut?: (arms: import('../model/types.ts').Arm[], reason: string) => void,
 *   findShortage?: () => string | null }} GateOptions
 * @typedef {(options: GateOptions) => Promise<import('../model/types.ts').ParityRow[]>} GateParity
 */

// A module of types.
export {}
