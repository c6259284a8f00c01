// The cost of the kit's own Pipy scripts, held against goals: beside the shortest that do the same hop, in instructions
// and in CPU time a request, and of each feature beside lean sidecars, in CPU time.
import { execa } from 'execa'
import { median } from 'simple-statistics'
import { ROOT } from '../../src/lib/paths.js'
import { listComparisons } from '../../src/model/results.js'
import { runKit } from './kit.js'

/**
 * @import { LabResults } from '../../src/lab/text.js'
 * @import { Comparison, Quantity } from '../../src/model/types.ts'
 * @import { Finding } from './kit.js'
 */

const GOAL = 1.05
// Two starts of the same scripts are further apart than two counts of one start.
const STARTS = 3
const REQUESTS = 700
const SIDECARS = ['client', 'server']
const TIME_GOAL = 1.03
/** CPU time a request of both sidecars, over that of lean ones. @type {Record<string, number>} */
const FEATURE_GOALS = { 'access-log': 1.15, metrics: 1.08, 'trace-headers': 1.08, all: 1.35 }

/** @returns {Promise<Finding[]>} of the link `pair` */
export async function comparePipeline() {
  return [...(await compareInstructions()), ...(await compareTime()), ...(await compareFeatures())]
}

/** @returns {Promise<Finding[]>} of each side */
async function compareInstructions() {
  /** @type {Pick<LabResults, 'rows'>[]} */
  const starts = []
  for (let start = 0; start < STARTS; start++) starts.push(await countBothSides({ hasParity: start === 0 }))
  return judgePipeline(starts)
}

async function compareTime() {
  const shortest = 'pipy=bench/pipy-shortest'
  const { summary } = await runKit(['cost', '--planes', `pipy,${shortest}`, '--link', 'pair'])
  const ratio = listComparisons(summary).find(c => isOfAllTime(c) && c.b.endsWith('pipy-shortest'))?.ratio
  return [judgeRatio(`full sidecar / shortest script, CPU time a request, at most ${TIME_GOAL}`, ratio, TIME_GOAL)]
}

async function compareFeatures() {
  const names = Object.keys(FEATURE_GOALS)
  const { summary } = await runKit(['feature-ladder', '--planes', 'pipy,envoy', '--features', `lean,${names}`])
  return judgeFeatures(listComparisons(summary))
}

/** @param {Pick<Comparison, 'a' | 'b' | 'conditions' | 'contrast' | 'isControl' | 'quantity' | 'service' | 'ratio'>[]} comparisons */
export function judgeFeatures(comparisons) {
  const ofTime = comparisons.filter(isOfAllTime)
  const planes = ofTime.find(c => c.contrast === null && !c.isControl && c.conditions.features === 'all')
  return [
    ...Object.entries(FEATURE_GOALS).map(([name, goal]) => {
      const isCost = (/** @type {typeof ofTime[0]} */ c) => c.contrast === 'features' && c.conditions.features === name
      const cost = ofTime.find(c => isCost(c) && c.a.startsWith('pipy'))
      return judgeRatio(`${name} / lean, CPU time a request of Pipy, at most ${goal}`, cost?.ratio, goal)
    }),
    judgeRatio('all features, Pipy / Envoy, below 1', planes?.ratio, 1),
  ]
}

/** @param {Pick<Comparison, 'quantity' | 'service'>} comparison */
function isOfAllTime({ quantity, service }) {
  return quantity === 'cpuPerRequest' && service === null
}

/**
 * @param {string} promise @param {Quantity | undefined} ratio @param {number} goal @returns {Finding}
 */
function judgeRatio(promise, ratio, goal) {
  if (!ratio || ratio.median === null || ratio.low === null || ratio.high === null)
    return { promise, measured: 'it was not measured', isKept: null }
  const { median, low, high } = ratio
  const measured = `${median.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`
  return { promise, measured, isKept: isAtMost(goal, { low, high }) }
}

/** Null where the goal lies within the interval. @param {number} goal @param {{ low: number, high: number }} interval */
function isAtMost(goal, { low, high }) {
  return low <= goal && high > goal ? null : high <= goal
}

/** @param {{ hasParity: boolean }} options once is enough: the scripts stay the same */
async function countBothSides({ hasParity }) {
  const words = ['lab', 'pipy-scripts', '--against', 'bench/pipy-shortest', '--link', 'pair', '--json']
  const argv = [...words, '--requests', `${REQUESTS}`, ...(hasParity ? [] : ['--no-parity'])]
  const { exitCode, stdout } = await execa('node', ['src/cli.js', ...argv], {
    ...{ cwd: ROOT, stderr: 'inherit', reject: false },
  })
  if (exitCode !== 0) throw new Error(`the count of the scripts ended with status ${exitCode}`)
  return JSON.parse(stdout)
}

/**
 * Undecided where the goal lies within what the ratios of the starts are apart, each with what two of its counts are apart.
 * @param {Pick<LabResults, 'rows'>[]} starts
 * @returns {Finding[]}
 */
export function judgePipeline(starts) {
  return SIDECARS.map(sidecar => {
    const rows = starts.flatMap(start =>
      start.rows.filter(({ service, quantity }) => service === sidecar && quantity === 'instructions'),
    )
    const promise = `full sidecar / shortest script, instructions a request, ${sidecar}'s side, at most ${GOAL}`
    if (rows.length === 0) return { promise, measured: 'it was not counted', isKept: null }
    const low = Math.min(...rows.map(({ ratio, spread }) => ratio * (1 - spread)))
    const high = Math.max(...rows.map(({ ratio, spread }) => ratio * (1 + spread)))
    const measured = `${median(rows.map(({ ratio }) => ratio)).toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}] in ${rows.length} starts`
    return { promise, measured, isKept: isAtMost(GOAL, { low, high }) }
  })
}
