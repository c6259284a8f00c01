import path from 'node:path'
import { judgeTrial } from '../judge/gates.js'
import { BenchError, EndedError, SiteLostError } from '../lib/errors.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { startChanges } from './changes.js'
import { agreeWindow, countGeneratorCpus, startGenerator } from './generator.js'
import { awaitEnded } from './start-services.js'
import { createClock } from './trial-clock.js'
import { observeWindow, readWindow } from './window.js'

/**
 * @import { Deployment, GrowthRecord, ObservationRecord, RolloutRecord, Sample, Trial, TrialRecord } from '../model/types.ts'
 * @import { Measured } from '../judge/gates.js'
 * @import { Watcher } from './events.js'
 * @import { StandingServices } from './standing-services.js'
 * @import { Started } from './start-services.js'
 * @import { Testbed } from './testbed.js'
 * @import { Clock } from './trial-clock.js'
 */

/**
 * A trial while it runs.
 * @typedef {object} Course
 * @property {Testbed} testbed
 * @property {Trial} trial
 * @property {number} start a number that no other start of this run has
 * @property {string} folder of its raw files
 * @property {Clock} clock
 * @property {Watcher['watch']} watch
 * @property {AbortSignal} signal aborts when the run is stopped, and when the trial ends: so its timers end with it
 */

/**
 * What was observed of a trial: its samples, the names of its processes in the order of their readings, and the rest;
 * null when its window was not observed to the end.
 * @typedef {{ samples: Sample[], names: string[], observation: ObservationRecord | null, rollout?: RolloutRecord,
 *   growth?: GrowthRecord }} Observed
 */

/**
 * Runs one trial: deploys its services and a generator, agrees on the window, observes it, reads what it came to, judges
 * it, ends it. A failure is the outcome of the trial, not an error.
 * @param {{ testbed: Testbed, trial: Trial, start: number, standing: StandingServices, watch: Watcher['watch'],
 *   signal: AbortSignal }} options
 *   standing: services of this arm are taken from there, and left there
 * @returns {Promise<{ record: TrialRecord } & Observed>}
 * @throws the signal's reason, when it aborts
 */
export async function runTrial({ testbed, trial, start, standing, watch, signal }) {
  const ending = new AbortController()
  /** @type {Course} */
  const course = {
    testbed,
    trial,
    start,
    folder: path.join(testbed.folders.raw, trial.id),
    clock: createClock(watch),
    watch,
    signal: AbortSignal.any([signal, ending.signal]),
  }
  let record = createBlankRecord(course)
  /** @type {Observed} */
  let observed = { samples: [], names: [], observation: null }
  /** @type {Started | null} */
  let services = null
  /** @type {Deployment | null} */
  let generator = null
  try {
    services = await deploy(course, standing)
    const { seen: shown } = services
    observed = { ...observed, ...shown?.observed }
    record = { ...record, ...shown?.record }
    await shown?.assertWhole()
    if (shown?.isOver) return { record, ...observed }
    const idle = await lookIdle(course, services)
    generator = await startGenerator(course, services)
    const { window, looks } = await agreeWindow(course, generator)
    const processes = [...services.deployment.processes, ...(generator?.processes ?? [])]
    const changes = startChanges(course, { changeTo: services.changeTo, window })
    const seen = await observeWindow(course, { processes, generator, window })
    observed = { ...observed, samples: seen.samples, names: seen.names }
    const read = await readWindow(course, { processes, generator, window, before: [...idle, ...looks], seen })
    observed = { ...observed, observation: read.observation }
    record = { ...record, ...read.measured, changes: await changes }
    record = judge(course, record)
  } catch (error) {
    ending.abort()
    signal.throwIfAborted()
    if (error instanceof SiteLostError) throw error
    record = { ...record, ...(await describeFailure(/** @type {Error} */ (error), services)) }
  } finally {
    ending.abort()
    await end(course, { generator, services, standing, hasFailed: record.outcome === 'failed' })
  }
  return { record, ...observed }
}

/**
 * @param {Course} course
 * @returns {TrialRecord} of a trial that has not come to anything
 */
function createBlankRecord({ testbed, trial, clock }) {
  return {
    schemaVersion: SCHEMA_VERSION,
    trial,
    target: testbed.site.target.name,
    startedAt: new Date().toISOString(),
    outcome: 'failed',
    reasons: [],
    window: null,
    load: null,
    processes: [],
    host: null,
    placement: testbed.layout.placementOf(trial.arm),
    generatorCpus: countGeneratorCpus(testbed, trial.arm),
    samples: null,
    orchestratorCpuSeconds: null,
    boundBy: null,
    isSteady: null,
    gates: [],
    changes: null,
    ended: [],
    phasesSeconds: clock.seconds,
  }
}

/**
 * The services of the arm: fresh ones, unless they stand since a trial before.
 * @param {Course} course
 * @param {StandingServices} standing
 */
async function deploy({ testbed, trial, start, folder, clock, signal }, standing) {
  const { arm, round } = trial
  clock.enter('starting')
  const kept = await standing.take(arm)
  // The services of the trial before may have been removed just now: that is no part of this start.
  clock.lap('clear')
  const services = kept ?? (await testbed.kind.start({ testbed, arm, start, round, folder, signal }))
  clock.lap(kept ? 'kept' : 'start')
  return services
}

/**
 * What the services are like before any load.
 * @param {Course} course
 * @param {Started} services
 */
async function lookIdle({ testbed, clock }, { deployment }) {
  const looks = await testbed.site.target.look(deployment.processes)
  clock.lap('look')
  return looks
}

/**
 * @param {Course} course
 * @param {TrialRecord} record
 * @returns {TrialRecord}
 */
function judge({ testbed }, record) {
  const relaxed = testbed.settings.relaxes.map(({ gate }) => gate)
  return { ...record, ...judgeTrial(/** @type {Measured} */ (record), relaxed) }
}

/**
 * @param {Error} error
 * @param {Started | null} services
 * @returns {Promise<Pick<TrialRecord, 'reasons' | 'ended'>>}
 */
async function describeFailure(error, services) {
  const isExpected = error instanceof BenchError
  return {
    reasons: [error.message, ...(isExpected ? [] : [error.stack ?? ''])],
    ended: error instanceof EndedError ? error.ended : await awaitEnded(services?.deployment.processes ?? []),
  }
}

/**
 * Removes what the trial started, but services that are to stand.
 * @param {Course} course
 * @param {{ generator: Deployment | null, services: Started | null, standing: StandingServices, hasFailed: boolean }} options
 */
async function end({ trial, clock }, { generator, services, standing, hasFailed }) {
  clock.enter('stopping')
  const leaving = services && standing.leave({ arm: trial.arm, services, hasFailed })
  await Promise.all([generator?.remove(), leaving])
  clock.lap('stop')
}
