import { groupBy } from '../lib/group-by.js'
import { count, percent } from '../lib/units.js'
import { tellMedian } from './charts/rounds.js'
import { digitsOf, nameRun, ROWS, scaleValue } from './history-charts.js'

/**
 * Says a step of a history in words. Pure.
 * @import { History } from '../analysis/history.js' @import { HistoryStep } from '../analysis/history-steps.js'
 */

/** The meaning of a step in the applications' CPU per request. */
export const OF_MACHINE = 'the machine changed, or what runs on it'

/** @param {HistoryStep} step @param {History} history */
export function tellStep(step, { runs }) {
  const { line, run, before, after, p, cause, control, changes } = step
  const row = ROWS[step.quantity]
  const level = (/** @type {HistoryStep['before']} */ quantity) => tellMedian(scaleValue(quantity, row), digitsOf(row))
  const where = `from ${nameRun(runs[run])} on (run ${run + 1} of ${runs.length})`
  const what = `${line} ${sayGap(step)} ${where}: ${level(before)} to ${level(after)} ${row.unit}, medians of ${step.runs[0]} and ${count(step.runs[1], 'run')}, p = ${p.toPrecision(2)}.`
  return [what, sayCause({ cause, control, isControl: step.isControl }), sayChanges(changes, { run, runs })]
    .filter(Boolean)
    .join(' ')
}

/** @param {Pick<HistoryStep, 'quantity' | 'ratio'>} step */
export function sayGap({ quantity, ratio }) {
  const { compared } = ROWS[quantity]
  const words = ratio < 1 ? compared?.less : compared?.more
  return `${words}`.replace('%', percent(Math.abs(ratio - 1)))
}

/** @param {Pick<HistoryStep, 'cause' | 'control' | 'isControl'>} step */
function sayCause({ cause, control, isControl }) {
  if (isControl) return `No sidecar runs there: ${OF_MACHINE}.`
  if (cause === null) return ''
  if (cause === 'unknown' || control === null)
    return 'Nothing was measured without sidecars to tell whether it is the machine.'
  const beside = `without sidecars the applications used ${percent(Math.abs(control - 1), 1)} ${control < 1 ? 'less' : 'more'} CPU per request`
  if (cause === 'machine') return `It is the machine, not the sidecars: ${beside}, in a step at the same place.`
  if (cause === 'undecided') return `It may be the machine: ${beside}.`
  return `It is not the machine: ${beside}.`
}

/** @param {HistoryStep['changes']} changes @param {{ run: number, runs: History['runs'] }} step */
function sayChanges(changes, { run, runs }) {
  if (changes.length === 0) {
    const marked = runs.flatMap((other, at) => (other.changes.length > 0 ? [at] : []))
    const nearest = marked.sort((a, b) => Math.abs(a - run) - Math.abs(b - run))[0]
    const none = 'No kit, tool, script or kernel changed there'
    if (nearest === undefined) return `${none}.`
    return `${none}; noise can move a step by some runs, and the nearest change is that of run ${nearest + 1}: ${runs[nearest].changes.map(sayChange).join('; ')}.`
  }
  const at = (/** @type {number} */ other) => {
    if (other === run) return 'there'
    const apart = Math.abs(other - run)
    return `${apart === 1 ? 'one run' : count(apart, 'run')} ${other < run ? 'before' : 'behind'}`
  }
  const groups = groupBy(changes, change => at(change.run))
  return [...groups].map(([where, own]) => `Changed ${where}: ${own.map(sayChange).join('; ')}.`).join(' ')
}

/** @param {{ label: string, old: string, next: string }} change */
export function sayChange({ label, old, next }) {
  return `${label}, ${old} → ${next}`
}
