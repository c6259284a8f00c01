import { readFileSync } from 'node:fs'

/**
 * When a process started, in clock ticks since boot (proc(5), stat field 22); null when there is none, or it has ended
 * and its parent has not asked for its status.
 * @param {number} pid
 */
export function processStartTicks(pid) {
  try {
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return 'ZX'.includes(state) ? null : Number(fields[18])
  } catch {
    return null
  }
}
