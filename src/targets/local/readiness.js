import { BenchError, TimeoutError } from '../../lib/errors.js'
import { waitForCondition } from '../../lib/wait.js'
import { isListeningAt } from '../../node/kernel/probe.js'

/** A process is ready when it listens at all endpoints of its spec. */
/** @import { Endpoint, Probe, ProcessSpec, ProcessUsage, ThreadCpu } from '../../model/types.ts' */

// As long as for pods (kubernetes/await-pods.js). A start takes far less, so only a process that hangs gets here.
const READY_SECONDS = 120
// A process that has listened for ELSEWHERE_MS, but only at wrong endpoints, fails: a program opens all its listeners at about the
// same time. If it computes or waits for a CPU for ELSEWHERE_BUSY_SHARE of a core or more, it is still starting, as under
// valgrind, for at most ELSEWHERE_MOST_MS.
const ELSEWHERE_MS = 2000
const ELSEWHERE_BUSY_SHARE = 0.2
const ELSEWHERE_MOST_MS = 30_000
// The deadline divided by this replaces ELSEWHERE_MS if it is shorter.
const ELSEWHERE_PARTS = 4
// A process that has logged why it cannot start, and uses no CPU this long after it, hangs.
const HANGING_MS = 1000

/**
 * @typedef {object} StartingProcess
 * @property {ProcessSpec} spec
 * @property {string} name for errors
 * @property {Probe} probe
 * @property {() => string | null} ending returns how it ended; null while it runs
 * @property {() => Promise<string>} readLogTail
 * @property {(failure: string) => Promise<string>} renderFailure adds the cause and the end of the log
 */

/**
 * Waits until a process listens at all endpoints of its spec, with a socket for each of its workers. It returns at once if there
 * are no endpoints.
 * @param {StartingProcess} process
 * @param {{ signal: AbortSignal, deadlineSeconds?: number }} options deadlineSeconds: READY_SECONDS by default
 * @throws {BenchError} if it ends, hangs after it has logged why it cannot start, listens elsewhere, or its cgroup was removed;
 *   {TimeoutError} if the deadline passes; the signal's reason when it aborts
 */
export async function waitUntilListening(process, { signal, deadlineSeconds = READY_SECONDS }) {
  const { spec, name, probe, ending, readLogTail, renderFailure } = process
  if (spec.listens.length === 0) return
  const leastSockets = spec.workers ?? 1
  const patienceMs = Math.min(ELSEWHERE_MS, (deadlineSeconds * 1000) / ELSEWHERE_PARTS)
  const hasSettledElsewhere = createElsewhereDetector({ spec, probe, patienceMs })
  const checkHanging = createHangDetector({ spec, probe, readLogTail })
  const checkReady = async () => {
    const exit = ending()
    if (exit !== null) throw new BenchError(await renderFailure(`${name} did not start: it ended with ${exit}`))
    if (probe.countListeners() >= leastSockets) return true
    if (await checkHanging())
      throw new BenchError(await renderFailure(`${name} did not start: it logged an error, and then hung`))
    if (hasSettledElsewhere())
      throw new BenchError(await renderFailure(`${name} ${renderSockets(spec, probe.listListening())}`))
    return false
  }
  try {
    const what = `${name} to listen (${leastSockets} sockets an address)`
    await waitForCondition(checkReady, { what, deadlineSeconds, signal })
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    const sockets = renderSockets(spec, probe.listListening())
    throw new TimeoutError(await renderFailure(`${error.message}: it ${sockets}`), { cause: error })
  }
}

/**
 * Says whether a process listens, but at none of the endpoints of its spec, as with a port that is fixed in a script.
 * The administration port does not count, since it may open before the others.
 * @param {ProcessSpec} spec
 * @param {Endpoint[]} listening the endpoints at which it listens
 * @returns {boolean} false also: it listens nowhere yet
 */
function isListeningElsewhere({ listens, admin }, listening) {
  const isExpected = (/** @type {Endpoint} */ socket) => listens.some(endpoint => isListeningAt(socket, endpoint))
  const counted = listening.filter(socket => socket.port !== admin?.port)
  return counted.length > 0 && !counted.some(isExpected)
}

/**
 * Creates a function that says whether a process has listened at wrong endpoints only, without a break: for `patienceMs` in which it
 * was idle, or for ELSEWHERE_MOST_MS. The time counts from the first call that sees this, so it is to be called repeatedly.
 * @param {{ spec: ProcessSpec, probe: Probe, patienceMs: number }} options
 * @returns {() => boolean}
 */
function createElsewhereDetector({ spec, probe, patienceMs }) {
  const readCpu = () => ({ ms: performance.now(), usage: probe.readUsage(), threads: probe.readThreads() })
  /** @type {{ firstMs: number, last: ReturnType<typeof readCpu> } | null} */
  let elsewhere = null
  return () => {
    if (!isListeningElsewhere(spec, probe.listListening())) {
      elsewhere = null
      return false
    }
    elsewhere ??= { firstMs: performance.now(), last: readCpu() }
    const { firstMs, last } = elsewhere
    // A starting process is polled often: its threads are read again only when the time is over.
    if (performance.now() - last.ms <= patienceMs) return false
    const now = readCpu()
    const busySeconds = sumCpuSeconds(now.usage) - sumCpuSeconds(last.usage) + computeWaitSeconds(last, now)
    const isBusy = (busySeconds * 1000) / (now.ms - last.ms) >= ELSEWHERE_BUSY_SHARE
    elsewhere.last = now
    return !isBusy || now.ms - firstMs > ELSEWHERE_MOST_MS
  }
}

/**
 * Sums the CPU time of processes, including threads and children that have ended.
 * @param {ProcessUsage[]} usage
 * @returns {number} seconds
 */
function sumCpuSeconds(usage) {
  return usage.reduce((sum, { cpuSeconds, childrenSeconds }) => sum + cpuSeconds + childrenSeconds, 0)
}

/**
 * Computes how long threads waited for a CPU between two readings. Threads that have ended do not count.
 * @param {{ threads: ThreadCpu[] }} before
 * @param {{ threads: ThreadCpu[] }} after
 * @returns {number} seconds
 */
function computeWaitSeconds(before, after) {
  const waitedBefore = new Map(before.threads.map(({ id, waitSeconds = 0 }) => [id, waitSeconds]))
  return after.threads.reduce(
    (sum, { id, waitSeconds = 0 }) => sum + Math.max(0, waitSeconds - (waitedBefore.get(id) ?? 0)),
    0,
  )
}

/**
 * Creates a function that says whether a process hangs: it has logged that it cannot start, and has used no CPU time for HANGING_MS.
 * A slow start, as under valgrind, uses CPU time. The function is to be called repeatedly, while the process runs.
 * @param {Pick<StartingProcess, 'spec' | 'probe' | 'readLogTail'>} process
 * @returns {() => Promise<boolean>} always false if the spec has no `startErrorText`
 */
function createHangDetector({ spec: { startErrorText }, probe, readLogTail }) {
  let cpuSeconds = Number.NaN
  let idleSinceMs = Number.POSITIVE_INFINITY
  return async () => {
    if (startErrorText === undefined) return false
    const secondsNow = probe.readThreads().reduce((sum, thread) => sum + thread.cpuSeconds, 0)
    if (secondsNow !== cpuSeconds) {
      cpuSeconds = secondsNow
      idleSinceMs = performance.now()
    }
    // Its log is read only then: a start that goes well is not slowed.
    return performance.now() - idleSinceMs > HANGING_MS && (await readLogTail()).includes(startErrorText)
  }
}

/**
 * Renders the endpoints at which a process listens, and those at which it should.
 * @param {ProcessSpec} spec
 * @param {Endpoint[]} listening the endpoints at which it listens
 * @returns {string} a predicate: `listens at …, and not at …`, or `has no listening socket, not at …`. If only a worker has no socket
 *   yet, no endpoint is missing, and all are named
 */
function renderSockets({ listens }, listening) {
  const renderEndpoints = (/** @type {Endpoint[]} */ endpoints) => {
    const texts = endpoints.map(({ address, port }) => `${address === '*' ? '0.0.0.0' : address}:${port}`)
    return [...new Set(texts)].join(' and ')
  }
  const missing = listens.filter(endpoint => !listening.some(socket => isListeningAt(socket, endpoint)))
  const expectation = `not at ${renderEndpoints(missing.length > 0 ? missing : listens)}`
  return listening.length > 0
    ? `listens at ${renderEndpoints(listening)}, and ${expectation}`
    : `has no listening socket, ${expectation}`
}
