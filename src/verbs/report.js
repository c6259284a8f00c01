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
import { openDocuments } from './documents.js'
import { listRuns } from './list-runs.js'
import { BUNDLE_ENDING, isBundle, withRuns } from './open-runs.js'

/** @import { Summary } from '../model/types.ts' */

/** Formats that are written as files, and not printed. */
const FILES = ['html', 'svg', 'page', 'otava']
/** Formats that only a history has, for other programs. */
const OF_HISTORY = ['benchfmt', 'otava']
const OF_HISTORIES = ['text', 'html', 'md', 'json', ...OF_HISTORY]

/** @typedef {{ folder: string, out: string, summary: Summary, run: ReturnType<typeof readRun>, details?: boolean }} Reported out: for files; details: of text */

/** Formats of a run: text to print, or the paths of the files written to `out`. @type {Record<string, (run: Reported) => string | Promise<string>>} */
const FORMATS = {
  text: ({ folder, summary, run, details }) => renderRunText({ folder, summary, run, details, isReport: true }),
  html: async run => writeOutput(run, (await openDocuments(run)).writeHtml),
  md: async run => (await openDocuments(run)).markdown().trimEnd(),
  svg: async run => writeOutput(run, (await openDocuments(run)).writeSvgs).join('\n'),
  csv: ({ summary }) => renderArmsCsv(summary).trimEnd(),
  json: ({ summary }) => JSON.stringify(summary, null, 2),
  junit: ({ summary }) => renderJunit(summary).trimEnd(),
  page: async run => writeOutput(run, (await openDocuments(run)).writeDecision),
}

/** Adds `report`, which renders a run from its records in any format, or lists all runs. @type {import('./program.js').AddVerb} */
export function addReport(verb, { print, say, end }) {
  verb
    .argument('[results]', 'a results folder, or a bundle')
    .option(
      '--format <name>',
      `${Object.keys(FORMATS).join(', ')}; with --history also ${OF_HISTORY.join(', ')}; html, svg, page and otava are files`,
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
    .action(async (named, { json, page, history, bundle, keepNames, out, details, ...options }) => {
      const folderOrNone = named ?? (details ? findLastRun('--details') : page ? findLastRun('--page') : undefined)
      const format = json ? 'json' : page ? 'page' : options.format
      assertCombination(REPORT_OPTIONS, {
        run: folderOrNone,
        format,
        out,
        history,
        bundle,
        keepNames,
        formats: { ofRun: Object.keys(FORMATS), ofHistory: OF_HISTORIES, files: FILES },
      })
      assertFolder(out)
      if (history) return print(await renderHistory({ folder: folderOrNone ?? RESULTS, format, out }, say))
      if (folderOrNone === undefined) return print(renderList(RESULTS))
      if (bundle) {
        const { bundleRun } = await import('./write-bundle.js')
        const named = bundle !== true && { file: bundle }
        return print((await bundleRun(folderOrNone, { ...named, keepsNames: keepNames })).join('\n'))
      }
      await withRuns([folderOrNone], async ([folder], restoreNames) => {
        // A bundle has no folder to write to: files go to a folder of its name here.
        const at = out ?? (isBundle(folderOrNone) ? path.basename(folderOrNone).replace(BUNDLE_ENDING, '') : folder)
        const { text, isEmpty } = await renderRun({ folder, format, out: at, details }, line => say(restoreNames(line)))
        print(restoreNames(text))
        if (isEmpty) end(EXIT.noResult)
      })
    })
}

/**
 * Renders a run in a format, or writes it as files.
 * @param {{ folder: string, format: string, out: string, details?: boolean }} options folder: of the run; out: the
 *   folder for files
 * @param {(line: string) => void} say gets the warnings about damaged records
 * @returns {Promise<{ text: string, isEmpty: boolean }>} text: to print; isEmpty: no trial is recorded
 * @throws {BenchError} if the folder holds no run, or `out` cannot be written
 */
async function renderRun({ folder, format, out, details }, say) {
  const computed = findComputedKind(folder)
  if (computed)
    return {
      text: await writeOutput({ out }, at =>
        reportComputedRun(computed, { folder, format: details ? 'details' : format, out: at }),
      ),
      isEmpty: false,
    }
  const run = readRun(folder)
  run.warnings.forEach(say)
  const text = await FORMATS[format]({ folder, out, summary: summarise(run), run, details })
  return { text, isEmpty: run.records.length === 0 }
}

/**
 * Asserts that the value of --out is a folder, or does not exist yet.
 * @param {string | undefined} out
 * @throws {UsageError} if it is a file
 */
function assertFolder(out) {
  if (out !== undefined && existsSync(out) && !statSync(out).isDirectory())
    throw new UsageError(`--out ${out}: it is a file: name a folder, which is made where it is missing`)
}

/**
 * Renders the history of runs, or writes it as files, by default into their folder.
 * @param {{ folder: string, format: string, out?: string }} options folder: of runs, or one run
 * @param {(line: string) => void} say gets the warnings about damaged records
 * @returns {Promise<string>} the text to print, or the paths of the files
 */
async function renderHistory({ folder, format, out }, say) {
  const { HISTORY_FORMATS, readHistory } = await import('./report-history.js')
  const { history, root, warnings } = readHistory(folder)
  warnings.forEach(say)
  return writeOutput({ out: out ?? root, printed: 'text, md, json or benchfmt' }, at =>
    HISTORY_FORMATS[format](history, at),
  )
}

/**
 * Calls `write`, and adds to an error how to print instead.
 * @template T
 * @param {{ out: string, printed?: string }} reported out: the folder for files; printed: the formats that are
 *   printed
 * @param {(out: string) => T} write
 * @returns {T} the result of `write`
 * @throws {BenchError} if `write` throws
 */
function writeOutput({ out, printed = 'text, md, csv, json or junit' }, write) {
  try {
    return write(out)
  } catch (cause) {
    const { message } = /** @type {Error} */ (cause)
    throw new BenchError(`${message}; give --out another folder, or print it: --format ${printed}`, { cause })
  }
}

/**
 * Finds the folder of the latest run.
 * @param {string} option for the error message
 * @returns {string}
 * @throws {UsageError} if there is no run
 */
function findLastRun(option) {
  const [last] = listRuns(RESULTS)
  if (last) return last.folder
  throw new UsageError(`report ${option}: there are no runs in ${RESULTS}/: name a folder`)
}

/**
 * Renders all runs of a folder, the latest first.
 * @param {string} root
 * @returns {string}
 */
function renderList(root) {
  const runs = listRuns(root).map(({ folder, startedAt, experiment, says }) => {
    return `${renderMinute(startedAt).padEnd(16)}  ${experiment.padEnd(14)}  ${folder}\n    ${says}`
  })
  return runs.length === 0
    ? `there are no runs in ${root}/ yet: make one with ${renderCommand('bench')}`
    : runs.join('\n')
}

/**
 * Parses the value of --format.
 * @param {string} name as the user wrote it
 * @returns {string}
 * @throws {InvalidArgumentError} for an unknown format
 */
function parseFormat(name) {
  const names = [...Object.keys(FORMATS), ...OF_HISTORY]
  if (names.includes(name)) return name
  throw new InvalidArgumentError(`"${name}" is none of ${names.join(', ')}`)
}
