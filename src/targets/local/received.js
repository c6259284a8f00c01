import { execa } from 'execa'
import { sleep } from '../../lib/wait.js'
import { readProcLink } from '../../node/kernel/proc-files.js'
import { listSocketInodes, parseTcpCounters } from '../../node/kernel/sockets.js'

/** Received bytes are counted at the sockets of a process: bytes that bypassed a sidecar are not among them. */
/** @import { ClosedConnections } from '../../model/types.ts' */

// Connections are read this long before the window, and NAMESPACE_MS longer for each namespace, so that the CPU time of reading falls
// in the warm-up. 50 namespaces took 1.8 s while eight other processes filled two CPUs.
const BEFORE_MS = 500
const NAMESPACE_MS = 40
const DEADLINE_MS = 10_000
const LIST_SOCKETS = 'ss --tcp --info --numeric --extended --oneline --no-header state established state listening'
const MARK = '-- next namespace'
// One shell reads all namespaces: starting a process takes milliseconds of the kit's own thread, which also takes samples.
const LIST_ALL = `set -e; for file; do echo '${MARK}'; nsenter --net="$file" sh -ec '${LIST_SOCKETS}; cat /proc/self/net/snmp'; done`

/**
 * @typedef {object} CountedProcess
 * @property {() => number[]} pids of a process and its children
 * @property {string[]} podNetworks files of the namespaces of pods in which it has sockets, too
 */
/**
 * An established connection.
 * @typedef {object} EstablishedConnection
 * @property {number} bytes received so far
 * @property {boolean} isAccepted its local port is one that listens
 */
/** Established connections by the socket's inode. @typedef {Map<string, EstablishedConnection>} Connections */

/**
 * The connections in a network namespace at an edge of the window.
 * @typedef {object} NamespaceConnections
 * @property {Connections} ofAll those of all processes there
 * @property {ClosedConnections | null} opened those opened so far, by any process; null: the namespace is the kit's own, in which
 *   other programs open many
 */
/** @typedef {NamespaceConnections & { connections: Connections }} ProcessConnections connections: those of the process */

/**
 * @typedef {object} ReceivedBytes
 * @property {number} bytes received over the window at connections that were open at its end
 * @property {number[]} byPod the part of each pod, in their order; []: it has no pods
 * @property {ClosedConnections} closed connections that closed before, whose bytes are unknown
 */

/**
 * Starts to count what processes receive over a window: reads connections just before it, and again when the returned function
 * is called.
 * @param {(CountedProcess | null)[]} processes null: is not counted
 * @param {{ window: { startMs: number }, signal: AbortSignal }} options
 * @returns {() => Promise<(ReceivedBytes | null)[]>} to be called just after the window; null: the process was not
 *   counted, or could not be, as after an abort
 */
export function startCountingReceivedBytes(processes, { window, signal }) {
  const beforeMs = BEFORE_MS + NAMESPACE_MS * listNamespaces(processes.flatMap(listNetworks)).size
  const before = sleep(window.startMs - beforeMs - Date.now(), signal)
    .then(() => readConnections(processes))
    // On a busy machine the reading may end within the window, and would miss some bytes: then nothing is counted.
    .then(connections => (Date.now() <= window.startMs ? connections : null))
    .catch(() => null)
  return async () => {
    const after = readConnections(processes).catch(() => null)
    const [start, end] = [await before, await after]
    return processes.map((process, i) => (process && start && end ? computeReceivedBytes(start[i], end[i]) : null))
  }
}

/**
 * Computes what a process received between two edges.
 * @param {ProcessConnections[]} start in its own namespace, then in its pods
 * @param {ProcessConnections[]} end in the same namespaces
 * @returns {ReceivedBytes}
 */
function computeReceivedBytes(start, end) {
  const [ownBytes, ...byPod] = end.map((edge, i) => sumGrowth(start[i].connections, edge.connections))
  const closed = end.map((edge, i) => computeClosedConnections(start[i], edge))
  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, number) => total + number, 0)
  return {
    bytes: sum([ownBytes, ...byPod]),
    byPod,
    closed: {
      accepted: sum(closed.map(({ accepted }) => accepted)),
      connected: sum(closed.map(({ connected }) => connected)),
    },
  }
}

/**
 * Reads the connections of processes, each namespace once.
 * @param {(CountedProcess | null)[]} processes
 * @returns {Promise<ProcessConnections[][]>} of each process: in its own namespace, then in its pods; a process that is not counted,
 *   or has ended, has none
 * @throws an error, if the connections of a namespace cannot be read
 */
async function readConnections(processes) {
  // Sockets first: the load ends soon after the window, and closes them.
  const sockets = processes.map(process => ({
    inodes: listSocketInodes(process?.pids() ?? []),
    networks: listNetworks(process),
  }))
  const byNetwork = await readNamespaceConnections(listNamespaces(sockets.flatMap(({ networks }) => networks)))
  return sockets.map(({ inodes, networks }) =>
    networks.map(({ network }) => {
      const { ofAll, opened } = byNetwork.get(network) ?? { ofAll: new Map(), opened: null }
      const connections = new Map([...ofAll].filter(([inode]) => inodes.has(inode)))
      return { connections, ofAll, opened }
    }),
  )
}

/**
 * A network namespace.
 * @typedef {object} Network
 * @property {string} network its name: for the namespace of a process the target of its link in /proc, for that of a pod the path
 *   of its file; empty: that of a process which has ended, or is not counted
 * @property {string | null} file by which it is entered; null: its process has ended, or is not counted
 */

/**
 * Lists the network namespaces of a process: its own, then those of its pods.
 * @param {CountedProcess | null} process null: is not counted
 * @returns {Network[]} at least one; all files are null if the process has ended, or is not counted
 */
function listNetworks(process) {
  const [pid] = process?.pids() ?? []
  const podNetworks = process?.podNetworks ?? []
  if (pid === undefined) return ['', ...podNetworks].map(network => ({ network, file: null }))
  const ownFile = `/proc/${pid}/ns/net`
  const ownNetwork = { network: readProcLink(ownFile), file: ownFile }
  return [ownNetwork, ...podNetworks.map(network => ({ network, file: network }))]
}

/**
 * Lists the namespaces that can be read, each once.
 * @param {Network[]} networks
 * @returns {Map<string, string>} a file of each, by its name
 */
function listNamespaces(networks) {
  return new Map(networks.flatMap(({ network, file }) => (file === null ? [] : [[network, file]])))
}

/**
 * Runs a command of the shell with arguments. Its timeout is longer for each of them.
 * @param {string} command
 * @param {string[]} argv $0, $1 and so on
 * @returns {Promise<string>} its stdout
 * @throws an error of execa, if it fails or takes too long
 */
async function runShell(command, ...argv) {
  const timeout = DEADLINE_MS + NAMESPACE_MS * argv.length
  return (await execa('/bin/sh', ['-c', command, ...argv], { timeout })).stdout
}

/**
 * Reads the connections of all processes in namespaces.
 * @param {Map<string, string>} namespaces a file of each, by its name
 * @param {{ run?: typeof runShell, here?: string }} [options] here: the name of the kit's own namespace
 * @returns {Promise<Map<string, NamespaceConnections>>} by the namespace's name
 * @throws an error, if one cannot be read, or the kernel has no counters of sockets
 */
export async function readNamespaceConnections(
  namespaces,
  { run = runShell, here = readProcLink('/proc/self/ns/net') } = {},
) {
  const others = [...namespaces].filter(([network]) => network !== here)
  const [ofKit, ofOthers] = await Promise.all([
    namespaces.has(here) ? run(LIST_SOCKETS) : null,
    others.length > 0 ? run(LIST_ALL, 'sh', ...others.map(([, file]) => file)) : '',
  ])
  const texts = ofOthers.split(`${MARK}\n`).slice(1)
  /** @type {Map<string, NamespaceConnections>} */
  const byNetwork = new Map()
  if (ofKit !== null) byNetwork.set(here, { ofAll: parseCountedConnections(ofKit), opened: null })
  for (const [i, [network]] of others.entries()) {
    const text = texts[i]
    byNetwork.set(network, { ofAll: parseCountedConnections(text), opened: parseOpenedCounts(text) })
  }
  return byNetwork
}

/**
 * Parses established connections, if the kernel counts their bytes.
 * @param {string} text as for `parseConnections`
 * @returns {Connections}
 * @throws {Error} if there are connections without counters
 */
function parseCountedConnections(text) {
  // Without inet_diag in the kernel, `ss` reads /proc, which has no such counters. It prints no counter that is 0.
  if (/^ESTAB.* ino:/m.test(text) && !/ segs_(in|out):/.test(text)) throw new Error('no counters of sockets')
  return parseConnections(text)
}

/**
 * Parses established connections. One is accepted if a socket of the text listens at its local port. Sockets without an inode are
 * left out.
 * @param {string} text printed by `ss --info --extended --oneline`, with states (ss(8))
 * @returns {Connections} by the socket's inode; bytes: 0 if `ss` printed no counter
 */
export function parseConnections(text) {
  const sockets = text.split('\n').flatMap(line => {
    const [, state, port] = /^(ESTAB|LISTEN)\s+\d+\s+\d+\s+\S+:(\d+)\s/.exec(line) ?? []
    return state ? [{ state, port, line }] : []
  })
  const listening = new Set(sockets.flatMap(({ state, port }) => (state === 'LISTEN' ? [port] : [])))
  return new Map(
    sockets.flatMap(({ state, port, line }) => {
      const [, inode] = / ino:(\d+)/.exec(line) ?? []
      const bytes = Number(/ bytes_received:(\d+)/.exec(line)?.[1] ?? 0)
      return state === 'ESTAB' && inode ? [[inode, { bytes, isAccepted: listening.has(port) }]] : []
    }),
  )
}

/**
 * Parses the numbers of connections opened so far.
 * @param {string} text of /proc/net/snmp
 * @returns {ClosedConnections}
 * @throws {TypeError} if the text has no counters of TCP
 */
export function parseOpenedCounts(text) {
  const { PassiveOpens: accepted, ActiveOpens: connected } = parseTcpCounters(text)
  return { accepted, connected }
}

/**
 * Sums the bytes received between two readings, at the connections of the second one.
 * @param {Connections} before
 * @param {Connections} after
 * @returns {number} bytes
 */
export function sumGrowth(before, after) {
  return [...after].reduce((sum, [inode, { bytes }]) => sum + bytes - (before.get(inode)?.bytes ?? 0), 0)
}

/**
 * Counts the connections of a process that closed between two edges and, in a namespace other than the kit's, those that both opened
 * and closed, if the process has opened any since. The latter may be its neighbours', so that bytes are not reliable.
 * @param {ProcessConnections} before
 * @param {ProcessConnections} after
 * @returns {ClosedConnections}
 */
export function computeClosedConnections(before, after) {
  // A sidecar that is bypassed opens none, whatever its neighbours open and close.
  const hasOpened = [...after.connections.keys()].some(inode => !before.connections.has(inode))
  const countClosed = (/** @type {'accepted' | 'connected'} */ kind) => {
    const countMissing = (/** @type {Connections} */ from, /** @type {Connections} */ to) =>
      [...from].filter(([inode, { isAccepted }]) => isAccepted === (kind === 'accepted') && !to.has(inode)).length
    const opened = hasOpened && before.opened && after.opened ? after.opened[kind] - before.opened[kind] : 0
    const stillOpen = countMissing(after.ofAll, before.ofAll)
    return countMissing(before.connections, after.connections) + Math.max(0, opened - stillOpen)
  }
  return { accepted: countClosed('accepted'), connected: countClosed('connected') }
}
