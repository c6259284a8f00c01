import { readFileSync, readlinkSync } from 'node:fs'
import { safely } from './safely.js'

/** Reads when a process started, in clock ticks since boot (proc(5), stat); null when it has ended. @param {number} pid */
export function processStartTicks(pid) {
  const stat = safely(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
  const [state, ...fields] = stat.replace(/^.*\) /s, '').split(' ')
  return stat === '' || 'ZX'.includes(state) ? null : Number(fields[18])
}

/** Reads the scope of a pid: a pid namespace of a boot. */
export function readPlace() {
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return { pidNamespace: readlinkSync('/proc/self/ns/pid'), bootId }
}

/** Names the scope of a pid in a word: the boot of the machine, which may share its folders, and the pid namespace. */
export function describePlace() {
  return safely(() => {
    const { bootId, pidNamespace } = readPlace()
    return `${bootId.slice(0, 8)}${/\d+/.exec(pidNamespace)?.[0]}`
  }, 'unknown')
}
