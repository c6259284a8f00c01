// Variants of the kit's Pipy sidecar that burn a known amount more for each request.
import { bench, writeVariant } from './kit.js'

const PROBES = [5, 60]

/**
 * The turns of a variant that is dearer by a share, between two that were measured: one that is too cheap, one too dear.
 * @param {number} share
 * @param {{ isOfServer?: boolean }} [where]
 */
export async function findTurns(share, where) {
  const [few, many] = [await measureBurn(PROBES[0], where), await measureBurn(PROBES[1], where)]
  const perTurn = (many - few) / (PROBES[1] - PROBES[0])
  return Math.max(1, Math.round(PROBES[0] + (share - few) / perTurn))
}

/**
 * What a variant with so many turns costs more, as a share.
 * @param {number} turns
 * @param {{ isOfServer?: boolean }} [where]
 */
async function measureBurn(turns, where) {
  const variant = burn(`probe-${turns}`, turns, where)
  const { summary } = await bench(['cost', '--planes', `pipy,pipy=${variant}`])
  return 1 / Number(summary.comparisons[0].ratio.median) - 1
}

/**
 * A variant that multiplies so many times for each request at each sidecar, or at the server's alone: the filter itself
 * costs as much as seven turns.
 * @param {string} name
 * @param {number} turns
 * @param {{ isOfServer?: boolean }} [where]
 */
export function burn(name, turns, where) {
  return writeVariant(name, {
    ...where,
    before: `var turns = new Array(${turns}).fill(3)\nvar multiply = n => n * n`,
    filter: '.handleMessageStart(() => turns.forEach(multiply))',
  })
}
