import { groupBy } from '../lib/group-by.js'
import { joinStacks, shortenName } from './profile.js'

/**
 * Reads `perf script`, https://man7.org/linux/man-pages/man1/perf-script.1.html. A sample is a line of the process and
 * the event, then its stack, the innermost function first. Pure.
 * @import { Profile, Stack } from './profile.js'
 */

/** The fields that perf script prints for each sample. */
export const FIELDS = 'pid,event,ip,sym,dso'

const SAMPLE = /^\s*(\d+)\s+([\w-]+(?::\w+)?):\s*$/
const FRAME = /^\s+([0-9a-f]+) (.*?) \((\S*(?: \(deleted\))?)\)$/
const SYSTEM_CALL = /^_+(?:(?:x64|ia32|arm64|se)_)?sys_(\w+)$/
// The address at which the copy of the stack was cut off.
const CUT_OFF = /^f{16}$/
// Functions on every way into the kernel.
const ENTRY = /^(entry_|do_syscall_|x64_sys_call$|el0|invoke_syscall|do_el0)/

/** Reads a profile for each process, in samples. @param {string} text */
export function parsePerfScript(text) {
  const samples = text.split(/\n\s*\n/).flatMap(block => {
    const [head, ...lines] = block.split('\n').filter(line => line.trim() !== '')
    const [, pid, event] = SAMPLE.exec(head ?? '') ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), event, stack: readStack(lines) }]
  })
  /** @type {Map<number, Profile>} */
  const profiles = new Map()
  for (const [pid, own] of groupBy(samples, sample => sample.pid))
    profiles.set(pid, { total: own.length, stacks: joinStacks(own.map(({ stack }) => stack)) })
  return { events: [...new Set(samples.map(({ event }) => event))], profiles }
}

/** @param {string[]} lines of one sample @returns {Stack} */
function readStack(lines) {
  const frames = lines.flatMap(line => {
    const [, ip, name, object] = FRAME.exec(line) ?? []
    if (ip === undefined || CUT_OFF.test(ip)) return []
    const known = name === '[unknown]' ? '???' : name
    return [{ name: known, object, isKernel: ip.length === 16 && ip.startsWith('ffff') }]
  })
  const kernel = frames.filter(({ isKernel }) => isKernel).map(({ name }) => name)
  const user = frames.filter(({ isKernel }) => !isKernel).map(({ name }) => shortenName(name))
  if (kernel.length > 0) user.unshift(nameKernel(kernel))
  return { frames: user, object: frames[0]?.object ?? '', self: 1 }
}

/** Names the system call, or another entry into the kernel, marked as in flame graphs. @param {string[]} names */
function nameKernel(names) {
  const call = names.map(name => SYSTEM_CALL.exec(name)?.[1]).findLast(Boolean)
  return `${call ?? names.findLast(name => !ENTRY.test(name)) ?? names[0]}_[k]`
}
