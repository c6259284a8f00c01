import { chooseRequiredUse, findQuantity, QUANTITIES } from '../judge/quantities.js'
import { divideRounds, findRoundValue, groupByRound } from '../judge/record/measures.js'
import { groupBy } from '../lib/group-by.js'
import { findSlopeInterval, fitLine, summariseRatios } from '../lib/stats.js'
import { AXES, createGroupKey, pickPlaneChoice, renderArmName, renderContenderName } from '../model/arms.js'
import { listArms } from '../model/results.js'

/** Fits lines of CPU over the rate and of quantities over the time of a run, and finds plateaus over an axis. Pure. */
/** @import { AxisName, CpuLine, Quantity, Slope, Summary, SummaryArm, TrialRecord } from '../model/types.ts' */
/** @import { QuantityRow } from '../judge/record/quantity-row.js' */

const RATES_LEAST = 5
const MS_PER_HOUR = 3600 * 1000

/**
 * Fits a line of CPU over the rate for each group of arms that differ in the rate alone: for all sidecars together (service null),
 * and for each service. Copies of services and A/A repeats have no line.
 * @param {SummaryArm[]} arms
 * @returns {CpuLine[]} in millicores; []: no group has RATES_LEAST rates of the open loop with a value
 */
export function fitCpuLines(arms) {
  const openLoopArms = arms.filter(a => a.load.kind === 'open' && a.sidecars.length > 0 && a.repeatOf === null)
  const createArmKey = (/** @type {SummaryArm} */ arm) =>
    `${renderArmName(arm)} ${createGroupKey(arm, 'ratePerSecond')}`
  return [...groupBy(openLoopArms, createArmKey).values()].flatMap(group => {
    const services = group[0].sidecars.filter(s => s.copyOf === null).map(s => s.service)
    return [null, ...services].flatMap(service => fitCpuLine(group, service) ?? [])
  })
}

/**
 * Fits the line of one service.
 * @param {SummaryArm[]} arms that differ in the rate alone
 * @param {string | null} service null: all sidecars together
 * @returns {CpuLine | null} in millicores; null: fewer than RATES_LEAST rates have a value
 */
function fitCpuLine(arms, service) {
  const points = arms.flatMap(arm => {
    const cores = findQuantity(arm, 'cpuCores', service).median
    const { ratePerSecond } = arm.load
    return cores === null || ratePerSecond === undefined ? [] : [{ ratePerSecond, millicores: 1000 * cores }]
  })
  if (points.length < RATES_LEAST) return null
  const { base, slope } = fitLine(points.map(p => [p.ratePerSecond, p.millicores]))
  const [first] = arms
  return {
    ...pickPlaneChoice(first),
    link: first.link,
    service,
    services: first.conditions.services,
    baseMillicores: base,
    slopeMillicoresPerRequestPerSecond: slope,
    points: points.map(p => ({ ...p, residualMillicores: p.millicores - (base + slope * p.ratePerSecond) })),
  }
}

/**
 * Fits the change per hour of each quantity with `isFollowed`, of arms with sidecars.
 * @param {{ arms: SummaryArm[], records: TrialRecord[] }} run
 * @returns {Slope[]} perHour: in the unit of the quantity's header; []: no quantity has two rounds with a value
 */
export function fitSlopes({ arms, records }) {
  const followedRows = Object.values(QUANTITIES).filter(row => row.isFollowed)
  return arms
    .filter(arm => arm.sidecars.length > 0)
    .flatMap(arm => {
      const armRecords = records.filter(r => r.trial.arm.id === arm.id)
      return followedRows.flatMap(row => fitSlope({ arm, row, records: armRecords }) ?? [])
    })
}

/**
 * Fits the slope of a quantity over the start times of the windows.
 * @param {{ arm: SummaryArm, row: QuantityRow, records: TrialRecord[] }} options records: of the arm
 * @returns {Slope | null} low, high: null with too few rounds (`findSlopeInterval`); null: fewer than two rounds have a value and a window
 */
function fitSlope({ arm, row, records }) {
  const { values } = findQuantity(arm, row.name)
  const points = groupByRound(records, values.length).flatMap((trials, i) => {
    const startMs = findRoundValue(trials, chooseRequiredUse(row, arm.load), r => r.window?.startMs ?? null)
    const value = values[i]
    return value === null || startMs === null ? [] : [/** @type {[number, number]} */ ([startMs / MS_PER_HOUR, value])]
  })
  if (points.length < 2) return null
  const { slope } = fitLine(points)
  return {
    ...pickPlaneChoice(arm),
    armId: arm.id,
    quantity: row.name,
    perHour: slope,
    ...findSlopeInterval(points),
    rounds: points.length,
  }
}

/** The plateau begins at the smallest value whose quantity is at most this multiple of the least. */
export const PLATEAU_RATIO_MOST = 1.1

/**
 * The plateau of a quantity of one plane over an axis, all else being equal.
 * @typedef {object} Plateau
 * @property {SummaryArm} arm at the largest value: it has the most simulated sidecars, if any
 * @property {string} quantity less of it is better
 * @property {{ at: number, median: number }} best the value with the least
 * @property {number} from the value at which the plateau begins
 * @property {number} last the largest value of the axis
 * @property {Quantity} ratio of the quantity at `from` to that at the best value, round by round
 * @property {{ at: number, ratio: Quantity } | null} nearest the value below `from` with the least ratio; null: none has one
 * @property {boolean} isSure the interval at `from` is below PLATEAU_RATIO_MOST, and that at the value before it, if there is one,
 *   above
 * @property {number[]} missing values of the axis without a value of the quantity
 */

/**
 * Finds the plateaus of the quantities that an experiment names, over its axis. It leaves out A/A repeats, and planes with
 * fewer than three values.
 * @param {Pick<Summary, 'results' | 'shows' | 'run'>} summary
 * @returns {Plateau[]} []: the experiment names no axis or no quantity, or no plane has a plateau (`findPlateau`)
 */
export function findPlateaus({ results, shows: { across, plateaus = [] }, run }) {
  if (across === null) return []
  const arms = listArms({ results }).filter(arm => arm.repeatOf === null)
  const createArmKey = (/** @type {SummaryArm} */ arm) => `${renderContenderName(arm)} ${createGroupKey(arm, across)}`
  const groups = [...groupBy(arms, createArmKey).values()]
  return plateaus.flatMap(quantity =>
    groups.flatMap(group => findPlateau({ group, across, quantity, seed: run.seed }) ?? []),
  )
}

/**
 * Finds the plateau of arms that differ in the axis alone.
 * @param {{ group: SummaryArm[], across: AxisName, quantity: string, seed: number }} options seed: of the resampling
 * @returns {Plateau | null} null: fewer than three arms have the quantity, or no round has a ratio, as the least value is 0
 */
export function findPlateau({ group, across, quantity, seed }) {
  const measurements = group.map(arm => ({
    arm,
    at: Number(AXES[across].readValue(arm)),
    ...findQuantity(arm, quantity),
  }))
  const points = measurements.flatMap(({ median, ...point }) => (median === null ? [] : [{ ...point, median }]))
  if (points.length < 3) return null
  points.sort((a, b) => a.at - b.at)
  const largest = points[points.length - 1]
  const best = points.reduce((least, point) => (point.median < least.median ? point : least))
  const ratios = points.map(({ values }) => summariseRatios(divideRounds(values, best.values), seed))
  const index = ratios.findIndex(({ median }) => median !== null && median <= PLATEAU_RATIO_MOST)
  if (index < 0) return null
  const ratio = ratios[index]
  const pointsBefore = points
    .slice(0, index)
    .flatMap(({ at }, i) => (ratios[i].median === null ? [] : [{ at, ratio: ratios[i] }]))
  const isFromInside = ratio.high !== null && ratio.high <= PLATEAU_RATIO_MOST
  const isBeforeOutside = index === 0 || Number(ratios[index - 1].low) > PLATEAU_RATIO_MOST
  return {
    arm: largest.arm,
    quantity,
    ratio,
    from: points[index].at,
    last: largest.at,
    best: { at: best.at, median: best.median },
    nearest: pointsBefore.toSorted((a, b) => Number(a.ratio.median) - Number(b.ratio.median))[0] ?? null,
    isSure: isFromInside && isBeforeOutside,
    missing: measurements.flatMap(({ at, median }) => (median === null ? [at] : [])),
  }
}
