import { groupBy } from '../../lib/group-by.js'

/** The processes of a record by role, and their names in a reason. */
/** @import { ProcessRecord } from '../../model/types.ts' */

/** @param {ProcessRecord[]} processes @param {ProcessRecord['role']} role */
export function withRole(processes, role) {
  return processes.filter(p => p.role === role)
}

/** Groups a service with its copies: any of them may have given the answers. @param {ProcessRecord[]} processes */
export function groupCopies(processes) {
  return [...groupBy(processes, p => p.copyOf ?? p.service).values()]
}

/** @param {ProcessRecord} process */
export function nameOf({ service, role }) {
  return `${service}'s ${role}`
}

/** @param {number} share */
export function percent(share) {
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 0)} %`
}
