import { readFileSync, readSync } from 'node:fs'
import { callSafely } from '../../lib/call-safely.js'
import { withOpenFile } from '../../lib/with-open-file.js'
import { listPids, listProcEntries, readProcFile, readProcLink } from './proc-files.js'

/** @import { Endpoint } from '../../model/types.ts' */

const LISTEN = '0A'
const ESTABLISHED = '01'
/** A line of a socket in another state. */
const NOT_LISTENING = new RegExp(`^ *\\d+: \\S+ \\S+ (?!${LISTEN})[0-9A-F]{2} `, 'm')
// The kernel gives a page at a time.
const PAGE_BYTES = 4096
// Fraction of ports in use that counts as a shortage: the kernel gives up before it has tried every port.
const PORTS_USED_UP = 0.9
/** Advice against a shortage of local ports. */
export const MORE_PORTS = 'wait a minute, or widen the range: sysctl -w net.ipv4.ip_local_port_range="10000 65000"'

/**
 * Lists the TCP sockets that listen in a process's network namespace.
 * @param {number | 'self'} [pid]
 * @returns {ReturnType<typeof parseListeners>} []: none, or the process has ended
 */
export function listListeners(pid = 'self') {
  const folder = `/proc/${pid}/net`
  // Without a socket of IPv6 the kernel would still go through the table of all sockets.
  const hasIpv6 = !/^TCP6: inuse 0$/m.test(readProcFile(`${folder}/sockstat6`))
  return parseListeners({
    tcp: readListening(`${folder}/tcp`),
    tcp6: hasIpv6 ? readListening(`${folder}/tcp6`) : '',
  })
}

/**
 * Reads the beginning of a table of TCP sockets: at least all that listen. The kernel writes these first
 * (Documentation/networking/proc_net_tcp.rst), and takes milliseconds for the thousands that may follow on a busy machine: too long,
 * since a starting process is polled at short intervals.
 * @param {string} file
 * @returns {string} may be cut within a line; empty: its process has ended, or it cannot be read
 */
export function readListening(file) {
  const readText = (/** @type {number} */ fd) => {
    const page = Buffer.alloc(PAGE_BYTES)
    let text = ''
    for (let length = readSync(fd, page); length > 0; length = readSync(fd, page)) {
      const part = page.toString('latin1', 0, length)
      text += part
      if (NOT_LISTENING.test(part)) break
    }
    return text
  }
  return callSafely(() => withOpenFile(file, 'r', readText), '')
}

/**
 * Parses the listening sockets.
 * @param {{ tcp: string, tcp6: string }} texts of /proc/PID/net/tcp and tcp6, proc(5)
 * @returns {{ address: string, port: number, inode: string }[]} address: `*` for a wildcard; []: none
 */
export function parseListeners({ tcp, tcp6 }) {
  return [...parseSocketTable(tcp), ...parseSocketTable(tcp6)].map(({ address, port, inode }) => ({
    address,
    port,
    inode,
  }))
}

/**
 * Lists the remote ends of the open IPv4 connections of an endpoint of this network namespace.
 * @param {Endpoint} endpoint
 * @returns {string[]} as /proc/net/tcp writes them; []: none, or it cannot be read
 */
export function listPeers({ address, port }) {
  const established = parseSocketTable(readProcFile('/proc/self/net/tcp'), ESTABLISHED)
  return established.filter(socket => socket.address === address && socket.port === port).map(({ remote }) => remote)
}

/**
 * Counts the established connections of processes of one network namespace, that of the first process.
 * @param {number[]} pids []: the result is 0
 * @param {ReturnType<typeof createEstablishedLister>} listEstablished
 * @returns {number}
 */
export function countConnections(pids, listEstablished) {
  if (pids.length === 0) return 0
  const inodes = listSocketInodes(pids)
  return listEstablished(pids[0]).filter(inode => inodes.has(inode)).length
}

/**
 * Creates a function that lists the inodes of the established sockets of a process's network namespace. It reads the table of
 * each namespace once, so later calls list what was established at the first call.
 * @returns {(pid: number) => string[]} []: none, or the process has ended
 */
export function createEstablishedLister() {
  /** @type {Map<string, string[]>} */
  const tables = new Map()
  return (/** @type {number} */ pid) => {
    const network = readProcLink(`/proc/${pid}/ns/net`)
    const read = (/** @type {string} */ file) => parseSocketTable(readProcFile(`/proc/${pid}/net/${file}`), ESTABLISHED)
    const inodes = tables.get(network) ?? ['tcp', 'tcp6'].flatMap(read).map(({ inode }) => inode)
    tables.set(network, inodes)
    return inodes
  }
}

/**
 * Reads the range of ephemeral ports.
 * @returns {{ first: number, last: number }} the kernel's default if it cannot be read
 */
export function readPortRange() {
  const ports = readProcFile('/proc/sys/net/ipv4/ip_local_port_range').match(/\d+/g) ?? []
  const [first = 32768, last = 60999] = ports.map(Number)
  return { first, last }
}

/**
 * Explains a shortage of local ports, by the IPv4 endpoint to which one address of this network namespace has most connections. A
 * closed connection holds its port for a minute (TIME_WAIT); without a free port the next connect fails with EADDRNOTAVAIL.
 * @param {{ tcp?: string, range?: ReturnType<typeof readPortRange> }} [tables] tcp: text of /proc/net/tcp; by default both are
 *   those of this machine
 * @returns {string | null} a sentence for an error; null: fewer than PORTS_USED_UP of the range are in use
 */
export function findPortShortage({ tcp = readProcFile('/proc/self/net/tcp'), range = readPortRange() } = {}) {
  const { first, last } = range
  /** @type {Map<string, number>} */
  const countByPair = new Map()
  for (const [, from, port, to] of tcp.matchAll(/^ *\d+: ([0-9A-F]{8}):([0-9A-F]{4}) ([0-9A-F]{8}:[0-9A-F]{4}) /gim)) {
    const local = Number.parseInt(port, 16)
    if (local < first || local > last) continue
    const pair = `${from} ${to}`
    countByPair.set(pair, (countByPair.get(pair) ?? 0) + 1)
  }
  const [pair, count] = [...countByPair].sort((a, b) => b[1] - a[1])[0] ?? ['', 0]
  const ports = last - first + 1
  if (count < PORTS_USED_UP * ports) return null
  const [address, port] = pair.split(' ')[1].split(':')
  return `this machine ran out of local ports: ${count} of ${ports} (net.ipv4.ip_local_port_range) are in use for connections to ${decodeAddress(address)}:${Number.parseInt(port, 16)}, so others fail with EADDRNOTAVAIL: ${MORE_PORTS}`
}

/**
 * Lists the inodes of the sockets that processes hold. A process whose files cannot be read adds none.
 * @param {number[]} pids
 * @returns {Set<string>}
 */
export function listSocketInodes(pids) {
  const inodes = new Set()
  for (const pid of pids) {
    for (const fd of listProcEntries(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(readProcLink(`/proc/${pid}/fd/${fd}`))?.[1]
      if (inode) inodes.add(inode)
    }
  }
  return inodes
}

/**
 * Finds the first process that holds a socket.
 * @param {string} inode
 * @returns {string | null} `name (pid 12)`; null: /proc does not show it
 */
export function findSocketOwner(inode) {
  for (const pid of listPids()) {
    if (listSocketInodes([pid]).has(inode)) return `${readProcFile(`/proc/${pid}/comm`).trim()} (pid ${pid})`
  }
  return null
}

/**
 * Counts the resets that this network namespace has sent (RFC 4022, tcpOutRsts): one for each refused connection, and others.
 * @returns {number}
 * @throws the system's error if /proc/net/snmp cannot be read; as `parseTcpCounters`
 */
export function countResets() {
  return parseTcpCounters(readFileSync('/proc/net/snmp', 'utf8')).OutRsts
}

/**
 * Parses the counters of TCP by their names (RFC 4022).
 * @param {string} text of /proc/net/snmp: a line of names and one of values for each protocol
 * @returns {Record<string, number>} values by name, such as `PassiveOpens`
 * @throws {TypeError} if the text lacks one of the two lines of TCP
 */
export function parseTcpCounters(text) {
  const [names, values] = text.split('\n').flatMap(line => (line.startsWith('Tcp: ') ? [line.split(' ')] : []))
  return Object.fromEntries(names.map((name, i) => [name, Number(values[i])]))
}

/**
 * Parses the sockets of a state in a table of TCP sockets (proc(5), /proc/net/tcp).
 * @param {string} text
 * @param {string} [state] as the table has it; listening by default
 * @returns {{ address: string, port: number, inode: string, remote: string }[]} []: none
 */
function parseSocketTable(text, state = LISTEN) {
  // The state is followed by queues, timer, retransmits, user and timeout. Splitting every line of thousands of sockets
  // in other states would leave tens of MiB behind.
  const pattern = new RegExp(
    `^ *\\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) +(\\S+) +${state}(?: +\\S+){5} +(\\d+)`,
    'gim',
  )
  return [...text.matchAll(pattern)].map(([, hex, port, remote, inode]) => {
    return { address: decodeAddress(hex), port: Number.parseInt(port, 16), inode, remote }
  })
}

/**
 * Decodes an address of /proc/net/tcp and tcp6.
 * @param {string} hex eight digits for each 32-bit, little-endian word
 * @returns {string} `*` for a wildcard; IPv4 with dots, also if it is mapped to IPv6; other IPv6 as the kernel writes it
 */
function decodeAddress(hex) {
  if (/^0+$/.test(hex)) return '*'
  const parseIpv4 = (/** @type {string} */ word) =>
    [6, 4, 2, 0].map(i => Number.parseInt(word.slice(i, i + 2), 16)).join('.')
  if (hex.length === 8) return parseIpv4(hex)
  return hex.startsWith('0000000000000000FFFF0000') ? parseIpv4(hex.slice(24)) : hex
}
