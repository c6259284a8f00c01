import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { findFault, observationSchema, sampleSchema } from '../model/schemas.js'
import { readText, writeWhole } from './files.js'

/**
 * The raw files of a trial: raw/<trial>/.
 * @import { ObservationRecord, Reading, Sample, SampleLine, Trial } from '../model/types.ts'
 */

/** The folder of a trial below raw/; arms that stood at the same time share one. @param {Pick<Trial, 'id' | 'deployment'>} trial */
export function rawNameOf({ id, deployment }) {
  return deployment ?? id
}

/**
 * Writes what was observed of a trial: its samples, one moment a line, observation.json, and what it has shown beside a
 * window, in files of their own. A value that could not be read is left out; null is one that the kernel does not offer.
 * @param {string} folder
 * @param {{ trial: Trial, samples: Sample[], names: string[], observation?: ObservationRecord | null, own?: Record<string, object> }} observed
 *   names: of the processes, in the order of the readings; own: by the names of the files
 * @throws {import('../lib/errors.js').BenchError} when it cannot be written
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

/** Removes what a trial left that was cut short before it was recorded. @param {string} folder @param {string} trialId */
export function removeRaw(folder, trialId) {
  rmSync(path.join(folder, 'raw', trialId), { recursive: true, force: true })
}

/**
 * What was observed of a trial's window, as the run had it; null: it is not there, or not whole.
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
 * What a trial has shown beside a window, as the run had it.
 * @param {string} folder
 * @param {{ trialId: string, name: string, schema: import('zod').ZodType }} file
 * @returns {any} null: it is not there, or not whole
 * @throws {import('../lib/errors.js').BenchError} when it cannot be read
 */
export function readOwnPart(folder, { trialId, name, schema }) {
  return readWhole(path.join(folder, 'raw', trialId, `${name}.json`), schema)
}

/**
 * Every moment that was read of a trial; lines that are cut off or damaged are left out.
 * @param {string} folder @param {string} trialId @returns {SampleLine[]} none where there are no samples
 */
export function readSamples(folder, trialId) {
  const lines = parseLines(readText(path.join(folder, 'raw', trialId, 'samples.jsonl')))
  return lines.filter(line => findFault(sampleSchema, line) === null)
}

/** What the load generator of a trial printed, and where; null: nothing. @param {string} folder @param {string} trialId */
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
  const [document] = parseLines(readText(file))
  return document === undefined || findFault(schema, document) !== null ? null : document
}

/** @param {string | null} text @returns {any[]} without the lines that are cut off */
function parseLines(text) {
  return (text ?? '').split('\n').flatMap(line => {
    try {
      return line ? [JSON.parse(line)] : []
    } catch {
      return []
    }
  })
}
