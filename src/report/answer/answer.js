import { dropEmptyRowsAndColumns, joinPictures } from '../../answer/picture.js'
import { listResults } from '../../kinds/sections.js'
import { groupBy } from '../../lib/group-by.js'
import { foldTail } from '../../lib/log-tail.js'
import { renderCommand } from '../../lib/render-command.js'
import { pickPlaneChoice, renderArmName } from '../../model/arms.js'
import { listArms } from '../../model/results.js'
import { renderRowName } from '../../parity/verdict/checks.js'
import { listDifferingRows } from '../../parity/verdict/rows.js'
import { renderScriptNotes } from '../../parity/verdict/table.js'
import { renderConditions } from './conditions.js'
import { renderRunWarnings } from './warnings.js'

/**
 * The answer of a run, from the answers of its kinds, as data for every format. Pure.
 * @import { Summary } from '../../model/types.ts'
 * @import { Answered } from '../../kinds/sections.js'
 * @import { NotMeasured, Picture } from '../../answer/picture.js'
 */

/**
 * The answer of a run: the first screen of each format.
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
 *   null or absent: it is not printed; unfinished: sentences on what an interrupted run lacks; place: the nodes that its
 *   sidecars will run on
 * @returns {Answer} with at least one verdict, if only that nothing was measured
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
export function createAnswer(summary, { seconds = null, unfinished = [], place } = {}) {
  const results = listResults(summary).map(rendered => ({
    ...rendered,
    measured: rendered.result.arms.filter(arm => arm.trials.completed > 0),
  }))
  const answers = results.flatMap(({ sections, result, measured }) => {
    const isAlone = results.every(other => other.result === result || other.measured.length === 0)
    return sections.createAnswer({ result, summary, measured, isAlone, place }) ?? []
  })
  const listSentences = (/** @type {'verdicts' | 'basis' | 'notes' | 'warnings'} */ name) =>
    answers.flatMap(answer => answer[name] ?? [])
  const verdicts = [...listSentences('verdicts'), ...renderThresholdVerdicts(summary)]
  return {
    conditions: renderConditions(summary),
    pictures: joinPictures(answers.flatMap(({ pictures }) => pictures)).map(dropEmptyRowsAndColumns),
    verdicts: verdicts.length > 0 ? verdicts : [renderNoVerdict(summary)],
    basis: [...renderEqualWork(summary), ...addDuration(listSentences('basis'), seconds)],
    notes: listSentences('notes'),
    warnings: [...unfinished, ...renderRunWarnings(summary), ...listSentences('warnings')],
    notMeasured: [...listAbsentProxies(summary), ...answers.flatMap(({ notMeasured = [] }) => notMeasured)],
  }
}

/** Renders that there is no verdict, and why if it is known. @param {Summary} summary @returns {string} a sentence */
function renderNoVerdict(summary) {
  const measuredArms = listArms(summary).filter(arm => arm.trials.completed > 0 && arm.repeatOf === null)
  if (measuredArms.length === 0) return 'Nothing was measured.'
  const proxies = measuredArms.filter(arm => arm.hasSidecars).map(arm => JSON.stringify(pickPlaneChoice(arm)))
  const isOne = new Set(proxies).size === 1
  return isOne ? 'One proxy was measured: there is nothing to compare it with.' : 'There is no verdict.'
}

/**
 * Renders that work was equal, except for what the experiment sets aside. If there are scripts of the user, it renders how they were
 * compared instead.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {string[]} sentences; []: work was not checked, or is not equal (a warning says so), or some planes run as deployed, and
 *   there is neither an exception nor a note on scripts
 */
function renderEqualWork({ parity, results, relaxes }) {
  if (parity.length === 0) return []
  const { differing, wrong } = listDifferingRows({ parity, results, relaxes })
  if (wrong.length > 0) return []
  const scriptNotes = renderScriptNotes({ parity })
  if (scriptNotes.length > 0) return scriptNotes
  const exceptions = differing.map(renderRowName)
  if (exceptions.length > 0)
    return [`Equal work: passed, but for what the experiment sets aside (${exceptions.join(', ')}).`]
  return parity.some(row => row.isDeployed) ? [] : ['Equal work: passed.']
}

/**
 * Adds the duration to the last sentence, if that is on repeats; else as a sentence of its own.
 * @param {string[]} basis
 * @param {number | null} seconds null: unknown
 * @returns {string[]} sentences; the same array below 1 s, or for null
 */
function addDuration(basis, seconds) {
  if (seconds === null || seconds < 1) return basis
  const last = basis.at(-1)
  const duration = renderDuration(seconds)
  if (last === undefined || !/repeats?\.$/.test(last)) return [...basis, `It took ${duration}.`]
  return [...basis.slice(0, -1), `${last.slice(0, -1)}, ${duration}.`]
}

/** Renders a duration: `48 s`, `3 min 6 s`; from an hour on, `2 h 5 min`. @param {number} seconds @returns {string} */
function renderDuration(seconds) {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 === 0 ? '' : ` ${whole % 60} s`}`
  const minutes = Math.round(whole / 60)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/**
 * Renders each threshold: met, not met, or not tested.
 * @param {Pick<Summary, 'thresholds'>} summary
 * @returns {string[]} sentences; [] if the run has no thresholds
 */
function renderThresholdVerdicts({ thresholds }) {
  return thresholds.map(({ expression, value, held }) => {
    if (held === null) return `Threshold ${expression}: not tested, its quantity was excluded.`
    return `Threshold ${expression}: ${held ? 'met' : 'NOT met'}, ${value?.toFixed(3)}.`
  })
}

/**
 * Lists the proxies that could not be measured, or whose every trial failed, with an entry for each reason. Those whose program is
 * missing have the command `doctor`.
 * @param {Pick<Summary, 'notMeasured' | 'results'>} summary
 * @returns {NotMeasured[]} [] if all were measured, or no reason was recorded
 */
function listAbsentProxies({ notMeasured, results }) {
  const isLimitTooLarge = (/** @type {Summary['notMeasured'][number]} */ row) => row.cpuLimitsCores !== undefined
  const missingRows = notMeasured.filter(row => !isLimitTooLarge(row) && !row.isRefused)
  const refusedRows = notMeasured.filter(row => row.isRefused)
  const tooLargeRows = notMeasured.filter(isLimitTooLarge)
  // `doctor` is no help where no program is missing: the reason of a refusal names what to change.
  const doctor = { command: renderCommand('doctor'), gives: 'what is missing, and how to get it' }
  return [
    ...groupByReason(missingRows, [doctor]),
    ...groupByReason(refusedRows, []),
    ...groupByReason(listFailedPlanes({ results }), []),
    ...groupByReason(tooLargeRows, []),
  ]
}

/**
 * Lists the planes whose every trial failed, with the reason of the first.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {{ plane: string, reason: string }[]} without planes of which no reason was recorded; []: there are none
 */
function listFailedPlanes({ results }) {
  const arms = listArms({ results }).filter(arm => arm.hasSidecars && arm.repeatOf === null)
  return [...groupBy(arms, renderArmName)].flatMap(([plane, planeArms]) => {
    const isFailed = planeArms.every(({ trials }) => trials.failed > 0 && trials.completed + trials.invalid === 0)
    const reason = planeArms.flatMap(({ spoiled }) => spoiled).find(({ gate }) => gate === 'failed')?.reason
    return isFailed && reason ? [{ plane, reason }] : []
  })
}

/**
 * Groups planes that were not measured by the reason; the end of a log in a reason is shortened (`foldTail`).
 * @param {{ plane: string, reason: string }[]} rows
 * @param {NotMeasured['commands']} commands that help
 * @returns {NotMeasured[]} an entry for each reason; []: there are no rows
 */
function groupByReason(rows, commands) {
  return [...groupBy(rows, ({ reason }) => reason)].map(([reason, reasonRows]) => ({
    what: [...new Set(reasonRows.map(({ plane }) => plane))].join(', '),
    why: foldTail(reason),
    commands,
  }))
}
