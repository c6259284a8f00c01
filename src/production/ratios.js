import { UsageError } from '../lib/errors.js'
import { renderArmName } from '../model/arms.js'
import { listArms, listComparisons } from '../model/results.js'
import { renderPath, renderRequests, renderTlsMode } from '../report/answer/conditions.js'

/** Estimates the CPU and memory that a load takes with another plane, by ratios that a run measured. Pure. */
/**
 * @import { Comparison, Summary, SummaryArm } from '../model/types.ts'
 * @import { WorkloadSize } from './workload-size.js'
 */

/** The planes of the kit that stand for a mesh's sidecar, by the name of its container; the first that a run measured counts. */
const PLANES_OF_CONTAINERS = /** @type {Record<string, string[]>} */ ({
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
 * @throws {UsageError} if no plane of the kit stands for the container, or the run does not compare the CPU per request of the two
 */
export function findRatios({ results, machine }, { container, plane, folder }) {
  const standing = PLANES_OF_CONTAINERS[container]
  const measured = [
    ...new Set(
      listArms({ results })
        .filter(arm => arm.hasSidecars && arm.repeatOf === null)
        .map(renderArmName),
    ),
  ]
  if (standing === undefined)
    throw new UsageError(
      `--plane ${plane}: no plane of the kit is the container ${container}: name ${Object.keys(PLANES_OF_CONTAINERS).join(', ')} with --container`,
    )
  if (standing.includes(plane) && measured.includes(plane)) return null
  const from = standing.find(name => measured.includes(name))
  if (from === undefined || !measured.includes(plane))
    throw new UsageError(
      `--ratios ${folder}: it measured ${measured.join(', ') || 'no plane'}, and ${from === undefined ? `none that stands for ${container} (${standing.join(', ')})` : `not ${plane}`}: measure both, such as bench --planes ${plane},${from ?? standing[0]}`,
    )
  const find = (/** @type {string[]} */ quantities) => findRatio({ results }, { plane, from, quantities })
  const cpu = find(['cpuPerRequest'])
  if (cpu === null)
    throw new UsageError(`--ratios ${folder}: CPU per request of ${plane} and ${from} could not be compared`)
  const memory = find(['workingSet', 'rss', 'anon'])
  return { plane, from, cpu, memory, node: `${machine.cpuModel}, ${machine.cpus} CPUs`, folder }
}

/**
 * Finds the ratio of the first quantity that the run compared between two planes, by the comparison that is most like production.
 * Controls, comparisons of single services, invalid ones and those without a median are left out.
 * @param {Pick<Summary, 'results'>} summary
 * @param {{ plane: string, from: string, quantities: string[] }} options
 * @returns {Ratio | null} null: it compared none of them
 */
function findRatio(summary, { plane, from, quantities }) {
  const pairs = listComparisons(summary)
    .filter(
      ({ a, b, isControl, service, ratio, verdict }) =>
        !isControl &&
        service === null &&
        verdict !== 'invalid' &&
        ratio.median !== null &&
        [a, b].includes(plane) &&
        [a, b].includes(from),
    )
    .map(pair => ({ ...pair, arm: createComparedArm(pair, { arms: listArms(summary), plane }) }))
  // A sidecar in production has mTLS; interleaved arms have the narrowest interval.
  const rank = (/** @type {typeof pairs[number]} */ { arm, load }) =>
    (renderTlsMode(arm) === 'mTLS' ? 0 : 2) + (load.kind === 'interleaved' ? 0 : 1)
  const ranked = pairs.sort((x, y) => rank(x) - rank(y))
  for (const quantity of quantities) {
    const best = ranked.find(pair => pair.quantity === quantity)
    if (best === undefined) continue
    const { low, median, high } = best.ratio
    const isTurned = best.a !== plane
    const turn = (/** @type {number | null} */ value) => (value === null ? null : isTurned ? 1 / value : value)
    const [least, most] = isTurned ? [high, low] : [low, high]
    return {
      median: Number(turn(median)),
      low: turn(least),
      high: turn(most),
      of: quantity,
      conditions: renderRatioConditions(best.arm),
    }
  }
  return null
}

/**
 * Creates the plane's arm under the conditions of a comparison, for their text.
 * @param {Comparison} comparison
 * @param {{ arms: SummaryArm[], plane: string }} options
 */
function createComparedArm({ link, cpuLimitCores, load, conditions }, { arms, plane }) {
  const named = arms.filter(arm => renderArmName(arm) === plane)
  const arm = named.find(other => other.link === link) ?? named[0]
  return { ...arm, link, cpuLimitCores, load, conditions }
}

/** Renders the link, path, requests and CPU limit of an arm. @param {SummaryArm} arm */
function renderRatioConditions(arm) {
  const limit = arm.cpuLimitCores === null ? [] : [`CPU limit ${arm.cpuLimitCores}`]
  return [arm.link, renderPath([arm]), renderRequests([arm]), ...limit].join(', ')
}

/**
 * Scales the computed request and limits by the medians of ratios.
 * @param {WorkloadSize} size
 * @param {PlaneRatios} ratios
 * @returns bytes: null: memory is not known, or was not compared
 */
export function scaleSize({ computed: { requestCores, limitCores, bytes } }, { cpu, memory }) {
  return {
    requestCores: requestCores * cpu.median,
    limitCores: limitCores * cpu.median,
    bytes: bytes === null || memory === null ? null : bytes * memory.median,
  }
}
