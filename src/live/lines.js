import { formatValue, measureRound, QUANTITIES } from '../judge/quantities.js'
import { findRecordPart } from '../kinds/parts.js'
import { renderPartPlace, renderPartValues, renderTimeLeft } from './words.js'

/**
 * Renders a run as lines that stay: one for each repeat, and one for each trial that failed or stands alone.
 * @import { TrialRecord } from '../model/types.ts'
 * @import { RunEvent } from '../run/events.js'
 * @import { PartSoFar } from './repeats.js'
 * @import { RunState } from './state.js'
 */

// The kit samples cgroups every 0.1 s: a gap above twice that means that one was missed. Other sources are slower by nature.
const GAP_SECONDS = 0.2

/**
 * Creates the view that prints a line when a repeat or trial has ended. A trial that the line of its repeat covers has no line,
 * unless it failed, or is invalid by gates that no trial of its arm had before. A trial that was read back or adopted has none
 * either; nor has a repeat without values. The state must apply an event before it is published here.
 * @param {object} options
 * @param {Pick<RunState, 'snapshot' | 'isCoveredByRepeat'>} options.state
 * @param {(line: string) => void} options.say prints a line
 * @param {boolean} [options.hasRepeats] false: another view shows the repeats; true by default
 * @returns {{ publish: (event: RunEvent) => void }} publish: prints the lines of an event
 */
export function createLineView({ state, say, hasRepeats = true }) {
  /** The keys of ended trials: the id of the arm and the gates that fired. @type {Set<string>} */
  let trialKeys = new Set()
  const sayRepeat = (/** @type {Extract<RunEvent, { kind: 'repeat-ended' }>} */ event) => {
    const part = state.snapshot().parts.find(({ arms }) => arms.join(' ') === event.arms.join(' '))
    const line = part ? renderRepeatLine(part, event.secondsLeft) : null
    if (line !== null) say(line)
  }
  const sayTrial = (/** @type {Extract<RunEvent, { kind: 'trial-ended' }>} */ { record, progress }) => {
    if (progress === null) return
    const { outcome, gates, trial } = record
    const key = `${trial.arm.id} ${gates.map(({ gate }) => gate).join(' ')}`
    // An arm that is invalid by the same gates again has no further line.
    const isNew = outcome === 'failed' || (outcome === 'invalid' && !trialKeys.has(key))
    trialKeys.add(key)
    if (isNew || !state.isCoveredByRepeat(record)) say(`${progress}: ${renderTrialLine(record)}`)
  }
  return {
    publish(event) {
      if (event.kind === 'planned') trialKeys = new Set()
      if (event.kind === 'repeat-ended' && hasRepeats) sayRepeat(event)
      if (event.kind === 'trial-ended') sayTrial(event)
    },
  }
}

/**
 * Renders the medians of a part after a repeat in a line, with the time left if it is known.
 * @param {PartSoFar} part
 * @param {number} secondsLeft of the run; 0: not known
 * @returns {string | null} null: the part has no values yet
 */
function renderRepeatLine(part, secondsLeft) {
  const values = renderPartValues(part)
  const timeLeft = secondsLeft > 0 ? ` (${renderTimeLeft(secondsLeft)})` : ''
  return values === '' ? null : `${renderPartPlace(part)}${timeLeft}, medians so far: ${values}`
}

/**
 * Renders the outcome of a trial in a line: its rate and what bound it, that it was idle, or what its kind measures instead; then a
 * gap of the samples above GAP_SECONDS, and the first reason why it is invalid. A trial that failed, or has no window, has its first
 * reason alone; a trial of a kind without windows has only what `renderProgress` of the kind gives.
 * @param {TrialRecord} record
 * @returns {string} begins with the id of the trial without its round
 */
export function renderTrialLine(record) {
  const { trial, outcome, load, window, boundBy, isSteady, reasons, samples } = record
  const name = `${trial.id.replace(/^r\d+-/, '')}:`
  const recordPart = findRecordPart(record)
  const renderQuantityValue = (/** @type {string} */ quantity) => renderRecordedValue(QUANTITIES[quantity], record)
  const partText = recordPart?.part.renderProgress(recordPart.judged, renderQuantityValue)
  if (recordPart && !recordPart.part.hasWindow) return `${name} ${partText}`
  if (outcome === 'failed' || !window) return `${name} failed: ${reasons[0]}`
  const invalidNote = outcome === 'invalid' ? `, invalid: ${reasons[0]}` : ''
  const hasGap = samples?.source === 'cgroup' && samples.largestGapSeconds > GAP_SECONDS
  const gapNote = hasGap ? `, sampled with a gap of ${samples.largestGapSeconds.toFixed(1)} s` : ''
  if (load === null) return `${name} ${partText ?? `idle for ${window.seconds} s`}${gapNote}${invalidNote}`
  const boundNote = boundBy === null ? '' : `, bound by ${boundBy}`
  const steadyNote = isSteady === false ? ', unsteady' : ''
  const rate = renderQuantityValue('throughput') ?? `– ${QUANTITIES.throughput.unit}`
  return `${name} ${rate}${boundNote}${steadyNote}${gapNote}${invalidNote}`
}

/**
 * Renders a quantity with its unit, as the report does.
 * @param {import('../judge/record/quantity-row.js').QuantityRow} row
 * @param {TrialRecord} record
 * @returns {string | null} null: it was not measured, or a gate spoiled it
 */
function renderRecordedValue(row, record) {
  const value = measureRound(row, [record])
  return value === null ? null : `${formatValue(row, value)} ${row.unit}`
}
