import { readFileSync } from 'node:fs'

/**
 * When a process started, in clock ticks since boot (proc(5), stat field 22); null when there is none.
 * @param {number} pid
 */
export function processStartTicks(pid) {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19],
    )
  } catch {
    return null
  }
}
