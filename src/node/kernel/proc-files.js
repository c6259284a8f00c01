import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { callSafely } from '../../lib/call-safely.js'

/** @import { HostCpu } from '../../model/types.ts' */

/**
 * Lists the entries of a folder of /proc.
 * @param {string} folder
 * @returns {string[]} []: its process has ended, or it cannot be read
 */
export const listProcEntries = folder => callSafely(() => readdirSync(folder), /** @type {string[]} */ ([]))

/**
 * Reads a file of /proc.
 * @param {string} file
 * @returns {string} empty: its process has ended, or it cannot be read
 */
export const readProcFile = file => callSafely(() => readFileSync(file, 'utf8'), '')

/**
 * Reads the target of a symbolic link in /proc.
 * @param {string} file
 * @returns {string} empty: its process has ended, or it cannot be read
 */
export const readProcLink = file => callSafely(() => readlinkSync(file), '')

/**
 * Reads a field of /proc/PID/status.
 * @param {number | 'self'} pid
 * @param {string} name of the field
 * @returns {string} empty: there is no such field, or the process has ended
 */
export const readStatus = (pid, name) =>
  new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(readProcFile(`/proc/${pid}/status`))?.[1] ?? ''

/**
 * Sums a field of /proc/PID/status over processes. A process without the field, or that has ended, adds 0.
 * @param {number[]} pids
 * @param {string} name of a field in kB
 * @returns {number} bytes
 */
export const sumStatusBytes = (pids, name) =>
  pids.reduce((sum, pid) => sum + (Number.parseInt(readStatus(pid, name), 10) || 0) * 1024, 0)

/**
 * Lists the pids of all processes.
 * @param {string} [proc] the folder where procfs is mounted
 * @returns {number[]} []: the folder cannot be read
 */
export function listPids(proc = '/proc') {
  return listProcEntries(proc)
    .filter(name => /^\d+$/.test(name))
    .map(Number)
}

/**
 * Says whether a process is stopped, by a signal or a debugger (proc(5), stat field 3).
 * @param {number} pid
 * @returns {boolean} false also: it has ended
 */
export function isStopped(pid) {
  return /\) [Tt] /.test(readProcFile(`/proc/${pid}/stat`))
}

/**
 * Finds the limit of open files that a process has reached.
 * @param {number} pid
 * @returns {string | null} a sentence for an error; null: it has fewer open, does not show its limit or its files, or has ended
 */
export function findFileLimit(pid) {
  const mostFiles = Number(/^Max open files +(\d+)/m.exec(readProcFile(`/proc/${pid}/limits`))?.[1] ?? Number.NaN)
  const openFiles = listProcEntries(`/proc/${pid}/fd`).length
  return openFiles >= mostFiles
    ? `process ${pid} has ${openFiles} files open, and may have ${mostFiles} (ulimit -n)`
    : null
}

/**
 * Says whether a process has ended, and so closed all its files: it is gone, or a zombie with one thread.
 * @param {number} pid
 * @returns {boolean}
 */
export function hasEnded(pid) {
  const threads = listProcEntries(`/proc/${pid}/task`)
  return threads.length === 0 || (threads.length === 1 && /\) [ZX] /.test(readProcFile(`/proc/${pid}/stat`)))
}

/**
 * Reads the clock ticks of all CPUs since the boot, from /proc/stat.
 * @returns {HostCpu} busy: of user, nice and system; idle: with iowait; total: of busy, idle, interrupts and steal
 * @throws the system's error if the file cannot be read
 */
export function readHostCpu() {
  return parseHostCpu(readFileSync('/proc/stat', 'utf8'))
}

/**
 * Parses the ticks of all CPUs together.
 * @param {string} stat the text of /proc/stat
 * @returns {HostCpu} a member that the text lacks, or that depends on one, is NaN; without lines of CPUs `cpus` is 0
 */
export function parseHostCpu(stat) {
  const lines = stat.split('\n')
  const ticks = (/^cpu\s+(.*)$/.exec(lines[0])?.[1] ?? '').split(/\s+/).map(parseNumber)
  const [user, nice, system, idle, iowait, irq, softirq, steal = Number.NaN] = ticks
  const busy = user + nice + system
  return {
    idle: idle + iowait,
    steal,
    busy,
    total: busy + idle + iowait + irq + softirq + steal,
    cpus: lines.filter(line => /^cpu\d/.test(line)).length,
  }
}

/**
 * Parses a text that is one whole number.
 * @param {string} text
 * @returns {number} NaN: the text is something else, or has more than 20 digits
 */
export function parseNumber(text) {
  return /^\d{1,20}\n?$/.test(text) ? Number(text) : Number.NaN
}
