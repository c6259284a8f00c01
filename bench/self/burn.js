// A variant of the kit's Pipy sidecar that burns a known amount more for each request.

import { listComparisons } from '../../src/model/results.js'
import { runKit, writeVariant } from './kit.js'

const PROBES = [5, 60]

/**
 * Finds the turns that cost a share of a request, by the line through two numbers of turns that are measured.
 * @param {number} share
 */
export async function findTurns(share) {
  const [few, many] = PROBES
  const costs = []
  for (const turns of PROBES) {
    const { summary } = await runKit(['cost', '--planes', `pipy,pipy=${createBurnVariant(`probe-${turns}`, turns)}`])
    costs.push(1 / Number(listComparisons(summary)[0].ratio.median) - 1)
  }
  return Math.max(1, Math.round(few + ((share - costs[0]) * (many - few)) / (costs[1] - costs[0])))
}

/**
 * A variant that multiplies so many times for each request at each sidecar: the filter itself costs as much as seven turns.
 * @param {string} name
 * @param {number} turns
 */
export function createBurnVariant(name, turns) {
  return writeVariant(name, {
    before: `var turns = new Array(${turns}).fill(3)\nvar multiply = n => n * n`,
    filter: '.handleMessageStart(() => turns.forEach(multiply))',
  })
}

/**
 * A variant that handles one event more of each request at every sidecar that receives it: two of the three times that a
 * request of gateway-ratings passes the filters of a sidecar, and about 2 % of its instructions (`npm run lab -- FOLDER`).
 * @param {string} name
 */
export function handleInbound(name) {
  return writeVariant(name, {
    side: 'inbound',
    before: 'var handled = 0',
    filter: '.handleMessageStart(() => { handled++ })',
  })
}
