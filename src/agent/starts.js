import { processStartTicks } from '../lib/process-start.js'
import { readNowMs } from '../node/convergence.js'
import { listPids, readSafely } from '../node/kernel/proc-files.js'

/**
 * Sees processes of pods start, under the node's own /proc. The API server tells when a container started by the second,
 * and where its pod is up to seconds later: too late for configurations that take less.
 */

const TICK_MS = 20
const TICKS_PER_SECOND = 100
// The runtime's process becomes the program, so young processes are looked at often, older ones seldom.
const YOUNG_MS = 1000
const SELDOM_MS = 200

/** @typedef {{ startedMs: number, address: string }} Started startedMs: epoch milliseconds, to 10 ms */
/** @typedef {{ uid: string, program: string, settle: (started: Started | null) => void }} Awaited */

/** @param {{ proc?: string, startOf?: typeof readStartMs }} [options] */
export function createStarts({ proc = '/proc', startOf = readStartMs } = {}) {
  /** @type {Set<Awaited>} */
  let awaited = new Set()
  // A process that runs already is not awaited.
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

  /** Settles the wait for a process. @param {string} pid */
  function look(pid) {
    const [program] = readSafely(`${proc}/${pid}/cmdline`).split('\0')
    const candidates = [...awaited].filter(one => one.program === program)
    if (candidates.length === 0) return false
    // systemd's name of a pod's cgroup has _ for -.
    const group = readSafely(`${proc}/${pid}/cgroup`).replaceAll('_', '-')
    const started = candidates.find(({ uid }) => group.includes(uid))
    const address = started && findAddress(readSafely(`${proc}/${pid}/net/fib_trie`))
    const startedMs = address ? startOf(Number(pid)) : null
    if (!started || !address || startedMs === null) return false
    awaited.delete(started)
    started.settle({ startedMs, address })
    return true
  }

  return {
    /** Awaits the start of a process; null: given up. @param {{ uid: string, program: string }} process of a pod @returns {Promise<Started | null>} */
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

/** Finds the first IPv4 address of a network namespace that is not of its loopback. @param {string} trie of /proc/PID/net/fib_trie */
export function findAddress(trie) {
  const local = [...trie.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g)].map(([, address]) => address)
  return local.find(address => !address.startsWith('127.')) ?? null
}

/** Reads when a process started, by the clock of readNowMs(): its ticks since boot, less the seconds since boot. @param {number} pid */
function readStartMs(pid) {
  const ticks = processStartTicks(pid)
  const [upSeconds] = readSafely('/proc/uptime').split(' ').map(Number)
  return ticks === null ? null : readNowMs() - (upSeconds - ticks / TICKS_PER_SECOND) * 1000
}
