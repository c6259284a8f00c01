import { setMaxListeners } from 'node:events'
import path from 'node:path'
import { BenchError, EndedError, isCausedBy, SiteLostError } from '../lib/errors.js'
import { sleep } from '../lib/wait.js'
import { hasChunks } from '../model/requests.js'
import { renderRawName } from '../records/write.js'
import { awaitEarlyExits } from './alive.js'
import { awaitWindow, startGenerator } from './generator.js'
import { createAnswerFields, createBlankRecord, judgeRecords } from './trial-record.js'
import { collectWindow, observeWindow } from './window.js'

/**
 * @import { Change, Deployment, Handle, Look, ObservationRecord, Sample, Trial, TrialRecord, Window } from '../model/types.ts'
 * @import { Phase, Watcher } from './events.js'
 * @import { StandingServices } from './standing-services.js'
 * @import { Started } from './start-services.js'
 * @import { Testbed } from './kind.js'
 */

/**
 * A trial while it runs, or those of arms that stand at the same time.
 * @typedef {object} TrialContext
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
 * The results of a trial so far, and all that has to be stopped.
 * @typedef {object} TrialState
 * @property {TrialRecord[]} records one for each trial, in their order
 * @property {Observed} observed
 * @property {Started[]} services of the arms that have started, in the order of the trials
 * @property {Deployment | null} generator null: it has not started
 * @property {Promise<TrialRecord['ending']> | null} ending the end of a sidecar; null: none ends
 */

/**
 * Runs one trial, or those of arms that stand at the same time, and creates their records. A trial that fails is recorded as
 * failed, with its reasons.
 * @param {Pick<TrialContext, 'testbed' | 'trials' | 'nextStart' | 'watch' | 'signal'> & { standing: StandingServices }} options
 *   standing: services of an arm are taken from it, and returned to it
 * @returns {Promise<{ records: TrialRecord[] } & Observed>} records: one for each trial, in their order
 * @throws {SiteLostError} if the machine of the services is lost; the signal's reason when it aborts; an error of the target if
 *   processes cannot be removed
 */
export async function runTrial({ testbed, trials, nextStart, standing, watch, signal }) {
  const stopping = new AbortController()
  const trialSignal = AbortSignal.any([signal, stopping.signal])
  // Each process of many arms listens to this signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, trialSignal)
  /** @type {TrialContext} */
  const context = {
    testbed,
    trials,
    start: nextStart(),
    nextStart,
    folder: path.join(testbed.folders.raw, renderRawName(trials[0])),
    clock: createClock(watch),
    watch,
    signal: trialSignal,
  }
  /** @type {TrialState} */
  const state = {
    records: trials.map(trial => createBlankRecord(context, trial)),
    observed: { samples: [], names: [], observation: null },
    services: [],
    generator: null,
    ending: null,
  }
  try {
    const { isOver } = await startTrial(context, state, standing)
    if (!isOver) await measureTrial(context, state)
  } catch (error) {
    stopping.abort()
    signal.throwIfAborted()
    if (isCausedBy(error, SiteLostError)) throw error
    const { message, stack = '' } = /** @type {Error} */ (error)
    const reasons = error instanceof BenchError ? [message] : [message, stack]
    const ended = error instanceof EndedError ? error.ended : await awaitEarlyExits(listProcesses(state.services))
    // The outcome of a record is `failed` until its trial is judged.
    state.records = state.records.map(record => ({ ...record, reasons, ended }))
  } finally {
    stopping.abort()
    await tearDownTrial(context, state, standing)
  }
  return { records: state.records, ...state.observed }
}

/**
 * Starts the services of the trial, and adds the findings of the start (of a rollout or a growth) to its records.
 * @param {TrialContext} context
 * @param {TrialState} state its services, observed and records are changed
 * @param {StandingServices} standing
 * @returns {Promise<{ isOver: boolean }>} isOver: no window follows
 * @throws as `deployTrials`; as `assertWhole` of the findings, after the records have them
 */
async function startTrial(context, state, standing) {
  const { services } = state
  // It fills `services`. Only kinds that never interleave arms have findings, so the first arm is the only one.
  await deployTrials(context, { standing, services })
  const [{ findings }] = services
  state.observed = { ...state.observed, ...findings?.observed }
  state.records = state.records.map((record, i) => ({
    ...record,
    ...findings?.record,
    ...createAnswerFields(services[i]),
  }))
  await findings?.assertWhole()
  return { isOver: findings?.isOver ?? false }
}

/**
 * Runs the load and observes the window, and completes and judges the records.
 * @param {TrialContext} context
 * @param {TrialState} state its generator, ending, observed and records are changed
 * @throws {BenchError} as `awaitWindow`, `observeWindow`, `collectWindow` and the work beside the load; an error of the target or of a
 *   gate; the signal's reason when it aborts
 */
async function measureTrial(context, state) {
  const { services } = state
  const idle = await lookBeforeLoad(context, listProcesses(services))
  context.clock.lap('look')
  const startBesideWork = await prepareBesideWork(context, services)
  state.generator = await startGenerator(context, services)
  const { generator } = state
  const { window, looks } = await awaitWindow(context, generator)
  const processes = [...listProcesses(services), ...(generator?.processes ?? [])]
  const { changing, streaming, ending } = startBesideWork(window)
  state.ending = ending
  const watched = await observeWindow(context, { processes, generator, window })
  state.observed = { ...state.observed, samples: watched.samples, names: watched.names }
  const before = [...idle, ...looks]
  const { observation, measured } = await collectWindow(context, { processes, generator, window, before, watched })
  state.observed = { ...state.observed, observation }
  const changes = await changing
  const streams = await streaming
  const endingTimes = await ending
  // These fields are set before the gates judge: if a gate throws, the records keep them.
  state.records = state.records.map((record, i) => ({
    ...record,
    ...measured[i],
    changes,
    ...(streams?.[i].length && { streams: streams[i] }),
    ...(endingTimes && { ending: endingTimes }),
  }))
  state.records = judgeRecords(state.records, context.testbed)
}

/**
 * @typedef {object} BesideWork
 * @property {Promise<Change[] | null>} changing null: nothing is changed
 * @property {Promise<NonNullable<TrialRecord['streams']>[] | null>} streaming by the place of the trial; null: nothing is done beside
 *   the load
 * @property {TrialState['ending']} ending
 */

/**
 * Loads the modules of the kit's work beside the load, so that loading them is not part of the window.
 * @param {TrialContext} context
 * @param {Started[]} services
 * @returns {Promise<(window: Window) => BesideWork>} starts the work; its promises may be left unawaited, and reject as those of
 *   `changeConfiguration`, `measureStreams` and `endSidecar`
 */
async function prepareBesideWork(context, services) {
  const [{ changeTo, ending: plannedEnding }] = services
  const besideLoad = hasWorkBesideLoad(context.trials) ? await import('./beside-load.js') : null
  const endSidecar = plannedEnding && (await import('./ending.js')).endSidecar
  return window => {
    const changing = besideLoad?.changeConfiguration(context, { changeTo, window }) ?? Promise.resolve(null)
    const streaming = besideLoad?.measureStreams(context, { services, window }) ?? Promise.resolve(null)
    const ending = endSidecar ? endSidecar(context, { ending: plannedEnding, window }) : null
    // If the trial fails otherwise, nothing awaits these promises: an unhandled rejection would end the kit.
    const works = /** @type {(Promise<unknown> | null)[]} */ ([changing, streaming, ending])
    for (const work of works) work?.catch(() => {})
    return { changing, streaming, ending }
  }
}

/**
 * Removes the generator, and gives the services back. If one arm failed to start, the services of all are removed.
 * @param {TrialContext} context
 * @param {TrialState} state
 * @param {StandingServices} standing
 * @throws an error of the target if processes cannot be removed
 */
async function tearDownTrial({ trials, clock }, { records, services, generator, ending }, standing) {
  clock.enter('stopping')
  // Wait for a successor that is being started, so that it is removed with the others.
  await ending?.catch(() => {})
  const hasFailed = records.some(({ outcome }) => outcome === 'failed')
  const isWhole = services.length === trials.length
  const removing = services.map((started, i) =>
    isWhole ? standing.release({ arm: trials[i].arm, services: started, hasFailed }) : started.deployment.remove(),
  )
  await Promise.all([generator?.remove(), ...removing])
  clock.lap('stop')
}

/**
 * Looks at processes before any load. If a load opens a connection for each request, it also measures their idle CPU, which
 * takes seconds.
 * @param {TrialContext} context
 * @param {Handle[]} processes
 * @returns {Promise<Look[]>} by process; idleCpuCores: as `lookWithIdleCpu`, absent if it was not measured
 * @throws an error of the target; the signal's reason when it aborts
 */
async function lookBeforeLoad({ testbed, trials, signal }, processes) {
  const look = () => testbed.site.target.look(processes)
  const loads = trials.map(({ arm }) => arm.load)
  if (loads.every(({ connections }) => connections === 'kept')) return look()
  const { lookWithIdleCpu } = await import('./idle.js')
  return lookWithIdleCpu(processes, { loads, look, wait: ms => sleep(ms, signal) })
}

/**
 * Says whether the kit itself changes configurations, or times answers in chunks, beside the load.
 * @param {Trial[]} trials
 */
const hasWorkBesideLoad = trials =>
  trials.some(({ arm: { conditions, load } }) => conditions.changesPerMinute || hasChunks(load))

/** @param {Started[]} services @returns {Handle[]} */
const listProcesses = services => services.flatMap(({ deployment }) => deployment.processes)

/**
 * Starts the services of each arm, or claims the standing ones.
 * @param {TrialContext} context
 * @param {{ standing: StandingServices, services: Started[] }} options services: empty; it is filled in the order of the
 *   trials, also if a start fails, with those that started
 * @throws the error of the first start that failed, once all have settled; an error of `claim`
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
    const startOptions = { start: i === 0 ? start : nextStart(), folder: armFolder }
    return standingServices[i] ?? testbed.kind.start({ testbed, arm, round, ...startOptions, isInterleaved, signal })
  })
  const started = await Promise.allSettled(starting)
  for (const result of started) if (result.status === 'fulfilled') services.push(result.value)
  const failed = started.find(({ status }) => status === 'rejected')
  if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
  clock.lap(standingServices.includes(null) ? 'start' : 'kept')
}

/**
 * Creates a clock of the phases of a trial. It sends an event as each phase begins, and records how long each lap took.
 * @param {Watcher['watch']} watch
 * @returns phase: gives the current phase; seconds: of each lap, by name; enter: begins a phase; lap: ends a lap, which began with
 *   the end of the last one
 */
function createClock(watch) {
  /** @type {Record<string, number>} */
  const seconds = {}
  let lapStart = performance.now()
  /** @type {Phase} */
  let currentPhase = 'starting'
  return {
    phase: () => currentPhase,
    seconds,
    enter(/** @type {Phase} */ phase) {
      currentPhase = phase
      watch?.({ kind: 'phase', phase, atMs: Date.now() })
    },
    lap(/** @type {string} */ name) {
      const atMs = performance.now()
      seconds[name] = (atMs - lapStart) / 1000
      lapStart = atMs
    },
  }
}
