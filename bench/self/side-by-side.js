// Whether short runs side by side find a planted change of 2 %, name no winner where there is none, and cover what all of
// them together say; and whether it matters which arm went before, how long a slice is, and which arm started first.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { GAP_LEAST_BESIDE, judgeRounds } from '../../src/analysis/verdict.js'
import { cpuPerRequestMicros, sidecarsOf } from '../../src/judge/measures.js'
import { createRandom } from '../../src/lib/random.js'
import { summariseRatios } from '../../src/lib/stats.js'
import { k6 } from '../../src/loads/k6/index.js'
import { benchAlternately } from './alternating.js'
import { findTurns } from './burn.js'
import { bench, finding, plantTurns, scratch } from './kit.js'

/** @import { LoadGenerator, Summary, TrialRecord } from '../../src/model/types.ts' */

const DEARER = 0.02
const ROUNDS = 12
const RUN_SECONDS_MOST = 120
const SIMULATED = 100
const SLICES_MS = [20, 50, 100]
const CARRY_ROUNDS = 6
const CARRY_SECONDS = 8

/**
 * @param {number} [runs] short ones; together they are the long run
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function studySideBySide(runs = 20) {
  const turns = await findTurns(DEARER, plantTurns)
  const short = []
  for (let i = 1; i <= runs; i++) {
    const start = performance.now()
    const { summary } = await bench([
      ...['cost', '--planes', `pipy,pipy=${plantTurns('planted', turns)}`, '--rounds', `${ROUNDS}`],
    ])
    short.push({ ...summary, seconds: (performance.now() - start) / 1000 })
    const { ratio, verdict, aaSpread } = short[short.length - 1].comparisons[0]
    console.log(
      `          run ${i}: the planted arm is ${verdict === 'lower' ? 'dearer' : verdict}: ${show(ratio)}, A/A ${aaSpread}`,
    )
  }
  return [...holdPlanted(short, turns), ...simulateItself(short), ...(await studyCarryOver())]
}

/**
 * @param {(Summary & { seconds: number })[]} short
 * @param {number} turns
 */
function holdPlanted(short, turns) {
  const ratios = short.map(run => run.comparisons[0].ratio)
  const all = ratios.flatMap(ratio => presentOf(ratio.values))
  const long = median(all)
  const found = short.filter(run => run.comparisons[0].verdict === 'lower')
  const wrong = short.filter(run => run.comparisons[0].verdict === 'higher')
  const covers = ratios.filter(({ low, high }) => Number(low) <= long && long <= Number(high))
  const share = (/** @type {number} */ least, /** @type {number} */ of) => Math.ceil((least / of) * short.length)
  const widths = ratios.map(({ low, high }) => (Number(high) / Number(low) - 1) / 2)
  const seconds = short.map(run => run.seconds)
  return [
    finding(
      `planted change (${turns} turns) over ${all.length} deployments, 1.015 to 1.025`,
      1 / long,
      [],
      r => r > 1.015 && r < 1.025,
    ),
    finding(
      `runs that found it, of ${short.length}, at least ${share(9, 10)}`,
      found.length,
      [],
      n => n >= share(9, 10),
    ),
    finding('runs that found its opposite, 0', wrong.length, [], n => n === 0),
    finding(
      `intervals that hold the median of all, of ${short.length}, at least ${share(19, 20)}`,
      covers.length,
      [],
      n => n >= share(19, 20),
    ),
    finding('half the width of an interval, at most 0.02', median(widths), widths, w => w <= 0.02),
    finding(`seconds of a run, at most ${RUN_SECONDS_MOST}`, median(seconds), seconds, s => s <= RUN_SECONDS_MOST),
  ]
}

/**
 * Winners where there is none: in the runs (Pipy and its repetition), and in runs drawn from their deployments, each ratio
 * turned over at random.
 * @param {Summary[]} short
 */
function simulateItself(short) {
  const controls = short.flatMap(run =>
    run.comparisons.filter(c => c.isControl && c.quantity === 'cpuPerRequest' && c.service === null),
  )
  const ratios = controls.flatMap(c => presentOf(c.ratio.values))
  const random = createRandom(1)
  const isWinner = (/** @type {string} */ verdict) => verdict === 'lower' || verdict === 'higher'
  const draw = () => ratios[Math.floor(random() * ratios.length)] ** (random() < 0.5 ? 1 : -1)
  const verdicts = Array.from({ length: SIMULATED }, (_, seed) => {
    const values = Array.from({ length: ROUNDS }, draw)
    const aaSpread = Math.abs(Number(summariseRatios(Array.from({ length: ROUNDS }, draw), seed).median) - 1)
    return judgeRounds({ values, seed, isSequence: false, gapLeast: GAP_LEAST_BESIDE, aaSpread, isSpoiled: false })
      .verdict
  })
  const winners = controls.filter(
    ({ ratio: { low, high, median } }) =>
      (Number(low) > 1 || Number(high) < 1) && Math.abs(Number(median) - 1) >= GAP_LEAST_BESIDE,
  )
  const share = Math.floor(0.05 * controls.length)
  return [
    finding(`winners of ${controls.length} A/A pairs that ran, at most ${share}`, winners.length, [], n => n <= share),
    finding(
      `winners of ${SIMULATED} A/A comparisons drawn from their deployments, at most 5`,
      verdicts.filter(isWinner).length,
      [],
      n => n <= 5,
    ),
  ]
}

/**
 * The ratio of Pipy to its copy by which went before, of Pipy to Envoy by the length of a slice, and of Pipy to its copy by
 * which was started first.
 */
async function studyCarryOver() {
  const experiment = path.join(scratch, 'carry-over.yaml')
  writeFileSync(
    experiment,
    `name: carry-over
question: Does it matter who went before?
axes: { plane: [pipy, envoy], link: [gateway-ratings], capCores: [1] }
measure: [turns]
profiles: { standard: { rounds: ${CARRY_ROUNDS}, windowSeconds: ${CARRY_SECONDS} } }
`,
  )
  const orders = ['forward', 'backward']
  const runs = await benchAlternately([
    ...SLICES_MS.map(sliceMs => ({ experiment, sliceMs })),
    ...orders.map(order => ({ experiment, load: fixOrder(order === 'backward') })),
  ])
  const ratiosOf = (/** @type {TrialRecord[]} */ records) => {
    const rounds = [...new Set(records.map(r => r.trial.round))]
    return rounds.map(round => {
      const costOf = (/** @type {string} */ plane, /** @type {boolean} */ isControl) => {
        const record = records.find(
          ({ trial }) =>
            trial.round === round && trial.arm.plane === plane && (trial.arm.repeatOf !== null) === isControl,
        )
        return record ? cpuPerRequestMicros(record, sidecarsOf(record)) : null
      }
      const [own, copy, envoy] = [costOf('pipy', false), costOf('pipy', true), costOf('envoy', false)]
      const isFirst =
        records.findIndex(
          r => r.trial.round === round && r.trial.arm.repeatOf === null && r.trial.arm.plane === 'pipy',
        ) < records.findIndex(r => r.trial.round === round && r.trial.arm.repeatOf !== null)
      return { copies: own && copy ? own / copy : null, planes: own && envoy ? own / envoy : null, isFirst }
    })
  }
  const measured = runs.map(run => ratiosOf(run.records))
  const summaries = measured.map(rounds =>
    summariseRatios(
      rounds.map(r => r.planes),
      1,
    ),
  )
  const bySlice = SLICES_MS.map((ms, i) => `${ms} ms ${show(summaries[i])}`).join('; ')
  const lows = SLICES_MS.map((_, i) => Number(summaries[i].low))
  const highs = SLICES_MS.map((_, i) => Number(summaries[i].high))
  const [forward, backward] = orders.map((_, i) =>
    summariseRatios(
      measured[SLICES_MS.length + i].map(r => r.copies),
      1,
    ),
  )
  const started = [true, false].map(first =>
    summariseRatios(
      measured.flat().flatMap(r => (r.isFirst === first && r.copies ? [r.copies] : [])),
      1,
    ),
  )
  const overlap = (/** @type {any} */ a, /** @type {any} */ b) => a.low <= b.high && b.low <= a.high
  return [
    {
      promise: 'Pipy / Envoy by the length of a slice, intervals that overlap',
      measured: bySlice,
      isKept: Math.max(...lows) <= Math.min(...highs),
    },
    {
      promise: 'Pipy / its copy, the copy after Pipy and Pipy after the copy, intervals that overlap',
      measured: `${show(forward)}; ${show(backward)}`,
      isKept: overlap(forward, backward),
    },
    {
      promise: 'Pipy / its copy, Pipy started before it and after it, intervals that overlap',
      measured: started.map(show).join('; '),
      isKept: overlap(started[0], started[1]),
    },
  ]
}

/**
 * k6 with one order of the arms over and over.
 * @param {boolean} isBackward
 * @returns {LoadGenerator}
 */
function fixOrder(isBackward) {
  return {
    ...k6,
    createGenerator(options) {
      const spec = k6.createGenerator(options)
      const places = (options.arms ?? []).map((_, i) => `${i}`)
      const order = (isBackward ? places.toReversed() : places).join('')
      return { ...spec, argv: spec.argv.map(word => word.replace(/ORDER=\d+$/, `ORDER=${order}`)) }
    },
  }
}

/** @param {(number | null)[]} values */
function presentOf(values) {
  return values.filter(value => value !== null)
}

/** @param {import('../../src/model/types.ts').Quantity} ratio */
function show({ median, low, high }) {
  return `${median?.toFixed(3)} [${low?.toFixed(3)}, ${high?.toFixed(3)}]`
}
