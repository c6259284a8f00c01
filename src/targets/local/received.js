import { execa } from 'execa'
import { groupBy } from '../../lib/group-by.js'
import { sleep } from '../../lib/wait.js'
import { readLinkSafely } from '../../node/kernel/proc-files.js'
import { listSocketInodes } from '../../node/kernel/sockets.js'

/** Counts the bytes that processes receive over a window, at their own sockets: what went past a sidecar is not among them. */

// The programs that count take some milliseconds of CPU, in the warm-up.
const BEFORE_MS = 500
const DEADLINE_MS = 10_000

/**
 * @typedef {object} Counted
 * @property {() => number[]} pids of a process and its children
 * @property {string[]} podNetworks files of the namespaces of pods in which it has sockets, too
 */
/** Bytes received so far by connections that are open, by the socket's inode. @typedef {Map<string, number>} Received */
/** Bytes of a process, and those at its sockets in each of its pods, which are among them. @typedef {{ bytes: number, byPod: number[] }} ReceivedBytes */

/**
 * @param {(Counted | null)[]} processes null: it is not counted
 * @param {{ window: { startMs: number }, signal: AbortSignal }} options
 * @returns {() => Promise<(ReceivedBytes | null)[]>} to be called just after the window; null: they could not be counted
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
    return processes.map((process, i) => {
      if (!process || !first || !last) return null
      // Its own namespace is first.
      const [own, ...byPod] = last[i].map((received, j) => sumGrowth(first[i][j], received))
      return { bytes: byPod.reduce((sum, bytes) => sum + bytes, own), byPod }
    })
  }
}

/** @param {(Counted | null)[]} processes @returns {Promise<Received[][]>} of each process in its own namespace and in its pods */
async function readReceived(processes) {
  const sockets = processes.map(process => {
    const pids = process?.pids() ?? []
    const network = readLinkSafely(`/proc/${pids[0]}/ns/net`)
    const pods = process?.podNetworks ?? []
    return {
      inodes: listSocketInodes(pids),
      networks: [network, ...pods],
      files: [`/proc/${pids[0]}/ns/net`, ...pods],
      pids,
    }
  })
  const entered = sockets
    .filter(({ pids }) => pids.length > 0)
    .flatMap(({ networks, files }) => networks.map((network, i) => ({ network, file: files[i] })))
  const texts = new Map()
  await Promise.all(
    [...groupBy(entered, ({ network }) => network)].map(async ([network, [{ file }]]) =>
      texts.set(network, await readSockets(network, file)),
    ),
  )
  return sockets.map(({ inodes, networks }) => networks.map(network => parseReceived(texts.get(network) ?? '', inodes)))
}

/** @param {string} network @param {string} file of its namespace */
async function readSockets(network, file) {
  const isHere = network === readLinkSafely('/proc/self/ns/net')
  const [program, ...argv] = [
    ...(isHere ? [] : ['nsenter', `--net=${file}`]),
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
