import { closeSync, openSync, readSync } from 'node:fs'

/** @import { Reading } from '../../model/types.ts' */

/**
 * What the kernel counts of one cgroup.
 * @typedef {object} Counters
 * @property {() => Reading} read
 * @property {() => number | null} readCapCores the least quota of it and its ancestors
 * @property {() => number[]} pids
 * @property {() => void} close
 */

const buffer = Buffer.alloc(16384)

/**
 * A kernel file opened once and read again and again from its start: opening it each time costs
 * more than twice as much.
 * @param {string} path
 */
export function openCounterFile(path) {
  const fd = openSync(path, 'r')
  return {
    read: () => buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0)),
    close: () => closeSync(fd),
  }
}

/** The number that a file holds alone; NaN where it holds something else. @param {string} text */
export function numberOf(text) {
  return /^\d{1,20}\n?$/.test(text) ? Number(text) : Number.NaN
}

/**
 * The number after a name in a text of `name value` lines; NaN where the name is not there.
 * @param {string} text
 * @param {string} name
 */
export function numberAfter(text, name) {
  if (text.startsWith(`${name} `)) return Number.parseInt(text.slice(name.length + 1, name.length + 23), 10)
  const at = text.indexOf(`\n${name} `)
  return at < 0 ? Number.NaN : Number.parseInt(text.slice(at + name.length + 2, at + name.length + 24), 10)
}
