import { nameOf } from '../../model/arms.js'
import { tellEstimates } from './estimates.js'

/**
 * What windows under load show: the cost of planes, and what bound them. Pure.
 * @import { SummaryArm } from '../../model/types.ts'
 * @import { Sections } from '../sections.js'
 */

/** @type {Sections} */
export const loadSections = {
  answer: ({ summary, measured, cost }) =>
    measured.length === 0 ? [] : [...cost, tellBound(measured), tellEstimates(summary)].filter(Boolean),
}

/** @param {SummaryArm[]} arms */
function tellBound(arms) {
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.repeatOf === null && arm.boundBy !== null)
  const limits = [...new Set(sidecars.map(arm => arm.boundBy))]
  if (limits.length === 0) return ''
  if (limits.length === 1) return sayLimit(limits[0])
  return limits
    .map(limit => {
      const names = [...new Set(sidecars.filter(arm => arm.boundBy === limit).map(nameOf))]
      return `${names.join(', ')} ${sayLimit(limit)}`
    })
    .join(', ')
}

/** @param {SummaryArm['boundBy']} limit */
function sayLimit(limit) {
  if (limit === 'users') return 'bound by the number of users, so no capacity was measured'
  if (limit === 'rate') return 'with nothing saturated at the rate'
  return `bound by the ${limit}`
}
