import path from 'node:path'
import { COMPUTED } from '../kinds/computed.js'
import { UsageError } from '../lib/errors.js'
import { readKit } from '../lib/kit.js'
import { renderCommand } from '../lib/render-command.js'
import { renderTimestamp } from '../lib/timestamp.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { COMPUTED_OPTIONS } from '../prepare/options.js'
import { assertWritableFolder, PAGE, writeAtomically } from '../records/files.js'
import { readSummary } from '../records/records.js'
import { renderAnswerText } from '../report/answer/text.js'
import { announceResults } from './documents.js'
import { evaluateRunClaims } from './read-claims.js'

/**
 * Runs that are computed instead of measured: `bench` makes them; `report`, `verify` and `claims` read them.
 * @import { Command } from 'commander'
 * @import { ComputedKind } from '../kinds/computed.js'
 * @typedef {ReturnType<ComputedKind['read']>} Run
 */

// The default seed is fixed, so that every machine computes the same numbers.
const FIRST_SEED = 1

/**
 * Computes a run, writes its folder with all documents, and prints its answer.
 * @param {{ experiment: import('../kinds/balance/experiment.js').BalanceExperiment, command: Command }} options
 * @param {import('./program.js').Context} context
 * @throws {UsageError} for an option that such a run does not have, or a folder that is not empty or cannot be written; {BenchError} if
 *   a file cannot be written; as `evaluateRunClaims`
 */
export async function benchComputedRun({ experiment, command }, context) {
  const { kind: name, name: experimentName, question, claims, ...form } = experiment
  const kind = COMPUTED[name]
  assertComputedOptions(command, experimentName)
  const { seed = FIRST_SEED, out, json, details } = command.opts()
  if (out) assertWritableFolder(out)
  const startedAt = new Date().toISOString()
  const folder = path.resolve(out ?? path.join('results', `${renderTimestamp()}-${experimentName}`))
  /** @type {Run['manifest']} */
  const manifest = {
    schemaVersion: SCHEMA_VERSION,
    kind: name,
    run: { id: path.basename(folder), startedAt, experiment: experimentName, seed },
    question,
    command: process.argv.slice(2),
    kit: await readKit(),
    form,
  }
  const run = { manifest, trials: kind.compute({ form, seed }) }
  const summary = kind.summarise(run)
  kind.write(folder, { ...run, summary })
  const { markdown, writeHtml } = await loadComputedFormats(kind, run)
  writeAtomically(folder, 'report.md', markdown())
  writeHtml(folder)
  const textFormat = details ? 'details' : 'text'
  context.print(await FORMATS[json ? 'json' : textFormat](kind, run, folder))
  announceResults(folder, context)
}

/**
 * Asserts that a command line has only options that a computed run has.
 * @param {Command} command
 * @param {string} experimentName for the error
 * @throws {UsageError} with a list of the others, if there are any
 */
function assertComputedOptions(command, experimentName) {
  const foreignOptions = command.options.filter(option => {
    const attribute = option.attributeName()
    return command.getOptionValueSource(attribute) === 'cli' && !COMPUTED_OPTIONS.includes(attribute)
  })
  if (foreignOptions.length === 0) return
  const foreignFlags = foreignOptions.map(({ long }) => long).join(', ')
  const ownFlags = COMPUTED_OPTIONS.map(option => `--${option}`).join(', ')
  throw new UsageError(`${foreignFlags}: ${experimentName} measures nothing, and takes ${ownFlags} alone`)
}

/**
 * Formats of `report`: text to print, or the paths of the files written to `out`, which is the run's folder for `text`.
 * @type {Record<string, (kind: ComputedKind, run: Run, out: string) => string | Promise<string>>}
 */
const FORMATS = {
  text(kind, run, folder) {
    const where = path.relative('', folder) || folder
    const more = [`Report: ${where}/${PAGE}`, `More numbers: ${renderCommand('report', `${where} --details`)}`]
    return renderAnswerText(kind.answer(kind.summarise(run)), { more })
  },
  details(kind, run) {
    const summary = kind.summarise(run)
    return kind.renderText(summary, evaluateRunClaims(summary))
  },
  html: async (kind, run, out) => (await loadComputedFormats(kind, run)).writeHtml(out),
  md: async (kind, run) => (await loadComputedFormats(kind, run)).markdown().trimEnd(),
  svg: async (kind, run, out) => (await loadComputedFormats(kind, run)).writeSvgs(out).join('\n'),
  csv: (kind, run) => kind.renderCsv(kind.summarise(run)).trimEnd(),
  json: (kind, run) => JSON.stringify(kind.summarise(run), null, 2),
}

/**
 * Renders a run in a format, or writes it as files.
 * @param {ComputedKind} kind
 * @param {Run} run
 * @param {{ folder: string, format: string, out: string }} options folder: of the run; out: the folder for files
 * @returns {Promise<string>} the text to print, or the paths of the written files
 * @throws {UsageError} for a format that such a run does not have; as `evaluateRunClaims`
 * @throws {BenchError} if a file cannot be written
 */
export async function reportComputedRun(kind, run, { folder, format, out }) {
  if (Object.hasOwn(FORMATS, format)) return FORMATS[format](kind, run, format === 'text' ? folder : out)
  const names = Object.keys(FORMATS).filter(name => name !== 'details')
  throw new UsageError(`--format ${format}: a run of ${kind.name} has ${names.join(', ')}`)
}

/**
 * Computes every record of a run again from its seed, and the summary from the records, and lists the differences.
 * @param {ComputedKind} kind
 * @param {string} folder of the run
 * @returns {{ agrees: boolean, lines: string[] }} agrees: there are no differences; lines: to print
 * @throws {import('../lib/errors.js').BenchError} if a file of the run cannot be read
 */
export function verifyComputedRun(kind, folder) {
  const { manifest, trials } = kind.read(folder)
  const recomputed = kind.compute({ form: manifest.form, seed: manifest.run.seed })
  const isSame = (/** @type {unknown} */ a, /** @type {unknown} */ b) => JSON.stringify(a) === JSON.stringify(b)
  const differences = recomputed.filter((trial, i) => !isSame(trial, trials[i])).map(kind.renderTrialName)
  if (!isSame(readSummary(folder), kind.summarise({ manifest, trials }))) differences.push('summary.json')
  const agrees = differences.length === 0
  const verdict = agrees
    ? 'all of them agree: the records with their seeds, summary.json with the records'
    : `${differences.length} do not agree`
  const count = `${recomputed.length} records were computed again from their seeds`
  return { agrees, lines: [count, ...differences.map(name => `differs: ${name}`), verdict] }
}

/**
 * Creates the functions that render the document of a run, or write it. Their code is loaded here, since that of charts takes long
 * to load.
 * @param {ComputedKind} kind
 * @param {Run} run
 * @returns as `createDocumentFormats`
 * @throws as `evaluateRunClaims`
 */
async function loadComputedFormats(kind, run) {
  const { createDocumentFormats } = await import('./write-report.js')
  const summary = kind.summarise(run)
  const claims = evaluateRunClaims(summary)
  return createDocumentFormats(kind.createDocument({ manifest: run.manifest, summary, claims }), {})
}
