import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readNowMs } from '../../lib/clock.js'
import { BenchError } from '../../lib/errors.js'
import { readFileTail, renderTail } from '../../lib/log-tail.js'
import { ROOT } from '../../lib/paths.js'
import { renderMebibytes } from '../../lib/units.js'
import { KIT_NODE, KIT_PYTHON } from '../../model/sidecar-contract.js'
import { createProbe } from '../../node/kernel/probe.js'
import { findFileLimit, isStopped } from '../../node/kernel/proc-files.js'
import { sendRequest } from '../../node/send.js'
import { cutLog, isLogTooLarge, LOG_LIMIT, openLog } from './log-file.js'
import { renderMarks } from './marks.js'
import { waitUntilListening } from './readiness.js'

/**
 * @import { Handle, Probe, ProcessSpec, Target } from '../../model/types.ts'
 * @import { CgroupTree, Group } from './cgroups.js'
 */

/**
 * @typedef {object} Local
 * @property {Probe} probe
 * @property {() => number[]} pids in its cgroup
 * @property {string[]} podNetworks files of the namespaces of its pods
 * @property {() => Promise<boolean>} enforceLogLimit cuts a log that is too large, or kills a generator, whose log is its result;
 *   resolves to true if the log was too large
 * @property {() => Promise<void>} stop kills all in its cgroup, removes that and cuts the log; rejects if the cgroup stays
 * @property {() => void} unref lets the kit exit while it runs
 */
/** @typedef {Handle & Local} RunningProcess */

// An OOM kill below this fraction of a memory limit is for the machine's memory, not for the limit.
const USED_UP = 0.95

// A shell joins the cgroups (0 is its own pid) before it becomes the program, so that every page is charged to them.
const LAUNCHER = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 >"$1" || exit 126; shift; n=$((n - 1)); done; exec "$@"'

/**
 * @typedef {object} ProcessStartOptions
 * @property {ProcessSpec} spec
 * @property {string} folder for its log
 * @property {CgroupTree} tree
 * @property {number} start its number
 * @property {string} runId
 * @property {string[]} [enterArgv] prefix that enters its network namespace; by default it has none
 * @property {string[]} [podNetworks] files of the namespaces of its pods, in their order
 * @property {Target['call']} [call] reaches it in its namespace
 */

/**
 * Starts a process in a cgroup of its own, in a folder of its own with its files. Its output goes to a log.
 * @param {ProcessStartOptions} options
 * @returns {Promise<RunningProcess>} it may not listen yet, or may have failed to start, which its `ending` shows
 * @throws {BenchError} if a limit cannot be set; the system's error if a file cannot be written, or its cgroup not created
 */
export async function startProcess({ spec, folder, tree, start, runId, enterArgv = [], podNetworks = [], call }) {
  const name = `${spec.service}-${spec.role}`
  const logFile = path.join(folder, `${name}.log`)
  await mkdir(folder, { recursive: true })
  await writeProcessFiles(spec)
  const { podCpuCores: cpuLimitCores } = spec
  const pod = cpuLimitCores === undefined ? undefined : { name: `${start}-${spec.service}-pod`, cpuLimitCores }
  const group = await tree.create(`${start}-${name}`, { ...spec, pod })
  const startedMs = readNowMs()
  const marks = { runId, start: `${start}`, name }
  const child = spawnInGroup({ spec, group, logFile, enterArgv, podNetworks, marks })
  /** @type {string | null} */
  let ending = null
  let isFlooding = false
  const exited = awaitExit(child)
  exited.then(exit => {
    ending = exit
  })

  // The process that starts a batch does not belong to it.
  const listPids = () => group.pids().filter(pid => spec.batchOf === undefined || pid !== child.pid)
  const groupProbe = createProbe({ group: { ...group, pids: listPids }, listens: spec.listens })
  /** @type {Probe} */
  const probe = spec.batchOf === undefined ? groupProbe : { ...groupProbe, readThreads: () => [], readUsage: () => [] }
  const isOutOfMemory = () => (probe.read().oomKills ?? 0) > 0
  const findStopped = () => group.pids().find(isStopped)
  const readLogTail = () => readFileTail(logFile)
  const findHostLimit = () =>
    isOutOfMemory() ? findMemoryShortage(spec, probe) : (listPids().map(findFileLimit).find(Boolean) ?? null)
  const renderCause = () => {
    if (isFlooding) return `: it was ended, for its log grew over ${LOG_LIMIT}`
    if (isOutOfMemory()) {
      const ownLimit = `its limit is ${renderMebibytes(Number(spec.memoryLimitBytes))} MiB`
      return `: the kernel killed it for memory (${findMemoryShortage(spec, probe) ?? ownLimit})`
    }
    const stopped = findStopped()
    return stopped === undefined ? '' : `: its process ${stopped} is stopped (state T in /proc/${stopped}/stat)`
  }
  const renderFailure = async (/** @type {string} */ failure) =>
    `${failure}${renderCause()}${renderTail(await readLogTail(), logFile)}`

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
      const request = { host: spec.service, path }
      return (await (call ? call('send', { endpoint: spec.admin, request }) : sendRequest(spec.admin, request))).body
    },

    waitUntilReady: (signal, { deadlineSeconds } = {}) =>
      waitUntilListening(
        { spec, name, probe, ending: () => ending, readLogTail, renderFailure },
        { signal, deadlineSeconds },
      ),

    renderFailure,

    async readLog() {
      if (isLogTooLarge(logFile))
        throw new BenchError(await renderFailure(`the log of ${name} is over ${LOG_LIMIT}, and is not read`))
      return readFile(logFile, 'utf8')
    },

    async enforceLogLimit() {
      if (spec.role !== 'generator') return cutLog(logFile)
      // The log of a generator is its result, which a cut would spoil: the generator is killed.
      if (!isLogTooLarge(logFile)) return false
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
      await cutLog(logFile).catch(() => {})
      group.close()
    },
  }
}

/**
 * Finds out whether the kernel killed a process for the memory of the machine, and not for its own limit.
 * @param {ProcessSpec} spec
 * @param {Probe} probe
 * @returns {string | null} a sentence for an error; null: it had used up its limit, or its peak is not known
 */
function findMemoryShortage({ memoryLimitBytes: limitBytes }, probe) {
  if (limitBytes === null) return 'the machine had no memory left'
  // The kernel kills for a limit only when all of it is used.
  const peakBytes = probe.read().peakBytes ?? limitBytes
  return peakBytes < USED_UP * limitBytes
    ? `the machine had no memory left: it had used ${renderMebibytes(peakBytes)} of its ${renderMebibytes(limitBytes)} MiB`
    : null
}

/**
 * Writes the files of a process to its folder, which it makes.
 * @param {ProcessSpec} spec
 * @throws the system's error if one cannot be written
 */
async function writeProcessFiles({ folder, files }) {
  await mkdir(folder, { recursive: true })
  for (const { name, content, encoding } of files) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content, encoding)
  }
}

/**
 * @typedef {object} SpawnOptions
 * @property {ProcessSpec} spec
 * @property {Group} group that it joins
 * @property {string} logFile
 * @property {string[]} enterArgv prefix that enters its network namespace; []: it has none
 * @property {string[]} podNetworks files of the namespaces of its pods, which it gets in POD_NETWORKS; []: it has no pods
 * @property {Parameters<typeof renderMarks>[0]} marks
 */

/**
 * Spawns the program of a process in its cgroups. Its output goes to the log.
 * @param {SpawnOptions} options
 * @returns {import('node:child_process').ChildProcess} it emits an error if it does not start
 * @throws the system's error if the log cannot be created, or the program cannot be spawned
 */
function spawnInGroup({ spec, group, logFile, enterArgv, podNetworks, marks }) {
  const pinArgv = spec.cpuSet ? ['taskset', '-c', spec.cpuSet.join(',')] : []
  const command = [...pinArgv, ...enterArgv, ...createArgv(spec)]
  const argv = ['-c', LAUNCHER, 'sh', `${group.joinFiles.length}`, ...group.joinFiles, ...command]
  const log = openLog(logFile)
  try {
    return spawn('/bin/sh', argv, {
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
  } finally {
    closeSync(log)
  }
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
 * Creates the argv of a process. KIT_NODE and KIT_PYTHON are replaced by the program of the runtime, whose first argument is the
 * path of a script in the kit.
 * @param {ProcessSpec} spec
 * @returns {string[]}
 */
function createArgv({ program, argv: [first, ...rest] }) {
  const runtime = { [KIT_NODE]: process.execPath, [KIT_PYTHON]: process.env.PYTHON || 'python3' }[program]
  if (runtime === undefined) return [program, ...(first === undefined ? [] : [first]), ...rest]
  return [runtime, path.join(ROOT, first), ...rest]
}
