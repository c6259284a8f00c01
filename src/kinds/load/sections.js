import { formatValue, QUANTITIES, quantityOf } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { lowerFirst } from '../../lib/letters.js'
import { AXES, describeVaried, findVaried, labelOf, nameOf } from '../../model/arms.js'

/** Windows under load: the cost of planes, and what bound them. Pure. @import { Sections } from '../sections.js' */
/** @import { AxisName, Summary, SummaryArm } from '../../model/types.ts' */

/** @type {Sections} */
export const loadSections = {
  isOf: () => true,
  heading: nameCaps,
  answer({ summary, measured, cost, isAlone }) {
    if (measured.length === 0) return []
    const told = tellAxes(measured)
    if (told.length > 0) return told
    const bound = tellBound(measured)
    // Arms that stood side by side have answered what they cost.
    if (isAlone) return [...cost, bound].filter(Boolean)
    return [`${lowerFirst(nameCaps(summary))}: ${[tellCapacities(summary), bound].filter(Boolean).join('; ')}`]
  },
}

/** The answer to a question about these axes. @type {[AxisName, string[]][]} */
const ANSWERS = [
  ['pairs', ['cpuCores', 'pss']],
  ['burstSeconds', ['burstDue', 'burstServed', 'burstDropped', 'burstP99', 'recoverySeconds']],
  ['ending', ['lostRequests', 'successorMs']],
]

/** Tells, of arms that have such an axis, the quantities that answer its question. @param {SummaryArm[]} arms */
function tellAxes(arms) {
  const varied = findVaried(arms)
  return ANSWERS.flatMap(([axis, names]) =>
    arms
      .filter(arm => AXES[axis].of(arm) !== null && arm.repeatOf === null)
      .map(arm => {
        const values = names.map(name => {
          const { median } = quantityOf(arm, name)
          return `${QUANTITIES[name].label} ${median === null ? '-' : formatValue(QUANTITIES[name], median)}`
        })
        return `${labelOf(arm, [...new Set([axis, ...varied])])}: ${values.join(', ')}`
      }),
  )
}

/** @param {Summary} summary */
function nameCaps({ arms }) {
  const caps = [...new Set(arms.flatMap(arm => arm.capCores ?? []))]
  return caps.length === 0 ? 'One after the other, not capped' : `At a cap of ${caps.join(' or ')}`
}

// Capacities that the answer tells.
const CAPACITIES_MOST = 4

/** @param {Summary} summary */
function tellCapacities({ arms }) {
  const own = arms.filter(arm => arm.repeatOf === null)
  const varied = findVaried(own)
  const told = own.flatMap(arm => {
    const { median, low, high } = quantityOf(arm, 'capacity')
    if (median === null) return []
    const [value, ...ends] = [median, low, high].map(v => formatValue(QUANTITIES.capacity, Number(v)))
    const where = describeVaried(arm, varied)
    const name = `${nameOf(arm)}${where && ` with ${where}`}`
    return [`${name} delivers ${value}${low === null ? '' : ` [${ends.join(', ')}]`} requests/s`]
  })
  return told.length > CAPACITIES_MOST ? `capacities of ${told.length} arms stand below` : told.join(', ')
}

/** @param {SummaryArm[]} arms */
function tellBound(arms) {
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.repeatOf === null && arm.boundBy !== null)
  const limits = [...groupBy(sidecars, arm => arm.boundBy)]
  if (limits.length === 1) return sayLimit(limits[0][0])
  return limits.map(([limit, own]) => `${[...new Set(own.map(nameOf))].join(', ')} ${sayLimit(limit)}`).join(', ')
}

/** @param {SummaryArm['boundBy']} limit */
function sayLimit(limit) {
  if (limit === 'users') return 'bound by the number of users, so no capacity was measured'
  if (limit === 'drops') return 'which dropped requests that were due, for no user was free to send them'
  if (limit === 'rate') return 'with nothing saturated at the rate'
  return `bound by the ${limit}`
}
