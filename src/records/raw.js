import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { parseJson } from '../lib/json.js'
import { findFault } from '../lib/schema-issue.js'
import { moderniseDocument } from '../model/old-words.js'
import { observationSchema, sampleSchema } from '../model/schemas/trial.js'
import { readText, readTextLines } from './files.js'

/** The raw files of a trial: raw/<trial>/. @import { BenchError } from '../lib/errors.js' */
/** @import { ObservationRecord, Sample, SampleLine, Trial } from '../model/types.ts' */

/**
 * Reads the observation of a trial's window, and its samples.
 * @param {string} folder of the run
 * @param {string} trialId the name of the trial's folder, as `renderRawName` renders it
 * @returns {{ observation: ObservationRecord, samples: Sample[] } | null} readings of a sample: in the order of the processes,
 *   {} if a process has none; null: the observation is missing or damaged
 * @throws {BenchError} if a file cannot be read
 */
export function readTrialObservation(folder, trialId) {
  /** @type {ObservationRecord | null} */
  const observation = readValidDocument(path.join(folder, 'raw', trialId, 'observation.json'), observationSchema)
  if (observation === null) return null
  const names = observation.processes.map(({ name }) => name)
  const samples = readSamples(folder, trialId).map(({ processes, ...moment }) => ({
    ...moment,
    readings: names.map(name => /** @type {any} */ (Object.hasOwn(processes, name) ? processes[name] : {})),
  }))
  return { observation, samples }
}

/**
 * Reads the document that a kind of trials has beside the window, such as rollout.json: raw/<trial>/<name>.json.
 * @param {string} folder of the run
 * @param {{ trialId: string, name: string, schema: import('zod').ZodType }} file name: without .json
 * @returns {any} null: it is missing, no JSON, or does not fit the schema
 * @throws {BenchError} if it cannot be read
 */
export function readRawPart(folder, { trialId, name, schema }) {
  return readValidDocument(path.join(folder, 'raw', trialId, `${name}.json`), schema)
}

/**
 * Reads the samples of a trial. Truncated or damaged lines are left out.
 * @param {string} folder of the run
 * @param {string} trialId as for `readTrialObservation`
 * @returns {SampleLine[]} []: there are none
 * @throws {BenchError} if they cannot be read
 */
export function readSamples(folder, trialId) {
  const samples = []
  for (const line of readTextLines(path.join(folder, 'raw', trialId, 'samples.jsonl'))) {
    const sample = parseJson(line)
    if (sample !== undefined && findFault(sampleSchema, sample) === null) samples.push(sample)
  }
  return samples
}

/**
 * Reads the log of a trial's load generator.
 * @param {string} folder of the run
 * @param {string} trialId as for `readTrialObservation`
 * @returns {{ file: string, log: string } | null} file: its path; null: there is none
 * @throws {BenchError} if it cannot be read, or is larger than DOCUMENT_BYTES_MOST; the system's error if its folder cannot be listed
 */
export function readLoadLog(folder, trialId) {
  const raw = path.join(folder, 'raw', trialId)
  const isFolder = statSync(raw, { throwIfNoEntry: false })?.isDirectory()
  const name = isFolder ? readdirSync(raw).find(entry => entry.endsWith('-generator.log')) : undefined
  if (name === undefined) return null
  const file = path.join(raw, name)
  return { file, log: readText(file) ?? '' }
}

/**
 * Reads a JSON document that fits a schema, in the words of today.
 * @param {string} file
 * @param {import('zod').ZodType} schema
 * @returns {any} null: it is missing, no JSON, or does not fit the schema
 * @throws {BenchError} if it cannot be read
 */
function readValidDocument(file, schema) {
  const document = moderniseDocument(parseJson(readText(file) ?? ''))
  return document === undefined || findFault(schema, document) !== null ? null : document
}
