import { BenchError } from '../lib/errors.js'
import { waitForCondition, waitUntilEpoch } from '../lib/wait.js'
import { chooseCpuRequest } from '../services/specs.js'
import { assertAllRun } from './alive.js'

/**
 * Starts, follows and ends the load of a trial.
 * @import { Arm, Deployment, LoadResult, Look, Window } from '../model/types.ts'
 * @import { TrialContext } from './trial.js'
 */

// The load continues past the end of the window, so that the last readings of CPU and memory are taken under load. Each further pair of
// pods adds time, since connections are read one network namespace after another.
const TAIL_MS = { alone: 1000, besideOthers: 800, furtherPair: 80 }
const START_SECONDS = 60
// The deadline is longer than the sidecars' request timeout and the generator's own grace for requests in flight.
const EXIT_SECONDS = 30
const COUNT_EVERY_MS = 1000

/**
 * Counts the CPUs that the generator can use (`countCpus` of the load) of those that it has: all of the load's own machine, else
 * those of its placement, else half of the services' machine, at least one.
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
 * Starts one generator for all arms of the trial.
 * @param {TrialContext} context
 * @param {import('./start-services.js').Started[]} services by the place of the arm in `trials`
 * @returns {Promise<Deployment | null>} it need not be ready yet; null: the load is idle
 * @throws an error of the target if it does not start
 */
export async function startGenerator({ testbed, trials, start, folder }, services) {
  const { site, programs, layout, folders } = testbed
  const [{ arm }] = trials
  const { load } = arm
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
    tls: arm.conditions.tls,
    tailMs: computeTailMs(arm),
    cpus: countGeneratorCpus(testbed, arm),
    folder: site.target.locate(folder, 'generator'),
  })
  const cpuSet = layout.placementOf(arm)?.generator ?? null
  const cpuRequestCores = chooseCpuRequest(arm, { role: 'generator', cpus: site.cpus })
  const placed = { ...spec, cpuSet, ...(cpuRequestCores !== undefined && { cpuRequestCores }) }
  return site.target.deploy([placed], { start, folder })
}

/**
 * Computes how long the load continues after the window.
 * @param {Arm} arm
 * @returns {number} milliseconds
 */
function computeTailMs({ load: { isInterleaved }, conditions: { pairs = 1 } }) {
  return (isInterleaved ? TAIL_MS.besideOthers : TAIL_MS.alone) + TAIL_MS.furtherPair * (pairs - 1)
}

/**
 * Waits until the generator logs its window, and converts the window to this machine's clock. Without a generator it chooses
 * the window here.
 * @param {TrialContext} context
 * @param {Deployment | null} generator null: there is no load
 * @returns {Promise<{ window: Window, looks: Look[] }>} looks: at the generator; [] without one
 * @throws {BenchError} if the generator dies or its clock is off; a TimeoutError if it logs no window within START_SECONDS; the
 *   signal's reason when it aborts
 */
export async function awaitWindow(context, generator) {
  const { testbed, trials, clock, signal } = context
  const { warmupSeconds, windowSeconds } = trials[0].arm.load
  const startMs = Date.now() + warmupSeconds * 1000
  let window = { startMs, endMs: startMs + windowSeconds * 1000 }
  /** @type {Look[]} */
  let looks = []
  if (generator !== null) {
    const hasWindow = async () => {
      const loggedWindow = await readLoggedWindow(context, generator)
      if (loggedWindow === null) return false
      assertPlausibleStart(loggedWindow.startMs - startMs)
      window = loggedWindow
      return true
    }
    const what = 'the load generator to start'
    await waitForCondition(hasWindow, { what, deadlineSeconds: START_SECONDS, intervalMs: 50, signal })
    looks = await testbed.site.target.look(generator.processes)
  }
  clock.lap('generator')
  clock.enter('warm-up')
  return { window, looks }
}

/**
 * Reads the window from the generator's log.
 * @param {TrialContext} context
 * @param {Deployment} generator
 * @returns {Promise<Window | null>} by this machine's clock; null: it is not logged yet
 * @throws {BenchError} if the generator has died
 */
async function readLoggedWindow({ testbed, clock }, { processes }) {
  await assertAllRun(processes, clock.phase())
  const [{ readLog, clockAheadMs = 0 }] = processes
  const logged = testbed.programs.load.parseWindow(await readLog())
  return logged && { startMs: logged.startMs - clockAheadMs, endMs: logged.endMs - clockAheadMs }
}

/**
 * Asserts that the generator's clock agrees with this machine's: it starts within START_SECONDS, so a window twice as far off shows
 * a wrong clock.
 * @param {number} aheadMs from the expected start of the window to the logged one
 * @throws {BenchError} if it is further off
 */
function assertPlausibleStart(aheadMs) {
  if (Math.abs(aheadMs) <= 2 * START_SECONDS * 1000) return
  const away = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
  throw new BenchError(
    `the clock of the load generator is ${away} this program's: was the clock set? Set both right, and run again`,
  )
}

/**
 * Sends the watcher a `counted` event once in COUNT_EVERY_MS, if there is a watcher and the generator has an admin port. A reading
 * that fails is skipped.
 * @param {TrialContext} context
 * @param {Deployment | null} generator null: there is no load, and nothing is sent
 * @returns {() => void} stops the events
 */
export function reportLoadProgress({ testbed, watch }, generator) {
  const [process] = generator?.processes ?? []
  if (!watch || !process?.spec.admin) return () => {}
  let isReading = false
  const timer = setInterval(async () => {
    if (isReading) return
    isReading = true
    const progress = await testbed.programs.load.readProgress(process.readAdmin).catch(() => null)
    if (progress) watch({ kind: 'counted', ...progress, atMs: Date.now() })
    isReading = false
  }, COUNT_EVERY_MS)
  return () => clearInterval(timer)
}

/**
 * Waits until the generator exits, and parses its results.
 * @param {TrialContext} context
 * @param {{ generator: Deployment, window: Window }} options
 * @returns {Promise<LoadResult[]>} one for each trial, in their order
 * @throws {BenchError} if it exits later than EXIT_SECONDS after the load, fails, or leaves a result out; the signal's reason when
 *   it aborts
 */
export async function awaitLoadResults({ testbed, trials, signal }, { generator, window }) {
  const deadlineMs = window.endMs + computeTailMs(trials[0].arm) + EXIT_SECONDS * 1000
  const late = waitUntilEpoch(deadlineMs, signal).then(() => 'late')
  late.catch(() => {})
  const [process] = generator.processes
  const createError = async (/** @type {string} */ outcome) =>
    new BenchError(await process.renderFailure(`the load generator ${outcome}`))
  const ending = await Promise.race([process.exited, late])
  if (ending === 'late') throw await createError(`did not end within ${EXIT_SECONDS} s`)
  if (ending !== 'status 0') throw await createError(`ended with ${ending}`)
  const log = await process.readLog()
  const results = trials.map((_, i) => testbed.programs.load.parseResult(log, i))
  if (results.includes(null)) throw await createError('left no result')
  return /** @type {LoadResult[]} */ (results)
}
