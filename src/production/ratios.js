import { UsageError } from '../lib/errors.js'
import { nameOf } from '../model/arms.js'

/** What a load would take with another plane, by ratios that a run measured. Pure. */
/** @import { Summary } from '../model/types.ts' @import { WorkloadSize } from './workload-size.js' */

/** The planes that stand for a sidecar, by the name of its container in a mesh; the first that a run has counts. */
const PLANES_OF_CONTAINERS = /** @type {Record<string, string[]>} */ ({
  'istio-proxy': ['envoy:istio', 'envoy'],
  envoy: ['envoy'],
  'linkerd-proxy': ['linkerd:deployed', 'linkerd'],
  sidecar: ['pipy:fsm', 'pipy'],
})

/** A ratio of the other plane to the one that runs. @typedef {{ median: number, low: number | null, high: number | null, of: string }} Ratio of: the quantity */

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
 * Finds the ratios of a plane to the one that a container is, in a run.
 * @param {Pick<Summary, 'comparisons' | 'machine' | 'arms'>} summary
 * @param {{ container: string, plane: string, folder: string }} options @returns {PlaneRatios | null} null: it is the plane of today
 * @throws {UsageError} where the run compares no such pair
 */
export function findRatios({ comparisons, machine, arms }, { container, plane, folder }) {
  const standing = PLANES_OF_CONTAINERS[container]
  const measured = [...new Set(arms.filter(arm => arm.hasSidecars && arm.repeatOf === null).map(nameOf))]
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
  const find = (/** @type {string[]} */ quantities) => findRatio(comparisons, { plane, from, quantities })
  const cpu = find(['cpuPerRequest'])
  if (cpu === null)
    throw new UsageError(`--ratios ${folder}: CPU per request of ${plane} and ${from} could not be compared`)
  const memory = find(['workingSet', 'rss', 'anon'])
  return { plane, from, cpu, memory, node: `${machine.cpuModel}, ${machine.cpus} CPUs`, folder }
}

/**
 * @param {Summary['comparisons']} comparisons @param {{ plane: string, from: string, quantities: string[] }} options the first
 *   that was compared counts @returns {Ratio | null}
 */
function findRatio(comparisons, { plane, from, quantities }) {
  const pairs = comparisons.filter(
    ({ a, b, isControl, service, ratio }) =>
      !isControl && service === null && ratio.median !== null && [a, b].includes(plane) && [a, b].includes(from),
  )
  for (const quantity of quantities) {
    const same = pairs.filter(pair => pair.quantity === quantity)
    // Interleaved arms have the narrowest interval.
    const best = same.find(({ load }) => load.kind === 'interleaved') ?? same[0]
    if (best === undefined) continue
    const { low, median, high } = best.ratio
    const isTurned = best.a !== plane
    const turn = (/** @type {number | null} */ value) => (value === null ? null : isTurned ? 1 / value : value)
    const [least, most] = isTurned ? [high, low] : [low, high]
    return { median: Number(turn(median)), low: turn(least), high: turn(most), of: quantity }
  }
  return null
}

/** Scales what was computed. @param {WorkloadSize} size @param {PlaneRatios} ratios */
export function scaleSize({ computed: { requestCores, limitCores, bytes } }, { cpu, memory }) {
  return {
    requestCores: requestCores * cpu.median,
    limitCores: limitCores * cpu.median,
    bytes: bytes === null || memory === null ? null : bytes * memory.median,
  }
}
