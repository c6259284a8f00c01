import { readFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Counts the system calls of a process with strace: https://man7.org/linux/man-pages/man1/strace.1.html.
 * @import { ProcessSpec, Tool } from '../model/types.ts'
 */

/**
 * System calls of one name. bytes: that they sent or received.
 * @typedef {{ calls: number, bytes: number }} CallKind
 * @typedef {Map<string, CallKind>} CallKinds by name
 */

/** Purposes of system calls of a sidecar, by their names. @type {Record<'write' | 'send' | 'receive' | 'wait', RegExp>} */
export const PURPOSES = {
  // Pipy sends to its sockets, and writes only to files.
  write: /^p?writev?\d*$/,
  send: /^send(to|m?msg)$/,
  receive: /^(p?readv?|recv(from|m?msg))\d*$/,
  wait: /^(epoll_p?wait2?|p?poll|p?select6?)$/,
}
const CARRYING = [PURPOSES.write, PURPOSES.send, PURPOSES.receive]
// A call that another thread interrupts takes two lines: only the second has the result.
const ENDED = /^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed).*\) += (-?\w+|\?)/

/**
 * Locates the file that strace writes for a process.
 * @param {string} folder of the process
 */
const locateTrace = folder => path.join(folder, 'strace.out')

/**
 * Changes the command of a process so that it runs under strace, with all its threads and children.
 * @param {ProcessSpec} spec is copied
 * @param {Tool} strace
 * @returns {ProcessSpec}
 */
export function wrapInStrace(spec, strace) {
  const options = ['-f', '-qq', '-s', '0', '-e', 'signal=none', '-o', locateTrace(spec.folder)]
  return { ...spec, program: strace.path, argv: [...options, spec.program, ...spec.argv] }
}

/**
 * Creates the counter of a process that `wrapInStrace` has changed.
 * @param {{ folder: string }} spec folder: of the process
 * @returns {{ start: () => Promise<void>, reset: () => Promise<CallKinds>, take: () => Promise<CallKinds> }} start: does nothing,
 *   strace counts from the start on; reset, take: read the whole lines that strace has written since the last time. They throw the
 *   system's error if its file cannot be read
 */
export function createCallCounter({ folder }) {
  let position = 0
  const read = async () => {
    const text = await readFile(locateTrace(folder))
    const end = text.lastIndexOf('\n') + 1
    const kinds = parseCalls(text.toString('utf8', position, end))
    position = end
    return kinds
  }
  return { start: async () => {}, reset: read, take: read }
}

/**
 * Parses finished system calls. A failed one (with a result below 0) counts as a call without bytes.
 * @param {string} text the output of strace
 * @returns {CallKinds} bytes: 0 for calls that carry none (CARRYING); empty: no call has finished
 */
export function parseCalls(text) {
  /** @type {CallKinds} */
  const kinds = new Map()
  for (const line of text.split('\n')) {
    const [, name, result] = ENDED.exec(line) ?? []
    if (!name) continue
    const kind = kinds.get(name) ?? { calls: 0, bytes: 0 }
    kinds.set(name, kind)
    kind.calls++
    if (CARRYING.some(purpose => purpose.test(name))) kind.bytes += Math.max(0, Number(result) || 0)
  }
  return kinds
}

/**
 * Sums the calls of a purpose.
 * @param {CallKinds} kinds
 * @param {RegExp} [purpose] matches names of calls; absent: all
 * @returns {number}
 */
export function sumCalls(kinds, purpose = /./) {
  return [...kinds].reduce((sum, [name, { calls }]) => sum + (purpose.test(name) ? calls : 0), 0)
}
