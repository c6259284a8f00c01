import { BenchError } from '../lib/errors.js'
import { waitForCondition, waitUntilEpoch } from '../lib/wait.js'
import { chooseCpuRequest } from '../services/specs.js'
import { assertAllRun } from './alive.js'

/** Starts, follows and ends the load of a trial. @import { Course } from './trial.js' */
/** @import { Arm, Deployment, LoadResult, Look, Window } from '../model/types.ts' */

// The load continues after the window, so that its end is measured under load and the memory is read there; longer for each
// further pair of pods, whose connections are read one namespace after the other.
const TAIL_MS = { alone: 1000, besideOthers: 800, furtherPair: 80 }
const START_SECONDS = 60
// The deadline is longer than the sidecars' request timeout and the generator's own grace for requests in flight.
const EXIT_SECONDS = 30
const COUNT_EVERY_MS = 1000

/**
 * Counts the CPUs that the generator may and can use: those of the load's own machine, else those of its placement, else half
 * of this machine's, at least one.
 * @param {import('./kind.js').Testbed} testbed
 * @param {Arm} arm
 * @returns {number}
 */
export function countGeneratorCpus({ site, layout, programs }, arm) {
  const localCpus = Math.max(1, layout.placementOf(arm)?.generator.length ?? Math.floor(site.cpus / 2))
  const cpus = site.loadHost?.cpus ?? localCpus
  return programs.load.countCpus({ cpus, users: arm.load.users })
}

/**
 * Starts one generator for all arms of the course.
 * @param {Course} course
 * @param {import('./start-services.js').Started[]} services by the place of the arm in `trials`
 * @returns {Promise<Deployment | null>} it need not be ready yet; null: the load is idle
 */
export async function startGenerator({ testbed, trials, start, folder }, services) {
  const { site, programs, layout, folders } = testbed
  const [trial] = trials
  const { load } = trial.arm
  const [{ entry }] = services
  if (load.kind === 'idle') return null
  const spec = programs.load.createGenerator({
    ...entry,
    ...(services.length > 1 && {
      arms: services.map(({ entry: { urls, request } }, i) => ({ urls, load: trials[i].arm.load, request })),
      seed: start,
    }),
    tool: programs.tools[programs.load.tool.name],
    scripts: site.target.locate(folders.load, 'generator'),
    load,
    tls: trial.arm.conditions.tls,
    tailMs: chooseTailMs(trial.arm),
    cpus: countGeneratorCpus(testbed, trial.arm),
    folder: site.target.locate(folder, 'generator'),
  })
  const cpuSet = layout.placementOf(trial.arm)?.generator ?? null
  const cpuRequestCores = chooseCpuRequest(trial.arm, { role: 'generator', cpus: site.cpus })
  return site.target.deploy([{ ...spec, cpuSet, ...(cpuRequestCores !== undefined && { cpuRequestCores }) }], {
    start,
    folder,
  })
}

/**
 * Computes how long the load continues after the window.
 * @param {Arm} arm
 * @returns {number} milliseconds
 */
function chooseTailMs({ load: { isInterleaved }, conditions: { pairs = 1 } }) {
  return (isInterleaved ? TAIL_MS.besideOthers : TAIL_MS.alone) + TAIL_MS.furtherPair * (pairs - 1)
}

/**
 * Waits until the generator logs its window, and converts the window to this machine's clock. Without a generator it chooses
 * the window here.
 * @param {Course} course
 * @param {Deployment | null} generator null: there is no load
 * @returns {Promise<{ window: Window, looks: Look[] }>} looks: at the generator; [] without one
 * @throws {BenchError} if the generator dies or its clock is off; TimeoutError if it logs no window within 60 s
 */
export async function awaitWindow({ testbed, trials, clock, signal }, generator) {
  const { warmupSeconds, windowSeconds } = trials[0].arm.load
  const startMs = Date.now() + warmupSeconds * 1000
  let window = { startMs, endMs: startMs + windowSeconds * 1000 }
  /** @type {Look[]} */
  let looks = []
  if (generator !== null) {
    const isAgreed = async () => {
      await assertAllRun(generator.processes, clock.phase())
      const [{ readLog, clockAheadMs = 0 }] = generator.processes
      const loggedWindow = testbed.programs.load.parseWindow(await readLog())
      if (loggedWindow)
        window = { startMs: loggedWindow.startMs - clockAheadMs, endMs: loggedWindow.endMs - clockAheadMs }
      // A generator starts within START_SECONDS, so a window twice as far off shows a wrong clock.
      const aheadMs = window.startMs - startMs
      if (Math.abs(aheadMs) > 2 * START_SECONDS * 1000) {
        const away = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
        throw new BenchError(
          `the clock of the load generator is ${away} this program's: was the clock set? Set both right, and run again`,
        )
      }
      return loggedWindow !== null
    }
    const awaitedEvent = 'the load generator to start'
    await waitForCondition(isAgreed, { what: awaitedEvent, deadlineSeconds: START_SECONDS, intervalMs: 50, signal })
    looks = await testbed.site.target.look(generator.processes)
  }
  clock.lap('generator')
  clock.enter('warm-up')
  return { window, looks }
}

/**
 * Sends the watcher a `counted` event each second, if there is a watcher and the generator has an admin port. A reading that
 * fails is skipped.
 * @param {Course} course
 * @param {Deployment | null} generator
 * @returns {() => void} stops the events
 */
export function followLoad({ testbed, watch }, generator) {
  const [process] = generator?.processes ?? []
  if (!watch || !process?.spec.admin) return () => {}
  let isAsking = false
  const timer = setInterval(async () => {
    if (isAsking) return
    isAsking = true
    const progress = await testbed.programs.load.readProgress(process.readAdmin).catch(() => null)
    if (progress) watch({ kind: 'counted', ...progress, atMs: Date.now() })
    isAsking = false
  }, COUNT_EVERY_MS)
  return () => clearInterval(timer)
}

/**
 * Waits until the generator exits, and parses its results.
 * @param {Course} course
 * @param {{ generator: Deployment, window: Window }} options
 * @returns {Promise<LoadResult[]>} one for each trial of the course, in their order
 * @throws {BenchError} if it exits later than 30 s after the load, fails, or leaves a result out; the signal's reason when it
 *   aborts
 */
export async function finishLoad({ testbed, trials, signal }, { generator, window }) {
  const late = waitUntilEpoch(window.endMs + chooseTailMs(trials[0].arm) + EXIT_SECONDS * 1000, signal).then(
    () => 'late',
  )
  late.catch(() => {})
  const [process] = generator.processes
  const fail = async (/** @type {string} */ outcome) =>
    new BenchError(await process.renderFailure(`the load generator ${outcome}`))
  const ending = await Promise.race([process.exited, late])
  if (ending === 'late') throw await fail(`did not end within ${EXIT_SECONDS} s`)
  if (ending !== 'status 0') throw await fail(`ended with ${ending}`)
  const log = await process.readLog()
  const results = trials.map((_, place) => testbed.programs.load.parseResult(log, place))
  if (results.includes(null)) throw await fail('left no result')
  return /** @type {LoadResult[]} */ (results)
}
