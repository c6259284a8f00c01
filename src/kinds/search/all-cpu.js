import { withCpu } from './step.js'
import { ALL_CPU_TRIALS } from './trial-counts.js'

/**
 * Trials of a load with all the CPU of the machine: they show whether it can be met here, and what sidecars take for it. Pure.
 * @import { Arm } from '../../model/types.ts'
 * @import { Outcome } from './outcome.js'
 * @typedef {{ arm: Arm, outcome: Outcome }} Tried
 * @typedef {Generator<Arm, void, Outcome>} Trials
 * @typedef {{ cores: number, bytes: number }} Need CPU of the busiest sidecar, and memory of the largest one
 */

/**
 * Tries a load with all the CPU until it was met once, or missed or not judged as often as ALL_CPU_TRIALS says; fewer trials that
 * were not judged are enough if they show what sidecars take.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options tried: the caller adds each trial that it measured before it
 *   continues
 * @returns {Trials} it yields the arms to measure
 */
export function* tryLoadWithAllCpu({ template, cpus, tried }) {
  for (;;) {
    yield withCpu(template, cpus)
    const outcomes = listOutcomesWithAllCpu({ template, cpus, tried })
    const countHeld = (/** @type {boolean | null} */ held) => outcomes.filter(o => o.held === held).length
    const { missedMost, lostMost, busyMost } = ALL_CPU_TRIALS
    if (countHeld(true) > 0 || countHeld(false) >= missedMost || countHeld(null) >= lostMost) return
    // A busy machine spoils the p99, but not what sidecars take: that is enough to continue.
    if (outcomes.filter(o => o.held === null && o.isNeedSeen).length >= busyMost) return
  }
}

/**
 * Lists the outcomes of a load with all the CPU.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options
 * @returns {Outcome[]} []: it was not tried
 */
export function listOutcomesWithAllCpu({ template, cpus, tried }) {
  const { id } = withCpu(template, cpus)
  return tried.filter(({ arm }) => arm.id === id).map(({ outcome }) => outcome)
}

/**
 * Computes what sidecars take: the most of all trials that show it.
 * @param {Outcome[]} outcomes with all the CPU
 * @returns {Need | null} null: no trial shows it, or the load was missed as often as ALL_CPU_TRIALS allows
 */
export function computeSidecarNeed(outcomes) {
  if (outcomes.filter(o => o.held === false).length >= ALL_CPU_TRIALS.missedMost) return null
  const measured = outcomes.filter(o => o.isNeedSeen)
  return measured.length === 0
    ? null
    : { cores: Math.max(...measured.map(o => o.coresMost)), bytes: computeLargestBytes(measured) }
}

/**
 * Computes the memory of the largest sidecar, including pages of its program that its cgroup was not charged for.
 * @param {Outcome[]} outcomes
 * @returns {number} bytes; 0: none was read
 */
export function computeLargestBytes(outcomes) {
  return Math.max(0, ...outcomes.map(o => Math.max(o.peakBytesMost + o.unchargedBytes, o.rssBytesMost)))
}
