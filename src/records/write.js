import { cpSync, existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../lib/errors.js'
import { makeFolder } from '../lib/folders.js'
import { parseJson } from '../lib/json.js'
import { appendLine, assertCarried, cannotWrite, readTextLines, writeWhole } from './files.js'

/** All that a run writes into its folder; what reads it is not in memory meanwhile. */
/** @import { ObservationRecord, Sample, Trial, TrialRecord } from '../model/types.ts' */

/** Makes the folder of a run, which must not exist, or be empty. @param {string} folder @throws {UsageError} otherwise */
export function createResultsFolder(folder) {
  assertCarried(folder)
  try {
    makeFolder(path.join(folder, 'raw'))
  } catch (error) {
    throw cannotWrite(folder, error)
  }
  if (readdirSync(folder).length > 1 || readdirSync(path.join(folder, 'raw')).length > 0)
    throw new UsageError(`the results folder ${folder} exists and is not empty: give --out another`)
  // A run without this file has lost its trials, from here on.
  writeWhole(folder, 'trials.jsonl', '')
}

/** Appends a trial and flushes it: what is recorded survives a crash. @param {string} folder @param {TrialRecord} record */
export function appendTrial(folder, record) {
  appendLine(folder, 'trials.jsonl', JSON.stringify(record))
}

/** Takes a trial of another run. @param {{ from: string, to: string, record: TrialRecord, trial: Trial }} options */
export function copyTrial({ from, to, record, trial }) {
  const raw = path.join(from, 'raw', rawNameOf(record.trial))
  // A link would name a file outside of the run.
  const filter = (/** @type {string} */ file) => lstatSync(file).isFile() || lstatSync(file).isDirectory()
  try {
    if (existsSync(raw)) cpSync(raw, path.join(to, 'raw', rawNameOf(trial)), { recursive: true, filter })
  } catch (error) {
    throw cannotWrite(to, error)
  }
  appendTrial(to, { ...record, trial, takenFrom: `${from}, ${record.trial.id}` })
}

/** Removes the lines of trials.jsonl that were cut off; their trials have no record. @param {string} folder */
export function dropCutLines(folder) {
  const lines = [...readTextLines(path.join(folder, 'trials.jsonl'))]
  const whole = lines.filter(line => !line.trim() || parseJson(line) !== undefined)
  if (whole.length < lines.length) writeWhole(folder, 'trials.jsonl', whole.join('\n'))
}

/** Names the folder below raw/, which interleaved arms share. @param {Pick<Trial, 'id' | 'interleaving'>} trial */
export function rawNameOf({ id, interleaving }) {
  return interleaving ?? id
}

/**
 * Writes the samples of a trial, a moment a line, observation.json, and what its kind has seen. A value that could not be
 * read is left out; null is one that the kernel does not offer. @param {string} folder
 * @param {{ trial: Trial, samples: Sample[], names: string[], observation?: ObservationRecord | null,
 *   partFiles?: Record<string, object> }} observed names: of the processes, in the order of the readings; partFiles: by file
 */
export function writeObserved(folder, { trial, samples, names, observation = null, partFiles = {} }) {
  const raw = `raw/${rawNameOf(trial)}`
  const lines = samples.map(({ epochMs, edge, readings }) =>
    toJson({ epochMs, edge, processes: Object.fromEntries(readings.map((reading, i) => [names[i], reading])) }),
  )
  writeWhole(folder, `${raw}/samples.jsonl`, `${lines.join('\n')}\n`)
  if (observation) writeWhole(folder, `${raw}/observation.json`, `${toJson(observation)}\n`)
  for (const [name, part] of Object.entries(partFiles)) writeWhole(folder, `${raw}/${name}.json`, `${toJson(part)}\n`)
}

/** Removes what a trial left that was cut short. @param {string} folder @param {string} trialId */
export function removeRaw(folder, trialId) {
  rmSync(path.join(folder, 'raw', trialId), { recursive: true, force: true })
}

/** @param {unknown} value */
function toJson(value) {
  return JSON.stringify(value, (_, part) => (Number.isNaN(part) ? undefined : part))
}
