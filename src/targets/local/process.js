import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, openSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BenchError, TimeoutError } from '../../lib/errors.js'
import { readTail, renderTail } from '../../lib/log-tail.js'
import { ROOT } from '../../lib/paths.js'
import { renderMebibytes } from '../../lib/units.js'
import { waitForCondition } from '../../lib/wait.js'
import { KIT_NODE, KIT_PYTHON } from '../../model/sidecar-contract.js'
import { readNowMs } from '../../node/convergence.js'
import { createProbe, isAt } from '../../node/kernel/probe.js'
import { findFileLimit, isStopped } from '../../node/kernel/proc-files.js'
import { sendRequest } from '../../node/send.js'
import { renderMarks } from './marks.js'

/** @import { Endpoint, Handle, Probe, ProcessSpec, ProcessUsage, Target, ThreadCpu } from '../../model/types.ts' */
/** @import { CgroupTree } from './cgroups.js' */

/**
 * @typedef {object} Local
 * @property {Probe} probe
 * @property {() => number[]} pids in its cgroup
 * @property {string[]} podNetworks files of the namespaces of its pods
 * @property {() => Promise<boolean>} boundLog limits the log; resolves to true if it was too large
 * @property {() => Promise<void>} stop kills all in its cgroup
 * @property {() => void} unref lets the kit exit while it runs
 */
/** @typedef {Handle & Local} RunningProcess */

// The same as on a cluster: it only detects a process that hangs.
const READY_SECONDS = 120
// A process that has listened for ELSEWHERE_MS, but only at wrong endpoints, fails: a program opens all its listeners at about the
// same time. If it computes or waits for a CPU for more than ELSEWHERE_BUSY_SHARE of a core, it is still starting, as under
// valgrind, for at most ELSEWHERE_MOST_MS.
const ELSEWHERE_MS = 2000
const ELSEWHERE_BUSY_SHARE = 0.2
const ELSEWHERE_MOST_MS = 30_000
// The deadline divided by this replaces ELSEWHERE_MS if it is shorter.
const ELSEWHERE_PARTS = 4
// A process that has logged why it cannot start, and uses no CPU this long after it, hangs.
const HANGING_MS = 1000
// Largest log: one with a line for each request would fill the disk in a soak, and one that floods within a minute.
const MOST_BYTES = 32 * 1024 * 1024
// Fraction of a memory limit: an OOM kill at a lower peak is for the machine's memory, not for the limit.
const USED_UP = 0.95
/** Time between two checks of a log's size. */
export const BOUND_MS = 1000

// A shell joins the cgroups (0 is its own pid) before it becomes the program, so that every page is charged to them.
const LAUNCHER = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 >"$1" || exit 126; shift; n=$((n - 1)); done; exec "$@"'

/**
 * @typedef {object} ProcessStart
 * @property {ProcessSpec} spec
 * @property {string} folder for its files and its log
 * @property {CgroupTree} tree
 * @property {number} start its number
 * @property {string} runId
 * @property {string[]} [enter] argv prefix that enters its network namespace; by default it has none
 * @property {string[]} [podNetworks] files of the namespaces of its pods, in their order
 * @property {Target['call']} [call] reaches it in its namespace
 */

/**
 * Starts a process in a cgroup of its own, in a folder of its own with its files and its log.
 * @param {ProcessStart} options
 * @returns {Promise<RunningProcess>} it may not listen yet, or may have failed to start, which its `ending` shows
 * @throws {BenchError} if its cgroup cannot be created
 */
export async function startProcess({ spec, folder, tree, start, runId, enter = [], podNetworks = [], call }) {
  const name = `${spec.service}-${spec.role}`
  const logFile = path.join(folder, `${name}.log`)
  await mkdir(folder, { recursive: true })
  await writeFiles(spec)
  const { podCpuCores } = spec
  const pod =
    podCpuCores === undefined ? undefined : { name: `${start}-${spec.service}-pod`, cpuLimitCores: podCpuCores }
  const group = await tree.create(`${start}-${name}`, { ...spec, pod })
  const startedMs = readNowMs()
  const child = spawnInGroup({ spec, group, logFile, enter, podNetworks, marks: { runId, start: `${start}`, name } })
  /** @type {string | null} */
  let ending = null
  let isFlooding = false
  const exited = awaitExit(child)
  exited.then(outcome => {
    ending = outcome
  })

  // The process that starts a batch does not belong to it.
  const listPidsOfGroup = () => group.pids().filter(pid => spec.batchOf === undefined || pid !== child.pid)
  const groupProbe = createProbe({ group: { ...group, pids: listPidsOfGroup }, listens: spec.listens })
  /** @type {Probe} */
  const probe = spec.batchOf === undefined ? groupProbe : { ...groupProbe, readThreads: () => [], readUsage: () => [] }
  const isOutOfMemory = () => (probe.read().oomKills ?? 0) > 0
  const findHostLimit = () => {
    const { memoryLimitBytes: limitBytes } = spec
    if (isOutOfMemory()) {
      if (limitBytes === null) return 'the machine had no memory left'
      // The kernel kills for a limit only when all of it is used.
      const peakBytes = probe.read().peakBytes ?? limitBytes
      return peakBytes < USED_UP * limitBytes
        ? `the machine had no memory left: it had used ${renderMebibytes(peakBytes)} of its ${renderMebibytes(limitBytes)} MiB`
        : null
    }
    return listPidsOfGroup().map(findFileLimit).find(Boolean) ?? null
  }
  const findStopped = () => group.pids().find(isStopped)
  const findCause = () => {
    if (isFlooding) return `: it was ended, for its log grew over ${LOG_MOST}`
    if (isOutOfMemory())
      return `: the kernel killed it for memory (${findHostLimit() ?? `its limit is ${renderMebibytes(Number(spec.memoryLimitBytes))} MiB`})`
    const stopped = findStopped()
    return stopped === undefined ? '' : `: its process ${stopped} is stopped (state T in /proc/${stopped}/stat)`
  }
  const renderFailure = async (/** @type {string} */ what) =>
    `${what}${findCause()}${renderTail(await readTail(logFile), logFile)}`

  return {
    spec,
    startedMs,
    exited,
    ending: () => ending,
    isOutOfMemory,
    findHostLimit,
    isStopped: () => findStopped() !== undefined,
    probe,
    pids: group.pids,
    podNetworks,
    signal: name => void (ending === null && child.kill(name)),
    async readAdmin(path = spec.admin?.path) {
      if (!spec.admin) return null
      const ask = { host: spec.service, path }
      return (await (call ? call('send', { endpoint: spec.admin, ask }) : sendRequest(spec.admin, ask))).body
    },

    async waitUntilReady(signal, { deadlineSeconds = READY_SECONDS } = {}) {
      if (spec.listens.length === 0) return
      const leastSockets = spec.workers ?? 1
      const patienceMs = Math.min(ELSEWHERE_MS, (deadlineSeconds * 1000) / ELSEWHERE_PARTS)
      const hasSettledElsewhere = createElsewhereDetector({ spec, probe, patienceMs })
      const isHanging = createHangDetector({ spec, probe, readText: () => readTail(logFile) })
      const isReady = async () => {
        if (ending !== null) throw new BenchError(await renderFailure(`${name} did not start: it ended with ${ending}`))
        if (probe.countListeners() >= leastSockets) return true
        if (await isHanging())
          throw new BenchError(await renderFailure(`${name} did not start: it logged an error, and then hung`))
        if (hasSettledElsewhere())
          throw new BenchError(await renderFailure(`${name} ${renderSockets(spec, probe.listListening())}`))
        return false
      }
      const what = `${name} to listen (${leastSockets} sockets an address)`
      await waitForCondition(isReady, { what, deadlineSeconds, signal }).catch(async error => {
        if (!(error instanceof TimeoutError)) throw error
        const sockets = renderSockets(spec, probe.listListening())
        throw new TimeoutError(await renderFailure(`${error.message}: it ${sockets}`), { cause: error })
      })
    },

    renderFailure,
    async readLog() {
      if (isLarge(logFile))
        throw new BenchError(await renderFailure(`the log of ${name} is over ${LOG_MOST}, and is not read`))
      return readFile(logFile, 'utf8')
    },
    async boundLog() {
      if (spec.role !== 'generator') return limitLog(logFile)
      // The log of a generator is its result, which a cut would spoil: the generator is killed.
      if (!isLarge(logFile)) return false
      isFlooding = true
      child.kill('SIGKILL')
      return true
    },
    unref: () => child.unref(),

    async stop() {
      await group.remove()
      // If something else removed the cgroup, its removal has killed nothing.
      if (ending === null) child.kill('SIGKILL')
      await exited
      await limitLog(logFile).catch(() => {})
      group.close()
    },
  }
}

/** Writes the files of a process to its folder. @param {ProcessSpec} spec */
async function writeFiles({ folder, files }) {
  await mkdir(folder, { recursive: true })
  for (const { name, content, encoding } of files) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content, encoding)
  }
}

/**
 * Spawns the program of a process in its cgroups. Its output goes to the log.
 * @param {Required<Pick<ProcessStart, 'spec' | 'enter' | 'podNetworks'>> & { group: Awaited<ReturnType<CgroupTree['create']>>,
 *   logFile: string, marks: Parameters<typeof renderMarks>[0] }} options
 * @returns {import('node:child_process').ChildProcess}
 */
function spawnInGroup({ spec, group, logFile, enter, podNetworks, marks }) {
  const log = openLog(logFile)
  const pinned = spec.cpuSet ? ['taskset', '-c', spec.cpuSet.join(',')] : []
  const command = [...pinned, ...enter, ...createArgv(spec)]
  const argv = ['-c', LAUNCHER, 'sh', `${group.joinFiles.length}`, ...group.joinFiles, ...command]
  const child = spawn('/bin/sh', argv, {
    cwd: spec.folder,
    env: {
      ...spec.env,
      ...(podNetworks.length > 0 && { POD_NETWORKS: podNetworks.join(':') }),
      PATH: process.env.PATH,
      ...renderMarks(marks),
    },
    stdio: ['ignore', log, log],
    // The process has a group of its own: a Ctrl-C of the terminal reaches only this process, which stops it in order.
    detached: true,
  })
  closeSync(log)
  return child
}

/**
 * Waits until a process exits.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string>} `signal N`, `status N`, or the error if it did not start
 */
function awaitExit(child) {
  return new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, killedBy) => resolve(killedBy ? `signal ${killedBy}` : `status ${code}`))
  })
}

/**
 * Creates the argv of a process. KIT_NODE and KIT_PYTHON are replaced by the path of the runtime.
 * @param {ProcessSpec} spec
 * @returns {string[]}
 */
function createArgv({ program, argv: [first, ...rest] }) {
  const runtime = { [KIT_NODE]: process.execPath, [KIT_PYTHON]: process.env.PYTHON || 'python3' }[program]
  if (runtime === undefined) return [program, ...(first === undefined ? [] : [first]), ...rest]
  return [runtime, path.join(ROOT, first), ...rest]
}

/**
 * Says whether a process listens, but at none of the endpoints of its spec, as with a port that is fixed in a script.
 * The administration port does not count, since it may open before the others.
 * @param {ProcessSpec} spec
 * @param {Endpoint[]} listening the endpoints at which it listens
 */
function isListeningElsewhere({ listens, admin }, listening) {
  const others = listening.filter(socket => socket.port !== admin?.port)
  return others.length > 0 && !others.some(socket => listens.some(endpoint => isAt(socket, endpoint)))
}

/**
 * Creates a function that says whether a process has listened at wrong endpoints only, without a break: for
 * `patienceMs` in which it was idle, or for ELSEWHERE_MOST_MS.
 * @param {{ spec: ProcessSpec, probe: Probe, patienceMs: number }} options
 * @returns {() => boolean}
 */
function createElsewhereDetector({ spec, probe, patienceMs }) {
  const readNow = () => ({ ms: performance.now(), usage: probe.readUsage(), threads: probe.readThreads() })
  /** @type {{ firstMs: number, last: ReturnType<typeof readNow> } | null} */
  let elsewhere = null
  return () => {
    if (!isListeningElsewhere(spec, probe.listListening())) {
      elsewhere = null
      return false
    }
    elsewhere ??= { firstMs: performance.now(), last: readNow() }
    const { firstMs, last } = elsewhere
    // A starting process is polled often: its threads are read again only when the time is over.
    if (performance.now() - last.ms <= patienceMs) return false
    const now = readNow()
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
 * Creates a function that says whether a process hangs: it has logged that it cannot start, has not exited, and has
 * used no CPU time for HANGING_MS. A slow start, as under valgrind, uses CPU time.
 * @param {{ spec: ProcessSpec, probe: Probe, readText: () => Promise<string> }} options readText: reads the end of
 *   its log
 * @returns {() => Promise<boolean>}
 */
function createHangDetector({ spec: { startErrorText }, probe, readText }) {
  let cpuSeconds = Number.NaN
  let idleSinceMs = Number.POSITIVE_INFINITY
  return async () => {
    if (startErrorText === undefined) return false
    const used = probe.readThreads().reduce((sum, thread) => sum + thread.cpuSeconds, 0)
    if (used !== cpuSeconds) {
      cpuSeconds = used
      idleSinceMs = performance.now()
    }
    // Its log is read only then: a start that goes well is not slowed.
    return performance.now() - idleSinceMs > HANGING_MS && (await readText()).includes(startErrorText)
  }
}

/**
 * Renders where a process listens, and where it should.
 * @param {ProcessSpec} spec
 * @param {Endpoint[]} listening the endpoints at which it listens
 * @returns {string} a predicate: `listens at …, and not at …`
 */
function renderSockets({ listens }, listening) {
  const join = (/** @type {Endpoint[]} */ endpoints) => {
    const texts = endpoints.map(({ address, port }) => `${address === '*' ? '0.0.0.0' : address}:${port}`)
    return [...new Set(texts)].join(' and ')
  }
  const missing = listens.filter(endpoint => !listening.some(socket => isAt(socket, endpoint)))
  const expectation = `not at ${join(missing.length > 0 ? missing : listens)}`
  return listening.length > 0
    ? `listens at ${join(listening)}, and ${expectation}`
    : `has no listening socket, ${expectation}`
}

/**
 * Creates an empty file and opens it for appending, so that writes begin at its start after it was truncated.
 * @param {string} file
 * @returns {number} the file descriptor
 */
export function openLog(file) {
  writeFileSync(file, '')
  return openSync(file, 'a')
}

/**
 * Says whether a log is larger than MOST_BYTES.
 * @param {string} file
 */
const isLarge = file => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MOST_BYTES

/**
 * Truncates a log that is larger than `mostBytes` to its end, with a note at its start.
 * @param {string} file its path
 * @returns {Promise<boolean>} true: it was larger; false: it was not, or does not exist
 */
export async function limitLog(file, mostBytes = MOST_BYTES) {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size <= mostBytes) return false
  const tail = await readTail(file)
  truncateSync(file)
  appendFileSync(file, `[sidecar-bench cut this log at ${renderMebibytes(size)} MiB; its end:]\n${tail}`)
  return true
}

/** The largest size of a log, in words. */
export const LOG_MOST = `${renderMebibytes(MOST_BYTES)} MiB`
