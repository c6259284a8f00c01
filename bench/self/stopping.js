// Whether rounds that go on until they are precise stay right: A/A and coverage with stopping, and a change of 3 % that
// was planted.
import { readFileSync } from 'node:fs'
import { median } from 'simple-statistics'
import { createRandom } from '../../src/lib/random.js'
import { summariseSequence, summariseValues } from '../../src/lib/stats.js'
import { bench, finding } from './kit.js'
import { burn, findTurns } from './sensitivity.js'

const RUNS = 1000
const MOST_ROUNDS = 60
const DEARER = 0.03
const COLUMNS = [
  ...['noise of the ratio', 'width', 'rounds', 'A/A winners', 'A/A at any round', 'coverage'],
  ...['fixed-n: A/A winners', 'fixed-n: A/A at any round', 'fixed-n: coverage'],
]

/** Rounds of real runs: CPU per request of one arm over another. @type {Record<string, number[]>} */
const recorded = JSON.parse(readFileSync(new URL('recorded-ratios.json', import.meta.url), 'utf8'))

/**
 * @typedef {{ name: string, width: number, isCorrelated?: boolean, draw: () => number }} Noise
 *   isCorrelated: beyond what the intervals promise; draw: the logarithm of a ratio whose median is 0
 */
/** @typedef {typeof summariseSequence} Summarise */

/**
 * Every run ends with the round in which its interval is narrow, or after 60.
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function simulateStopping() {
  const random = createRandom(14)
  const noises = listNoises(random)
  const rows = noises.map(noise => {
    const runs = Array.from({ length: RUNS }, () => Array.from({ length: MOST_ROUNDS }, noise.draw).map(Math.exp))
    const kept = judgeRuns(runs, { ...noise, summarise: summariseSequence })
    // The interval of a fixed number of rounds, looked at after each of them: what this is for.
    const naive = judgeRuns(runs, { ...noise, summarise: summariseValues })
    return { noise, kept, naive }
  })
  const table = rows.map(({ noise, kept, naive }) => [
    ...[noise.name, `${(100 * noise.width).toFixed(0)} %`, `${kept.rounds}`],
    ...[kept.winners, kept.winnersEver, kept.coverage, naive.winners, naive.winnersEver, naive.coverage].map(n =>
      n.toFixed(1),
    ),
  ])
  console.log([COLUMNS, COLUMNS.map(() => '---'), ...table].map(cells => `| ${cells.join(' | ')} |`).join('\n'))
  const all = (/** @type {'winners' | 'coverage'} */ what) => rows.map(({ kept }) => kept[what])
  const ever = rows.flatMap(({ noise, kept }) => (noise.isCorrelated ? [] : kept.winnersEver))
  return [
    finding('winners of 100 A/A runs with stopping, most, at most 5', Math.max(...all('winners')), [], n => n <= 5),
    finding('winners of 100 at any round, of independent rounds, most, at most 5', Math.max(...ever), [], n => n <= 5),
    finding('intervals of 100 that hold the truth, least, at least 95', Math.min(...all('coverage')), [], n => n >= 95),
  ]
}

/**
 * A variant that costs 3 % more, measured until it is known to 3 %.
 * @param {{ turns?: number, maxMinutes?: number }} [options] turns: of the variant; absent: they are found first
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function studyPlanted({ turns, maxMinutes = 60 } = {}) {
  const planted = turns ?? (await findTurns(DEARER))
  const { summary } = await bench([
    ...['--planes', `pipy,pipy=${burn('planted', planted)}`, '--cpu', '0.25'],
    ...['--precision', `${100 * DEARER}%`, '--max-minutes', `${maxMinutes}`],
  ])
  const [primary] = summary.comparisons
  const { low, high } = primary.ratio
  const { rounds, isReached, pairs } = /** @type {NonNullable<typeof summary.precision>} */ (summary.precision)
  const [{ width, roundsMore }] = pairs
  console.log(
    `          ${primary.verdict} [${low?.toFixed(3)}, ${high?.toFixed(3)}] after ${rounds} rounds, ${width?.toFixed(3)} wide, A/A ${primary.aaSpread?.toFixed(3)}; ${isReached ? 'reached' : `about ${roundsMore} rounds more`}`,
  )
  return [
    finding(
      `a change of 3 % (${planted} turns) is found, or the run says how many rounds it still takes`,
      1 / Number(primary.ratio.median),
      [],
      () => (isReached ? primary.verdict === 'lower' : Number(roundsMore) > 0),
    ),
  ]
}

/**
 * @param {() => number} random
 * @returns {Noise[]}
 */
function listNoises(random) {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const exponential = () => -Math.log(1 - random())
  let last = 0
  const correlate = () => {
    last = 0.2 * last + Math.sqrt(1 - 0.2 ** 2) * normal()
    return 0.03 * last
  }
  const heavy = () => normal() / Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3)
  return [
    { name: 'normal, 3 %', width: 0.03, draw: () => 0.03 * normal() },
    { name: 'normal, 1 %', width: 0.03, draw: () => 0.01 * normal() },
    { name: 'Student t of 3 degrees, 2 %', width: 0.03, draw: () => 0.02 * heavy() },
    { name: 'one round in ten five times as noisy', width: 0.03, draw: () => (random() < 0.1 ? 0.1 : 0.02) * normal() },
    { name: 'skewed (exponential), 3 %', width: 0.03, draw: () => 0.03 * (exponential() - Math.LN2) },
    { name: 'each round correlated with the one before, 0.2', width: 0.03, isCorrelated: true, draw: correlate },
    ...Object.entries(recorded).flatMap(([name, ratios]) => {
      const middle = Math.log(median(ratios))
      const logs = ratios.map(ratio => Math.log(ratio) - middle)
      const draw = () => logs[Math.floor(random() * logs.length)]
      const widths = [0.03, 0.1]
      return widths.map(width => ({ name: `recorded: ${name}`, width, draw }))
    }),
  ]
}

/**
 * Of 100 runs whose true ratio is 1: those that name a winner where they stop, and those that would at any round.
 * @param {number[][]} runs ratios of all rounds that there may be
 * @param {{ width: number, summarise: Summarise }} options
 */
function judgeRuns(runs, { width, summarise }) {
  const ended = runs.map(ratios => {
    const rounds = ratios.map((_, i) => summarise(ratios.slice(0, i + 1)))
    const looks = rounds.map(({ low, high }, i) => {
      const hasInterval = low !== null && high !== null
      return {
        n: i + 1,
        isWinner: hasInterval && (low > 1 || high < 1),
        isNarrow: hasInterval && high / low - 1 <= width,
      }
    })
    const { n, isWinner } = looks.find(look => look.isNarrow) ?? looks[looks.length - 1]
    return { n, isWinner, isWinnerEver: looks.some(look => look.isWinner) }
  })
  const share = (/** @type {number} */ count) => (100 * count) / runs.length
  const winners = share(ended.filter(run => run.isWinner).length)
  return {
    rounds: median(ended.map(run => run.n)),
    winners,
    winnersEver: share(ended.filter(run => run.isWinnerEver).length),
    // The truth is 1: an interval that misses it names a winner.
    coverage: 100 - winners,
  }
}
