import { UsageError } from '../lib/errors.js'
import { renderArmName } from '../model/arms.js'
import { listArms, listComparisons } from '../model/results.js'
import { renderPath, renderRequests, renderTlsMode } from '../report/answer/conditions.js'

/** Estimates the CPU and memory that a load takes with another plane, by ratios that a run measured. Pure. */
/**
 * @import { Comparison, Quantity, Summary, SummaryArm } from '../model/types.ts'
 * @import { ComputedSize, WorkloadSize } from './workload-size.js'
 */

/** These planes stand for a mesh's sidecar, by the name of its container. The first that a run measured counts. */
const PLANES_BY_CONTAINER = /** @type {Record<string, string[]>} */ ({
  'istio-proxy': ['envoy:istio', 'envoy'],
  envoy: ['envoy'],
  'linkerd-proxy': ['linkerd:deployed', 'linkerd'],
  sidecar: ['pipy:fsm', 'pipy'],
})

/**
 * @typedef {object} Ratio of the other plane to the one that runs, with its 95 % interval
 * @property {number} median
 * @property {number | null} low null: too few rounds for an interval
 * @property {number | null} high
 * @property {string} of the quantity
 * @property {string} conditions under which it was measured
 */

/**
 * The ratios of one plane to another, with the run that measured them.
 * @typedef {object} PlaneRatios
 * @property {string} plane that would run
 * @property {string} from the plane of the run that stands for today's
 * @property {Ratio} cpu of CPU per request
 * @property {Ratio | null} memory null: not measured
 * @property {string} node where the run was
 * @property {string} folder of the run
 */

/**
 * Finds the ratios of CPU per request and memory of a plane to the plane that stands for a container, in a run.
 * @param {Pick<Summary, 'results' | 'machine'>} summary
 * @param {object} options
 * @param {string} options.container that runs in production
 * @param {string} options.plane that would run
 * @param {string} options.folder of the run
 * @returns {PlaneRatios | null} null: the plane stands for that container, and the run measured it
 * @throws {UsageError} if no plane of the kit stands for the container, the run did not measure both planes, or did not compare their
 *   CPU per request
 */
export function findRatios({ results, machine }, { container, plane, folder }) {
  const standIns = PLANES_BY_CONTAINER[container]
  if (standIns === undefined)
    throw new UsageError(
      `--plane ${plane}: no plane of the kit is the container ${container}: name ${Object.keys(PLANES_BY_CONTAINER).join(', ')} with --container`,
    )
  const arms = listArms({ results }).filter(arm => arm.hasSidecars && arm.repeatOf === null)
  const measured = [...new Set(arms.map(renderArmName))]
  if (standIns.includes(plane) && measured.includes(plane)) return null
  const from = standIns.find(name => measured.includes(name))
  if (from === undefined || !measured.includes(plane)) {
    const lack = from === undefined ? `none that stands for ${container} (${standIns.join(', ')})` : `not ${plane}`
    throw new UsageError(
      `--ratios ${folder}: it measured ${measured.join(', ') || 'no plane'}, and ${lack}: measure both, such as bench --planes ${plane},${from ?? standIns[0]}`,
    )
  }
  const cpu = findRatio({ results }, { plane, from, quantities: ['cpuPerRequest'] })
  if (cpu === null)
    throw new UsageError(`--ratios ${folder}: CPU per request of ${plane} and ${from} could not be compared`)
  const memory = findRatio({ results }, { plane, from, quantities: ['workingSet', 'rss', 'anon'] })
  return { plane, from, cpu, memory, node: `${machine.cpuModel}, ${machine.cpus} CPUs`, folder }
}

/**
 * Finds the ratio of the first quantity that the run compared between two planes, by the comparison that is most like production:
 * with mTLS if there is one, and among those by interleaved arms.
 * @param {Pick<Summary, 'results'>} summary
 * @param {{ plane: string, from: string, quantities: string[] }} options
 * @returns {Ratio | null} of `plane` to `from`; null: the run compared none of the quantities
 */
function findRatio(summary, { plane, from, quantities }) {
  const arms = listArms(summary)
  const candidates = listComparisons(summary)
    .filter(comparison => hasRatio(comparison) && isOfPlanes(comparison, plane, from))
    .map(comparison => ({ ...comparison, arm: createComparedArm(comparison, { arms, plane }) }))
  // A sidecar in production has mTLS; interleaved arms have the narrowest interval.
  const rank = (/** @type {typeof candidates[number]} */ { arm, load }) =>
    (renderTlsMode(arm) === 'mTLS' ? 0 : 2) + (load.kind === 'interleaved' ? 0 : 1)
  const ranked = candidates.toSorted((x, y) => rank(x) - rank(y))
  const bestOfEach = quantities.flatMap(quantity => ranked.find(candidate => candidate.quantity === quantity) ?? [])
  if (bestOfEach.length === 0) return null
  const [{ a, ratio, quantity, arm }] = bestOfEach
  const interval = a === plane ? ratio : invertRatio(ratio)
  const { low, high } = interval
  return { median: Number(interval.median), low, high, of: quantity, conditions: renderRatioConditions(arm) }
}

/**
 * Says whether a comparison has a ratio over all sidecars. A/A pairs and invalid comparisons do not count.
 * @param {Comparison} comparison
 */
function hasRatio({ isControl, service, ratio, verdict }) {
  return !isControl && service === null && verdict !== 'invalid' && ratio.median !== null
}

/**
 * Says whether a comparison is of these two planes, in either order.
 * @param {Comparison} comparison
 * @param {...string} planes their names
 */
function isOfPlanes({ a, b }, ...planes) {
  return planes.every(plane => plane === a || plane === b)
}

/**
 * Computes the ratio of b to a from that of a to b: the ends of its interval change places.
 * @param {Pick<Quantity, 'median' | 'low' | 'high'>} ratio
 * @returns {Pick<Quantity, 'median' | 'low' | 'high'>} a member is null if it was
 */
function invertRatio({ median, low, high }) {
  const invert = (/** @type {number | null} */ value) => (value === null ? null : 1 / value)
  return { median: invert(median), low: invert(high), high: invert(low) }
}

/**
 * Creates an arm of a plane with the link, CPU limit, load and conditions of a comparison, for rendering them.
 * @param {Comparison} comparison
 * @param {{ arms: SummaryArm[], plane: string }} options arms: of the run, at least one of the plane; one on that link is preferred
 * @returns {SummaryArm}
 */
function createComparedArm({ link, cpuLimitCores, load, conditions }, { arms, plane }) {
  const planeArms = arms.filter(arm => renderArmName(arm) === plane)
  const arm = planeArms.find(other => other.link === link) ?? planeArms[0]
  return { ...arm, link, cpuLimitCores, load, conditions }
}

/** Renders the link, path, requests and, if it has one, the CPU limit of an arm, joined by commas. @param {SummaryArm} arm */
function renderRatioConditions(arm) {
  const limit = arm.cpuLimitCores === null ? [] : [`CPU limit ${arm.cpuLimitCores}`]
  return [arm.link, renderPath([arm]), renderRequests([arm]), ...limit].join(', ')
}

/**
 * Scales the computed CPU request and limit by the median ratio of CPU per request, and the memory by that of memory.
 * @param {WorkloadSize} size
 * @param {PlaneRatios} ratios
 * @returns {ComputedSize} bytes: null: memory is not known, or was not compared
 */
export function scaleSize({ computed: { requestCores, limitCores, bytes } }, { cpu, memory }) {
  return {
    requestCores: requestCores * cpu.median,
    limitCores: limitCores * cpu.median,
    bytes: bytes === null || memory === null ? null : bytes * memory.median,
  }
}
