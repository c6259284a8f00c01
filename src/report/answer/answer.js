import { dropEmptyCells, joinPictures } from '../../answer/picture.js'
import { listResults } from '../../kinds/sections.js'
import { groupBy } from '../../lib/group-by.js'
import { foldTail } from '../../lib/log-tail.js'
import { renderCommand } from '../../lib/render-command.js'
import { renderArmName } from '../../model/arms.js'
import { listArms } from '../../model/results.js'
import { listDifferingRows, renderScriptNotes } from '../../parity/verdict/rows.js'
import { renderConditions } from './conditions.js'
import { listWarnings } from './warnings.js'

/**
 * The answer of a run, from the answers of its kinds, as data for every format. Pure.
 * @import { Summary } from '../../model/types.ts'
 * @import { Answered } from '../../kinds/sections.js'
 * @import { KindAnswer, NotMeasured, Picture } from '../../answer/picture.js'
 */

/**
 * @typedef {object} Answer
 * @property {string[]} conditions the experiment, its link, load and machine, in the parts of one line
 * @property {Picture[]} pictures
 * @property {string[]} verdicts whole sentences, the most important first; at least one
 * @property {string[]} basis sentences about how sure they are
 * @property {string[]} [notes] sentences that explain the picture; a screen without room for all rows leaves them out
 * @property {string[]} warnings whole sentences, the worst first
 * @property {NotMeasured[]} notMeasured
 */

/**
 * Creates the answer of a run.
 * @param {Summary} summary
 * @param {{ seconds?: number | null, unfinished?: string[], place?: Answered['place'] }} [run] seconds: its duration;
 *   null: not printed; unfinished: sentences on what an interrupted run lacks; place: the nodes that its sidecars
 *   will run on
 * @returns {Answer} with at least one verdict, if only that nothing was measured
 */
export function createAnswer(summary, { seconds = null, unfinished = [], place } = {}) {
  const results = listResults(summary).map(rendered => ({
    ...rendered,
    measured: rendered.result.arms.filter(arm => arm.trials.completed > 0),
  }))
  const answers = results.flatMap(({ sections, result, measured }) => {
    const isAlone = results.every(other => other.result === result || other.measured.length === 0)
    return sections.answer({ result, summary, measured, isAlone, place }) ?? []
  })
  const joinSentences = (/** @type {'verdicts' | 'basis' | 'notes' | 'warnings'} */ name) =>
    answers.flatMap(answer => answer[name] ?? [])
  const verdicts = [...joinSentences('verdicts'), ...renderThresholds(summary)]
  return {
    conditions: renderConditions(summary),
    pictures: joinPictures(answers.flatMap(({ pictures }) => pictures)).map(dropEmptyCells),
    verdicts: verdicts.length > 0 ? verdicts : [renderNoVerdict(summary)],
    basis: [...renderEqualWork(summary), ...withDuration(joinSentences('basis'), seconds)],
    notes: joinSentences('notes'),
    warnings: [...unfinished, ...listWarnings(summary), ...joinSentences('warnings')],
    notMeasured: [...listAbsentProxies(summary), ...answers.flatMap(({ notMeasured = [] }) => notMeasured)],
  }
}

/** Renders why there is no verdict. @param {Summary} summary @returns {string} a sentence */
function renderNoVerdict(summary) {
  const measured = listArms(summary).filter(arm => arm.trials.completed > 0 && arm.repeatOf === null)
  if (measured.length === 0) return 'Nothing was measured.'
  const proxies = new Set(measured.filter(arm => arm.hasSidecars).map(({ plane, variant }) => `${plane}${variant}`))
  return proxies.size === 1 ? 'One proxy was measured: there is nothing to compare it with.' : 'There is no verdict.'
}

/**
 * Renders that work was equal, except for what the experiment sets aside.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {string[]} sentences; []: it was not checked, is not equal (a warning says so), or a plane is as deployed
 */
function renderEqualWork({ parity, results, relaxes }) {
  if (parity.length === 0) return []
  const { differing, wrong } = listDifferingRows({ parity, results, relaxes })
  if (wrong.length > 0) return []
  const failed = renderScriptNotes({ parity })
  if (failed.length > 0) return failed
  const exceptions = differing.map(name => name.replace('parity-', ''))
  if (exceptions.length > 0)
    return [`Equal work: passed, but for what the experiment sets aside (${exceptions.join(', ')}).`]
  return parity.some(row => row.isDeployed) ? [] : ['Equal work: passed.']
}

/**
 * Adds the duration to the last sentence, if that is on repeats; else as a sentence. It adds nothing below 1 s.
 * @param {string[]} basis
 * @param {number | null} seconds null: unknown
 * @returns {string[]} sentences
 */
function withDuration(basis, seconds) {
  if (seconds === null || seconds < 1) return basis
  const last = basis.at(-1)
  const duration = renderDuration(seconds)
  if (last === undefined || !/repeats?\.$/.test(last)) return [...basis, `It took ${duration}.`]
  return [...basis.slice(0, -1), `${last.slice(0, -1)}, ${duration}.`]
}

/** Renders a duration: `3 min 6 s`; from an hour on, `2 h 5 min`. @param {number} seconds @returns {string} */
function renderDuration(seconds) {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 === 0 ? '' : ` ${whole % 60} s`}`
  return `${Math.floor(whole / 3600)} h ${Math.round((whole % 3600) / 60)} min`
}

/**
 * Renders each threshold: met, not met, or not tested.
 * @param {Pick<Summary, 'thresholds'>} summary
 * @returns {string[]} sentences; []: the run has no thresholds
 */
function renderThresholds({ thresholds }) {
  return thresholds.map(({ expression, value, held }) => {
    if (held === null) return `Threshold ${expression}: not tested, its quantity was excluded.`
    return `Threshold ${expression}: ${held ? 'met' : 'NOT met'}, ${value?.toFixed(3)}.`
  })
}

/**
 * Lists the proxies that could not be measured, or whose every trial failed, with an entry for each reason.
 * @param {Pick<Summary, 'notMeasured' | 'results'>} summary
 * @returns {NotMeasured[]} []: all were measured
 */
function listAbsentProxies({ notMeasured, results }) {
  // On a machine that is too small no program is missing, so `doctor` is no help.
  const limits = notMeasured.filter(row => row.cpuLimitsCores !== undefined)
  const planes = notMeasured.filter(row => row.cpuLimitsCores === undefined)
  const proxies = groupBy(
    listArms({ results }).filter(arm => arm.hasSidecars && arm.repeatOf === null),
    renderArmName,
  )
  const failed = [...proxies].flatMap(([plane, armsOfPlane]) => {
    const isFailed = armsOfPlane.every(({ trials }) => trials.failed > 0 && trials.completed + trials.invalid === 0)
    const [reason] = armsOfPlane.flatMap(({ spoiled }) => spoiled.flatMap(s => (s.gate === 'failed' ? s.reason : [])))
    return isFailed && reason ? [{ plane, reason }] : []
  })
  const doctor = { command: renderCommand('doctor'), gives: 'what is missing, and how to get it' }
  const list = (/** @type {Summary['notMeasured']} */ missing, /** @type {NotMeasured['commands']} */ commands) =>
    [...groupBy(missing, ({ reason }) => reason)].map(([why, rows]) => ({
      what: [...new Set(rows.map(({ plane }) => plane))].join(', '),
      why: foldTail(why),
      commands,
    }))
  return [...list(planes, [doctor]), ...list(failed, []), ...list(limits, [])]
}
