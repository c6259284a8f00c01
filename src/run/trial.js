import path from 'node:path'
import { judgeTrial } from '../judge/gates.js'
import { sidecarsOf, sumOf } from '../judge/measures.js'
import { BenchError, EndedError, SiteLostError } from '../lib/errors.js'
import { nameOf } from '../model/arms.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { rawNameOf } from '../records/raw.js'
import { startChanges } from './changes.js'
import { agreeWindow, countGeneratorCpus, startGenerator } from './generator.js'
import { awaitEnded } from './start-services.js'
import { createClock } from './trial-clock.js'
import { observeWindow, readWindow } from './window.js'

/**
 * @import { Deployment, ObservationRecord, Sample, Trial, TrialRecord } from '../model/types.ts'
 * @import { Measured } from '../judge/gates.js'
 * @import { Watcher } from './events.js'
 * @import { StandingServices } from './standing-services.js'
 * @import { Started } from './start-services.js'
 * @import { Testbed } from './testbed.js'
 * @import { Clock } from './trial-clock.js'
 */

/**
 * A trial while it runs, or those of arms that stand at the same time.
 * @typedef {object} Course
 * @property {Testbed} testbed
 * @property {Trial[]} trials of one load and placement
 * @property {number} start a number that no other start of this run has
 * @property {() => number} nextStart gives another
 * @property {string} folder of the raw files of all
 * @property {Clock} clock
 * @property {Watcher['watch']} watch
 * @property {AbortSignal} signal aborts when the run is stopped, and when the trial ends: so its timers end with it
 */

/**
 * What was observed of a trial: its samples, the names of its processes in the order of their readings, and the rest;
 * null when its window was not observed to the end.
 * @typedef {{ samples: Sample[], names: string[], observation: ObservationRecord | null, own?: Record<string, object> }} Observed
 *   own: what its kind alone has seen, by the names of the files
 */

/**
 * Runs one trial, or those of arms that stand at the same time: deploys the services and a generator, agrees on the window,
 * observes it, reads what it came to, judges it, ends it. A failure is the outcome of the trial, not an error.
 * @param {{ testbed: Testbed, trials: Trial[], nextStart: () => number, standing: StandingServices, watch: Watcher['watch'],
 *   signal: AbortSignal }} options nextStart: gives a number that no other start of this run has; standing: services of an arm
 *   are taken from there, and left there
 * @returns {Promise<{ records: TrialRecord[] } & Observed>} a record of each trial
 * @throws the signal's reason, when it aborts
 */
export async function runTrial({ testbed, trials, nextStart, standing, watch, signal }) {
  const ending = new AbortController()
  /** @type {Course} */
  const course = {
    testbed,
    trials,
    start: nextStart(),
    nextStart,
    folder: path.join(testbed.folders.raw, rawNameOf(trials[0])),
    clock: createClock(watch),
    watch,
    signal: AbortSignal.any([signal, ending.signal]),
  }
  let records = trials.map(trial => createBlankRecord(course, trial))
  /** @type {Observed} */
  let observed = { samples: [], names: [], observation: null }
  /** @type {Started[]} */
  const services = []
  /** @type {Deployment | null} */
  let generator = null
  try {
    await deploy(course, { standing, services })
    const [{ seen: shown, changeTo }] = services
    observed = { ...observed, ...shown?.observed }
    records = records.map(record => ({ ...record, ...shown?.record }))
    await shown?.assertWhole()
    if (shown?.isOver) return { records, ...observed }
    const idle = await lookIdle(course, services)
    generator = await startGenerator(course, services)
    const { window, looks } = await agreeWindow(course, generator)
    const processes = [...processesOf(services), ...(generator?.processes ?? [])]
    const changes = startChanges(course, { changeTo, window })
    const seen = await observeWindow(course, { processes, generator, window })
    observed = { ...observed, samples: seen.samples, names: seen.names }
    const read = await readWindow(course, { processes, generator, window, before: [...idle, ...looks], seen })
    observed = { ...observed, observation: read.observation }
    const changed = await changes
    records = records.map((record, i) => ({ ...record, ...read.measured[i], changes: changed }))
    records = describeBeside(records).map(record => judge(course, record))
  } catch (error) {
    ending.abort()
    signal.throwIfAborted()
    if (error instanceof SiteLostError) throw error
    const failure = await describeFailure(/** @type {Error} */ (error), services)
    records = records.map(record => ({ ...record, ...failure }))
  } finally {
    ending.abort()
    await end(course, { generator, services, standing, hasFailed: records.some(r => r.outcome === 'failed') })
  }
  return { records, ...observed }
}

/** @param {Started[]} services */
function processesOf(services) {
  return services.flatMap(({ deployment }) => deployment.processes)
}

/**
 * @param {Course} course
 * @param {Trial} trial
 * @returns {TrialRecord} of a trial that has not come to anything
 */
function createBlankRecord({ testbed, clock }, trial) {
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
 * The services of each arm: fresh ones, unless they stand since a trial before.
 * @param {Course} course
 * @param {{ standing: StandingServices, services: Started[] }} options services: is filled, also where one does not start
 */
async function deploy({ testbed, trials, start, nextStart, folder, clock, signal }, { standing, services }) {
  clock.enter('starting')
  /** @type {(Started | null)[]} */
  const kept = []
  for (const { arm } of trials) kept.push(await standing.take(arm))
  // The services of the trial before may have been removed just now: that is no part of this start.
  clock.lap('clear')
  const isBesideOthers = trials.length > 1
  const begun = trials.map(({ id, arm, round }, i) => {
    const own = isBesideOthers ? path.join(testbed.folders.raw, id) : folder
    const at = { start: i === 0 ? start : nextStart(), folder: own }
    return kept[i] ?? testbed.kind.start({ testbed, arm, round, ...at, isBesideOthers, signal })
  })
  const started = await Promise.allSettled(begun)
  for (const result of started) if (result.status === 'fulfilled') services.push(result.value)
  const failed = started.find(({ status }) => status === 'rejected')
  if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
  clock.lap(kept.includes(null) ? 'start' : 'kept')
}

/**
 * What the services are like before any load.
 * @param {Course} course
 * @param {Started[]} services
 */
async function lookIdle({ testbed, clock }, services) {
  const looks = await testbed.site.target.look(processesOf(services))
  clock.lap('look')
  return looks
}

/**
 * Says in each record which arms stood at the same time, and how many connections their sidecars held.
 * @param {TrialRecord[]} records in the order in which the arms were started
 * @returns {TrialRecord[]}
 */
function describeBeside(records) {
  if (records.length === 1) return records
  const beside = records.map(record => ({
    armId: record.trial.arm.id,
    // Arms of one name are to hold equally many connections: of HTTP/2 they hold fewer.
    name: nameForConnections(record.trial.arm),
    connections: sumOf(sidecarsOf(record), p => p.connections ?? null),
  }))
  return records.map(record => ({ ...record, beside }))
}

/** @param {Trial['arm']} arm */
function nameForConnections(arm) {
  const { protocol, tls, services } = arm.conditions
  return `${nameOf({ ...arm, repeatOf: null })} (${protocol}, ${tls}, ${services}, ${arm.load.idleConnections ?? 0})`
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
 * @param {Started[]} services
 * @returns {Promise<Pick<TrialRecord, 'reasons' | 'ended'>>}
 */
async function describeFailure(error, services) {
  const isExpected = error instanceof BenchError
  return {
    reasons: [error.message, ...(isExpected ? [] : [error.stack ?? ''])],
    ended: error instanceof EndedError ? error.ended : await awaitEnded(processesOf(services)),
  }
}

/**
 * Removes what the trial started, but services that are to stand.
 * @param {Course} course
 * @param {{ generator: Deployment | null, services: Started[], standing: StandingServices, hasFailed: boolean }} options
 */
async function end({ trials, clock }, { generator, services, standing, hasFailed }) {
  clock.enter('stopping')
  // Where one did not start, nobody goes on with the others.
  const isWhole = services.length === trials.length
  const leaving = services.map((started, i) =>
    isWhole ? standing.leave({ arm: trials[i].arm, services: started, hasFailed }) : started.deployment.remove(),
  )
  await Promise.all([generator?.remove(), ...leaving])
  clock.lap('stop')
}
