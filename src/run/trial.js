import { setMaxListeners } from 'node:events'
import path from 'node:path'
import { judgeTrial } from '../judge/gates.js'
import { listSidecars, sumValues } from '../judge/record/measures.js'
import { BenchError, EndedError, SiteLostError } from '../lib/errors.js'
import { sleep } from '../lib/wait.js'
import { renderArmName } from '../model/arms.js'
import { hasChunks } from '../model/requests.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { renderRawName } from '../records/write.js'
import { awaitWindow, countGeneratorCpus, startGenerator } from './generator.js'
import { awaitEarlyExits } from './start-services.js'
import { observeWindow, readWindow } from './window.js'

/**
 * @import { Deployment, Handle, ObservationRecord, Sample, Trial, TrialRecord } from '../model/types.ts'
 * @import { Phase, Watcher } from './events.js'
 * @import { StandingServices } from './standing-services.js'
 * @import { Started } from './start-services.js'
 * @import { Testbed } from './kind.js'
 */

/**
 * A trial while it runs, or those of arms that stand at the same time.
 * @typedef {object} Course
 * @property {Testbed} testbed
 * @property {Trial[]} trials
 * @property {number} start a number that no other start of this run has
 * @property {() => number} nextStart returns another
 * @property {string} folder of the raw files
 * @property {ReturnType<typeof createClock>} clock
 * @property {Watcher['watch']} watch
 * @property {AbortSignal} signal aborts with the run's signal, and when the trial ends
 */

/**
 * @typedef {object} Observed
 * @property {Sample[]} samples
 * @property {string[]} names of the processes, in the order of their readings
 * @property {ObservationRecord | null} observation null: the window was not observed to its end
 * @property {Record<string, object>} [partFiles] documents that only this kind of trial has, by file name
 */

/**
 * Runs one trial, or those of arms that stand at the same time, and creates their records. A trial that fails is recorded as
 * failed, with its reasons.
 * @param {Pick<Course, 'testbed' | 'trials' | 'nextStart' | 'watch' | 'signal'> & { standing: StandingServices }} options
 *   standing: services of an arm are taken from it, and returned to it
 * @returns {Promise<{ records: TrialRecord[] } & Observed>} records: one for each trial, in their order
 * @throws {SiteLostError} if the machine of the services is lost; the signal's reason when it aborts
 */
export async function runTrial({ testbed, trials, nextStart, standing, watch, signal }) {
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  // Each process of many arms listens to this signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, either)
  /** @type {Course} */
  const course = {
    testbed,
    trials,
    start: nextStart(),
    nextStart,
    folder: path.join(testbed.folders.raw, renderRawName(trials[0])),
    clock: createClock(watch),
    watch,
    signal: either,
  }
  let records = trials.map(trial => createBlankRecord(course, trial))
  /** @type {Observed} */
  let observed = { samples: [], names: [], observation: null }
  /** @type {Started[]} */
  const services = []
  /** @type {Deployment | null} */
  let generator = null
  /** @type {Promise<TrialRecord['ending']> | undefined} */
  let leaving
  try {
    await deployTrials(course, { standing, services })
    const [{ findings: startFindings, changeTo, ending }] = services
    const startEnding = ending && (await import('./ending.js')).startEnding
    observed = { ...observed, ...startFindings?.observed }
    records = records.map((record, i) => ({ ...record, ...startFindings?.record, ...createAnswerFields(services[i]) }))
    await startFindings?.assertWhole()
    if (startFindings?.isOver) return { records, ...observed }
    const idle = await lookBeforeLoad(course, listProcesses(services))
    course.clock.lap('look')
    const besideLoad = hasWorkBesideLoad(trials) ? await import('./beside-load.js') : null
    generator = await startGenerator(course, services)
    const { window, looks } = await awaitWindow(course, generator)
    const processes = [...listProcesses(services), ...(generator?.processes ?? [])]
    const changing = besideLoad?.makeChanges(course, { changeTo, window }) ?? Promise.resolve(null)
    // If the trial fails otherwise, nothing awaits these promises: an unhandled rejection would end the kit.
    changing.catch(() => {})
    const streaming = besideLoad?.readStreams(course, { services, window }) ?? Promise.resolve(null)
    streaming.catch(() => {})
    leaving = startEnding?.(course, { ending, window })
    const watched = await observeWindow(course, { processes, generator, window })
    observed = { ...observed, samples: watched.samples, names: watched.names }
    const read = await readWindow(course, { processes, generator, window, before: [...idle, ...looks], watched })
    observed = { ...observed, observation: read.observation }
    const changes = await changing
    const streams = await streaming
    const endingTimes = await leaving
    records = records.map((record, i) => ({
      ...record,
      ...read.measured[i],
      changes,
      ...(streams?.[i].length && { streams: streams[i] }),
      ...(endingTimes && { ending: endingTimes }),
    }))
    const relaxed = testbed.settings.relaxes.map(({ gate }) => gate)
    records = addBeside(records).map(record => ({
      ...record,
      ...judgeTrial(/** @type {import('../judge/gates/gate.js').Measured} */ (record), relaxed),
    }))
  } catch (error) {
    ending.abort()
    signal.throwIfAborted()
    if (error instanceof SiteLostError) throw error
    const { message, stack = '' } = /** @type {Error} */ (error)
    const reasons = error instanceof BenchError ? [message] : [message, stack]
    const ended = error instanceof EndedError ? error.ended : await awaitEarlyExits(listProcesses(services))
    records = records.map(record => ({ ...record, reasons, ended }))
  } finally {
    ending.abort()
    course.clock.enter('stopping')
    // Wait for a successor that is being started, so that it is removed with the others.
    await leaving?.catch(() => {})
    const hasFailed = records.some(r => r.outcome === 'failed')
    // If one arm failed to start, remove all.
    const isWhole = services.length === trials.length
    const removing = services.map((started, i) =>
      isWhole ? standing.release({ arm: trials[i].arm, services: started, hasFailed }) : started.deployment.remove(),
    )
    await Promise.all([generator?.remove(), ...removing])
    course.clock.lap('stop')
  }
  return { records, ...observed }
}

/**
 * Looks at processes before any load. If a load opens a connection for each request, it also measures their idle CPU, which
 * takes seconds.
 * @param {Course} course
 * @param {Handle[]} processes
 * @returns {Promise<import('../model/types.ts').Look[]>} by process; idleCpuCores: absent if it was not measured
 */
async function lookBeforeLoad({ testbed, trials, signal }, processes) {
  const look = () => testbed.site.target.look(processes)
  const loads = trials.map(({ arm }) => arm.load)
  if (loads.every(({ connections }) => connections === 'kept')) return look()
  const { lookIdle } = await import('./idle.js')
  return lookIdle(processes, { loads, look, wait: ms => sleep(ms, signal) })
}

/**
 * Says whether the kit itself changes configurations, or reads answers in chunks, beside the load.
 * @param {Trial[]} trials
 * @returns {boolean}
 */
const hasWorkBesideLoad = trials =>
  trials.some(({ arm: { conditions, load } }) => conditions.changesPerMinute || hasChunks(load))

/**
 * Lists the processes of services.
 * @param {Started[]} services
 * @returns {Handle[]}
 */
const listProcesses = services => services.flatMap(({ deployment }) => deployment.processes)

/**
 * Creates the record of a trial that has not run: its outcome is `failed` until the window fills it in.
 * @param {Course} course
 * @param {Trial} trial
 * @returns {TrialRecord} with outcome failed, to be filled in
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
 * Starts the services of each arm, or claims the standing ones.
 * @param {Course} course
 * @param {{ standing: StandingServices, services: Started[] }} options services: empty; it is filled in the order of the
 *   trials, also if a start fails, with those that started
 * @throws the error of the first start that failed
 */
async function deployTrials({ testbed, trials, start, nextStart, folder, clock, signal }, { standing, services }) {
  clock.enter('starting')
  /** @type {(Started | null)[]} */
  const standingServices = []
  for (const { arm } of trials) standingServices.push(await standing.claim(arm))
  // `claim` removes the services of the trial before: count that time as `clear`, not as part of the start.
  clock.lap('clear')
  const isInterleaved = trials.length > 1
  const starting = trials.map(({ id, arm, round }, i) => {
    const armFolder = isInterleaved ? path.join(testbed.folders.raw, id) : folder
    const place = { start: i === 0 ? start : nextStart(), folder: armFolder }
    return standingServices[i] ?? testbed.kind.start({ testbed, arm, round, ...place, isInterleaved, signal })
  })
  const started = await Promise.allSettled(starting)
  for (const result of started) if (result.status === 'fulfilled') services.push(result.value)
  const failed = started.find(({ status }) => status === 'rejected')
  if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
  clock.lap(standingServices.includes(null) ? 'start' : 'kept')
}

/**
 * Creates the field of the bytes of an answer, for a pipeline with a request of its own.
 * @param {Started} services
 * @returns {{ answerBytes?: number }} {}: the request is the kit's
 */
function createAnswerFields({ entry }) {
  return entry?.request ? { answerBytes: entry.request.bytes } : {}
}

/**
 * Adds to the records of interleaved arms which arms stood together, with how many connections.
 * @param {TrialRecord[]} records
 * @returns {TrialRecord[]} a single record stays as it is
 */
function addBeside(records) {
  if (records.length === 1) return records
  const beside = records.map(record => {
    const { arm } = record.trial
    const { protocol, tls, services } = arm.conditions
    return {
      armId: arm.id,
      // A gate compares connections of arms with the same name. Arms that differ in one of these may hold more or fewer.
      name: `${renderArmName({ ...arm, repeatOf: null })} (${protocol}, ${tls}, ${services}, ${arm.load.idleConnections ?? 0})`,
      connections: sumValues(listSidecars(record), p => p.connections ?? null),
    }
  })
  return records.map(record => ({ ...record, beside }))
}

/**
 * Creates a clock of the phases of a trial. It sends an event as each phase begins, and records how long each lap took.
 * @param {Watcher['watch']} watch
 * @returns phase: returns the current phase; seconds: of each lap, by name; enter: begins a phase; lap: ends a lap
 */
function createClock(watch) {
  /** @type {Record<string, number>} */
  const seconds = {}
  let lapStart = performance.now()
  /** @type {Phase} */
  let currentPhase = 'starting'
  return {
    /** Returns the current phase. */
    phase: () => currentPhase,
    /** Seconds by lap. */
    seconds,
    /** Begins a phase, and sends its event. */
    enter(/** @type {Phase} */ phase) {
      currentPhase = phase
      watch?.({ kind: 'phase', phase, atMs: Date.now() })
    },
    /** Ends a lap, which began with the end of the last one. */
    lap(/** @type {string} */ name) {
      const atMs = performance.now()
      seconds[name] = (atMs - lapStart) / 1000
      lapStart = atMs
    },
  }
}
