import path from 'node:path'
import { createLabAnswer } from '../lab/answer.js'
import { breakDownCosts, compareCounts } from '../lab/comparison.js'
import { renderChangedRows, renderLabDetails, renderSaves } from '../lab/text.js'
import { judgeThresholds } from '../lab/threshold.js'
import { BenchError, EXIT, UsageError } from '../lib/errors.js'
import { AXES } from '../model/arms.js'
import { createRequestKind, renderRequest } from '../model/requests.js'
import { renderDraft } from '../prepare/draft-pipeline.js'
import { openLab } from '../prepare/open-lab.js'
import { readRequestOptions } from '../prepare/request-options.js'
import { writeAtomically, writeDocument } from '../records/files.js'
import { renderAnswerText } from '../report/answer/text.js'
import { runConcurrently } from '../run/concurrency.js'
import { countAtEachSave } from './lab-watch.js'
import { readReportFile } from './report-assets.js'

/**
 * Compares the two sides of `lab`, and prints the comparison.
 * @import { Sides } from '../lab/comparison.js'
 * @import { Side } from '../lab/sides.js'
 * @import { LabResults, Save } from '../lab/text.js'
 * @import { Threshold } from '../lab/threshold.js'
 * @import { Site } from '../model/types.ts'
 * @import { Lab } from '../prepare/open-lab.js'
 * @import { LabOptions } from './lab.js'
 * @import { Context } from './program.js'
 */

/**
 * Counts or samples both sides, prints the comparison, and sets the exit status by its thresholds. With --watch it counts again
 * after each save, and ends only by throwing.
 * @param {object} comparing
 * @param {Site} comparing.site
 * @param {Side} comparing.side the new one
 * @param {LabOptions} comparing.options
 * @param {Threshold[]} comparing.thresholds
 * @param {string} [comparing.into] the folder to write the old scripts to, if they are of git
 * @param {Context} context
 * @throws {UsageError} if one side alone is to be sampled
 * @throws {BenchError} if a tool or side is missing, a side does not serve or cannot be counted, both do not do equal work, or a document
 *   cannot be written; the signal's reason when it aborts
 */
export async function compareLabSides({ site, side, options, thresholds, into }, context) {
  const { say, signal } = context
  const { watch: isWatched = false, profile: isSampled = false, parity: hasParity } = options
  const lab = await openLab({
    ...options,
    site,
    side,
    against: options.against ?? null,
    into,
    requestAxes: readRequestOptions(options),
    isSampled,
    isPlaintext: options.tls === 'plaintext',
    hasHandshakes: !isWatched,
    hasCalls: !isWatched && !isSampled,
    signal,
  })
  const printCounts = createCountPrinter({ lab, options, thresholds }, context)
  try {
    if (isSampled && lab.isAlone)
      throw new UsageError('--profile samples two sides in turns, and here is one: name the other with --against')
    await lab.assertProfiler(signal)
    if (isWatched) return await countAtEachSave({ lab, hasParity, printCounts, signal, folder: side.scripts, say })
    announceDraft(lab.pipeline, say)
    const answers = await collectAnswers(lab, context)
    if (hasParity && !lab.isAlone) await assertEqualWork(lab, answers, context)
    const { counts, notes } = await measureSides(lab, options, context)
    await printCounts(counts, notes)
  } finally {
    lab.close()
  }
}

/**
 * Creates a function that prints counts, judges their thresholds, and writes the documents of --out.
 * @param {{ lab: Lab, options: LabOptions, thresholds: Threshold[] }} comparing
 * @param {Context} context
 * @returns {(counts: Sides, notes?: string[]) => Promise<void>} notes: limits of the numbers; with --watch, each call is a save,
 *   and no status is set; else a crossed or undecided threshold sets it. It throws BenchError if a document cannot be written
 */
function createCountPrinter({ lab, options, thresholds }, { print, say, end }) {
  const { out, watch: isWatched = false } = options
  const loadConditions = listLoadConditions(options)
  /** @type {Save[]} */
  const saves = []
  return async (counts, notes = []) => {
    const results = {
      labels: lab.labels,
      // With --watch, saves are compared with the first version of the scripts, so no side is alone.
      ...(lab.isAlone && !isWatched && { isAlone: true }),
      notes: [...loadConditions, ...notes],
      rows: compareCounts(counts),
      breakdowns: breakDownCosts(counts, options),
    }
    if (out) await writeLabDocuments(out, { results, counts })
    print(renderLabResults(results, { options, loadConditions, lastSave: saves.at(-1) }))
    if (out) say(`to look at: ${path.join(out, 'lab.html')}`)
    const { held, crossed, undecided } = judgeThresholds(thresholds, results)
    for (const line of [...held, ...crossed, ...undecided]) say(line)
    if (isWatched) {
      // With --watch no status is set: the scripts that are saved next may hold the threshold.
      saves.push({ at: new Date(), rows: results.rows })
      print(renderSaves(saves))
    } else if (crossed.length > 0) end(EXIT.thresholdCrossed)
    else if (undecided.length > 0) end(EXIT.noResult)
  }
}

/**
 * Lists the conditions of the load that differ from the default.
 * @param {LabOptions} options
 * @returns {string[]} []: none do
 */
function listLoadConditions(options) {
  const { features, payload } = options
  const conditions = []
  if (features !== undefined) conditions.push(`sidecars with ${AXES.features.render(features)}`)
  if (payload !== undefined) conditions.push(`bodies of ${payload} bytes`)
  const requestAxes = readRequestOptions(options)
  if (Object.keys(requestAxes).length > 0) {
    const kind = createRequestKind(requestAxes, payload ?? AXES.payloadBytes.values[0])
    conditions.push(renderRequest({ requests: [kind] }))
  }
  return conditions
}

/**
 * Writes lab.json and lab.html.
 * @param {string} out their folder
 * @param {{ results: LabResults, counts: Sides }} lab
 * @throws {BenchError} if one cannot be written
 */
async function writeLabDocuments(out, { results, counts }) {
  // The code of charts takes long to load.
  const { renderLabPage } = await import('../lab/page.js')
  writeDocument(out, 'lab.json', results)
  writeAtomically(out, 'lab.html', renderLabPage({ ...results, counts, style: readReportFile('page/style.css') }))
}

/**
 * Renders results: with --json as JSON, with --details as all tables; else, after a save, the rows that changed since the save before,
 * and otherwise the answer.
 * @param {LabResults} results
 * @param {{ options: LabOptions, loadConditions: string[], lastSave: Save | undefined }} context lastSave: undefined:
 *   these results are the first
 * @returns {string}
 */
function renderLabResults(results, { options, loadConditions, lastSave }) {
  const { json, details, requests, profile: isSampled } = options
  if (json) return JSON.stringify(results, null, 2)
  if (details) return renderLabDetails(results)
  if (lastSave) return renderChangedRows(results.rows, lastSave.rows)
  const conditions = [isSampled ? 'under load' : `${requests} requests`, ...loadConditions]
  return renderAnswerText(createLabAnswer({ ...results, conditions }), { more: [renderHints(options)] })
}

/**
 * Renders the options that give more: CPU time, flame graphs, all numbers.
 * @param {LabOptions} options of this run: hints at its own options are left out
 * @returns {string} one line
 */
function renderHints({ profile: isSampled, time: isTimed, out }) {
  return [
    ...(isSampled || isTimed ? [] : ['CPU time: --time (2 min)']),
    ...(out ? [] : ['Flame graph: --out DIR']),
    'More numbers: --details',
  ].join('    ')
}

/**
 * Prints how scripts without a pipeline.yaml are run, if their pipeline was drafted: `draftPipeline` marks its file `(not written)`.
 * @param {Lab['pipeline']} pipeline of the new side; null: it has none
 * @param {Context['say']} say
 */
function announceDraft(pipeline, say) {
  if (pipeline === null || pipeline === 'unknown' || !pipeline.file.includes('(not written)')) return
  // The first line is a comment, and the last one is empty.
  const draft = renderDraft(pipeline).split('\n').slice(1, -1).join('; ')
  say(`no pipeline.yaml: ${draft} (lab new --from writes it)`)
}

/**
 * Starts each side without a counter, and collects its answers to the load.
 * @param {Lab} lab
 * @param {Context} context
 * @returns {Promise<Record<string, string[]>>} by side, `new` and, unless that is alone, `old`: a text for each link
 * @throws {BenchError} if a side does not serve; as `assertSideServes`; the signal's reason when it aborts
 */
async function collectAnswers(lab, { say, signal }) {
  /** @type {Record<string, string[]>} */
  const answers = {}
  // The new scripts are tried first: they are the ones that may fail.
  for (const name of lab.isAlone ? /** @type {const} */ (['new']) : /** @type {const} */ (['new', 'old']))
    answers[name] = await lab.assertServes(name, signal, say)
  return answers
}

/**
 * Asserts that both sides do equal work: pipelines by their answers, other scripts by the equal-work check.
 * @param {Lab} lab
 * @param {Record<string, string[]>} answers of both sides
 * @param {Context} context
 * @throws {BenchError} if they do not; the signal's reason when it aborts
 */
async function assertEqualWork(lab, answers, { say, signal }) {
  if (lab.pipeline === null) {
    await lab.assertParity(signal)
    say('equal work was tried, and it held')
    return
  }
  assertSameAnswers(answers, lab.labels)
  say('both sides answer the requests of their load alike')
}

/**
 * Asserts that both sides give the same answers.
 * @param {Record<string, string[]>} answers of each side (`old`, `new`), one for each link
 * @param {{ old: string, new: string }} labels
 * @throws {BenchError} if they differ
 */
function assertSameAnswers(answers, labels) {
  const [old, next] = [answers.old.join('; '), answers.new.join('; ')]
  if (old === next) return
  throw new BenchError(
    `the two sides answer the requests of their load otherwise, so their costs cannot be compared: ${labels.old}: ${old}; ${labels.new}: ${next}; --no-parity counts them anyway`,
  )
}

/**
 * Prints which sides it counts or, with --profile, samples, and does so. A side that is alone is counted once, and stands for both.
 * @param {Lab} lab
 * @param {Pick<LabOptions, 'link' | 'requests' | 'profile'>} options
 * @param {Context} context
 * @returns {Promise<{ counts: Sides, notes: string[] }>} notes: limits of the numbers
 * @throws {BenchError} if a request is not answered, or a tool fails; the signal's reason when it aborts
 */
async function measureSides(lab, { link, requests, profile: isSampled }, { say, signal }) {
  const links = link.join(' and ')
  if (lab.isAlone) {
    say(`counting ${requests} requests of ${links}`)
    const costs = await lab.count('new', signal)
    return { counts: { old: costs, new: costs }, notes: lab.notes }
  }
  if (isSampled) {
    say(`sampling ${links} under load, each side twice, in turns`)
    const { notes, ...counts } = await lab.sample(signal)
    return { counts, notes }
  }
  say(`counting ${requests} requests of ${links}, of both sides at once`)
  const [old, next] = await runConcurrently(signal, [
    signal => lab.count('old', signal),
    signal => lab.count('new', signal),
  ])
  return { counts: { old, new: next }, notes: lab.notes }
}
