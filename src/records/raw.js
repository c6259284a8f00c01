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
 * Reads what was observed in a trial's window.
 * @param {string} folder
 * @param {string} trialId
 * @returns {{ observation: ObservationRecord, samples: Sample[] } | null} readings of a sample: in the order of the processes,
 *   {} if a process has none; null: the observation is missing or damaged
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
 * Reads what a kind of experiment recorded of a trial beside its window: raw/<trial>/<name>.json.
 * @param {string} folder
 * @param {{ trialId: string, name: string, schema: import('zod').ZodType }} file
 * @returns {any} null: it is missing or damaged
 * @throws {BenchError} when it cannot be read
 */
export function readRawPart(folder, { trialId, name, schema }) {
  return readValidDocument(path.join(folder, 'raw', trialId, `${name}.json`), schema)
}

/**
 * Reads the samples of a trial. Truncated or damaged lines are left out.
 * @param {string} folder
 * @param {string} trialId
 * @returns {SampleLine[]} []: there are none
 * @throws {BenchError} when they cannot be read
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
 * @param {string} folder
 * @param {string} trialId
 * @returns {{ file: string, log: string } | null} null: there is none
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
 * Reads a JSON document, and checks it.
 * @param {string} file
 * @param {import('zod').ZodType} schema
 * @returns {any} null: it is missing, no JSON, or does not fit the schema
 */
function readValidDocument(file, schema) {
  const document = moderniseDocument(parseJson(readText(file) ?? ''))
  return document === undefined || findFault(schema, document) !== null ? null : document
}
