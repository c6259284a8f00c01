import { writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readSafely } from './proc-files.js'

/** The memory of this process: it is small beside what is measured, and known. */

/** Gives back what nothing needs any more, which V8 does by itself only when memory runs short. */
export function collectGarbage() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Has the kernel count from now on. Where it does not, the count goes on from the start of the process. */
export function resetOwnPeak() {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // A container may have /proc read-only.
  }
}

/** The most memory that this process had resident (proc(5), VmHWM), in bytes; null where the kernel does not tell. */
export function readOwnPeak() {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readSafely('/proc/self/status')) ?? []
  return kibibytes === undefined ? null : Number(kibibytes) * 1024
}
