// Variants of the kit's Pipy sidecar that burn a known amount more for each request.
import { bench, declareTurns, writeVariant } from './kit.js'

const PROBES = [5, 60]

/**
 * Finds the turns that cost a share of a request, by the line through two numbers of turns that are measured.
 * @param {number} share
 * @param {(name: string, turns: number) => string} write makes the folder of a variant with so many turns
 */
export async function findTurns(share, write) {
  const [few, many] = PROBES
  const costs = []
  for (const turns of PROBES) {
    const { summary } = await bench(['cost', '--planes', `pipy,pipy=${write(`probe-${turns}`, turns)}`])
    costs.push(1 / Number(summary.comparisons[0].ratio.median) - 1)
  }
  return Math.max(1, Math.round(few + ((share - costs[0]) * (many - few)) / (costs[1] - costs[0])))
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
    before: declareTurns(turns),
    filter: '.handleMessageStart(() => turns.forEach(multiply))',
  })
}
