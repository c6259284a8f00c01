import { timeLeft } from '../../lib/units.js'
import { listUsualTrials } from './trial-counts.js'

/** The time that searches still take. Pure. @import { Arm, SearchSpec } from '../../model/types.ts' */

const STEP_SECONDS = 10

/**
 * Creates an estimate of the seconds left: of the usual trials to come, or of one for a search that goes on after them, at the pace so far.
 * @param {{ spec: SearchSpec, templates: Arm[], estimateSeconds: (trials: { arm: Arm }[]) => number }} options templates: the arm
 *   that each search starts from
 */
export function createTimeLeft({ spec, templates, estimateSeconds }) {
  /** @param {Arm[]} arms of trials to come @param {Arm} template a search beyond its usual trials takes one more like it */
  const estimateTrials = (arms, template) =>
    estimateSeconds((arms.length > 0 ? arms : [template]).map(arm => ({ arm })))
  const searches = new Map(
    templates.map(arm => [arm.id, { usual: listUsualTrials(spec, [arm]), trials: 0, isOver: false }]),
  )
  let seconds = 0
  let usualSeconds = 0
  return {
    /**
     * Counts a trial.
     * @param {{ template: Arm, isOver: boolean, seconds: number | null }} trial isOver: its search has ended; seconds: that it took,
     *   null if it was measured before (in an earlier run, or before a resume)
     */
    count({ template, isOver, seconds: trialSeconds }) {
      const search = /** @type {NonNullable<ReturnType<typeof searches.get>>} */ (searches.get(template.id))
      if (trialSeconds !== null) {
        seconds += trialSeconds
        usualSeconds += estimateTrials(search.usual.slice(search.trials).slice(0, 1), template)
      }
      search.trials++
      search.isOver = isOver
    },
    /** Estimates the seconds of all searches that have not ended. */
    estimate() {
      const pace = usualSeconds > 0 ? seconds / usualSeconds : 1
      const left = templates.flatMap(template => {
        const { usual, trials, isOver } = searches.get(template.id) ?? { usual: [], trials: 0, isOver: true }
        return isOver ? [] : [estimateTrials(usual.slice(trials), template)]
      })
      return pace * left.reduce((sum, ofSearch) => sum + ofSearch, 0)
    },
  }
}

/** Renders the time left in steps of 10 s; empty at the end. @param {number} seconds */
export function renderTimeLeft(seconds) {
  return seconds > 0 ? ` (about ${timeLeft(STEP_SECONDS * Math.ceil(seconds / STEP_SECONDS))})` : ''
}
