import { execa } from 'execa'
import { sleep } from '../../lib/wait.js'
import { readProcLink } from '../../node/kernel/proc-files.js'
import { listSocketInodes, parseTcpCounters } from '../../node/kernel/sockets.js'

/** Counts the bytes that processes receive over a window, at their own sockets: bytes that bypassed a sidecar are not among them. */
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
 * @typedef {object} Counted
 * @property {() => number[]} pids of a process and its children
 * @property {string[]} podNetworks files of the namespaces of pods in which it has sockets, too
 */
/**
 * An established connection: its bytes received so far, and whether its local port is one that listens.
 * @typedef {{ bytes: number, isAccepted: boolean }} Connection
 */
/** Established connections by the socket's inode. @typedef {Map<string, Connection>} Connections */

/**
 * Connections opened so far in a network namespace, by any process; null: it is the kit's own, in which other programs open many.
 * @typedef {ClosedConnections | null} Opened
 */
/**
 * The connections of a process in a namespace, and of all processes there, at an edge of the window.
 * @typedef {{ connections: Connections, ofNamespace: Connections, opened: Opened }} AtEdge
 */

/**
 * bytes: received over the window at connections that were open at its end; byPod: the part of each pod; closed: connections
 * that closed before, whose bytes are unknown.
 * @typedef {{ bytes: number, byPod: number[], closed: ClosedConnections }} ReceivedBytes
 */

/**
 * Counts what processes receive over a window: reads connections just before it, and again when the returned function
 * is called.
 * @param {(Counted | null)[]} processes null: is not counted
 * @param {{ window: { startMs: number }, signal: AbortSignal }} options
 * @returns {() => Promise<(ReceivedBytes | null)[]>} to be called just after the window; null: the process was not
 *   counted, or could not be
 */
export function countReceivedConnections(processes, { window, signal }) {
  const beforeMs = BEFORE_MS + NAMESPACE_MS * listNamespaces(processes.flatMap(listNetworks)).size
  const before = sleep(window.startMs - beforeMs - Date.now(), signal)
    .then(() => readConnections(processes))
    // On a busy machine the reading may end within the window, and would miss some bytes: then nothing is counted.
    .then(read => (Date.now() <= window.startMs ? read : null))
    .catch(() => null)
  return async () => {
    const after = readConnections(processes).catch(() => null)
    const [start, end] = [await before, await after]
    return processes.map((process, i) => {
      if (!process || !start || !end) return null
      // Its own namespace is first.
      const [unnamed, ...byPod] = end[i].map((edge, j) => sumGrowth(start[i][j].connections, edge.connections))
      const closed = end[i].map((edge, j) => countClosedConnections(start[i][j], edge))
      const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, number) => total + number, 0)
      return {
        bytes: sum([unnamed, ...byPod]),
        byPod,
        closed: {
          accepted: sum(closed.map(({ accepted }) => accepted)),
          connected: sum(closed.map(({ connected }) => connected)),
        },
      }
    })
  }
}

/**
 * Reads the connections of processes, each namespace once.
 * @param {(Counted | null)[]} processes
 * @returns {Promise<AtEdge[][]>} of each process: in its own namespace, then in its pods
 */
async function readConnections(processes) {
  // Sockets first: the load ends soon after the window, and closes them.
  const sockets = processes.map(process => ({
    inodes: listSocketInodes(process?.pids() ?? []),
    networks: listNetworks(process),
  }))
  const read = await readNamespaces(listNamespaces(sockets.flatMap(({ networks }) => networks)))
  return sockets.map(({ inodes, networks }) =>
    networks.map(({ network }) => {
      const { ofNamespace, opened } = read.get(network) ?? { ofNamespace: new Map(), opened: null }
      const connections = new Map([...ofNamespace].filter(([inode]) => inodes.has(inode)))
      return { connections, ofNamespace, opened }
    }),
  )
}

/**
 * A network namespace.
 * @typedef {object} Network
 * @property {string} network names it: the target of the link in /proc of the process's own, the path of the file of a pod's; empty:
 *   there is no process
 * @property {string | null} file enters it; null: its process has ended, or is not counted
 */

/**
 * Lists the network namespaces of a process: its own, then those of its pods.
 * @param {Counted | null} process null: is not counted
 * @returns {Network[]} at least one, whose file is null without a process
 */
function listNetworks(process) {
  const [pid] = process?.pids() ?? []
  const pods = process?.podNetworks ?? []
  if (pid === undefined) return ['', ...pods].map(network => ({ network, file: null }))
  const ownFile = `/proc/${pid}/ns/net`
  return [{ network: readProcLink(ownFile), file: ownFile }, ...pods.map(pod => ({ network: pod, file: pod }))]
}

/**
 * Lists the namespaces that can be read, each once.
 * @param {Network[]} networks
 * @returns {Map<string, string>} a file of each
 */
function listNamespaces(networks) {
  return new Map(networks.flatMap(({ network, file }) => (file === null ? [] : [[network, file]])))
}

/**
 * Runs a command of the shell with arguments.
 * @param {string} command
 * @param {string[]} argv
 * @returns {Promise<string>} its stdout
 * @throws an error of execa, if it fails or takes too long
 */
async function runShell(command, ...argv) {
  const timeout = DEADLINE_MS + NAMESPACE_MS * argv.length
  return (await execa('/bin/sh', ['-c', command, ...argv], { timeout })).stdout
}

/**
 * Reads the connections of all processes in namespaces.
 * @param {Map<string, string>} namespaces a file of each
 * @param {{ run?: typeof runShell, here?: string }} [options] here: the kit's own namespace
 * @returns {Promise<Map<string, Omit<AtEdge, 'connections'>>>} by namespace
 * @throws an error, if one cannot be read
 */
export async function readNamespaces(namespaces, { run = runShell, here = readProcLink('/proc/self/ns/net') } = {}) {
  const others = [...namespaces].filter(([network]) => network !== here)
  const [ofKit, ofOthers] = await Promise.all([
    namespaces.has(here) ? run(LIST_SOCKETS) : null,
    others.length > 0 ? run(LIST_ALL, 'sh', ...others.map(([, file]) => file)) : '',
  ])
  const texts = ofOthers.split(`${MARK}\n`).slice(1)
  // In the kit's own namespace others open connections, too.
  const read = [
    ...(ofKit === null ? [] : [{ network: here, text: ofKit, isOfKit: true }]),
    ...others.map(([network], i) => ({ network, text: texts[i], isOfKit: false })),
  ]
  return new Map(
    read.map(({ network, text, isOfKit }) => {
      // Without inet_diag in the kernel, `ss` reads /proc, which has no such counters. It prints no counter that is 0.
      if (/^ESTAB.* ino:/m.test(text) && !/ segs_(in|out):/.test(text)) throw new Error('no counters of sockets')
      return [network, { ofNamespace: parseConnections(text), opened: isOfKit ? null : parseOpenedCounts(text) }]
    }),
  )
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
 */
export function parseOpenedCounts(text) {
  const { PassiveOpens: accepted, ActiveOpens: connected } = parseTcpCounters(text)
  return { accepted, connected }
}

/**
 * Sums the bytes received between two readings, at connections of the second reading.
 * @param {Connections} before
 * @param {Connections} after
 * @returns {number} bytes
 */
export function sumGrowth(before, after) {
  return [...after].reduce((sum, [inode, { bytes }]) => sum + bytes - (before.get(inode)?.bytes ?? 0), 0)
}

/**
 * Counts the connections of a process that closed between two edges and, in a namespace other than the kit's, those
 * that both opened and closed. The latter may be its neighbours', so that bytes are not reliable.
 * @param {AtEdge} before
 * @param {AtEdge} after
 * @returns {ClosedConnections}
 */
export function countClosedConnections(before, after) {
  // A sidecar that is bypassed opens none, whatever its neighbours open and close.
  const hasOpened = [...after.connections.keys()].some(inode => !before.connections.has(inode))
  const count = (/** @type {boolean} */ isAccepted) => {
    const countMissing = (/** @type {Connections} */ from, /** @type {Connections} */ to) =>
      [...from].filter(([inode, connection]) => connection.isAccepted === isAccepted && !to.has(inode)).length
    const name = isAccepted ? 'accepted' : 'connected'
    const opened = hasOpened && before.opened && after.opened ? after.opened[name] - before.opened[name] : 0
    const stillOpen = countMissing(after.ofNamespace, before.ofNamespace)
    return countMissing(before.connections, after.connections) + Math.max(0, opened - stillOpen)
  }
  return { accepted: count(true), connected: count(false) }
}
