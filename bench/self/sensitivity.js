// Whether a change of 10 % is found: the kit's Pipy sidecar against one that burns a known amount more.
import { median } from 'simple-statistics'
import { compareArms } from '../../src/analysis/compare.js'
import { cpuPerRequestMicros, sidecarsOf, valueOfRound } from '../../src/judge/measures.js'
import { bench, finding, writeExperiment, writeVariant } from './kit.js'

const RUNS = 10
const ROUNDS = 6
const WINDOW_SECONDS = 10
const DEARER = 0.1
const PROBES = [5, 60]
const PROBE_ROUNDS = 12

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function studySensitivity() {
  const turns = await findTurns(DEARER)
  const experiment = writeExperiment('sensitivity', { rounds: RUNS * ROUNDS, windowSeconds: WINDOW_SECONDS })
  const { records, manifest } = await bench([
    experiment,
    '--planes',
    `pipy,pipy=${burn('dearer', turns)}`,
    '--cpu',
    '0.25',
  ])
  const blocks = Array.from({ length: RUNS }, (_, block) => {
    const own = records
      .filter(r => Math.floor((r.trial.round - 1) / ROUNDS) === block)
      .map(r => ({ ...r, trial: { ...r.trial, round: r.trial.round - block * ROUNDS } }))
    const [primary] = compareArms({
      arms: manifest.arms,
      records: own,
      rounds: ROUNDS,
      seed: block,
      findDisparities: () => [],
      findWrong: () => [],
    })
    // What is true of a block is taken from the others.
    const others = records.filter(r => Math.floor((r.trial.round - 1) / ROUNDS) !== block)
    const truth = ratioOf(others, manifest.arms[0].id, manifest.arms[1].id, manifest.rounds)
    return { primary, truth }
  })
  const found = blocks.filter(({ primary }) => primary.verdict === 'lower')
  const inside = blocks.filter(
    ({ primary: { ratio }, truth }) => Number(ratio.low) <= truth && truth <= Number(ratio.high),
  )
  const ratios = blocks.map(({ primary }) => 1 / Number(primary.ratio.median))
  for (const { primary, truth } of blocks)
    console.log(
      `          ${primary.verdict} ${primary.ratio.median?.toFixed(3)} [${primary.ratio.low?.toFixed(3)}, ${primary.ratio.high?.toFixed(3)}], truth ${truth.toFixed(3)}, A/A ${primary.aaSpread?.toFixed(3)} ${primary.reasons.join('; ')}`,
    )
  return [
    finding(
      `CPU per request of the dearer variant, 1.07 to 1.13 (${turns} turns)`,
      median(ratios),
      ratios,
      r => r > 1.07 && r < 1.13,
    ),
    finding(`runs of ${ROUNDS} rounds that found it, of ${RUNS}, at least 9`, found.length, [], n => n >= 9),
    finding(`intervals that hold the true ratio, of ${RUNS}, at least 9`, inside.length, [], n => n >= 9),
  ]
}

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
  const { summary } = await bench([
    ...[
      '--planes',
      `pipy,pipy=${burn(`probe-${turns}`, turns, where)}`,
      '--cpu',
      '0.25',
      '--rounds',
      `${PROBE_ROUNDS}`,
    ],
  ])
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

/**
 * The median ratio of two arms over the rounds.
 * @param {import('../../src/model/types.ts').TrialRecord[]} records
 * @param {string} a
 * @param {string} b
 * @param {number} rounds
 */
function ratioOf(records, a, b, rounds) {
  const costIn = (/** @type {string} */ id, /** @type {number} */ round) =>
    valueOfRound(
      records.filter(r => r.trial.arm.id === id && r.trial.round === round),
      'cpuPerRequest',
      r => cpuPerRequestMicros(r, sidecarsOf(r)),
    )
  const ratios = Array.from({ length: rounds }, (_, i) => [costIn(a, i + 1), costIn(b, i + 1)]).flatMap(([x, y]) =>
    x !== null && y !== null ? [x / y] : [],
  )
  return median(ratios)
}
