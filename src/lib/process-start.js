import { readFileSync, readlinkSync } from 'node:fs'

/** Reads when a process started, in clock ticks since boot (proc(5), stat); null when it has ended. @param {number} pid */
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

/** The boot of this machine. */
export function readBootId() {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** Where a pid is this process, and no other. */
export function readPlace() {
  return { pidNamespace: readlinkSync('/proc/self/ns/pid'), bootId: readBootId() }
}
