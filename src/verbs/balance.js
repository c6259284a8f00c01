import path from 'node:path'
import { runBalance, summariseBalance } from '../kinds/balance/trials.js'
import { UsageError } from '../lib/errors.js'
import { readKit } from '../lib/kit.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { stampNow } from '../prepare/site.js'
import { readBalance, writeBalance } from '../records/balance.js'
import { writeWhole } from '../records/files.js'
import { readSummary } from '../records/records.js'
import { renderBalanceCsv, renderBalanceText } from '../report/balance.js'
import { sayWhere } from './documents.js'
import { answerClaims } from './read-claims.js'

/**
 * A run of `balance`: made by `bench`, read by `report`, `verify` and `claims`.
 * @import { Command } from 'commander' @import { BalanceManifest, BalanceSummary } from '../model/types.ts'
 * @import { BalanceRun } from '../records/balance.js'
 */

// The same numbers on every machine, unless another seed is given.
const FIRST_SEED = 1
const TAKEN = ['seed', 'out', 'json']

/**
 * @param {{ experiment: import('../kinds/balance/trials.js').BalanceExperiment, command: Command }} asked
 * @param {import('./program.js').Context} context @throws {UsageError} for an option that such a run does not have
 */
export async function benchBalance({ experiment, command }, context) {
  const { name, question, items, shards, seeds, sizes, algorithms } = experiment
  assertTaken(name, command)
  const { seed = FIRST_SEED, out, json } = command.opts()
  const startedAt = new Date().toISOString()
  const folder = path.resolve(out ?? path.join('results', `${stampNow()}-${name}`))
  /** @type {BalanceManifest} */
  const manifest = {
    schemaVersion: SCHEMA_VERSION,
    kind: 'balance',
    run: { id: path.basename(folder), startedAt, experiment: name, seed },
    question,
    command: process.argv.slice(2),
    kit: await readKit(),
    form: { items, shards, seeds, sizes, algorithms },
  }
  const run = { manifest, trials: runBalance({ form: manifest.form, seed }) }
  const summary = summariseBalance(run)
  writeBalance(folder, { ...run, summary })
  const { markdown, writeHtml } = await openBalance(run)
  writeWhole(folder, 'report.md', markdown())
  writeHtml(folder)
  context.print(json ? JSON.stringify(summary, null, 2) : renderText(summary))
  sayWhere(folder, context)
}

/** Formats of `report` for a run of balance. @type {Record<string, (run: BalanceRun, out: string) => string | Promise<string>>} */
const FORMATS = {
  text: run => renderText(summariseBalance(run)),
  html: async (run, out) => (await openBalance(run)).writeHtml(out),
  md: async run => (await openBalance(run)).markdown().trimEnd(),
  svg: async (run, out) => (await openBalance(run)).writeSvgs(out).join('\n'),
  csv: run => renderBalanceCsv(summariseBalance(run)).trimEnd(),
  json: run => JSON.stringify(summariseBalance(run), null, 2),
}

/** @param {{ folder: string, format: string, out: string }} options @throws {UsageError} for a format that it has not */
export async function reportBalance({ folder, format, out }) {
  if (Object.hasOwn(FORMATS, format)) return FORMATS[format](readBalance(folder), out)
  throw new UsageError(`--format ${format}: a run of balance has ${Object.keys(FORMATS).join(', ')}`)
}

/** Computes every record again from its seed, and the summary from the records. @param {string} folder */
export function verifyBalance(folder) {
  const { manifest, trials } = readBalance(folder)
  const again = runBalance({ form: manifest.form, seed: manifest.run.seed })
  const isSame = (/** @type {unknown} */ a, /** @type {unknown} */ b) => JSON.stringify(a) === JSON.stringify(b)
  const differences = again
    .filter((trial, i) => !isSame(trial, trials[i]))
    .map(({ algorithm, sizes, seed }) => `the record of ${algorithm}, ${sizes} sizes, seed ${seed}`)
  if (!isSame(readSummary(folder), summariseBalance({ manifest, trials }))) differences.push('summary.json')
  const agrees = differences.length === 0
  const verdict = agrees
    ? 'all of them agree: the records with their seeds, summary.json with the records'
    : `${differences.length} do not agree`
  const done = `${again.length} records were computed again from their seeds`
  return { agrees, lines: [done, ...differences.map(what => `differs: ${what}`), verdict] }
}

/** @param {string} name of the experiment @param {Command} command */
function assertTaken(name, command) {
  const others = command.options.filter(option => {
    const attribute = option.attributeName()
    return command.getOptionValueSource(attribute) === 'cli' && !TAKEN.includes(attribute)
  })
  if (others.length === 0) return
  throw new UsageError(
    `${others.map(({ long }) => long).join(', ')}: ${name} measures nothing, and takes ${TAKEN.map(option => `--${option}`).join(', ')} alone`,
  )
}

/** @param {BalanceSummary} summary */
const renderText = summary => renderBalanceText(summary, answerClaims(summary))

/** Opens the documents with charts, which take a while to load. @param {BalanceRun} run */
async function openBalance(run) {
  const { openBalanceDocuments } = await import('./write-report.js')
  const summary = summariseBalance(run)
  return openBalanceDocuments({ manifest: run.manifest, summary, claims: answerClaims(summary) })
}
