import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { summariseValues } from '../lib/stats.js'
import { isAlike } from '../model/arms.js'
import { CONTROL_AXES } from './compare-runs.js'
import { GAP_LEAST } from './verdict.js'

/** The origin of a step of a history: the sidecars, or the machine. Pure. */
/** @import { Quantity } from '../model/types.ts' @import { Change, HistoryRun, TestedLine } from './history.js' */

/**
 * machine: the applications have the step without sidecars, too; undecided: they changed alike, but not provably, or
 * what serves them was exchanged; sidecars: they did not change alike; unknown: they were not measured.
 * @typedef {'machine' | 'undecided' | 'sidecars' | 'unknown'} Cause
 */

/**
 * @typedef {object} HistoryStep
 * @property {string} line the label of its arm
 * @property {string} quantity
 * @property {string} group
 * @property {boolean} isControl
 * @property {number} run the first behind it, in the history's runs
 * @property {[number, number]} runs how many runs have a value before it and behind it, up to the next step
 * @property {Quantity} before of the medians of those runs
 * @property {Quantity} after
 * @property {number} ratio after over before
 * @property {number} p
 * @property {Cause | null} cause null: of quantities that the speed of a machine does not change, and of the applications
 * @property {number | null} control what the applications use without sidecars, as a ratio over the same runs
 * @property {(Change & { run: number })[]} changes at that run, or one before or behind it
 */

/** A run whose noise hides a step is one of its neighbours. */
const NEAR = 1

/**
 * Lists the steps that are large enough to be a difference, in the order of time; server: of the applications.
 * @param {TestedLine[]} lines @param {{ runs: HistoryRun[], server: string | null }} history @returns {HistoryStep[]}
 */
export function tellSteps(lines, { runs, server }) {
  const steps = lines.flatMap(line => {
    const control = lines.find(other => other.isControl && isAlike(other.arm, line.arm, CONTROL_AXES))
    return line.found.map((_, i) => tellStep({ line, i, control, runs, server }))
  })
  return steps.filter(({ ratio }) => Math.abs(ratio - 1) >= GAP_LEAST).sort((a, b) => a.run - b.run)
}

/**
 * @param {{ line: TestedLine, i: number, control: TestedLine | undefined, runs: HistoryRun[], server: string | null }}
 *   options
 * @returns {HistoryStep}
 */
function tellStep({ line, i, control, runs, server }) {
  const ends = [0, ...line.found.map(step => step.at), line.at.length]
  const sides = [line.at.slice(ends[i], ends[i + 1]), line.at.slice(ends[i + 1], ends[i + 2])]
  const [before, after] = sides.map(side => levelOf(line, side))
  const [was, is] = control ? sides.map(side => levelOf(control, side).median) : [null, null]
  const run = sides[1][0]
  const step = { run, ratio: Number(after.median) / Number(before.median), control: was && is ? is / was : null }
  const isNear = (/** @type {number} */ at) => Math.abs(at - run) <= NEAR || (at > Number(sides[0].at(-1)) && at < run)
  const changes = runs.flatMap((other, at) => (isNear(at) ? other.changes.map(change => ({ ...change, run: at })) : []))
  return {
    line: line.label,
    quantity: line.quantity,
    group: line.group,
    isControl: line.isControl,
    before,
    after,
    ...step,
    runs: [sides[0].length, sides[1].length],
    p: line.found[i].p,
    cause: findCause(line, { step, control, changes, server }),
    changes,
  }
}

/** @param {TestedLine} line @param {number[]} runs */
function levelOf({ values }, runs) {
  return summariseValues(runs.map(run => values[run].median))
}

/**
 * @param {TestedLine} line
 * @param {{ step: Pick<HistoryStep, 'run' | 'ratio' | 'control'>, control: TestedLine | undefined, changes: Change[],
 *   server: string | null }} options
 */
function findCause({ quantity, isControl }, { step, control, changes, server }) {
  if (isControl || ![PRIMARY, QUANTITIES.capacity].some(row => row.name === quantity)) return null
  if (!control || step.control === null) return 'unknown'
  const own = Math.log(step.ratio) * (quantity === PRIMARY.name ? 1 : -1)
  const beside = Math.log(step.control)
  if (own * beside <= 0 || Math.abs(beside) < Math.abs(own) / 2) return 'sidecars'
  const isStep = control.found.some(({ at }) => Math.abs(control.at[at] - step.run) <= NEAR)
  // The program of the data plane may serve the applications as well.
  const isExchanged = changes.some(({ label }) => label === server)
  return isStep && !isExchanged ? 'machine' : 'undecided'
}
