import { execa } from 'execa'
import { groupBy } from '../../lib/group-by.js'
import { sleep } from '../../lib/wait.js'
import { readProcLink } from '../../node/kernel/proc-files.js'
import { listSocketInodes, parseTcpCounters } from '../../node/kernel/sockets.js'

/** Counts the bytes that processes receive over a window, at their own sockets: bytes that bypassed a sidecar are not among them. */
/** @import { ClosedConnections } from '../../model/types.ts' */

// Connections are read this long before the window: that takes some milliseconds of CPU, which fall in the warm-up.
const BEFORE_MS = 500
const DEADLINE_MS = 10_000

/**
 * @typedef {object} Counted
 * @property {() => number[]} pids of a process and its children
 * @property {string[]} podNetworks files of the namespaces of pods in which it has sockets, too
 */
/** An established connection: its bytes received so far, and whether its local port is one that listens. @typedef {{ bytes: number, isAccepted: boolean }} Connection */
/** Established connections by the socket's inode. @typedef {Map<string, Connection>} Connections */

/**
 * Connections opened so far in a network namespace, by any process; null: it is the kit's own, in which others open many.
 * @typedef {ClosedConnections | null} Opened
 */
/** The connections of a process in a namespace, and of all processes there, at an edge of the window. @typedef {{ connections: Connections, ofNamespace: Connections, opened: Opened }} AtEdge */

/**
 * bytes: received over the window at connections that were open at its end; byPod: the part of each pod; closed: connections
 * that closed before, whose bytes are unknown.
 * @typedef {{ bytes: number, byPod: number[], closed: ClosedConnections }} ReceivedBytes
 */

/**
 * Reads connections just before the window, and again when the returned function is called.
 * @param {(Counted | null)[]} processes null: it is not counted
 * @param {{ window: { startMs: number }, signal: AbortSignal }} options
 * @returns {() => Promise<(ReceivedBytes | null)[]>} to be called just after the window; null: they could not be counted
 */
export function countReceivedConnections(processes, { window, signal }) {
  const before = sleep(window.startMs - BEFORE_MS - Date.now(), signal)
    .then(() => readConnections(processes))
    // On a busy machine the reading may end within the window, and would miss some bytes: then nothing is counted.
    .then(read => (Date.now() <= window.startMs ? read : null))
    .catch(() => null)
  return async () => {
    const after = readConnections(processes).catch(() => null)
    const [first, last] = [await before, await after]
    return processes.map((process, i) => {
      if (!process || !first || !last) return null
      // Its own namespace is first.
      const [unnamed, ...byPod] = last[i].map((edge, j) => sumGrowth(first[i][j].connections, edge.connections))
      const closed = last[i].map((edge, j) => countClosedConnections(first[i][j], edge))
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

/** Reads the connections of processes, each namespace once. @param {(Counted | null)[]} processes @returns {Promise<AtEdge[][]>} of each process in its own namespace and in its pods */
async function readConnections(processes) {
  const sockets = processes.map(process => {
    const pids = process?.pids() ?? []
    const network = readProcLink(`/proc/${pids[0]}/ns/net`)
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
  /** @type {Map<string, Omit<AtEdge, 'connections'>>} */
  const namespaces = new Map()
  await Promise.all(
    [...groupBy(entered, ({ network }) => network)].map(async ([network, [{ file }]]) =>
      namespaces.set(network, await readNamespace(network, file)),
    ),
  )
  return sockets.map(({ inodes, networks }) =>
    networks.map(network => {
      const { ofNamespace, opened } = namespaces.get(network) ?? { ofNamespace: new Map(), opened: null }
      const connections = new Map([...ofNamespace].filter(([inode]) => inodes.has(inode)))
      return { connections, ofNamespace, opened }
    }),
  )
}

/** Reads the connections of all processes in a namespace. @param {string} network @param {string} file of its namespace @returns {Promise<Omit<AtEdge, 'connections'>>} */
async function readNamespace(network, file) {
  const isHere = network === readProcLink('/proc/self/ns/net')
  const run = async (/** @type {string[]} */ ...command) => {
    const [program, ...argv] = [...(isHere ? [] : ['nsenter', `--net=${file}`]), ...command]
    return (await execa(program, argv, { timeout: DEADLINE_MS })).stdout
  }
  const [sockets, counters] = await Promise.all([
    run(
      ...['ss', '--tcp', '--info', '--numeric', '--extended', '--oneline', '--no-header'],
      ...['state', 'established', 'state', 'listening'],
    ),
    isHere ? null : run('cat', '/proc/self/net/snmp'),
  ])
  // Without inet_diag in the kernel, `ss` reads /proc, which has no such counters. It prints no counter that is 0.
  if (/^ESTAB.* ino:/m.test(sockets) && !/ segs_(in|out):/.test(sockets)) throw new Error('no counters of sockets')
  return { ofNamespace: parseConnections(sockets), opened: counters === null ? null : parseOpenedCounts(counters) }
}

/** Reads established connections; one is accepted if its local port listens, too. @param {string} text of `ss --info --extended --oneline`, with states (ss(8)) @returns {Connections} */
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

/** Reads the numbers of connections opened so far. @param {string} text of /proc/net/snmp @returns {ClosedConnections} */
export function parseOpenedCounts(text) {
  const { PassiveOpens: accepted, ActiveOpens: connected } = parseTcpCounters(text)
  return { accepted, connected }
}

/** Sums the bytes received between two readings at connections that are in the second. @param {Connections} before @param {Connections} after */
export function sumGrowth(before, after) {
  return [...after].reduce((sum, [inode, { bytes }]) => sum + bytes - (before.get(inode)?.bytes ?? 0), 0)
}

/**
 * Counts connections of a process that closed between two edges and, in a namespace other than the kit's, those that both
 * opened and closed, which may be its neighbours': bytes are then not reliable.
 * @param {AtEdge} before @param {AtEdge} after @returns {ClosedConnections}
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
