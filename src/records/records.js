import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { BenchError, UsageError } from '../lib/errors.js'
import { findFault, manifestSchema, trialSchema } from '../model/schemas.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { createRecordCheck } from './check-record.js'
import { cannotWrite, readText } from './files.js'

/**
 * The manifest, the trials and the summary of a run on disk.
 * @import { Manifest, Summary, Trial, TrialRecord } from '../model/types.ts'
 */

/**
 * The folder of a run: must not exist, or be empty.
 * @param {string} folder
 * @throws {UsageError} when something is in it; {BenchError} when it cannot be written
 */
export function createResultsFolder(folder) {
  try {
    mkdirSync(path.join(folder, 'raw'), { recursive: true })
  } catch (error) {
    throw cannotWrite(folder, error)
  }
  if (readdirSync(folder).length > 1 || readdirSync(path.join(folder, 'raw')).length > 0) {
    throw new UsageError(`the results folder ${folder} exists and is not empty: give --out another`)
  }
  // From here on, a run without this file has lost its trials.
  writeResult(folder, 'trials.jsonl', '')
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {string} text
 * @throws {BenchError} when it cannot be written
 */
export function writeResult(folder, name, text) {
  const file = path.join(folder, name)
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

/**
 * Appends a trial to `trials.jsonl` and flushes it: what is recorded survives a crash.
 * @param {string} folder
 * @param {TrialRecord} record
 * @throws {BenchError} when it cannot be written
 */
export function appendTrial(folder, record) {
  const file = path.join(folder, 'trials.jsonl')
  try {
    const fd = openSync(file, 'a')
    try {
      writeSync(fd, `${JSON.stringify(record)}\n`)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

/**
 * Takes a trial of another run into this one, with its raw files, and says where it is from.
 * @param {{ from: string, to: string, record: TrialRecord, trial: Trial }} options trial: as it is called here
 * @throws {BenchError} when it cannot be written
 */
export function copyTrial({ from, to, record, trial }) {
  const raw = path.join(from, 'raw', record.trial.id)
  try {
    if (existsSync(raw)) cpSync(raw, path.join(to, 'raw', trial.id), { recursive: true })
  } catch (error) {
    throw cannotWrite(to, error)
  }
  appendTrial(to, { ...record, trial, takenFrom: `${from}, ${record.trial.id}` })
}

/**
 * Reads a run from disk.
 * @param {string} folder
 * @returns {{ manifest: Manifest, records: TrialRecord[], warnings: string[] }} warnings: lines that are left out, and why
 * @throws {BenchError} when it is no run, or one of another schema version, or its trials cannot be read
 */
export function readRun(folder) {
  const manifest = parseManifest(folder)
  const file = path.join(folder, 'trials.jsonl')
  const text = readText(file)
  if (text === null) {
    throw new BenchError(`${file} is missing: ${folder} has lost its trials, and nothing can be said of the run`)
  }
  const findStrangeness = createRecordCheck(manifest)
  /** @type {TrialRecord[]} */
  const records = []
  const warnings = []
  for (const [i, line] of text.split('\n').entries()) {
    if (!line.trim()) continue
    const where = `${file}:${i + 1}`
    let record
    try {
      record = JSON.parse(line)
    } catch {
      warnings.push(`${where}: the line is cut off and left out`)
      continue
    }
    // A number that is missing reads as 0 in a sum: such a record is not used.
    const fault = findFault(trialSchema, record) ?? findStrangeness(record)
    if (fault === null) records.push(record)
    else warnings.push(`${where}: the record is left out: ${fault}`)
  }
  return { manifest, records, warnings }
}

/**
 * The summary as it was written.
 * @param {string} folder
 * @returns {Summary} as it is: `verify` says whether it is whole
 * @throws {BenchError} when it cannot be read, or is of another schema version
 */
export function readSummary(folder) {
  const file = path.join(folder, 'summary.json')
  const summary = parseJson(file, `${file} is missing: no summary was written of ${folder}`)
  assertVersion(file, summary)
  return summary
}

/**
 * @param {string} folder
 * @returns {Manifest}
 */
function parseManifest(folder) {
  const file = path.join(folder, 'manifest.json')
  const manifest = parseJson(file, `${folder} holds no run: ${file} is missing`)
  assertVersion(file, manifest)
  const fault = findFault(manifestSchema, manifest)
  if (fault !== null) throw new BenchError(`${file} is not a manifest of this kit: ${fault}`)
  return manifest
}

/**
 * @param {string} file
 * @param {string} otherwise what is said where there is no such file
 */
function parseJson(file, otherwise) {
  const text = readText(file)
  if (text === null) throw new BenchError(otherwise)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BenchError(`${file} is not JSON: ${/** @type {Error} */ (error).message}`, { cause: error })
  }
}

/**
 * @param {string} file
 * @param {{ schemaVersion: unknown }} written
 */
function assertVersion(file, { schemaVersion }) {
  if (schemaVersion === SCHEMA_VERSION) return
  throw new BenchError(
    `${file} has schema version ${schemaVersion}, and this kit reads version ${SCHEMA_VERSION}: read it with the kit that wrote it`,
  )
}
