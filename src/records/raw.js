import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { parseJson } from '../lib/json.js'
import { findFault } from '../lib/say-issue.js'
import { modernise } from '../model/old-words.js'
import { observationSchema, sampleSchema } from '../model/schemas/trial.js'
import { readText, readTextLines, writeWhole } from './files.js'

/** The raw files of a trial: raw/<trial>/. @import { BenchError } from '../lib/errors.js' */
/** @import { ObservationRecord, Sample, SampleLine, Trial } from '../model/types.ts' */

/** Names the folder below raw/, which interleaved arms share. @param {Pick<Trial, 'id' | 'interleaving'>} trial */
export function rawNameOf({ id, interleaving }) {
  return interleaving ?? id
}

/**
 * Writes the samples of a trial, a moment a line, observation.json, and what its kind has seen. A value that could not be
 * read is left out; null is one that the kernel does not offer. @param {string} folder
 * @param {{ trial: Trial, samples: Sample[], names: string[], observation?: ObservationRecord | null,
 *   own?: Record<string, object> }} observed names: of the processes, in the order of the readings; own: by file
 */
export function writeObserved(folder, { trial, samples, names, observation = null, own = {} }) {
  const raw = `raw/${rawNameOf(trial)}`
  const lines = samples.map(({ epochMs, edge, readings }) =>
    toJson({ epochMs, edge, processes: Object.fromEntries(readings.map((reading, i) => [names[i], reading])) }),
  )
  writeWhole(folder, `${raw}/samples.jsonl`, `${lines.join('\n')}\n`)
  if (observation) writeWhole(folder, `${raw}/observation.json`, `${toJson(observation)}\n`)
  for (const [name, seen] of Object.entries(own)) writeWhole(folder, `${raw}/${name}.json`, `${toJson(seen)}\n`)
}

/** Removes what a trial left that was cut short. @param {string} folder @param {string} trialId */
export function removeRaw(folder, trialId) {
  rmSync(path.join(folder, 'raw', trialId), { recursive: true, force: true })
}

/**
 * Reads what was observed of a trial's window; null: it is not there, or not whole.
 * @param {string} folder @param {string} trialId @returns {{ observation: ObservationRecord, samples: Sample[] } | null}
 */
export function readObserved(folder, trialId) {
  /** @type {ObservationRecord | null} */
  const observation = readWhole(path.join(folder, 'raw', trialId, 'observation.json'), observationSchema)
  if (observation === null) return null
  const names = observation.processes.map(({ name }) => name)
  const samples = readSamples(folder, trialId).map(({ processes, ...moment }) => ({
    ...moment,
    readings: names.map(name => /** @type {any} */ (Object.hasOwn(processes, name) ? processes[name] : {})),
  }))
  return { observation, samples }
}

/**
 * Reads what a trial has shown beside a window. @param {string} folder
 * @param {{ trialId: string, name: string, schema: import('zod').ZodType }} file
 * @returns {any} null: it is not there, or not whole @throws {BenchError} when it cannot be read
 */
export function readOwnPart(folder, { trialId, name, schema }) {
  return readWhole(path.join(folder, 'raw', trialId, `${name}.json`), schema)
}

/**
 * Reads every moment of a trial; lines that are cut off or damaged are left out.
 * @param {string} folder @param {string} trialId @returns {SampleLine[]} none where there are no samples
 */
export function readSamples(folder, trialId) {
  const samples = []
  for (const line of readTextLines(path.join(folder, 'raw', trialId, 'samples.jsonl'))) {
    const sample = parseJson(line)
    if (sample !== undefined && findFault(sampleSchema, sample) === null) samples.push(sample)
  }
  return samples
}

/** Reads what the load generator printed; null: nothing. @param {string} folder @param {string} trialId */
export function readLoadLog(folder, trialId) {
  const raw = path.join(folder, 'raw', trialId)
  const isFolder = statSync(raw, { throwIfNoEntry: false })?.isDirectory()
  const name = isFolder ? readdirSync(raw).find(entry => entry.endsWith('-generator.log')) : undefined
  if (name === undefined) return null
  const file = path.join(raw, name)
  return { file, log: readText(file) ?? '' }
}

/** @param {unknown} value */
function toJson(value) {
  return JSON.stringify(value, (_, part) => (Number.isNaN(part) ? undefined : part))
}

/** @param {string} file @param {import('zod').ZodType} schema @returns {any} null: it is not there, or not whole */
function readWhole(file, schema) {
  const document = modernise(parseJson(readText(file) ?? ''))
  return document === undefined || findFault(schema, document) !== null ? null : document
}
