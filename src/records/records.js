import { existsSync } from 'node:fs'
import path from 'node:path'
import { QUANTITIES } from '../judge/quantities.js'
import { BenchError } from '../lib/errors.js'
import { parseJson } from '../lib/json.js'
import { isTooDeep, TOO_DEEP } from '../lib/read-file.js'
import { findFault } from '../lib/schema-issue.js'
import { moderniseDocument } from '../model/old-words.js'
import { manifestSchema } from '../model/schemas/manifest.js'
import { trialSchema } from '../model/schemas/trial.js'
import { OLD_SCHEMA_VERSIONS, SCHEMA_VERSION } from '../model/versions.js'
import { readText, readTextLines } from './files.js'

/**
 * Reads the manifest, the trials and the summary of a run.
 * @import { Manifest, Summary, Trial, TrialRecord } from '../model/types.ts'
 */

// Each line that is left out makes a warning: a damaged file must not make millions.
const TRIALS_MOST = 200_000

/**
 * Reads a run. Records that are damaged, or do not belong to it, are left out.
 * @param {string} folder
 * @returns {{ manifest: Manifest, records: TrialRecord[], warnings: string[] }} warnings: a sentence for each line that is left out
 * @throws {BenchError} as `readManifest`, and if the trials are missing, cannot be read, or have more than TRIALS_MOST lines
 */
export function readRun(folder) {
  const manifest = readManifest(folder)
  const file = path.join(folder, 'trials.jsonl')
  if (!existsSync(file))
    throw new BenchError(`${file} is missing: ${folder} has lost its trials, and cannot be reported`)
  const { arms, calibrations, rounds } = manifest
  const armIds = new Set([...arms.flatMap(arm => [arm.id, arm.calibratedBy]), ...calibrations.map(c => c.armId)])
  /** @type {TrialRecord[]} */
  const records = []
  /** @type {Set<string>} */
  const trialIds = new Set()
  const warnings = []
  let lineNumber = 0
  for (const line of readTextLines(file, { lines: TRIALS_MOST })) {
    lineNumber++
    if (!line.trim()) continue
    const place = `${file}:${lineNumber}`
    const record = moderniseDocument(parseJson(line))
    if (record === undefined) {
      warnings.push(`${place}: the line is ${isTooDeep(line) ? TOO_DEEP : 'cut off'} and left out`)
      continue
    }
    // A number that is missing reads as 0 in a sum: such a record is not used.
    const fault = findFault(trialSchema, record) ?? findMismatch(record, { armIds, rounds, trialIds })
    if (fault === null) {
      trialIds.add(record.trial.id)
      records.push(record)
    } else warnings.push(`${place}: the record is left out: ${fault}`)
  }
  return { manifest, records, warnings }
}

/**
 * Finds the reason why a record does not belong to a run, as a copied line, or one of an edited plan.
 * @param {TrialRecord} record
 * @param {{ armIds: Set<string | null>, rounds: number, trialIds: Set<string> }} run armIds, rounds: of its manifest; trialIds:
 *   of the records before
 * @returns {string | null} null: it belongs to the run
 */
function findMismatch({ trial: { id, round, arm, searchOf } }, { armIds, rounds, trialIds }) {
  // A trial of a search is of no arm of the plan: `searchOf` names the arm whose limit it looks for.
  if (!armIds.has(searchOf ?? arm.id))
    return `the trial ${id} is of the arm ${arm.id}, which the manifest does not have`
  if (searchOf === null && round > rounds) return `the trial ${id} is of round ${round}, and the manifest has ${rounds}`
  return trialIds.has(id) ? `the trial ${id} is recorded before` : null
}

/**
 * Reads the summary of a run in the words of today, without checking its content: only `verify` does.
 * @param {string} folder
 * @returns {Summary}
 * @throws {BenchError} as `readDocument`
 */
export function readSummary(folder) {
  const file = path.join(folder, 'summary.json')
  return /** @type {any} */ (readDocument(file, `${file} is missing: no summary was written of ${folder}`))
}

/**
 * Reads the manifest of a run that measured something.
 * @param {string} folder
 * @returns {Manifest}
 * @throws {BenchError} as `readDocument`, and if it does not fit the schema, has a quantity that this kit does not have, or is that
 *   of a run that only computed
 */
function readManifest(folder) {
  const file = path.join(folder, 'manifest.json')
  const manifest = /** @type {any} */ (readDocument(file, `${folder} holds no run: ${file} is missing`))
  if (manifest.kind !== undefined)
    throw new BenchError(
      `${folder} is a run of ${manifest.kind}, which measured nothing: report, verify and claims read it`,
    )
  const fault = findFault(manifestSchema, manifest) ?? findUnknownQuantity(manifest)
  if (fault !== null) throw new BenchError(`${file} is not a manifest of this kit: ${fault}`)
  return manifest
}

/**
 * Finds a quantity of the manifest that this kit does not have.
 * @param {Manifest} manifest
 * @returns {string | null} the fault; null: the kit has all of them
 */
function findUnknownQuantity({ settings }) {
  const unknown = settings.shows.quantities.find(name => !Object.hasOwn(QUANTITIES, name))
  return unknown === undefined ? null : `settings.shows.quantities: unknown quantity "${unknown}"`
}

/**
 * Reads a JSON document and converts it to this kit's schema version.
 * @param {string} file
 * @param {string} missingMessage the message of the error if it is missing
 * @returns {any} an object
 * @throws {BenchError} if it is missing, unreadable, no JSON object, nested too deep, or of a version that this kit does not read
 */
export function readDocument(file, missingMessage) {
  const text = readText(file)
  if (text === null) throw new BenchError(missingMessage)
  if (isTooDeep(text)) throw new BenchError(`${file} is not a document of this kit: it is ${TOO_DEEP}`)
  /** @type {any} */
  let written
  try {
    written = JSON.parse(text)
  } catch (error) {
    throw new BenchError(`${file} is not JSON: ${/** @type {Error} */ (error).message}`, { cause: error })
  }
  if (typeof written !== 'object' || written === null || Array.isArray(written))
    throw new BenchError(`${file} is not a document of this kit: it holds no object`)
  const document = moderniseDocument(written)
  if (document.schemaVersion !== SCHEMA_VERSION) {
    const version = typeof written.schemaVersion === 'number' ? written.schemaVersion : '(none)'
    throw new BenchError(
      `${file} has schema version ${version}, and this kit reads versions ${OLD_SCHEMA_VERSIONS.join(', ')} and ${SCHEMA_VERSION}: read it with the kit that wrote it`,
    )
  }
  return document
}
