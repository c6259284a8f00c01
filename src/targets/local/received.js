import { execa } from 'execa'
import { groupBy } from '../../lib/group-by.js'
import { sleep } from '../../lib/wait.js'
import { readLinkSafely, readSafely } from '../../node/kernel/proc-files.js'
import { listListeners, listSocketInodes } from '../../node/kernel/sockets.js'

/** Counts the bytes that processes receive over a window, at their own sockets: what went past a sidecar is not among them. */
/** @import { ClosedConnections } from '../../model/types.ts' */

// The programs that count take some milliseconds of CPU, in the warm-up.
const BEFORE_MS = 500
const DEADLINE_MS = 10_000

/** The pids of a process and its children; null: it is not counted. @typedef {(() => number[]) | null} Pids */
/** An established connection: its bytes received so far, and whether its local port is one that listens. @typedef {{ bytes: number, isAccepted: boolean }} Connection */
/** Established connections by the socket's inode. @typedef {Map<string, Connection>} Connections */

/**
 * Connections opened so far in a network namespace, by any process; null: it is the kit's own, where others open many.
 * @typedef {ClosedConnections | null} Opened
 */
/** What a process has at an edge, and its namespace. @typedef {{ connections: Connections, ofNamespace: Connections, opened: Opened }} AtEdge */

/**
 * Bytes at connections that were open at the end, and connections that closed before: nobody knows what those received.
 * @typedef {{ bytes: number, closed: ClosedConnections }} Received
 */

/**
 * @param {Pids[]} processes @param {{ window: { startMs: number }, signal: AbortSignal }} options
 * @returns {() => Promise<(Received | null)[]>} to be called just after the window: what each process received; null: it
 *   could not be counted
 */
export function countReceived(processes, { window, signal }) {
  const before = sleep(window.startMs - BEFORE_MS - Date.now(), signal)
    .then(() => readConnections(processes))
    // A busy machine would miss some of the window.
    .then(read => (Date.now() <= window.startMs ? read : null))
    .catch(() => null)
  return async () => {
    const after = readConnections(processes).catch(() => null)
    const [first, last] = [await before, await after]
    return processes.map((pids, i) =>
      pids && first && last
        ? {
            bytes: sumGrowth(first[i].connections, last[i].connections),
            closed: countClosed(first[i], last[i]),
          }
        : null,
    )
  }
}

/** @param {Pids[]} processes @returns {Promise<AtEdge[]>} */
async function readConnections(processes) {
  const sockets = processes.map(list => {
    const pids = list?.() ?? []
    return { pids, inodes: listSocketInodes(pids), network: readLinkSafely(`/proc/${pids[0]}/ns/net`) }
  })
  const networks = groupBy(
    sockets.filter(({ pids }) => pids.length > 0),
    ({ network }) => network,
  )
  /** @type {Map<string, Omit<AtEdge, 'connections'>>} */
  const namespaces = new Map()
  await Promise.all(
    [...networks].map(async ([network, [{ pids }]]) => namespaces.set(network, await readNamespace(network, pids[0]))),
  )
  return sockets.map(({ inodes, network }) => {
    const { ofNamespace, opened } = namespaces.get(network) ?? { ofNamespace: new Map(), opened: null }
    const connections = new Map([...ofNamespace].filter(([inode]) => inodes.has(inode)))
    return { connections, ofNamespace, opened }
  })
}

/** @param {string} network @param {number} pid one in it @returns {Promise<Omit<AtEdge, 'connections'>>} */
async function readNamespace(network, pid) {
  const isHere = network === readLinkSafely('/proc/self/ns/net')
  const opened = isHere ? null : parseOpened(readSafely(`/proc/${pid}/net/snmp`))
  const [program, ...argv] = [
    ...(isHere ? [] : ['nsenter', `--net=/proc/${pid}/ns/net`]),
    ...['ss', '--tcp', '--info', '--numeric', '--extended', '--oneline', '--no-header', 'state', 'established'],
  ]
  const { stdout } = await execa(program, argv, { timeout: DEADLINE_MS })
  // `ss` reads /proc where inet_diag is missing, which has no such counters. A counter that is 0 is not printed.
  if (stdout.includes(' ino:') && !/ segs_(in|out):/.test(stdout)) throw new Error('no counters of sockets')
  const listening = new Set(listListeners(pid).map(({ port }) => port))
  return { ofNamespace: parseConnections(stdout, listening), opened }
}

/** @param {string} text of `ss --info --extended --oneline` (ss(8)) @param {Set<number>} listening local ports @returns {Connections} */
export function parseConnections(text, listening) {
  return new Map(
    text.split('\n').flatMap(line => {
      const [, inode] = / ino:(\d+)/.exec(line) ?? []
      const [, port] = /^\s*\d+\s+\d+\s+\S+:(\d+)\s/.exec(line) ?? []
      const bytes = Number(/ bytes_received:(\d+)/.exec(line)?.[1] ?? 0)
      return inode ? [[inode, { bytes, isAccepted: listening.has(Number(port)) }]] : []
    }),
  )
}

/** @param {string} text of /proc/net/snmp (RFC 4022, tcpPassiveOpens and tcpActiveOpens) @returns {ClosedConnections} */
export function parseOpened(text) {
  const [names, values] = text.split('\n').flatMap(line => (line.startsWith('Tcp: ') ? [line.split(' ')] : []))
  const read = (/** @type {string} */ name) => Number(values[names.indexOf(name)])
  return { accepted: read('PassiveOpens'), connected: read('ActiveOpens') }
}

/** @param {Connections} before @param {Connections} after */
export function sumGrowth(before, after) {
  return [...after].reduce((sum, [inode, { bytes }]) => sum + bytes - (before.get(inode)?.bytes ?? 0), 0)
}

/**
 * Counts connections of a process that closed between two edges, and in a namespace of the sidecar's own those that opened and
 * closed, which may be its neighbours': whoever counts bytes can then not rely on them.
 * @param {AtEdge} before @param {AtEdge} after @returns {ClosedConnections}
 */
export function countClosed(before, after) {
  const count = (/** @type {boolean} */ isAccepted) => {
    const missing = (/** @type {Connections} */ from, /** @type {Connections} */ to) =>
      [...from].filter(([inode, connection]) => connection.isAccepted === isAccepted && !to.has(inode)).length
    const name = isAccepted ? 'accepted' : 'connected'
    const opened = before.opened && after.opened ? after.opened[name] - before.opened[name] : 0
    const stillOpen = missing(after.ofNamespace, before.ofNamespace)
    return missing(before.connections, after.connections) + Math.max(0, opened - stillOpen)
  }
  return { accepted: count(true), connected: count(false) }
}
