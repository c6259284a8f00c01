/** The processes of a record. Pure. */
/** @import { ProcessRecord } from './types.ts' */

/**
 * Lists the processes with a role.
 * @param {ProcessRecord[]} processes
 * @param {ProcessRecord['role']} role
 * @returns {ProcessRecord[]} []: there are none
 */
export function listByRole(processes, role) {
  return processes.filter(p => p.role === role)
}

/** Sums the CPU of processes. @param {Pick<ProcessRecord, 'cpuCores'>[]} processes @returns {number} cores; 0 for none */
export function sumCores(processes) {
  return processes.reduce((sum, { cpuCores }) => sum + cpuCores, 0)
}
