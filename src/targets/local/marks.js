import { listPids, readProcFile } from '../../node/kernel/proc-files.js'

/** Every process of a run carries these in its environment, so that `cleanup` finds what a killed run left. */
const VARIABLES = { runId: 'SIDECAR_BENCH_RUN', start: 'SIDECAR_BENCH_START', name: 'SIDECAR_BENCH_PROCESS' }

/**
 * @typedef {object} Marks
 * @property {string} runId
 * @property {string} start the number of its start in the target; empty: it has none
 * @property {string} name `service-role`; empty: it has none
 */

/**
 * Renders marks as environment variables.
 * @param {Partial<Marks>} marks
 * @returns {Record<string, string>} values by the variable's name
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
    const readVariable = (/** @type {string} */ variable) =>
      environment.find(entry => entry.startsWith(`${variable}=`))?.slice(variable.length + 1) ?? ''
    const [runId, start, name] = Object.values(VARIABLES).map(readVariable)
    return runId ? [{ pid, runId, start, name }] : []
  })
}
