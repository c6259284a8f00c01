import { groupBy } from '../lib/group-by.js'
import { nameOf } from './arms.js'

/**
 * Reads a summary of schema version 4, which has the fields of all kinds of trials side by side, as a list of results. Pure.
 * @import { Comparison, CpuLine, Slope, SummaryArm } from './types.ts'
 */

/** Fields of version 4 that one kind alone has, as those of its result. @type {Record<string, (flat: any) => object>} */
const OF_KIND = {
  cost: ({ interleaved }) => ({ cpus: interleaved?.cpus ?? null, connections: interleaved?.connections ?? [] }),
  capacity: () => ({}),
  search: ({ searches = [], sizes = [] }) => ({ searches, sizes }),
  rollout: ({ controlNeeds = [] }) => ({ controlNeeds }),
  growth: ({ growths = [] }) => ({ growths }),
}

/** @param {any} document of a run */
export function isFlatSummary(document) {
  return Array.isArray(document?.arms) && Array.isArray(document.comparisons) && document.results === undefined
}

/** Splits a summary by the kinds of its arms. @param {any} flat of version 4, in the words of today */
export function splitFlatSummary({ arms, comparisons, lines, slopes, ...flat }) {
  const { interleaved, searches, sizes, controlNeeds, growths, ...common } = flat
  return {
    ...common,
    results: [...groupBy(arms, (/** @type {SummaryArm} */ arm) => arm.kind)].map(([kind, armsOfKind]) => ({
      kind,
      arms: armsOfKind,
      comparisons: comparisons.filter((/** @type {Comparison} */ comparison) => comparison.kind === kind),
      lines: (lines ?? []).filter((/** @type {CpuLine} */ line) => armsOfKind.some(arm => isLineOf(line, arm))),
      slopes: (slopes ?? []).filter((/** @type {Slope} */ { armId }) => armsOfKind.some(({ id }) => id === armId)),
      ...OF_KIND[kind]?.({ interleaved, searches, sizes, controlNeeds, growths }),
    })),
  }
}

/** Says whether an arm is a point of a line, which names none. @param {CpuLine} line @param {SummaryArm} arm */
function isLineOf(line, arm) {
  return (
    nameOf(arm) === nameOf(line) &&
    arm.link === line.link &&
    line.points.some(({ ratePerSecond }) => ratePerSecond === arm.load.ratePerSecond)
  )
}
