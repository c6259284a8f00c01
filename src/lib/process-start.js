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

/** The scope of a pid: a pid namespace of a boot. */
export function readPlace() {
  return { pidNamespace: readlinkSync('/proc/self/ns/pid'), bootId: readBootId() }
}
