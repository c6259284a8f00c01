import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { summarise } from '../analysis/summarise.js'
import { findComputedKind } from '../kinds/computed.js'
import { BenchError, EXIT, UsageError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { renderMinute } from '../lib/units.js'
import { readRun } from '../records/records.js'
import { renderArmsCsv } from '../report/csv.js'
import { renderJunit } from '../report/junit.js'
import { REPORT_OPTIONS } from '../request/constraints/report.js'
import { assertCombination } from '../request/constraints.js'
import { RESULTS, renderRunText } from './answer.js'
import { reportComputedRun } from './computed.js'
import { loadReport } from './documents.js'
import { listRuns } from './list-runs.js'
import { BUNDLE_ENDING, isBundle, withRuns } from './open-runs.js'

/**
 * @import { Command } from 'commander'
 * @import { Summary } from '../model/types.ts'
 * @import { Context } from './program.js'
 */

/** Formats that are written as files, and not printed. */
const FILE_FORMATS = ['html', 'svg', 'page', 'otava']
/** Formats that only a history has, for other programs. */
const HISTORY_ONLY_FORMATS = ['benchfmt', 'otava']
const FORMATS_OF_HISTORY = ['text', 'html', 'md', 'json', ...HISTORY_ONLY_FORMATS]

/**
 * A run to report.
 * @typedef {object} Reported
 * @property {string} folder
 * @property {string} out the folder for files
 * @property {Summary} summary
 * @property {ReturnType<typeof readRun>} run
 * @property {boolean} [details] the text has every quantity, check and definition instead of the answer
 */

/**
 * Formats of a run: text to print, or the paths of the files written to `out`.
 * @type {Record<string, (run: Reported) => string | Promise<string>>}
 */
const FORMATS = {
  text: ({ folder, summary, run, details }) => renderRunText({ folder, summary, run, details, isReport: true }),
  html: async run => callWithPrintAdvice(run, (await loadReport(run)).writeHtml),
  md: async run => (await loadReport(run)).markdown().trimEnd(),
  svg: async run => (await callWithPrintAdvice(run, (await loadReport(run)).writeSvgs)).join('\n'),
  csv: ({ summary }) => renderArmsCsv(summary).trimEnd(),
  json: ({ summary }) => JSON.stringify(summary, null, 2),
  junit: ({ summary }) => renderJunit(summary).trimEnd(),
  page: async run => callWithPrintAdvice(run, (await loadReport(run)).writeDecision),
}

/** Adds `report`, which renders a run from its records in any format, or lists all runs. @type {import('./program.js').AddVerb} */
export function addReport(verb, context) {
  const { print } = context
  defineReport(verb).action(async (typedRun, options) => {
    const { history, bundle, keepNames, out, details } = options
    const run = typedRun ?? findDefaultRun(options)
    const format = chooseFormat(options)
    assertCombination(REPORT_OPTIONS, {
      run,
      format,
      out,
      history,
      bundle,
      keepNames,
      formats: { ofRun: Object.keys(FORMATS), ofHistory: FORMATS_OF_HISTORY, files: FILE_FORMATS },
    })
    assertNoFile(out)
    if (history) print(await renderOrWriteHistory({ folder: run ?? RESULTS, format, out }, context.say))
    else if (run === undefined) print(renderRunList(RESULTS))
    else if (bundle) {
      const { bundleRun } = await import('./write-bundle.js')
      const file = bundle === true ? undefined : bundle
      print((await bundleRun(run, { file, keepsNames: keepNames })).join('\n'))
    } else await reportRun(run, { format, out, details }, context)
  })
}

/** Adds the argument and the options of `report`. @param {Command} verb @returns {Command} the same command */
function defineReport(verb) {
  return verb
    .argument('[results]', 'a results folder, or a bundle')
    .option(
      '--format <name>',
      `${Object.keys(FORMATS).join(', ')}; with --history also ${HISTORY_ONLY_FORMATS.join(', ')}; html, svg, page and otava are files`,
      parseFormat,
      'text',
    )
    .option('--out <dir>', 'where files are written (default: the results folder)')
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .addOption(
      new Option(
        '--page',
        'the same as --format page: one page of A4 for a decision, to print; without [results] of the last run',
      ).conflicts(['format', 'json', 'history']),
    )
    .option('--history', 'all runs over time that are comparable with the last one, or with [results]')
    .addOption(
      new Option(
        '--bundle [file]',
        'write the run as one file (default: NAME.tar.gz here), which verify and compare read',
      ).conflicts(['format', 'page', 'out', 'json', 'history']),
    )
    .addOption(
      new Option('--details', 'every quantity, check and definition; without [results] of the last run').conflicts([
        'format',
        'page',
        'json',
        'history',
        'bundle',
      ]),
    )
    .option('--keep-names', 'with --bundle: keep the names of hosts, users and folders')
}

/**
 * Chooses the format that options of `report` name.
 * @param {{ json?: boolean, page?: boolean, format: string }} options
 * @returns {string}
 */
function chooseFormat({ json, page, format }) {
  if (json) return 'json'
  return page ? 'page' : format
}

/**
 * Finds the run that options of `report` mean if no run is named: the latest for --details and --page.
 * @param {{ details?: boolean, page?: boolean }} options
 * @returns {string | undefined} its folder; undefined: the options mean all runs
 * @throws as `findLastRun`
 */
function findDefaultRun({ details, page }) {
  if (details) return findLastRun('--details')
  return page ? findLastRun('--page') : undefined
}

/**
 * Prints a run in a format, or writes it as files and prints their paths. A run without trials sets exit status EXIT.noResult.
 * @param {string} name a results folder, or a bundle
 * @param {{ format: string, out?: string, details?: boolean }} options out: the folder for files; by default that of the run, and of
 *   a bundle one of its name here
 * @param {Context} context
 * @throws {BenchError} as `withRuns` and `renderOrWriteRun`
 */
async function reportRun(name, { format, details, ...options }, { print, say, end }) {
  await withRuns([name], async ([folder], restoreNames) => {
    const { out = isBundle(name) ? path.basename(name).replace(BUNDLE_ENDING, '') : folder } = options
    const warn = (/** @type {string} */ line) => say(restoreNames(line))
    const { text, isEmpty } = await renderOrWriteRun({ folder, format, out, details }, warn)
    print(restoreNames(text))
    if (isEmpty) end(EXIT.noResult)
  })
}

/**
 * Renders a run in a format, or writes it as files.
 * @param {{ folder: string, format: string, out: string, details?: boolean }} options folder: of the run; out: the
 *   folder for files
 * @param {(line: string) => void} say gets the warnings about damaged records
 * @returns {Promise<{ text: string, isEmpty: boolean }>} text: to print, for files their paths; isEmpty: no trial is recorded
 * @throws {BenchError} if the folder holds no run, a computed run does not have the format, or `out` cannot be written; as
 *   `renderRunText`
 */
async function renderOrWriteRun({ folder, format, out, details }, say) {
  const computed = findComputedKind(folder)
  if (computed) {
    const run = computed.read(folder)
    const text = await callWithPrintAdvice({ out, printed: 'text, md, csv or json' }, () =>
      reportComputedRun(computed, run, { folder, format: details ? 'details' : format, out }),
    )
    return { text, isEmpty: false }
  }
  const run = readRun(folder)
  run.warnings.forEach(say)
  const text = await FORMATS[format]({ folder, out, summary: summarise(run), run, details })
  return { text, isEmpty: run.records.length === 0 }
}

/**
 * Asserts that the value of --out is no file. It may be a folder, or not exist yet.
 * @param {string | undefined} out undefined: the option is not set
 * @throws {UsageError} if it is a file
 */
function assertNoFile(out) {
  if (out !== undefined && existsSync(out) && !statSync(out).isDirectory())
    throw new UsageError(`--out ${out}: it is a file: name a folder, which is made where it is missing`)
}

/**
 * Renders the history of runs, or writes it as files, by default into their folder.
 * @param {{ folder: string, format: string, out?: string }} options folder: of runs, or one run
 * @param {(line: string) => void} say gets the warnings about damaged records
 * @returns {Promise<string>} the text to print, or the paths of the files
 * @throws {BenchError} if there is no such folder, the run cannot be read, or the files cannot be written
 */
async function renderOrWriteHistory({ folder, format, out }, say) {
  const { HISTORY_FORMATS, readHistory } = await import('./report-history.js')
  const { history, root, warnings } = readHistory(folder)
  warnings.forEach(say)
  return callWithPrintAdvice({ out: out ?? root, printed: 'text, md, json or benchfmt' }, out =>
    HISTORY_FORMATS[format](history, out),
  )
}

/**
 * Calls a function that writes files, and adds to its error how to print instead.
 * @template T
 * @param {{ out: string, printed?: string }} options out: the folder for files; printed: the formats that are
 *   printed; by default those of a measured run
 * @param {(out: string) => T} write
 * @returns {Promise<Awaited<T>>} the result of `write`
 * @throws {BenchError} if `write` fails; a UsageError stays as it is
 */
async function callWithPrintAdvice({ out, printed = 'text, md, csv, json or junit' }, write) {
  try {
    return await write(out)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    const { message } = /** @type {Error} */ (cause)
    throw new BenchError(`${message}; give --out another folder, or print it: --format ${printed}`, { cause })
  }
}

/**
 * Finds the folder of the latest run in RESULTS, by its start.
 * @param {string} option for the error message
 * @returns {string}
 * @throws {UsageError} if there is no run; as `listRuns`
 */
function findLastRun(option) {
  const [last] = listRuns(RESULTS)
  if (last) return last.folder
  throw new UsageError(`report ${option}: there are no runs in ${RESULTS}/: name a folder`)
}

/**
 * Renders all runs of a folder, the latest first, each with its answer.
 * @param {string} root
 * @returns {string} two lines for each run; a sentence if there is none
 * @throws as `listRuns`
 */
function renderRunList(root) {
  const runs = listRuns(root).map(({ folder, startedAt, experiment, says }) => {
    return `${renderMinute(startedAt).padEnd(16)}  ${experiment.padEnd(14)}  ${folder}\n    ${says}`
  })
  return runs.length === 0
    ? `there are no runs in ${root}/ yet: make one with ${renderCommand('bench')}`
    : runs.join('\n')
}

/**
 * Parses the value of --format: a format of a run or of a history.
 * @param {string} name as the user wrote it
 * @returns {string}
 * @throws {InvalidArgumentError} for an unknown format
 */
function parseFormat(name) {
  const names = [...Object.keys(FORMATS), ...HISTORY_ONLY_FORMATS]
  if (names.includes(name)) return name
  throw new InvalidArgumentError(`"${name}" is none of ${names.join(', ')}`)
}
