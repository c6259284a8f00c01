import { gateParity } from '../parity/gate.js'
import { estimatePlanSeconds } from '../plan/plan.js'
import { writeWhole } from '../records/files.js'
import { rawNameOf, removeRaw, writeObserved } from '../records/raw.js'
import { appendTrial, copyTrial } from '../records/records.js'
import { describeLeft, describeTrial } from './progress.js'
import { createStandingServices } from './standing-services.js'
import { runTrial } from './trial.js'

/**
 * @import { Manifest, Plan, Trial, TrialRecord } from '../model/types.ts'
 * @import { Watcher } from './events.js'
 * @import { GateParity } from '../parity/gate.js'
 * @import { Turns } from './rounds.js'
 * @import { Reusable } from './reusable.js'
 * @import { Kind } from './kind.js'
 * @import { StandingServices } from './standing-services.js'
 * @import { Assess } from './stopping.js'
 * @import { Testbed } from './testbed.js'
 */

const NOTHING = { take: () => null }
const UNKNOWN = () => ({ isReached: false, roundsMore: null, told: '' })
const ALONE = { take: async () => {}, pass: () => {} }

/**
 * Runs a trial, and records it before the next starts.
 * @typedef {(options: { trial: Trial } & Told) => Promise<TrialRecord>} RunOne
 */

/**
 * Runs the trials of arms that stand at the same time, and records them before the next start.
 * @typedef {(options: { trials: Trial[] } & Told) => Promise<TrialRecord[]>} RunTogether
 */

/**
 * What is told of a trial. progress: such as 'round 2 of 6'; secondsLeft: of the run, before and after this trial.
 * @typedef {{ progress: string, secondsLeft?: (isDone: boolean) => number }} Told
 */

/**
 * Runs a plan: checks that the planes do equal work, then searches, or measures round after round. All it leaves is
 * on disk: the manifest, and the record of every trial.
 * @param {{ plan: Plan, testbed: Omit<Testbed, 'kind'>, kinds: Kind[], manifest: Omit<Manifest, 'parity'>, watcher: Watcher, signal: AbortSignal,
 *   retain?: boolean, turns?: Turns, reusable?: Reusable, recorded?: Map<string, TrialRecord>, assess?: Assess, gate?: GateParity }} options
 *   kinds: of its trials, in their order; retain: leave the services of the last trial running; reusable: trials of earlier runs that a search may take;
 *   recorded: trials of this run that are not run again, by id; assess: of a run that goes on until it is precise
 * @throws {import('../lib/errors.js').BenchError} when an arm cannot serve at all, or nothing can be recorded
 */
export async function runPlan({ plan, testbed, kinds, manifest, watcher, signal, ...options }) {
  const {
    retain = false,
    turns = ALONE,
    reusable = NOTHING,
    recorded = new Map(),
    assess = UNKNOWN,
    gate = gateParity,
  } = options
  const { site, folders } = testbed
  const { say, watch } = watcher
  const standing = createStandingServices({ keepsServices: plan.settings.keepsServices, retains: retain })
  let index = 0
  const nextIndex = () => index++
  const writeManifest = createManifestWriter(folders.results, { parity: [], ...manifest })
  const announce = (/** @type {Plan} */ planned) =>
    watch?.({ kind: 'planned', ...describePlan(planned, manifest), atMs: Date.now() })

  /** @type {'finished' | 'interrupted' | 'failed'} */
  let outcome = 'failed'
  try {
    writeManifest({})
    announce(plan)
    await turns.take()
    watch?.({ kind: 'phase', phase: 'parity', atMs: Date.now() })
    writeManifest({
      parity: await gate({
        testbed: { ...testbed, kind: kinds[0] },
        arms: kinds[0].hasRequests === false ? [] : plan.arms,
        nextIndex,
        signal,
        say,
      }),
    })
    for (const kind of kinds) {
      const runTogether = createRunTogether({
        testbed: { ...testbed, kind },
        standing,
        recorded,
        nextIndex,
        watcher,
        signal,
      })
      await kind.measure({
        plan: kinds.length === 1 ? plan : takePart(plan, kind.name),
        cpus: site.cpus,
        run: async ({ trial, ...told }) => (await runTogether({ trials: [trial], ...told }))[0],
        runTogether,
        adopt: createAdopt({ folder: folders.results, kind: kind.name, watcher }),
        reusable,
        turns,
        assess,
        recordedRounds: manifest.rounds,
        writeManifest,
        announce,
        say,
        signal,
      })
    }
    // While the last trial ended, too: what was to stay has been removed.
    signal.throwIfAborted()
    outcome = 'finished'
  } finally {
    if (signal.aborted) outcome = 'interrupted'
    watch?.({ kind: 'ended', outcome, atMs: Date.now() })
    await standing.end({ isFinished: outcome === 'finished' })
  }
}

/**
 * @param {{ testbed: Testbed, standing: StandingServices, recorded: Map<string, TrialRecord>, nextIndex: () => number,
 *   watcher: Watcher, signal: AbortSignal }} options
 * @returns {RunTogether}
 */
function createRunTogether({ testbed, standing, recorded, nextIndex, watcher: { say, watch }, signal }) {
  const folder = testbed.folders.results
  return async ({ trials: planned, progress, secondsLeft }) => {
    const trials = planned.map(trial => ({ ...trial, kind: testbed.kind.name }))
    const known = trials.flatMap(({ id }) => recorded.get(id) ?? [])
    if (known.length === trials.length) {
      for (const record of known) watch?.({ kind: 'trial-ended', record, atMs: Date.now() })
      return known
    }
    for (const name of new Set(trials.flatMap(trial => [trial.id, rawNameOf(trial)]))) removeRaw(folder, name)
    const left = secondsLeft?.(false) ?? null
    for (const trial of trials) watch?.({ kind: 'trial-started', trial, progress, secondsLeft: left, atMs: Date.now() })
    const { records, ...observed } = await runTrial({ testbed, trials, nextStart: nextIndex, standing, watch, signal })
    // A trial that is recorded is not run again: its files come before its record.
    writeObserved(folder, { trial: trials[0], ...observed })
    for (const record of records) appendTrial(folder, record)
    for (const record of records) watch?.({ kind: 'trial-ended', record, atMs: Date.now() })
    const told = `${progress}${describeLeft(secondsLeft?.(true) ?? null)}`
    for (const record of records) say(`${told}  ${describeTrial(record)}`)
    return records
  }
}

/**
 * The trials of one kind.
 * @param {Plan} plan
 * @param {string} kind
 * @returns {Plan}
 */
function takePart(plan, kind) {
  const trials = plan.trials.filter(trial => trial.kind === kind)
  const arms = plan.arms.filter(({ id }) => trials.some(({ arm }) => arm.id === id))
  return { ...plan, trials, arms, rounds: Math.max(...trials.map(({ round }) => round)) }
}

/**
 * Takes the record of an earlier run into this one.
 * @param {{ folder: string, kind: string, watcher: Watcher }} options kind: of the trials of this run
 * @returns {(known: { folder: string, record: TrialRecord }, trial: Trial) => TrialRecord}
 */
function createAdopt({ folder, kind, watcher }) {
  return (known, planned) => {
    const trial = { ...planned, kind }
    const record = { ...known.record, trial }
    copyTrial({ from: known.folder, to: folder, record: known.record, trial })
    watcher.watch?.({ kind: 'trial-ended', record, atMs: Date.now() })
    return record
  }
}

/**
 * @param {string} folder
 * @param {Manifest} manifest
 */
function createManifestWriter(folder, manifest) {
  let known = manifest
  return (/** @type {Partial<Manifest>} */ found) => {
    known = { ...known, ...found }
    writeWhole(folder, 'manifest.json', `${JSON.stringify(known, null, 2)}\n`)
    return known
  }
}

/**
 * @param {Plan} plan
 * @param {Pick<Manifest, 'run'>} manifest
 */
function describePlan(plan, { run }) {
  const { experiment, question, arms, rounds, trials, search, precision } = plan
  return {
    run: { id: run.id, experiment, question },
    arms,
    rounds,
    trials: search ? null : trials.length,
    seconds: estimatePlanSeconds(plan),
    isSequence: precision !== undefined,
  }
}
