import { findOwnPart } from '../kinds/parts.js'
import { estimateSeconds } from '../plan/plan.js'

/** The lines of progress of a run, and the time it has left. @import { Trial, TrialRecord } from '../model/types.ts' */

// Samples are taken every 0.1 s: a longer gap means that one was missed.
const GAP_SECONDS = 0.2

/** @param {TrialRecord} record */
export function describeTrial(record) {
  const { trial, outcome, load, window, boundBy, isSteady, reasons, samples } = record
  const name = `${trial.id.replace(/^r\d+-/, '')}:`
  const own = findOwnPart(record)
  const told = own?.part.tell(own.judged)
  if (own && !own.part.hasWindow) return `${name} ${told}`
  if (outcome === 'failed' || !window) return `${name} failed: ${reasons[0]}`
  const invalid = outcome === 'invalid' ? `, invalid: ${reasons[0]}` : ''
  const isLate = samples?.source === 'cgroup' && samples.largestGapSeconds > GAP_SECONDS
  const late = isLate ? `, sampled with a gap of ${samples.largestGapSeconds.toFixed(1)} s` : ''
  if (load === null) return `${name} ${told ?? `idle for ${window.seconds} s`}${late}${invalid}`
  const rate = `${Math.round(load.verified / window.seconds)} requests/s${boundBy === null ? '' : `, bound by ${boundBy}`}`
  return `${name} ${rate}${isSteady === false ? ', unsteady' : ''}${late}${invalid}`
}

/** Makes a function that estimates the seconds that trials still take, from the pace so far. @param {Trial[]} trials */
export function createPace(trials) {
  let start = performance.now()
  /** The first trial that was not recorded before. @type {number | null} */
  let first = null
  let done = 0
  /** @param {Trial} trial the one that runs @param {boolean} isDone */
  return (trial, isDone) => {
    // A trial that is run again comes after its round.
    const isAgain = trial.repeats !== null
    const at = isAgain ? trials.findLastIndex(t => t.round === trial.round) : trials.findIndex(t => t.id === trial.id)
    if (first === null) {
      first = at
      start = performance.now()
    }
    done = Math.max(done, isDone ? at + 1 : at)
    const pace = done > first ? (performance.now() - start) / 1000 / estimateSeconds(trials.slice(first, done)) : 1
    return estimateSeconds(trials.slice(done)) * pace
  }
}
