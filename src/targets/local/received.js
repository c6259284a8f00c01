import { execa } from 'execa'
import { groupBy } from '../../lib/group-by.js'
import { sleep } from '../../lib/wait.js'
import { readLinkSafely } from '../../node/kernel/proc-files.js'
import { listSocketInodes } from '../../node/kernel/sockets.js'

/** Counts the bytes that processes receive over a window, at their own sockets: what went past a sidecar is not among them. */

// The programs that count take some milliseconds of CPU, in the warm-up.
const BEFORE_MS = 500
const DEADLINE_MS = 10_000

/** The pids of a process and its children; null: it is not counted. @typedef {(() => number[]) | null} Pids */
/** Bytes received so far by connections that are open, by the socket's inode. @typedef {Map<string, number>} Received */

/**
 * @param {Pids[]} processes @param {{ window: { startMs: number }, signal: AbortSignal }} options
 * @returns {() => Promise<(number | null)[]>} to be called just after the window: bytes of each process; null: they
 *   could not be counted
 */
export function countReceived(processes, { window, signal }) {
  const before = sleep(window.startMs - BEFORE_MS - Date.now(), signal)
    .then(() => readReceived(processes))
    // A busy machine would miss some of the window.
    .then(read => (Date.now() <= window.startMs ? read : null))
    .catch(() => null)
  return async () => {
    const after = readReceived(processes).catch(() => null)
    const [first, last] = [await before, await after]
    return processes.map((pids, i) => (pids && first && last ? sumGrowth(first[i], last[i]) : null))
  }
}

/** @param {Pids[]} processes @returns {Promise<Received[]>} */
async function readReceived(processes) {
  const sockets = processes.map(list => {
    const pids = list?.() ?? []
    return { pids, inodes: listSocketInodes(pids), network: readLinkSafely(`/proc/${pids[0]}/ns/net`) }
  })
  const networks = groupBy(
    sockets.filter(({ pids }) => pids.length > 0),
    ({ network }) => network,
  )
  const texts = new Map()
  await Promise.all(
    [...networks].map(async ([network, [{ pids }]]) => texts.set(network, await readSockets(network, pids[0]))),
  )
  return sockets.map(({ inodes, network }) => parseReceived(texts.get(network) ?? '', inodes))
}

/** @param {string} network @param {number} pid one in it */
async function readSockets(network, pid) {
  const isHere = network === readLinkSafely('/proc/self/ns/net')
  const [program, ...argv] = [
    ...(isHere ? [] : ['nsenter', `--net=/proc/${pid}/ns/net`]),
    ...['ss', '--tcp', '--info', '--numeric', '--extended', '--oneline', '--no-header', 'state', 'established'],
  ]
  const { stdout } = await execa(program, argv, { timeout: DEADLINE_MS })
  // `ss` reads /proc where inet_diag is missing, which has no such counters. A counter that is 0 is not printed.
  if (stdout.includes(' ino:') && !/ segs_(in|out):/.test(stdout)) throw new Error('no counters of sockets')
  return stdout
}

/** @param {string} text of `ss --info --extended --oneline` (ss(8)) @param {Set<string>} inodes @returns {Received} */
export function parseReceived(text, inodes) {
  const lines = text.split('\n').map(line => [/ ino:(\d+)/.exec(line)?.[1] ?? '', line])
  return new Map(
    lines.flatMap(([inode, line]) =>
      inodes.has(inode) ? [[inode, Number(/ bytes_received:(\d+)/.exec(line)?.[1] ?? 0)]] : [],
    ),
  )
}

/** @param {Received} before @param {Received} after */
export function sumGrowth(before, after) {
  return [...after].reduce((sum, [inode, bytes]) => sum + bytes - (before.get(inode) ?? 0), 0)
}
