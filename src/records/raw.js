import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { findFault, growthSchema, observationSchema, rolloutSchema, sampleSchema } from '../model/schemas.js'
import { readText, writeWhole } from './files.js'

/** The raw files of a trial: raw/<trial>/. */
/** @import { GrowthRecord, ObservationRecord, Reading, RolloutRecord, Sample, SampleLine, Trial } from '../model/types.ts' */

/**
 * The folder of a trial below raw/; those of arms that stood at the same time share one.
 * @param {Pick<Trial, 'id' | 'deployment'>} trial
 */
export function rawNameOf({ id, deployment }) {
  return deployment ?? id
}

/**
 * Writes what was observed of a trial: its samples, one moment a line, observation.json, and rollout.json of a rollout
 * or growth.json of a growth. A value that could not be read is left out; null is one that the kernel does not offer.
 * @param {string} folder
 * @param {{ trial: Trial, samples: Sample[], names: string[], observation?: ObservationRecord | null, rollout?:
 *   RolloutRecord, growth?: GrowthRecord }} observed names: of the processes, in the order of the readings
 * @throws {import('../lib/errors.js').BenchError} when it cannot be written
 */
export function writeObserved(folder, { trial, samples, names, observation = null, rollout, growth }) {
  const raw = `raw/${rawNameOf(trial)}`
  const lines = samples.map(({ epochMs, edge, readings }) =>
    toJson({ epochMs, edge, processes: Object.fromEntries(readings.map((reading, i) => [names[i], reading])) }),
  )
  writeWhole(folder, `${raw}/samples.jsonl`, `${lines.join('\n')}\n`)
  if (observation) writeWhole(folder, `${raw}/observation.json`, `${toJson(observation)}\n`)
  if (rollout) writeWhole(folder, `${raw}/rollout.json`, `${toJson(rollout)}\n`)
  if (growth) writeWhole(folder, `${raw}/growth.json`, `${toJson(growth)}\n`)
}

/**
 * Removes what a trial left that was cut short before it was recorded.
 * @param {string} folder @param {string} trialId
 */
export function removeRaw(folder, trialId) {
  rmSync(path.join(folder, 'raw', trialId), { recursive: true, force: true })
}

/**
 * What was observed of a trial's window, as the run had it.
 * @param {string} folder @param {string} trialId
 * @returns {{ observation: ObservationRecord, samples: Sample[] } | null} null: it is not there, or not whole
 * @throws {import('../lib/errors.js').BenchError} when it cannot be read
 */
export function readObserved(folder, trialId) {
  const [observation] = parseLines(readText(path.join(folder, 'raw', trialId, 'observation.json')))
  if (observation === undefined || findFault(observationSchema, observation) !== null) return null
  const names = /** @type {ObservationRecord} */ (observation).processes.map(({ name }) => name)
  const samples = readSamples(folder, trialId).map(({ processes, ...moment }) => ({
    ...moment,
    readings: names.map(name => /** @type {Reading} */ (Object.hasOwn(processes, name) ? processes[name] : {})),
  }))
  return { observation, samples }
}

/**
 * How the rollout of a trial went, as the run had it.
 * @param {string} folder @param {string} trialId @returns {RolloutRecord | null} null: it is not there, or not whole
 * @throws {import('../lib/errors.js').BenchError} when it cannot be read
 */
export function readRollout(folder, trialId) {
  const [rollout] = parseLines(readText(path.join(folder, 'raw', trialId, 'rollout.json')))
  return rollout === undefined || findFault(rolloutSchema, rollout) !== null ? null : rollout
}

/**
 * How the growth of a trial went, as the run had it.
 * @param {string} folder @param {string} trialId @returns {GrowthRecord | null} null: it is not there, or not whole
 * @throws {import('../lib/errors.js').BenchError} when it cannot be read
 */
export function readGrowth(folder, trialId) {
  const [growth] = parseLines(readText(path.join(folder, 'raw', trialId, 'growth.json')))
  return growth === undefined || findFault(growthSchema, growth) !== null ? null : growth
}

/**
 * Every moment that was read of a trial; lines that are cut off or damaged are left out.
 * @param {string} folder @param {string} trialId @returns {SampleLine[]} none where there are no samples
 * @throws {import('../lib/errors.js').BenchError} when they cannot be read
 */
export function readSamples(folder, trialId) {
  return parseLines(readText(path.join(folder, 'raw', trialId, 'samples.jsonl'))).filter(
    line => findFault(sampleSchema, line) === null,
  )
}

/**
 * What the load generator of a trial printed.
 * @param {string} folder @param {string} trialId @returns {{ file: string, log: string } | null} null: there is none
 * @throws {import('../lib/errors.js').BenchError} when it cannot be read
 */
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
