import { gateParity } from '../parity/gate.js'
import { estimatePlanSeconds } from '../plan/plan.js'
import { writeWhole } from '../records/files.js'
import { removeRaw, writeObserved } from '../records/raw.js'
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
 * @import { StandingServices } from './standing-services.js'
 * @import { Assess } from './stopping.js'
 * @import { Testbed } from './testbed.js'
 */

const NOTHING = { take: () => null }
const UNKNOWN = () => ({ isReached: false, roundsMore: null, told: '' })
const ALONE = { take: async () => {}, pass: () => {} }

/**
 * Runs a trial, and records it before the next starts.
 * @typedef {(options: { trial: Trial, progress: string, secondsLeft?: (isDone: boolean) => number }) => Promise<TrialRecord>} RunOne
 *   progress: such as 'round 2 of 6'; secondsLeft: of the run, before and after this trial
 */

/**
 * Runs a plan: checks that the planes do equal work, then searches, or measures round after round. All it leaves is
 * on disk: the manifest, and the record of every trial.
 * @param {{ plan: Plan, testbed: Testbed, manifest: Omit<Manifest, 'parity'>, watcher: Watcher, signal: AbortSignal,
 *   retain?: boolean, turns?: Turns, reusable?: Reusable, recorded?: Map<string, TrialRecord>, assess?: Assess, gate?: GateParity }} options
 *   retain: leave the services of the last trial running; reusable: trials of earlier runs that a search may take;
 *   recorded: trials of this run that are not run again, by id; assess: of a run that goes on until it is precise
 * @throws {import('../lib/errors.js').BenchError} when an arm cannot serve at all, or nothing can be recorded
 */
export async function runPlan({ plan, testbed, manifest, watcher, signal, ...options }) {
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
  const run = createRunOne({ testbed, standing, recorded, nextIndex, watcher, signal })
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
    writeManifest({ parity: await gate({ testbed, arms: plan.arms, nextIndex, signal, say }) })
    await testbed.kind.measure({
      plan,
      cpus: site.cpus,
      run,
      adopt: createAdopt({ folder: folders.results, kind: testbed.kind.name, watcher }),
      reusable,
      turns,
      assess,
      recordedRounds: manifest.rounds,
      writeManifest,
      announce,
      say,
      signal,
    })
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
 * @returns {RunOne}
 */
function createRunOne({ testbed, standing, recorded, nextIndex, watcher: { say, watch }, signal }) {
  return async ({ trial: planned, progress, secondsLeft }) => {
    const trial = { ...planned, kind: testbed.kind.name }
    const known = recorded.get(trial.id)
    if (known) {
      watch?.({ kind: 'trial-ended', record: known, atMs: Date.now() })
      return known
    }
    removeRaw(testbed.folders.results, trial.id)
    watch?.({ kind: 'trial-started', trial, progress, secondsLeft: secondsLeft?.(false) ?? null, atMs: Date.now() })
    const { record, ...observed } = await runTrial({ testbed, trial, start: nextIndex(), standing, watch, signal })
    // A trial that is recorded is not run again: its files come before its record.
    writeObserved(testbed.folders.results, { trial, ...observed })
    appendTrial(testbed.folders.results, record)
    watch?.({ kind: 'trial-ended', record, atMs: Date.now() })
    say(`${progress}${describeLeft(secondsLeft?.(true) ?? null)}  ${describeTrial(record)}`)
    return record
  }
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
