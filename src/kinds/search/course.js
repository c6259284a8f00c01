import { renderSecondsLeft } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { estimateSeconds, extendSearchWarmup } from '../../plan/plan.js'
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

// The printed time left is rounded up to a multiple of this.
const STEP_SECONDS = 10

/** @type {import('../../run/kind.js').Kind} */
export const kind = { name: 'search', start: startServices, measure: measureSearches }

/**
 * Searches for the limit of each arm. Every search reaches a first answer before any runs to its end.
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
 * Creates the search of an arm, which reuses matching trials of earlier runs instead of measuring them.
 * @param {SearchOptions & Pick<Pass, 'reusable' | 'isRecorded' | 'run' | 'adopt' | 'say' | 'signal'> &
 *   { timeLeft: ReturnType<typeof createTimeLeft> }} options
 * @returns {{ findFirst: () => Promise<void>, finish: () => Promise<void> }} findFirst: runs to a first answer, if
 *   this kind of search has one; finish: runs to the end
 */
function createSearch({ template, spec, cpus, reusable, isRecorded, run, adopt, timeLeft, say, signal }) {
  const search = startSearch({ template, spec, cpus })
  const counts = new Map()
  /** @type {Tried[]} */
  const tried = []
  let step = search.next()
  const tryNext = async () => {
    signal.throwIfAborted()
    const arm = extendSearchWarmup(/** @type {Arm} */ (step.value))
    const attempt = (counts.get(arm.id) ?? 0) + 1
    counts.set(arm.id, attempt)
    const id = `s${attempt}-${arm.id}`
    const trial = { id, kind: 'search', round: attempt, arm, repeats: null, searchOf: template.id }
    const progress = `looking for the ${spec.kind}`
    // A trial that was not judged says nothing about the limits: measure it again.
    const reused = reusable.take(arm, other => judgeSearchTrial(spec, { ...other, trial }).held !== null)
    const startMs = performance.now()
    const record = reused ? adopt(reused, trial) : await run({ trial, progress, secondsLeft: timeLeft.estimate() })
    const isMeasured = !reused && !isRecorded(trial)
    const seconds = isMeasured ? (performance.now() - startMs) / 1000 : null
    if (reused) say(`${progress}  ${trial.id}: taken from ${reused.folder}`)
    const outcome = judgeSearchTrial(spec, record)
    tried.push({ arm, outcome })
    step = search.next(outcome)
    timeLeft.count({ template, isOver: step.done === true, seconds })
    const verdict = outcome.held === null ? 'not judged' : outcome.held ? 'met' : 'missed'
    say(`    ${verdict}: ${outcome.why}${renderTimeLeft(timeLeft.estimate())}`)
  }
  const announceAnswer = (/** @type {SizeSpec} */ sizeSpec, /** @type {string} */ heading) => {
    const sizes = [createResultSoFar({ template, spec: sizeSpec, cpus, tried, isOver: step.done === true })].flat()
    for (const size of sizes.filter(isAnswered)) {
      const subject = [renderArmName(template), ...size.services].join(', ')
      say(`${heading}, ${subject}: ${renderLimits(size)}; ${size.answer.state}: ${size.answer.why}`)
    }
  }
  // The first trials have no memory limit: they show what the load takes, which suggests its limits.
  const isUnlimited = () => !step.done && /** @type {Arm} */ (step.value).conditions.memoryLimitBytes === null
  return {
    async findFirst() {
      if (spec.kind !== 'size' || !isAnsweredByTrials(spec)) return
      while (isUnlimited()) await tryNext()
      announceAnswer(spec, 'first answer')
    },
    async finish() {
      while (!step.done) await tryNext()
      if (isAnsweredByTrials(spec)) announceAnswer(spec, 'answer')
    },
  }
}

/**
 * Creates an estimate of the time left: of the usual trials to come, at the pace so far; a search that continues after
 * them counts with one trial.
 * @param {{ spec: SearchSpec, templates: Arm[], estimateSeconds: (trials: { arm: Arm }[]) => number }} options
 *   templates: the arm from which each search starts; estimateSeconds: estimates trials on a quiet machine
 * @returns count: counts a finished trial; estimate: the seconds left
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
     * Counts a finished trial.
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
    /** Estimates the time of all searches that have not ended. @returns {number} seconds */
    estimate() {
      const pace = usualSeconds > 0 ? seconds / usualSeconds : 1
      const secondsLeft = templates.flatMap(template => {
        const { usual, trials, isOver } = searches.get(template.id) ?? { usual: [], trials: 0, isOver: true }
        return isOver ? [] : [estimateTrials(usual.slice(trials), template)]
      })
      return pace * secondsLeft.reduce((sum, searchSeconds) => sum + searchSeconds, 0)
    },
  }
}

/**
 * Renders the time left, in steps of STEP_SECONDS.
 * @param {number} seconds
 * @returns {string} begins with a space; empty: nothing is left
 */
export function renderTimeLeft(seconds) {
  return seconds > 0 ? ` (about ${renderSecondsLeft(STEP_SECONDS * Math.ceil(seconds / STEP_SECONDS))})` : ''
}
