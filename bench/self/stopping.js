// Whether rounds that go on until they are precise stay right: A/A and coverage with stopping, and a change of 3 % that
// was planted.
import { readFileSync } from 'node:fs'
import { median } from 'simple-statistics'
import { areSpoiled, findGapLeast, isPrecise, judge } from '../../src/analysis/verdict.js'
import { createRandom } from '../../src/lib/random.js'
import { summariseSequence, summariseValues } from '../../src/lib/stats.js'
import { createStopping } from '../../src/run/stopping.js'
import { burn, findTurns } from './burn.js'
import { bench, finding } from './kit.js'

const RUNS = 1000
const MOST_ROUNDS = 60
const DEARER = 0.03
// At both sidecars one turn costs more than 3 %.
const WHERE = { isOfServer: true }
const SPOILED = 0.05
const BLOCK = 4
const COLUMNS = [
  ...[
    'noise of the ratio',
    'width',
    'rounds',
    'A/A winners',
    'missed at any round',
    'coverage',
    'ended without verdict',
  ],
  ...['fixed-n: A/A winners', 'fixed-n: missed at any round', 'fixed-n: coverage'],
]

/** Rounds of real runs: CPU per request of one arm over another. @type {Record<string, number[]>} */
const recorded = JSON.parse(readFileSync(new URL('recorded-ratios.json', import.meta.url), 'utf8'))

/**
 * @typedef {{ name: string, width: number, isCorrelated?: boolean, isOfBlocks?: boolean, draw: () => number | null }} Noise
 *   isCorrelated: beyond what the intervals promise; isOfBlocks: as far as recorded rounds tell, which are few; draw: the logarithm of a ratio whose median is 0; null: a spoiled round
 */

/**
 * Every run ends with the round in which its interval is narrow, or after 60.
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function simulateStopping() {
  const random = createRandom(14)
  const noises = listNoises(random)
  const rows = noises.map(noise => {
    const drawRatio = () => {
      const log = noise.draw()
      return log === null ? null : Math.exp(log)
    }
    const runs = Array.from({ length: RUNS }, () => Array.from({ length: MOST_ROUNDS }, drawRatio))
    const kept = judgeRuns(runs, { width: noise.width, summarise: summariseSequence })
    // The interval of a fixed number of rounds, looked at after each of them: what this is for.
    const naive = judgeRuns(runs, { width: noise.width, summarise: summariseValues })
    return { noise, kept, naive }
  })
  const table = rows.map(({ noise, kept, naive }) => [
    ...[noise.name, `${(100 * noise.width).toFixed(0)} %`, `${kept.rounds}`],
    ...[kept.winners, kept.winnersEver, kept.coverage, kept.withoutVerdict].map(n => n.toFixed(1)),
    ...[naive.winners, naive.winnersEver, naive.coverage].map(n => n.toFixed(1)),
  ])
  console.log([COLUMNS, COLUMNS.map(() => '---'), ...table].map(cells => `| ${cells.join(' | ')} |`).join('\n'))
  const listed = (/** @type {boolean} */ isOfBlocks) =>
    rows.filter(row => (row.noise.isOfBlocks ?? false) === isOfBlocks)
  const most = (/** @type {typeof rows} */ of, /** @type {'winners' | 'winnersEver' | 'withoutVerdict'} */ what) =>
    Math.max(...of.map(({ kept }) => kept[what]))
  const least = (/** @type {typeof rows} */ of) => Math.min(...of.map(({ kept }) => kept.coverage))
  const independent = rows.filter(({ noise }) => !noise.isCorrelated)
  const covered = 'intervals of 100 that hold the truth'
  return [
    finding('winners of 100 A/A runs with stopping, most, at most 5', most(listed(false), 'winners'), [], n => n <= 5),
    finding(
      'missed of 100 at any round, of independent rounds, most, at most 5',
      most(independent, 'winnersEver'),
      [],
      n => n <= 5,
    ),
    finding(`${covered}, least, at least 95`, least(listed(false)), [], n => n >= 95),
    finding(`${covered}, of recorded rounds in blocks, least, at least 95`, least(listed(true)), [], n => n >= 95),
    finding(
      'runs of 100 that end as precise without a verdict, most, 0',
      most(rows, 'withoutVerdict'),
      [],
      n => n === 0,
    ),
  ]
}

/**
 * A variant that costs 3 % more, measured until it is known to 3 %.
 * @param {{ turns?: number, maxMinutes?: number }} [options] turns: of the variant; absent: they are found first
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function studyPlanted({ turns, maxMinutes = 60 } = {}) {
  const planted = turns ?? (await findTurns(DEARER, (name, count) => burn(name, count, WHERE)))
  const { summary } = await bench([
    ...['--planes', `pipy,pipy=${burn('planted', planted, WHERE)}`, '--cpu', '0.25'],
    ...['--precision', `${100 * DEARER}%`, '--max-minutes', `${maxMinutes}`],
  ])
  const [primary] = summary.comparisons
  const { low, high } = primary.ratio
  const { rounds, isReached, pairs } = /** @type {NonNullable<typeof summary.precision>} */ (summary.precision)
  const [{ width, roundsMore }] = pairs
  console.log(
    `          ${primary.verdict} [${low?.toFixed(3)}, ${high?.toFixed(3)}] after ${rounds} rounds, ${width?.toFixed(3)} wide, A/A ${primary.aaSpread?.toFixed(3)}; ${isReached ? 'reached' : `about ${roundsMore} rounds more`}`,
  )
  const isFound = primary.verdict === 'lower'
  const found = isFound ? 'found' : isReached ? 'NOT found' : `not found yet, about ${roundsMore} rounds more`
  return [
    finding(
      `a change of ${turns ? '' : '3 %, '}${planted} turns, ${found}: our share of its CPU per request`,
      Number(primary.ratio.median),
      [],
      () => isFound,
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
    {
      name: 'normal, 1 %, one round in twenty spoiled',
      width: 0.03,
      draw: () => (random() < SPOILED ? null : 0.01 * normal()),
    },
    { name: 'skewed (exponential), 3 %', width: 0.03, draw: () => 0.03 * (exponential() - Math.LN2) },
    { name: 'each round correlated with the one before, 0.2', width: 0.03, isCorrelated: true, draw: correlate },
    ...Object.entries(recorded).flatMap(([name, ratios]) => {
      const middle = Math.log(median(ratios))
      const logs = ratios.map(ratio => Math.log(ratio) - middle)
      return [1, BLOCK].flatMap(block =>
        [0.03, 0.1].map(width => ({
          name: `recorded: ${name}${block > 1 ? `, in blocks of ${block}` : ''}`,
          ...{ width, isCorrelated: block > 1, isOfBlocks: block > 1 },
          draw: resampleBlocks({ values: logs, block, random }),
        })),
      )
    }),
  ]
}

/**
 * Values as they followed each other in blocks, the first of each at random, and round the end (Politis and Romano, A
 * circular block-resampling procedure for stationary data, 1992). Between two neighbours in size they may be anywhere:
 * otherwise one in 21 would be exactly the truth, and no interval that ends there would miss it.
 * @param {{ values: number[], block: number, random: () => number }} options values: whose median is 0
 */
function resampleBlocks({ values, block, random }) {
  const sorted = values.toSorted((a, b) => a - b)
  const ranks = values.map(value => sorted.indexOf(value))
  let nth = 0
  let at = 0
  return () => {
    at = nth++ % block === 0 ? Math.floor(random() * values.length) : (at + 1) % values.length
    return interpolate(sorted, ((ranks[at] + random()) / values.length) * (values.length - 1))
  }
}

/**
 * @param {number[]} sorted
 * @param {number} position from 0
 */
function interpolate(sorted, position) {
  const i = Math.min(Math.floor(position), sorted.length - 2)
  return sorted[i] + (position - i) * (sorted[i + 1] - sorted[i])
}

/**
 * Of 100 runs whose true ratio is 1, ended by the kit's rule: those that name a winner where they stop, those whose
 * interval would miss the truth at any round, those whose interval holds it where they stop, and those that end as
 * precise and have no verdict.
 * @param {(number | null)[][]} runs ratios of all rounds that there may be
 * @param {{ width: number, summarise: typeof summariseValues }} options
 */
function judgeRuns(runs, { width, summarise }) {
  const ended = runs.map(ratios => {
    const looks = ratios.map((_, i) => {
      const values = ratios.slice(0, i + 1)
      const ratio = summarise(values)
      // The least floor that a run can have: its A/A pair differs by nothing.
      const verdict = judge({ ratio, floor: findGapLeast(width), isSpoiled: areSpoiled(values, true) })
      const isMissed = ratio.low !== null && ratio.high !== null && (ratio.low > 1 || ratio.high < 1)
      return { verdict, isMissed, isReached: isPrecise(ratio, width) }
    })
    const n = findEnd(looks.map(look => look.isReached))
    const { verdict, isMissed, isReached } = looks[n - 1]
    return {
      ...{ n, isMissed, isMissedEver: looks.some(look => look.isMissed) },
      isWinner: verdict === 'lower' || verdict === 'higher',
      isWithoutVerdict: isReached && (verdict === 'invalid' || verdict === 'indicative'),
    }
  })
  const share = (/** @type {(run: typeof ended[number]) => boolean} */ is) =>
    (100 * ended.filter(is).length) / runs.length
  return {
    rounds: median(ended.map(run => run.n)),
    winners: share(run => run.isWinner),
    winnersEver: share(run => run.isMissedEver),
    coverage: share(run => !run.isMissed),
    withoutVerdict: share(run => run.isWithoutVerdict),
  }
}

/**
 * The round with which a run ends, by what each would find.
 * @param {boolean[]} reached
 */
function findEnd(reached) {
  let round = 0
  const stopping = createStopping({
    ...{ precision: { width: 1, maxMinutes: 1 }, mostRounds: reached.length, recordedRounds: 0, say: () => {} },
    assess: () => ({ isReached: reached[round - 1], roundsMore: null, told: '' }),
    writeManifest: found => /** @type {any} */ (found),
    now: () => 0,
  })
  do stopping.begin(++round)
  while (!stopping.isOver(round))
  return round
}
