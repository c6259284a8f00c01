import { processStartTicks } from '../lib/process-start.js'
import { createAsking, readCosts } from '../node/asking.js'
import { readNowMs } from '../node/convergence.js'
import { listPids, readProcFile } from '../node/kernel/proc-files.js'

/** Asks the sidecars of its node for their configuration (../node/asking.js), and sees them start before the API server tells it. */
/** @import { Expected, ReloadAction } from '../model/types.ts' */

const TICK_MS = 20
// USER_HZ, in which the kernel counts start times for programs (proc(5)).
const TICKS_PER_SECOND = 100
// The container runtime's process becomes the program by exec, so a process is looked at on every tick at first, then seldom.
const YOUNG_MS = 1000
const SELDOM_MS = 200

/** @typedef {{ startedMs: number, address: string }} Started startedMs: epoch milliseconds, to 10 ms; address: IPv4, of the pod */
/** @typedef {{ uid: string, program: string, settle: (started: Started | null) => void }} Awaited */

/**
 * Creates the agent's procedures for a rollout. Those that need `openAsking` throw before it is called.
 * @returns the procedures
 */
export function createAsker() {
  /** @type {{ asking: ReturnType<typeof createAsking>, starts: ReturnType<typeof createStarts> } | null} */
  let open = null
  const assertOpened = () => {
    if (open === null) throw new Error('nobody is asked yet: openAsking comes first')
    return open
  }
  const close = () => {
    open?.starts.close()
    open?.asking.close()
    open = null
  }
  return {
    /** Opens the asking; one that is open already is closed before. */
    openAsking() {
      close()
      open = { asking: createAsking(), starts: createStarts() }
    },

    /**
     * Waits for the process of a sidecar to start, then asks that sidecar for its first configuration.
     * @param {{ uid: string, program: string, expected: Expected }} args uid: of the pod; program: the first word of the
     *   container's command; expected: its endpoint's address is replaced by that of the pod
     * @returns the pod's address, and the times of the answers; null: asking ended before the process started
     */
    async expectFirst({ uid, program, expected }) {
      const { asking, starts } = assertOpened()
      const started = await starts.find({ uid, program })
      if (started === null) return null
      const { address, startedMs } = started
      const endpoint = { ...expected.endpoint, address }
      const convergence = await asking.expect({ ...expected, endpoint, isStarting: true, sinceMs: startedMs })
      return { address, times: convergence }
    },

    /**
     * Asks from now on until the expected answer comes, or asking ends (convergence.js).
     * @param {Expected} expected
     */
    expect: expected => assertOpened().asking.expect(expected),

    /** Ends all waits: those for a start with null, those for an answer with the times so far. */
    giveUp() {
      assertOpened().starts.giveUp()
      return assertOpened().asking.giveUp()
    },

    /**
     * Performs the actions that bring a configuration.
     * @param {{ actions: ReloadAction[] }} args
     * @param {AbortSignal} signal
     */
    bring: ({ actions }, signal) => assertOpened().asking.perform(actions, signal),

    readCosts,
    closeAsking: close,
  }
}

/**
 * Watches for processes of pods to start, under the node's own /proc. The API server gives the start of a container to the second
 * only, and the address of its pod up to seconds later: too late for configurations that take less. It looks every 20 ms while a
 * process is awaited, until it is closed.
 * @param {{ proc?: string, startOf?: typeof readStartMs }} [options] proc: path of the node's /proc
 * @returns find: awaits the start of a process; giveUp: settles every wait with null; close: stops the watch, and gives up
 */
export function createStarts({ proc = '/proc', startOf = readStartMs } = {}) {
  /** @type {Set<Awaited>} */
  let awaited = new Set()
  // Processes that run already are never looked at: only later ones can be those awaited.
  /** @type {Map<string, { fromMs: number, dueMs: number }>} */
  let known = new Map(listPids(proc).map(pid => [pid, { fromMs: 0, dueMs: Number.POSITIVE_INFINITY }]))

  const timer = setInterval(() => {
    if (awaited.size === 0) return
    const atMs = readNowMs()
    const before = known
    known = new Map(listPids(proc).map(pid => [pid, before.get(pid) ?? { fromMs: atMs, dueMs: 0 }]))
    for (const [pid, process] of known) {
      if (atMs < process.dueMs) continue
      process.dueMs = atMs - process.fromMs < YOUNG_MS ? 0 : atMs + SELDOM_MS
      if (look(pid)) process.dueMs = Number.POSITIVE_INFINITY
    }
  }, TICK_MS)

  /**
   * Settles the wait for a process, if it is awaited and its pod has an address. Returns whether it did.
   * @param {string} pid
   */
  function look(pid) {
    const [program] = readProcFile(`${proc}/${pid}/cmdline`).split('\0')
    const candidates = [...awaited].filter(one => one.program === program)
    if (candidates.length === 0) return false
    // Under the systemd driver, the pod's uid in the name of its cgroup has _ in the place of -.
    const group = readProcFile(`${proc}/${pid}/cgroup`).replaceAll('_', '-')
    const started = candidates.find(({ uid }) => group.includes(uid))
    const address = started && findAddress(readProcFile(`${proc}/${pid}/net/fib_trie`))
    const startedMs = address ? startOf(Number(pid)) : null
    if (!started || !address || startedMs === null) return false
    awaited.delete(started)
    started.settle({ startedMs, address })
    return true
  }

  return {
    /**
     * Awaits the start of a process; null: given up. program: the first word of its command line; uid: of its pod
     * @param {{ uid: string, program: string }} process of a pod
     * @returns {Promise<Started | null>}
     */
    find: ({ uid, program }) => new Promise(settle => awaited.add({ uid, program, settle })),
    giveUp() {
      for (const { settle } of awaited) settle(null)
      awaited = new Set()
    },
    close() {
      clearInterval(timer)
      this.giveUp()
    },
  }
}

/**
 * Finds the first IPv4 address of a network namespace that is not of its loopback.
 * @param {string} trie of /proc/PID/net/fib_trie
 * @returns {string | null} null: it has none yet
 */
export function findAddress(trie) {
  const local = [...trie.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g)].map(([, address]) => address)
  return local.find(address => !address.startsWith('127.')) ?? null
}

/**
 * Reads when a process started, in epoch milliseconds of readNowMs(): now, less the uptime since its start. null: it has ended.
 * @param {number} pid
 */
function readStartMs(pid) {
  const ticks = processStartTicks(pid)
  const [upSeconds] = readProcFile('/proc/uptime').split(' ').map(Number)
  return ticks === null ? null : readNowMs() - (upSeconds - ticks / TICKS_PER_SECOND) * 1000
}
