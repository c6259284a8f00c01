import { renderSecondsLeft } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { roundCoresUp, roundLimitsUp } from '../../model/container-limits.js'
import { estimateSeconds, extendSearchWarmup } from '../../plan/plan.js'
import { startServices } from '../../run/start-services.js'
import { renderTrialState } from './outcome.js'
import { createResultSoFar, isAnsweredByTrials, judgeSearchTrial, startSearch } from './searches.js'
import { hasAnswer } from './size-answer.js'
import { listUsualTrials } from './trial-counts.js'

/**
 * Runs the trials of searches, of which each follows from the outcomes before it.
 * @import { Arm, SearchSpec, Trial, TrialRecord } from '../../model/types.ts'
 * @import { PartContext } from '../../run/kind.js'
 */
/**
 * @import { SizeSpec } from './searches.js'
 * @import { AnsweredSize } from './size-answer.js'
 * @import { Tried } from './all-cpu.js'
 * @import { SearchOptions } from './step.js'
 */

// The printed time left is rounded up to a multiple of this.
const STEP_SECONDS = 10

/** @type {import('../../run/kind.js').Kind} */
export const kind = { name: 'search', start: startServices, measure: measureSearches }

/**
 * Searches for the limit of each arm, and prints each trial and answer. Every search reaches a first answer before any runs to its end.
 * @param {PartContext} pass
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
  turns.endTurn()
}

/**
 * Creates the search of an arm.
 * @param {SearchOptions & Pick<PartContext, 'reusable' | 'isRecorded' | 'run' | 'adopt' | 'say' | 'signal'> &
 *   { timeLeft: ReturnType<typeof createTimeLeft> }} options
 * @returns {{ findFirst: () => Promise<void>, finish: () => Promise<void> }} findFirst: runs to a first answer, if this kind of
 *   search has one; finish: runs to the end; both reject as `measureSearches` does
 */
function createSearch({ template, spec, cpus, timeLeft, say, signal, ...pass }) {
  const search = startSearch({ template, spec, cpus })
  /** @type {Tried[]} */
  const tried = []
  let step = search.next()
  const tryNext = async () => {
    signal.throwIfAborted()
    const arm = extendSearchWarmup(/** @type {Arm} */ (step.value))
    const attempt = 1 + tried.filter(other => other.arm.id === arm.id).length
    const id = `s${attempt}-${arm.id}`
    const trial = { id, kind: 'search', round: attempt, arm, repeats: null, searchOf: template.id }
    const { record, seconds } = await adoptOrRun({ ...pass, trial, spec, secondsLeft: timeLeft.estimate(), say })
    const outcome = judgeSearchTrial(spec, record)
    tried.push({ arm, outcome })
    step = search.next(outcome)
    timeLeft.count({ template, isOver: step.done === true, seconds })
    say(`    ${renderTrialState(outcome.held)}: ${outcome.why}${renderTimeLeftNote(timeLeft.estimate())}`)
  }
  const announceAnswer = (/** @type {SizeSpec} */ sizeSpec, /** @type {string} */ heading) => {
    const sizes = [createResultSoFar({ template, spec: sizeSpec, cpus, tried, isOver: step.done === true })].flat()
    for (const size of sizes.filter(hasAnswer)) {
      const subject = [renderArmName(template), ...size.services].join(', ')
      say(`${heading}, ${subject}: ${renderLimitsLine(size)}; ${size.answer.state}: ${size.answer.why}`)
    }
  }
  // The first trials have no memory limit: they show what the load takes, which suggests its limits.
  const isNextUnlimited = () => !step.done && /** @type {Arm} */ (step.value).conditions.memoryLimitBytes === null
  return {
    async findFirst() {
      if (spec.kind !== 'size' || !isAnsweredByTrials(spec)) return
      while (isNextUnlimited()) await tryNext()
      announceAnswer(spec, 'first answer')
    },
    async finish() {
      while (!step.done) await tryNext()
      if (isAnsweredByTrials(spec)) announceAnswer(spec, 'answer')
    },
  }
}

/**
 * Renders the CPU request, the CPU limit and the memory limit of an answer. A request is left out if none is known; beside a
 * neighbour, there is no CPU limit.
 * @param {AnsweredSize} size
 * @returns {string} one line; `no limits`: it has none
 */
function renderLimitsLine({ answer: { limits, requestCores }, neighbourCores }) {
  if (limits === null) return 'no limits'
  const { millicores, mebibytes } = roundLimitsUp(limits)
  if (neighbourCores !== undefined) return `CPU request ${millicores}m, no CPU limit, memory limit ${mebibytes}Mi`
  const request = requestCores === null ? '' : `CPU request ${roundCoresUp(requestCores)}m, `
  return `${request}CPU limit ${millicores}m, memory limit ${mebibytes}Mi`
}

/**
 * Adopts the record of an equal trial of an earlier run, if one was judged, or else runs the trial.
 * @param {Pick<PartContext, 'reusable' | 'isRecorded' | 'run' | 'adopt' | 'say'> &
 *   { trial: Trial, spec: SearchSpec, secondsLeft: number }} options secondsLeft: of the run, from this trial on
 * @returns {Promise<{ record: TrialRecord, seconds: number | null }>} seconds: the duration of the trial; null: it was measured
 *   before (in an earlier run, or before a resume)
 * @throws the error of `run` or `adopt`
 */
async function adoptOrRun({ trial, spec, secondsLeft, reusable, isRecorded, run, adopt, say }) {
  const progress = `looking for the ${spec.kind}`
  // A trial that was not judged says nothing about the limits: measure it again.
  const reused = reusable.takeRecord(trial.arm, other => judgeSearchTrial(spec, { ...other, trial }).held !== null)
  if (reused) {
    const record = adopt(reused, trial)
    say(`${progress}  ${trial.id}: taken from ${reused.folder}`)
    return { record, seconds: null }
  }
  const startMs = performance.now()
  const record = await run({ trial, progress, secondsLeft })
  return { record, seconds: isRecorded(trial) ? null : (performance.now() - startMs) / 1000 }
}

/**
 * Creates an estimate of the time left: of the usual trials to come, at the pace so far; a search that continues after
 * them counts with one trial.
 * @param {{ spec: SearchSpec, templates: Arm[], estimateSeconds: (trials: { arm: Arm }[]) => number }} options
 *   templates: the arm from which each search starts; estimateSeconds: estimates trials on a quiet machine
 * @returns count: counts a finished trial; estimate: computes the seconds left
 */
export function createTimeLeft({ spec, templates, estimateSeconds }) {
  /**
   * Estimates the seconds of trials on a quiet machine.
   * @param {Arm[]} usual the arms of usual trials to come; []: one trial like the template is estimated
   * @param {Arm} template
   */
  const estimateTrials = (usual, template) =>
    estimateSeconds((usual.length > 0 ? usual : [template]).map(arm => ({ arm })))
  const searches = new Map(
    templates.map(template => [
      template.id,
      { template, usual: listUsualTrials(spec, [template]), trials: 0, isOver: false },
    ]),
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
    /** Estimates the time of all searches that have not ended. @returns {number} seconds; 0: all have ended */
    estimate() {
      const pace = usualSeconds > 0 ? seconds / usualSeconds : 1
      const running = [...searches.values()].filter(({ isOver }) => !isOver)
      const secondsLeft = running.map(({ template, usual, trials }) => estimateTrials(usual.slice(trials), template))
      return pace * secondsLeft.reduce((sum, searchSeconds) => sum + searchSeconds, 0)
    },
  }
}

/**
 * Renders the time left, in steps of STEP_SECONDS.
 * @param {number} seconds
 * @returns {string} begins with a space; empty: nothing is left
 */
export function renderTimeLeftNote(seconds) {
  return seconds > 0 ? ` (about ${renderSecondsLeft(STEP_SECONDS * Math.ceil(seconds / STEP_SECONDS))})` : ''
}
