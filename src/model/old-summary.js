import { groupBy } from '../lib/group-by.js'
import { renderArmName } from './arms.js'

/**
 * Converts a summary of schema version 4, which has the fields of all kinds of trials side by side, to a list of results. Pure.
 * @import { Comparison, CpuLine, Slope, SummaryArm } from './types.ts'
 */

/** For each kind, makes the fields that its result alone has of those of version 4. @type {Record<string, (flat: any) => object>} */
const OF_KIND = {
  cost: ({ interleaved }) => ({ cpus: interleaved?.cpus ?? null, connections: interleaved?.connections ?? [] }),
  capacity: () => ({}),
  search: ({ searches = [], sizes = [] }) => ({ searches, sizes }),
  rollout: ({ controlNeeds = [] }) => ({ controlNeeds }),
  growth: ({ growths = [] }) => ({ growths }),
}

/** Says whether a document of a run is a summary of version 4. @param {any} document */
export function isFlatSummary(document) {
  return Array.isArray(document?.arms) && Array.isArray(document.comparisons) && document.results === undefined
}

/** Splits a summary by the kinds of its arms, into one result each. @param {any} flat a summary of version 4, in the words of today */
export function splitFlatSummary({ arms, comparisons, lines, slopes, ...flat }) {
  const { interleaved, searches, sizes, controlNeeds, growths, ...common } = flat
  const kindOfLine = new Map((lines ?? []).map((/** @type {CpuLine} */ line) => [line, findKindOfLine(line, arms)]))
  return {
    ...common,
    results: [...groupBy(arms, (/** @type {SummaryArm} */ arm) => arm.kind)].map(([kind, armsOfKind]) => ({
      kind,
      arms: armsOfKind,
      comparisons: comparisons.filter((/** @type {Comparison} */ comparison) => comparison.kind === kind),
      lines: (lines ?? []).filter((/** @type {CpuLine} */ line) => kindOfLine.get(line) === kind),
      slopes: (slopes ?? []).filter((/** @type {Slope} */ { armId }) => armsOfKind.some(({ id }) => id === armId)),
      ...OF_KIND[kind]?.({ interleaved, searches, sizes, controlNeeds, growths }),
    })),
  }
}

/**
 * Finds the kind whose arms have most of the points of a line, which does not name its kind: several may have the same rates.
 * undefined: no arm has its plane and link. @param {CpuLine} line @param {SummaryArm[]} arms
 */
function findKindOfLine(line, arms) {
  const ofLine = arms.filter(arm => renderArmName(arm) === renderArmName(line) && arm.link === line.link)
  const countPoints = (/** @type {SummaryArm[]} */ some) =>
    line.points.filter(point => some.some(arm => isPointOf(point, arm, line.service))).length
  const kinds = [...groupBy(ofLine, arm => arm.kind)].toSorted(([, x], [, y]) => countPoints(y) - countPoints(x))
  return kinds[0]?.[0]
}

/**
 * Says whether an arm has the rate and the median CPU of a point.
 * @param {CpuLine['points'][0]} point @param {SummaryArm} arm @param {string | null} service null: all sidecars
 */
function isPointOf({ ratePerSecond, millicores }, arm, service) {
  /** @type {any} */
  const measured = service === null ? arm : arm.sidecars.find(sidecar => sidecar.service === service)
  return arm.load.ratePerSecond === ratePerSecond && 1000 * measured?.cpuCores?.median === millicores
}
