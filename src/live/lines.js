import { formatValue, measureRound, QUANTITIES } from '../judge/quantities.js'
import { findRecordPart } from '../kinds/parts.js'
import { renderPlace, renderTimeLeft, renderValues } from './words.js'

/**
 * Renders a run as lines that stay: one for each repeat, and one for each trial that failed or stands alone.
 * @import { TrialRecord } from '../model/types.ts'
 * @import { RunEvent } from '../run/events.js'
 * @import { RunState } from './state.js'
 */

// Samples are taken every 0.1 s: a gap above twice that means that one was missed.
const GAP_SECONDS = 0.2

/**
 * Creates the view that prints a line when a repeat or trial has ended. A trial that the line of its repeat covers has no line,
 * unless it failed, or its arm is invalid by gates that were not yet printed. The state must apply an event before it is
 * published here.
 * @param {object} options
 * @param {Pick<RunState, 'snapshot' | 'isOfRepeat'>} options.state
 * @param {(line: string) => void} options.say prints a line
 * @param {boolean} [options.hasRepeats] false: another view shows the repeats; true by default
 * @returns {{ publish: (event: RunEvent) => void }} publish: prints the lines of an event
 */
export function createLineView({ state, say, hasRepeats = true }) {
  /** Arms with the gates that fired, of which a line was printed: an arm that fails the same gates again has none. @type {Set<string>} */
  let printedKeys = new Set()
  return {
    /**
     * Prints the lines of an event, if there are some.
     * @param {RunEvent} event
     */
    publish(event) {
      if (event.kind === 'planned') printedKeys = new Set()
      if (event.kind === 'repeat-ended' && hasRepeats) {
        const part = state.snapshot().parts.find(({ arms }) => arms.join(' ') === event.arms.join(' '))
        const values = part ? renderValues(part) : ''
        const timeLeft = event.secondsLeft > 0 ? ` (${renderTimeLeft(event.secondsLeft)})` : ''
        if (part && values !== '') say(`${renderPlace(part)}${timeLeft}: ${values}`)
      }
      if (event.kind !== 'trial-ended' || event.progress === null) return
      const { record, progress } = event
      const { outcome, gates, trial } = record
      const key = `${trial.arm.id} ${gates.map(({ gate }) => gate).join(' ')}`
      const isNew = outcome === 'failed' || (outcome === 'invalid' && !printedKeys.has(key))
      printedKeys.add(key)
      if (isNew || !state.isOfRepeat(record)) say(`${progress}: ${renderTrial(record)}`)
    },
  }
}

/**
 * Renders the outcome of a trial in a line: its rate and what bound it, or the first reason why it failed or is invalid.
 * @param {TrialRecord} record
 * @returns {string}
 */
export function renderTrial(record) {
  const { trial, outcome, load, window, boundBy, isSteady, reasons, samples } = record
  const name = `${trial.id.replace(/^r\d+-/, '')}:`
  const partial = findRecordPart(record)
  const renderQuantityValue = (/** @type {string} */ quantity) => renderValue(QUANTITIES[quantity], record)
  const partText = partial?.part.tell(partial.judged, renderQuantityValue)
  if (partial && !partial.part.hasWindow) return `${name} ${partText}`
  if (outcome === 'failed' || !window) return `${name} failed: ${reasons[0]}`
  const invalidNote = outcome === 'invalid' ? `, invalid: ${reasons[0]}` : ''
  const isLate = samples?.source === 'cgroup' && samples.largestGapSeconds > GAP_SECONDS
  const lateNote = isLate ? `, sampled with a gap of ${samples.largestGapSeconds.toFixed(1)} s` : ''
  if (load === null) return `${name} ${partText ?? `idle for ${window.seconds} s`}${lateNote}${invalidNote}`
  const rateText = `${renderQuantityValue('throughput')}${boundBy === null ? '' : `, bound by ${boundBy}`}`
  return `${name} ${rateText}${isSteady === false ? ', unsteady' : ''}${lateNote}${invalidNote}`
}

/**
 * Renders a quantity with its unit, as the report does.
 * @param {import('../judge/record/quantity-row.js').QuantityRow} row
 * @param {TrialRecord} record
 * @returns {string} `–` in place of a value that is missing, or that a gate spoiled
 */
function renderValue(row, record) {
  const value = measureRound(row, [record])
  return `${value === null ? '–' : formatValue(row, value)} ${row.unit}`
}
