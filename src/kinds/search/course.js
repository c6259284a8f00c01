import { renderArmName } from '../../model/arms.js'
import { estimateSeconds, withWarmupFor } from '../../plan/plan.js'
import { startServices } from '../../run/start-services.js'
import { createResultSoFar, isAnsweredByTrials, judgeSearchTrial, startSearch } from './searches.js'
import { createTimeLeft, renderTimeLeft } from './time-left.js'
import { isAnswered, renderLimits } from './trial-rows.js'

/** @import { Arm, SearchSpec } from '../../model/types.ts' @import { Pass } from '../../run/kind.js' */
/** @import { SizeSpec } from './searches.js' @import { Tried } from './whole.js' @import { SearchOptions } from './step.js' */

/** @type {import('../../run/kind.js').Kind} */
export const kind = { name: 'search', start: startServices, measure: measureSearches }

/**
 * Searches for the limit of each arm: every search comes to a first answer before any goes on to its end.
 * @param {Pass} pass @throws the signal's reason when it aborts; the error of a trial that cannot be run
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
    const arm = withWarmupFor(/** @type {Arm} */ (step.value))
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
