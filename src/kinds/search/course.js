import { renderSecondsLeft } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { estimateSeconds, withSearchWarmup } from '../../plan/plan.js'
import { startServices } from '../../run/start-services.js'
import { createResultSoFar, isAnsweredByTrials, judgeSearchTrial, startSearch } from './searches.js'
import { listUsualTrials } from './trial-counts.js'
import { isAnswered, renderLimits } from './trial-rows.js'

/**
 * @import { Arm, SearchSpec } from '../../model/types.ts'
 * @import { Pass } from '../../run/kind.js'
 */
/**
 * @import { SizeSpec } from './searches.js'
 * @import { Tried } from './whole.js'
 * @import { SearchOptions } from './step.js'
 */

// The time left is rounded up to a multiple of this.
const STEP_SECONDS = 10

/** @type {import('../../run/kind.js').Kind} */
export const kind = { name: 'search', start: startServices, measure: measureSearches }

/**
 * Searches for the limit of each arm: every search comes to a first answer before any goes on to its end.
 * @param {Pass} pass
 * @throws the signal's reason when it aborts; the error of a trial that cannot be run
 */
export async function measureSearches({ plan, cpus, reusable, isRecorded, run, adopt, turns, say, signal }) {
  const spec = /** @type {SearchSpec} */ (plan.search)
  const timeLeft = createTimeLeft({ spec, templates: plan.arms, estimateSeconds })
  const searches = plan.arms.map(template =>
    createSearch({ template, spec, cpus, reusable, isRecorded, run, adopt, timeLeft, say, signal }),
  )
  for (const search of searches) await search.findFirst()
  for (const search of searches) await search.finish()
  turns.pass()
}

/**
 * Creates the search of an arm, which takes matching trials of earlier runs instead of measuring them.
 * @param {SearchOptions & Pick<Pass, 'reusable' | 'isRecorded' | 'run' | 'adopt' | 'say' | 'signal'> &
 *   { timeLeft: ReturnType<typeof createTimeLeft> }} options
 * @returns {{ findFirst: () => Promise<void>, finish: () => Promise<void> }} findFirst: goes on to a first answer, if the search has
 *   one; finish: goes on to the end
 */
function createSearch({ template, spec, cpus, reusable, isRecorded, run, adopt, timeLeft, say, signal }) {
  const search = startSearch({ template, spec, cpus })
  const counts = new Map()
  /** @type {Tried[]} */
  const tried = []
  let step = search.next()
  const tryNext = async () => {
    signal.throwIfAborted()
    const arm = withSearchWarmup(/** @type {Arm} */ (step.value))
    const nth = (counts.get(arm.id) ?? 0) + 1
    counts.set(arm.id, nth)
    const trial = { id: `s${nth}-${arm.id}`, kind: 'search', round: nth, arm, repeats: null, searchOf: template.id }
    const progress = `looking for the ${spec.kind}`
    // A trial that was not judged says nothing about the limits: measure it again.
    const known = reusable.take(arm, other => judgeSearchTrial(spec, { ...other, trial }).held !== null)
    const startMs = performance.now()
    const record = known ? adopt(known, trial) : await run({ trial, progress, secondsLeft: timeLeft.estimate() })
    const isMeasured = !known && !isRecorded(trial)
    const seconds = isMeasured ? (performance.now() - startMs) / 1000 : null
    if (known) say(`${progress}  ${trial.id}: taken from ${known.folder}`)
    const outcome = judgeSearchTrial(spec, record)
    tried.push({ arm, outcome })
    step = search.next(outcome)
    timeLeft.count({ template, isOver: step.done === true, seconds })
    const verdict = outcome.held === null ? 'not judged' : outcome.held ? 'met' : 'missed'
    say(`    ${verdict}: ${outcome.why}${renderTimeLeft(timeLeft.estimate())}`)
  }
  const announceAnswer = (/** @type {SizeSpec} */ ofTrials, /** @type {string} */ which) => {
    const sizes = [createResultSoFar({ template, spec: ofTrials, cpus, tried, isOver: step.done === true })].flat()
    for (const size of sizes.filter(isAnswered)) {
      const whose = [renderArmName(template), ...size.services].join(', ')
      say(`${which}, ${whose}: ${renderLimits(size)}; ${size.answer.state}: ${size.answer.why}`)
    }
  }
  // The first trials have no memory limit: they show what the load takes, and so suggest its limits.
  const isWhole = () => !step.done && /** @type {Arm} */ (step.value).conditions.memoryLimitBytes === null
  return {
    async findFirst() {
      if (spec.kind !== 'size' || !isAnsweredByTrials(spec)) return
      while (isWhole()) await tryNext()
      announceAnswer(spec, 'first answer')
    },
    async finish() {
      while (!step.done) await tryNext()
      if (isAnsweredByTrials(spec)) announceAnswer(spec, 'answer')
    },
  }
}

/**
 * Creates an estimate of the seconds left: of the usual trials to come, or of one for a search that goes on after them, at the pace so far.
 * @param {{ spec: SearchSpec, templates: Arm[], estimateSeconds: (trials: { arm: Arm }[]) => number }} options templates: the arm
 *   that each search starts from
 */
export function createTimeLeft({ spec, templates, estimateSeconds }) {
  /**
   * @param {Arm[]} arms of trials to come
   * @param {Arm} template a search beyond its usual trials takes one more like it
   */
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
  return seconds > 0 ? ` (about ${renderSecondsLeft(STEP_SECONDS * Math.ceil(seconds / STEP_SECONDS))})` : ''
}
