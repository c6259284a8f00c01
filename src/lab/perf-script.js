import { shortenName } from './profile.js'

/**
 * The output of `perf script` for samples: a line of the process and the event, then its stack, the innermost function first.
 * https://man7.org/linux/man-pages/man1/perf-script.1.html. Pure.
 * @import { Profile, Stack } from './profile.js'
 */

/** The fields that perf script prints for each sample. */
export const FIELDS = 'pid,event,ip,sym,dso'

const SAMPLE = /^\s*(\d+)\s+([\w-]+(?::\w+)?):\s*$/
const FRAME = /^\s+([0-9a-f]+) (.*?) \((\S*(?: \(deleted\))?)\)$/
const SYSTEM_CALL = /^_+(?:(?:x64|ia32|arm64|se)_)?sys_(\w+)$/
// This address stands where the copy of the stack was cut off.
const CUT_OFF = /^f{16}$/
// These functions are on every way into the kernel.
const ENTRY = /^(entry_|do_syscall_|x64_sys_call$|el0|invoke_syscall|do_el0)/

/**
 * @param {string} text
 * @returns {{ events: string[], profiles: Map<number, Profile> }} a profile for each process, in samples
 */
export function parsePerfScript(text) {
  /** @type {Map<number, Map<string, Stack>>} */
  const found = new Map()
  const events = new Set()
  for (const block of text.split(/\n\s*\n/)) {
    const [head, ...lines] = block.split('\n').filter(line => line.trim() !== '')
    const [, pid, event] = SAMPLE.exec(head ?? '') ?? []
    if (pid === undefined) continue
    events.add(event)
    const stacks = found.get(Number(pid)) ?? new Map()
    found.set(Number(pid), stacks)
    const stack = readStack(lines)
    const key = JSON.stringify([stack.object, ...stack.frames])
    const known = stacks.get(key)
    if (known) known.self += 1
    else stacks.set(key, stack)
  }
  const profiles = [...found].map(([pid, stacks]) => {
    const all = [...stacks.values()]
    return /** @type {[number, Profile]} */ ([
      pid,
      { total: all.reduce((sum, { self }) => sum + self, 0), stacks: all },
    ])
  })
  return { events: [...events], profiles: new Map(profiles) }
}

/** @param {string[]} lines @returns {Stack} of one sample */
function readStack(lines) {
  const frames = lines.flatMap(line => {
    const [, ip, name, object] = FRAME.exec(line) ?? []
    if (ip === undefined || CUT_OFF.test(ip)) return []
    const known = name === '[unknown]' ? '???' : name
    return [{ name: known, object, isKernel: ip.length === 16 && ip.startsWith('ffff') }]
  })
  const kernel = frames.filter(({ isKernel }) => isKernel).map(({ name }) => name)
  const user = frames.filter(({ isKernel }) => !isKernel).map(({ name }) => shortenName(name))
  return {
    frames: [...(kernel.length > 0 ? [nameKernel(kernel)] : []), ...user],
    object: frames[0]?.object ?? '',
    self: 1,
  }
}

/**
 * The kernel as a script's author knows it: the system call, or what else led there. Marked as flame graphs do.
 * @param {string[]} names the innermost first
 */
function nameKernel(names) {
  const call = names.map(name => SYSTEM_CALL.exec(name)?.[1]).findLast(Boolean)
  return `${call ?? names.findLast(name => !ENTRY.test(name)) ?? names[0]}_[k]`
}
