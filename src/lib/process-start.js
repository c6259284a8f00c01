import { readFileSync, readlinkSync } from 'node:fs'
import { callSafely } from './call-safely.js'

/**
 * Reads when a process started (proc(5), stat, field 22).
 * @param {number} pid
 * @returns {number | null} clock ticks since boot; null: it has ended or is a zombie, or there is no /proc
 */
export function readProcessStartTicks(pid) {
  const stat = callSafely(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
  const [state, ...fields] = stat.replace(/^.*\) /s, '').split(' ')
  return stat === '' || 'ZX'.includes(state) ? null : Number(fields[18])
}

/**
 * Reads the place in which the pids of this process are valid: its pid namespace, until a reboot.
 * @returns pidNamespace: such as `pid:[4026531836]`; bootId: another after each boot
 * @throws the system's error if there is no /proc
 */
export function readPlace() {
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return { pidNamespace: readlinkSync('/proc/self/ns/pid'), bootId }
}

/**
 * Creates a key of the place where a pid is valid: the boot of the machine, whose folders others may share, and the pid
 * namespace.
 * @returns {string} one word; `unknown`: there is no /proc
 */
export function createPlaceKey() {
  return callSafely(() => {
    const { bootId, pidNamespace } = readPlace()
    return `${bootId.slice(0, 8)}${/\d+/.exec(pidNamespace)?.[0]}`
  }, 'unknown')
}
