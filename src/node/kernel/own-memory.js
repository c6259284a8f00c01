import { readFileSync, writeFileSync } from 'node:fs'

/**
 * The most memory that this process has had resident, as the kernel counts it (proc(5), VmHWM).
 */

/** Has the kernel count from now on. Where it does not, the count goes on from the start of the process. */
export function resetOwnPeak() {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // A container may have /proc read-only.
  }
}

/** @returns {number | null} bytes; null: the kernel does not tell */
export function readOwnPeak() {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return kibibytes === undefined ? null : Number(kibibytes) * 1024
  } catch {
    return null
  }
}
