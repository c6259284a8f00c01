import { cpSync, existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../lib/errors.js'
import { makeFolder } from '../lib/folders.js'
import { parseJson } from '../lib/json.js'
import { appendLine, assertSafePath, createWriteError, readTextLines, writeAtomically } from './files.js'

/** All that a run writes into its folder. What reads it is in other files, so that a run need not load it. */
/** @import { ObservationRecord, Sample, Trial, TrialRecord } from '../model/types.ts' */

/**
 * Creates the folder of a run, with an empty raw/ and an empty trials.jsonl. It may exist if it is empty.
 * @param {string} folder
 * @throws {UsageError} if it is not empty, or has a path that configurations cannot carry
 * @throws {BenchError} if it cannot be made
 */
export function createResultsFolder(folder) {
  assertSafePath(folder)
  try {
    makeFolder(path.join(folder, 'raw'))
  } catch (error) {
    throw createWriteError(folder, error)
  }
  if (readdirSync(folder).length > 1 || readdirSync(path.join(folder, 'raw')).length > 0)
    throw new UsageError(`the results folder ${folder} exists and is not empty: give --out another`)
  // From here on, a run without this file has lost its trials.
  writeAtomically(folder, 'trials.jsonl', '')
}

/**
 * Appends a trial to trials.jsonl and flushes it, so that it survives a crash.
 * @param {string} folder
 * @param {TrialRecord} record
 * @throws {BenchError} if it cannot be written
 */
export function appendTrial(folder, record) {
  appendLine(folder, 'trials.jsonl', JSON.stringify(record))
}

/**
 * Copies a trial of another run: its raw files if it has any, and its record, which names that run as `takenFrom`.
 * @param {object} options
 * @param {string} options.from the folder of that run
 * @param {string} options.to the folder of this one
 * @param {TrialRecord} options.record of that run
 * @param {Trial} options.trial of this run, as which it is recorded
 * @throws {BenchError} if it cannot be written
 */
export function copyTrial({ from, to, record, trial }) {
  const raw = path.join(from, 'raw', renderRawName(record.trial))
  // Links are not copied: one may name a file outside of the run.
  const filter = (/** @type {string} */ file) => lstatSync(file).isFile() || lstatSync(file).isDirectory()
  try {
    if (existsSync(raw)) cpSync(raw, path.join(to, 'raw', renderRawName(trial)), { recursive: true, filter })
  } catch (error) {
    throw createWriteError(to, error)
  }
  appendTrial(to, { ...record, trial, takenFrom: `${from}, ${record.trial.id}` })
}

/**
 * Removes the truncated lines of trials.jsonl that a crash left, so that their trials have no record and are run again. Without
 * such lines, the file is not written.
 * @param {string} folder
 * @throws {BenchError} if it cannot be read or written
 */
export function removeTruncatedLines(folder) {
  const lines = [...readTextLines(path.join(folder, 'trials.jsonl'))]
  const completeLines = lines.filter(line => !line.trim() || parseJson(line) !== undefined)
  if (completeLines.length < lines.length) writeAtomically(folder, 'trials.jsonl', completeLines.join('\n'))
}

/**
 * Renders the name of a trial's folder below raw/. Interleaved arms share one.
 * @param {Pick<Trial, 'id' | 'interleaving'>} trial
 * @returns {string}
 */
export function renderRawName({ id, interleaving }) {
  return interleaving ?? id
}

/**
 * Writes the samples of a trial, one per line, its observation, and the files of its kind. A value that could not be read (NaN)
 * is left out; null is a value that the kernel does not offer.
 * @param {string} folder
 * @param {object} observed
 * @param {Trial} observed.trial
 * @param {Sample[]} observed.samples
 * @param {string[]} observed.names of the processes, in the order of the readings
 * @param {ObservationRecord | null} [observed.observation] null or absent: it is not written
 * @param {Record<string, object>} [observed.partFiles] by name without .json; none by default
 * @throws {BenchError} if they cannot be written
 */
export function writeObservation(folder, { trial, samples, names, observation = null, partFiles = {} }) {
  const raw = `raw/${renderRawName(trial)}`
  const lines = samples.map(({ epochMs, edge, readings }) =>
    renderJson({ epochMs, edge, processes: Object.fromEntries(readings.map((reading, i) => [names[i], reading])) }),
  )
  writeAtomically(folder, `${raw}/samples.jsonl`, `${lines.join('\n')}\n`)
  if (observation) writeAtomically(folder, `${raw}/observation.json`, `${renderJson(observation)}\n`)
  for (const [name, part] of Object.entries(partFiles))
    writeAtomically(folder, `${raw}/${name}.json`, `${renderJson(part)}\n`)
}

/**
 * Removes a folder below raw/, such as that of a trial that was cut short, if there is one.
 * @param {string} folder of the run
 * @param {string} trialId the name of the folder to remove
 * @throws the system's error if it cannot be removed
 */
export function removeRaw(folder, trialId) {
  rmSync(path.join(folder, 'raw', trialId), { recursive: true, force: true })
}

/**
 * Renders a value as JSON. Members that are NaN are left out; in lists they become null.
 * @param {unknown} value
 * @returns {string}
 */
function renderJson(value) {
  return JSON.stringify(value, (_, part) => (Number.isNaN(part) ? undefined : part))
}
