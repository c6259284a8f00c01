import { estimateSeconds } from '../plan/plan.js'

/** The time that a run has left. @import { Trial } from '../model/types.ts' */

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
