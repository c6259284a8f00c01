import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { BenchError, UsageError } from '../lib/errors.js'
import { findFault, manifestSchema, trialSchema } from '../model/schemas.js'
import { SCHEMA_VERSION } from '../model/versions.js'

/**
 * @import { ObservationRecord, Reading, Sample, Trial, TrialRecord } from '../model/types.ts'
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
 * Writes what was observed of a trial: its samples, one moment a line, and observation.json. A value that could not be
 * read is left out; null is one that the kernel does not offer.
 * @param {string} folder
 * @param {{ trial: Trial, samples: Sample[], names: string[], observation?: ObservationRecord | null }} observed names: of
 *   the processes, in the order of the readings
 * @throws {BenchError} when it cannot be written
 */
export function writeObserved(folder, { trial, samples, names, observation = null }) {
  const raw = path.join(folder, 'raw', trial.id)
  const lines = samples.map(({ epochMs, edge, readings }) =>
    toJson({ epochMs, edge, processes: Object.fromEntries(readings.map((reading, i) => [names[i], reading])) }),
  )
  try {
    mkdirSync(raw, { recursive: true })
    appendFileSync(path.join(raw, 'samples.jsonl'), `${lines.join('\n')}\n`)
    if (observation) writeFileSync(path.join(raw, 'observation.json'), `${toJson(observation)}\n`)
  } catch (error) {
    throw cannotWrite(raw, error)
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
 * @returns {{ manifest: any, records: TrialRecord[], warnings: string[] }} warnings: lines that could not be used, and why
 * @throws {BenchError} when it is no run, or one of another schema version
 */
export function readRun(folder) {
  const manifest = parseManifest(folder)
  /** @type {TrialRecord[]} */
  const records = []
  const warnings = []
  for (const [i, line] of readText(path.join(folder, 'trials.jsonl')).split('\n').entries()) {
    if (!line.trim()) continue
    const where = `${folder}/trials.jsonl:${i + 1}`
    let record
    try {
      record = JSON.parse(line)
    } catch {
      warnings.push(`${where}: the line is cut off and left out`)
      continue
    }
    // A number that is missing reads as 0 in a sum: such a record is not used.
    const fault = findFault(trialSchema, record)
    if (fault === null) records.push(record)
    else warnings.push(`${where}: the record is left out: ${fault}`)
  }
  return { manifest, records, warnings }
}

/**
 * What was observed of a trial's window, as the run had it.
 * @param {string} folder
 * @param {string} trialId
 * @returns {{ observation: ObservationRecord, samples: Sample[] } | null} null: it is not there, or not whole
 */
export function readObserved(folder, trialId) {
  /** @type {ObservationRecord} */
  let observation
  try {
    observation = JSON.parse(readText(path.join(folder, 'raw', trialId, 'observation.json')))
  } catch {
    return null
  }
  const names = observation.processes.map(({ name }) => name)
  const samples = readSamples(folder, trialId).map(({ processes, ...moment }) => ({
    ...moment,
    readings: names.map(name => processes[name]),
  }))
  return { observation, samples }
}

/**
 * Every moment that was read of a trial; lines that are cut off are left out.
 * @param {string} folder
 * @param {string} trialId
 * @returns {{ epochMs: number, edge?: 'start' | 'end', processes: Record<string, Reading> }[]} none where there are no samples
 */
export function readSamples(folder, trialId) {
  return readText(path.join(folder, 'raw', trialId, 'samples.jsonl'))
    .split('\n')
    .flatMap(line => {
      try {
        return line ? [JSON.parse(line)] : []
      } catch {
        return []
      }
    })
}

/**
 * What the load generator of a trial printed.
 * @param {string} folder
 * @param {string} trialId
 * @returns {string} empty where there is none
 */
export function readLoadLog(folder, trialId) {
  const raw = path.join(folder, 'raw', trialId)
  const names = existsSync(raw) ? readdirSync(raw).filter(name => name.endsWith('-generator.log')) : []
  return names.length > 0 ? readText(path.join(raw, names[0])) : ''
}

/**
 * The summary as it was written.
 * @param {string} folder
 * @throws {BenchError} when it cannot be read, or is of another schema version
 */
export function readSummary(folder) {
  const file = path.join(folder, 'summary.json')
  let summary
  try {
    summary = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new BenchError(`${file} cannot be read: ${/** @type {Error} */ (error).message}`, { cause: error })
  }
  assertVersion(file, summary)
  return summary
}

/** @param {string} folder */
function parseManifest(folder) {
  const file = path.join(folder, 'manifest.json')
  let manifest
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new BenchError(`${folder} holds no run: ${file} cannot be read (${/** @type {Error} */ (error).message})`, {
      cause: error,
    })
  }
  assertVersion(file, manifest)
  const fault = findFault(manifestSchema, manifest)
  if (fault !== null) throw new BenchError(`${file} is not a manifest of this kit: ${fault}`)
  return manifest
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

/** @param {unknown} value */
function toJson(value) {
  return JSON.stringify(value, (_, part) => (Number.isNaN(part) ? undefined : part))
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * @param {string} file
 * @param {unknown} error
 */
function cannotWrite(file, error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  const why = code === 'ENOSPC' ? 'the disk is full; what was recorded before is kept' : message
  return new BenchError(`cannot write ${file}: ${why}`, { cause: error })
}
