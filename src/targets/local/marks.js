import { listPids, readProcFile } from '../../node/kernel/proc-files.js'

/** Every process of a run carries these in its environment, so that `cleanup` finds what a killed run left. */
const VARIABLES = { runId: 'SIDECAR_BENCH_RUN', start: 'SIDECAR_BENCH_START', name: 'SIDECAR_BENCH_PROCESS' }

/** @typedef {{ runId: string, start: string, name: string }} Marks start: the number of its start in the target; name: `service-role` */

/**
 * Renders the marks as environment variables.
 * @param {Partial<Marks>} marks
 * @returns {Record<string, string>}
 */
export function renderMarks(marks) {
  return Object.fromEntries(
    Object.entries(marks).map(([key, value]) => [VARIABLES[/** @type {'name'} */ (key)], value]),
  )
}

/**
 * Lists the processes of every run on this machine whose environment this user may read.
 * @returns {(Marks & { pid: number })[]} []: there are none
 */
export function listMarkedProcesses() {
  return listPids().flatMap(pid => {
    const environment = readProcFile(`/proc/${pid}/environ`).split('\0')
    const [runId, start, name] = Object.values(VARIABLES).map(
      variable => environment.find(entry => entry.startsWith(`${variable}=`))?.slice(variable.length + 1) ?? '',
    )
    return runId ? [{ pid: Number(pid), runId, start, name }] : []
  })
}

/**
 * Kills a process, or the process group of a negative id. It does nothing if the process has exited.
 * @param {number} pid
 * @throws the system's error if it may not be killed
 */
export function killProcess(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
  }
}
