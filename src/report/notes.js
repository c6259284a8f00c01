import { findQuantity } from '../judge/quantities.js'
import { listResults } from '../kinds/sections.js'
import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { capitalise } from '../lib/letters.js'
import { ROUNDS_LEAST } from '../lib/stats.js'
import { renderNounCount } from '../lib/units.js'
import { renderArmName } from '../model/arms.js'
import { renderRequest } from '../model/requests.js'
import { listArms } from '../model/results.js'
import { DEFAULT_GENERATOR, findGenerator } from '../model/tools.js'
import { renderCheckTimes, renderOpenPolicy } from '../parity/verdict/table.js'
import { renderPrecision } from './precision.js'
import { renderRatioBands } from './ratio-bands.js'

/**
 * Notes that stand below the tables of a run: how its numbers were measured, and thresholds. Pure.
 * @import { RenderedResult } from '../kinds/sections.js'
 * @import { Summary, SummaryArm, ThresholdResult } from '../model/types.ts'
 */

const COST_NOTE = 'µs/req is CPU time per verified request: of all sidecars, then of each.'

/**
 * Renders how the numbers were measured, and what limits them, without the gates (`renderFiredGates`). An idle run
 * has only one note.
 * @param {Summary} summary with at least one arm
 * @returns {string[]} sentences
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
export function renderNotes(summary) {
  const { relaxes, parity, tools, precision, deployed = [] } = summary
  const arms = listArms(summary)
  if (arms[0].load.kind === 'idle') return ['No load: CPU and memory of sidecars that nobody calls, after one request.']
  const notes = [
    ...renderPrecision({ precision }),
    ...renderRatioBands(summary),
    ...listResults(summary).flatMap((result, index) => renderResultNotes(result, { summary, index })),
  ]
  const generator = findGenerator({ tools }) ?? DEFAULT_GENERATOR
  if (generator !== DEFAULT_GENERATOR)
    notes.push(`${generator} made the load: its runs are compared with each other only.`)
  if (arms.some(({ load }) => load.connections === 'new'))
    notes.push('Connections are new for every request: response times include connecting and the handshake.')
  if (arms.some(({ link }) => link === 'ratings') && !arms.some(({ load }) => load.hasCertificate))
    notes.push('The link ratings carries no mTLS: the client speaks plaintext to the only sidecar.')
  notes.push(...renderOpenPolicy({ parity }), ...renderCheckTimes({ parity }))
  for (const { plane, from } of deployed) notes.push(`${plane} is as deployed: ${from}.`)
  if (summary.machine.lacksMemoryController)
    notes.push('Memory is from /proc, process by process: the memory controller of cgroups is off in this kernel.')
  for (const { gate, why } of relaxes) notes.push(`The experiment sets aside ${gate}: ${why}`)
  return notes
}

/**
 * Renders the notes on one result: what its medians, times and capacity are, and are not.
 * @param {RenderedResult} rendered
 * @param {{ summary: Pick<Summary, 'precision' | 'shows'>, index: number }} run index: of the result
 * @returns {string[]} sentences; [] if no round has a value
 */
function renderResultNotes({ result: { arms }, heading }, { summary: { precision, shows }, index }) {
  const names = ['throughput', 'cpuPerRequest', ...shows.quantities]
  const quantities = arms.flatMap(arm => names.map(name => findQuantity(arm, name)))
  const rounds = Math.max(...quantities.map(({ values }) => values.filter(value => value !== null).length))
  if (rounds === 0) return []
  const [{ load }] = arms
  const unit = load.isInterleaved ? 'interleaved repeats' : 'repeats'
  const intervalLeast = precision ? SEQUENCE_LEAST : ROUNDS_LEAST
  const interval = rounds >= intervalLeast ? ' with [95 % interval]' : ', too few for an interval'
  const medians = `medians of up to ${rounds} ${unit}${interval}; ${renderRequestVariants(arms)}.`
  const note = heading === undefined ? capitalise(medians) : `${heading}: ${medians}`
  return [
    index === 0 ? `${note} ${COST_NOTE}` : note,
    renderLoadNote(arms),
    ...(load.kind === 'closed' ? [renderCapacityNote(arms)] : []),
  ]
}

/**
 * Renders the requests of arms: the sizes of the bodies if all are echoed, else each request.
 * @param {SummaryArm[]} arms
 * @returns {string} such as `128 or 1024 bytes posted and echoed`
 */
function renderRequestVariants(arms) {
  const isEchoed = arms.every(({ load }) => load.requests === undefined && load.ownRequest === undefined)
  const requests = arms.map(({ load }) => (isEchoed ? load.payloadBytes : renderRequest(load)))
  return `${[...new Set(requests)].join(' or ')}${isEchoed ? ' bytes posted and echoed' : ''}`
}

/**
 * Renders how to read the rate or the times of a load.
 * @param {SummaryArm[]} arms of one result, at least one
 * @returns {string} one or more sentences
 */
function renderLoadNote(arms) {
  const [{ load }] = arms
  const users = [...new Set(arms.map(arm => arm.load.users))].join(' or ')
  if (load.kind === 'interleaved') return 'req/s is the rate of a proxy in its own turns: no capacity.'
  if (load.kind !== 'open')
    return `p50 to p99 are response times of ${users} users at saturation, not latencies: they follow from req/s.`
  const loudNote = arms.some(arm => arm.load.loudPerSecond) ? ' Beside a loud pair, p50 to p99 are of the others.' : ''
  return `Open loop: requests start at the rate, at most ${users} at a time. Added latency is over no mesh, round by round.${loudNote}`
}

/** Renders which arms of a closed loop reached their capacity. @param {SummaryArm[]} arms @returns {string} a sentence */
function renderCapacityNote(arms) {
  const boundArms = arms.filter(arm => arm.repeatOf === null && findQuantity(arm, 'capacity').median !== null)
  if (boundArms.length === 0) {
    const why = arms.some(({ boundBy }) => boundBy === 'sidecar') ? 'No capacity was shown' : 'No sidecar was the limit'
    return `${why}: req/s is throughput, not capacity.`
  }
  const names = [...new Set(boundArms.map(renderArmName))].join(', ')
  return `req/s is the capacity at this CPU limit where the sidecar was the limit (${names}), elsewhere throughput.`
}

/**
 * Renders in which points planes differ from the mesh's deployment from which they are taken.
 * @param {Pick<Summary, 'deployed'>} summary
 * @returns {string[]} sentences; [] if they differ in none
 */
export function renderDeviations({ deployed = [] }) {
  return deployed.flatMap(({ plane, deviations }) =>
    deviations.map(deviation => `${plane}, otherwise than deployed: ${deviation}.`),
  )
}

/**
 * Renders each threshold with the median ratio, its link and CPU limit: met, not met, or not tested.
 * @param {Pick<Summary, 'thresholds'>} summary
 * @returns {string[]} [] if the run has none
 */
export function renderThresholds({ thresholds }) {
  return thresholds.map(({ expression, link, cpuLimitCores, value, held }) => {
    const arm = `${link}${cpuLimitCores ? `, ${renderNounCount(cpuLimitCores, 'core')}` : ''}`
    return renderThreshold({ expression, arm, value, held })
  })
}

/**
 * Renders a threshold with the median ratio that it bounds, and whether that meets it.
 * @param {Pick<ThresholdResult, 'expression' | 'value' | 'held'> & { arm: string }} threshold held: null: it was not tested, since
 *   the quantity was excluded
 * @returns {string}
 */
export function renderThreshold({ expression, arm, value, held }) {
  const result = held === null ? 'not tested: excluded' : `${held ? 'met' : 'NOT met'}: ${value?.toFixed(3)}`
  return `Threshold ${expression} (${arm}): ${result}`
}
