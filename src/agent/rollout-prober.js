import { readNowMs } from '../lib/clock.js'
import { readProcessStartTicks } from '../lib/process-start.js'
import { listPids, readProcFile } from '../node/kernel/proc-files.js'
import { createRolloutPoller, readCosts } from '../node/rollout-poller.js'

/** The agent's procedures for a rollout: they poll the sidecars of its node, whose start they see before the API server reports it. */
/** @import { Expected, ReloadAction } from '../model/types.ts' */

const TICK_MS = 20
// USER_HZ, in which the kernel counts start times for programs (proc(5)).
const TICKS_PER_SECOND = 100
// The container runtime's process becomes the program by exec, so a process is looked at on every tick at first, then seldom.
const YOUNG_MS = 1000
const SELDOM_MS = 200

/**
 * @typedef {object} ProcessStart
 * @property {number} startedMs epoch milliseconds, to 10 ms
 * @property {string} address IPv4, of the pod
 */
/**
 * @typedef {object} StartWait
 * @property {string} uid of the pod
 * @property {string} program the first word of the process's command line
 * @property {(start: ProcessStart | null) => void} settle ends the wait; null: it was given up
 */

/**
 * Creates the agent's procedures for a rollout. All but `openRolloutPoller`, `readCosts` and `closeRolloutPoller` throw an Error if
 * nothing is open.
 * @returns the procedures
 */
export function createRolloutProber() {
  /** @type {{ poller: ReturnType<typeof createRolloutPoller>, starts: ReturnType<typeof watchProcessStarts> } | null} */
  let opened = null
  const assertOpen = () => {
    if (opened === null) throw new Error('nobody is asked yet: openRolloutPoller comes first')
    return opened
  }
  const close = () => {
    opened?.starts.close()
    opened?.poller.close()
    opened = null
  }
  return {
    /** Starts to watch for processes, and to poll sidecars. If both go on already, they are closed first. */
    openRolloutPoller() {
      close()
      opened = { poller: createRolloutPoller(), starts: watchProcessStarts() }
    },

    /**
     * Waits for the process of a sidecar to start, then polls that sidecar for its first configuration. Its time counts from the
     * start of the process.
     * @param {{ uid: string, program: string, expected: Expected }} args uid: of the pod; program: the first word of the
     *   container's command; expected: its endpoint's address is replaced by that of the pod
     * @returns the pod's address, and the times as `expect` gives them; null: `giveUp` or `closeRolloutPoller` came before the start
     * @throws {import('../lib/errors.js').BenchError} as `expect`
     */
    async expectFirst({ uid, program, expected }) {
      const { poller, starts } = assertOpen()
      const start = await starts.awaitStart({ uid, program })
      if (start === null) return null
      const { address, startedMs } = start
      const endpoint = { ...expected.endpoint, address }
      const times = await poller.expect({ ...expected, endpoint, isStarting: true, sinceMs: startedMs })
      return { address, times }
    },

    /**
     * Polls a sidecar until it has its configuration, or polling ends (node/convergence.js): yesMs is then null.
     * @param {Expected} expected
     * @throws {import('../lib/errors.js').BenchError} if a request went over a kept connection, or a clock was set back
     */
    expect: expected => assertOpen().poller.expect(expected),

    /** Ends all waits: those for a start with null, those for a configuration with the times so far. */
    giveUp() {
      const { poller, starts } = assertOpen()
      starts.giveUp()
      return poller.giveUp()
    },

    /**
     * Performs the actions that bring a configuration to sidecars, over kept connections.
     * @param {{ actions: ReloadAction[] }} args
     * @param {AbortSignal} signal
     * @throws the error of performActions() (node/perform.js) if an action fails; the signal's reason when it aborts
     */
    bringConfiguration: ({ actions }, signal) => assertOpen().poller.perform(actions, signal),

    readCosts,
    closeRolloutPoller: close,
  }
}

/**
 * Watches for processes of pods to start, under the node's own /proc: once in TICK_MS while a start is awaited, until `close`. The
 * API server gives the start of a container to the second only, and the address of its pod up to seconds later: too late for
 * configurations that take less. Processes that run already are never found.
 * @param {{ proc?: string, readStart?: typeof readStartMs }} [options] proc: path of the node's /proc; readStart: reads when a
 *   process started
 * @returns awaitStart: waits for a process; giveUp: settles every wait with null; close: stops the watch, and gives up
 */
export function watchProcessStarts({ proc = '/proc', readStart = readStartMs } = {}) {
  /** @type {Set<StartWait>} */
  let waits = new Set()
  // Processes that run already are never looked at: only later ones can be those awaited.
  /** firstMs: when it was first seen; dueMs: when it is looked at next. @type {Map<number, { firstMs: number, dueMs: number }>} */
  let processes = new Map(listPids(proc).map(pid => [pid, { firstMs: 0, dueMs: Number.POSITIVE_INFINITY }]))

  const checkProcesses = () => {
    if (waits.size === 0) return
    const nowMs = readNowMs()
    const previous = processes
    processes = new Map(listPids(proc).map(pid => [pid, previous.get(pid) ?? { firstMs: nowMs, dueMs: 0 }]))
    for (const [pid, process] of processes) {
      if (nowMs < process.dueMs) continue
      process.dueMs = nowMs - process.firstMs < YOUNG_MS ? 0 : nowMs + SELDOM_MS
      if (settleWait(pid)) process.dueMs = Number.POSITIVE_INFINITY
    }
  }
  const timer = setInterval(checkProcesses, TICK_MS)

  /**
   * Settles and removes the wait for a process, if there is one and its pod has an address.
   * @param {number} pid
   * @returns {boolean} false: no wait is for it, its pod has no address yet, or it has ended
   */
  function settleWait(pid) {
    const [program] = readProcFile(`${proc}/${pid}/cmdline`).split('\0')
    const candidates = [...waits].filter(candidate => candidate.program === program)
    if (candidates.length === 0) return false
    // Under the systemd driver, the pod's uid in the name of its cgroup has _ in the place of -.
    const cgroup = readProcFile(`${proc}/${pid}/cgroup`).replaceAll('_', '-')
    const wait = candidates.find(({ uid }) => cgroup.includes(uid))
    if (!wait) return false
    const address = findPodAddress(readProcFile(`${proc}/${pid}/net/fib_trie`))
    if (address === null) return false
    const startedMs = readStart(pid)
    if (startedMs === null) return false
    waits.delete(wait)
    wait.settle({ startedMs, address })
    return true
  }

  return {
    /**
     * Waits for a process of a pod to start, and for the pod to have an address.
     * @param {Omit<StartWait, 'settle'>} process
     * @returns {Promise<ProcessStart | null>} null: `giveUp` or `close` came first; a call after `close` never resolves
     */
    awaitStart: ({ uid, program }) => new Promise(settle => waits.add({ uid, program, settle })),
    giveUp() {
      for (const { settle } of waits) settle(null)
      waits = new Set()
    },
    close() {
      clearInterval(timer)
      this.giveUp()
    },
  }
}

/**
 * Finds the first IPv4 address of a network namespace that is not of its loopback.
 * @param {string} trie the text of /proc/PID/net/fib_trie
 * @returns {string | null} null: it has none yet
 */
export function findPodAddress(trie) {
  const local = [...trie.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g)].map(([, address]) => address)
  return local.find(address => !address.startsWith('127.')) ?? null
}

/**
 * Reads when a process started: the present time of readNowMs(), less the uptime since its start.
 * @param {number} pid
 * @returns {number | null} epoch milliseconds; null: it has ended, or is a zombie
 */
function readStartMs(pid) {
  const ticks = readProcessStartTicks(pid)
  if (ticks === null) return null
  const [uptimeSeconds] = readProcFile('/proc/uptime').split(' ').map(Number)
  return readNowMs() - (uptimeSeconds - ticks / TICKS_PER_SECOND) * 1000
}
