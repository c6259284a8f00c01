import { judgeTrial } from '../judge/gates.js'
import { computeWindow } from '../judge/record/compute-window.js'
import { computeRatePerSecond } from '../judge/record/measures.js'
import { findRecordPart } from '../kinds/parts.js'
import { BenchError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { findFault, summarySchema } from '../model/schemas.js'
import { findGenerator } from '../model/tools.js'
import { readLoadLog, readRawPart, readTrialObservation } from '../records/raw.js'
import { readRun, readSummary } from '../records/records.js'
import { renderRawName } from '../records/write.js'
import { summarise } from './summarise.js'

/** @import { GatedRecord } from '../judge/gates/gate.js' */
/** @import { LoadGenerator, LoadResult, Manifest, Summary, TrialRecord } from '../model/types.ts' */

const LISTED_MOST = 20
const NOT_IN_RAW_FILES = 'the times of phases (time to the first answer), changes of configuration, placement, parity'
const OTHER_KIT = `another version of the kit made this run: only numbers that both versions have in summary.json are compared (${renderCommand('report')} makes it again)`
// Numbers may differ by this share of them: JSON keeps them exactly, but sums may be added up in another order.
const ROUNDING = 1e-9

/**
 * Computes a run again from its raw files and records, and compares it with what was written. Failed trials are not computed
 * again. If another version of the kit made the run, only numbers that both versions have are compared.
 * @param {{ folder: string, findLoad: (name: string | null) => Pick<LoadGenerator, 'parseResult'>,
 *   kitSha256?: string }} options findLoad: finds the load generator, by the name `findGenerator` finds, null: the run had none;
 *   kitSha256: checksum of this kit's code; absent: this version is taken to have made the run
 * @returns {{ agrees: boolean, lines: string[] }} agrees: no number differs, and no record or raw file is missing or damaged;
 *   lines: what was compared, what could not be, and the first LISTED_MOST differences
 * @throws {BenchError} if the folder holds no run of this kit's, its trials are missing, unreadable or too many, or a kind of trials
 *   is not of this version; {UsageError} for a threshold that does not fit the run; the system's error if a folder of raw files
 *   cannot be listed
 */
export function verifyRun({ folder, findLoad, kitSha256 }) {
  const { manifest, records, warnings } = readRun(folder)
  const load = findLoad(findGenerator(manifest))
  const isOfOtherKit = kitSha256 !== undefined && manifest.kit.sha256 !== kitSha256
  const { summary, fault } = readWrittenSummary(folder)
  const schemaFault = summary === null || isOfOtherKit ? null : findFault(summarySchema, summary)
  const relaxed = manifest.settings.relaxes.map(r => r.gate)
  const verified = verifyRecords({ folder, records, load, relaxed, isOfOtherKit })
  const differences = [
    ...(fault === null ? [] : [fault]),
    ...(schemaFault === null ? [] : [`summary.json: ${schemaFault}`]),
    ...verified.differences,
    ...listCalibrationDifferences(manifest, records),
  ]
  if (summary !== null) {
    const recomputed = summarise({ manifest, records })
    const [computed, written] = isOfOtherKit
      ? [pickShape(recomputed, summary), pickShape(summary, recomputed)]
      : [recomputed, summary]
    differences.push(...listDifferingPaths(computed, written, 'summary.json'))
  }
  const { notRecomputed, lostCount } = verified
  const listedDifferences = differences.slice(0, LISTED_MOST)
  const unlistedCount = differences.length - listedDifferences.length
  return {
    agrees: differences.length === 0 && warnings.length === 0 && lostCount === 0,
    lines: [
      ...warnings,
      ...(isOfOtherKit ? [OTHER_KIT] : []),
      `${records.length - notRecomputed.length} of ${records.length} records were computed again from their raw files`,
      ...notRecomputed.map(reason => `not computed again: ${reason}`),
      `not computed again, for there are no raw files of them: ${NOT_IN_RAW_FILES}`,
      ...listedDifferences.map(difference => `differs: ${difference}`),
      ...(unlistedCount > 0 ? [`and ${unlistedCount} more`] : []),
      renderConclusion({
        differenceCount: differences.length,
        notRecomputedCount: notRecomputed.length,
        lostCount,
        leftOutCount: warnings.length,
      }),
    ],
  }
}

/**
 * Reads summary.json, unchecked.
 * @param {string} folder
 * @returns {{ summary: Summary, fault: null } | { summary: null, fault: string }} fault: the reason why it cannot be read
 */
function readWrittenSummary(folder) {
  try {
    return { summary: readSummary(folder), fault: null }
  } catch (error) {
    return { summary: null, fault: /** @type {Error} */ (error).message }
  }
}

/**
 * Computes records again from their raw files, and compares them with what was written.
 * @param {{ folder: string, records: TrialRecord[], load: Pick<LoadGenerator, 'parseResult'>, relaxed: string[],
 *   isOfOtherKit: boolean }} options relaxed: names of gates that the experiment sets aside
 * @returns {{ differences: string[], notRecomputed: string[], lostCount: number }} notRecomputed: ids with the reasons; lostCount:
 *   those of them that did not fail, so that they must have raw files
 * @throws the system's error if a folder of raw files cannot be listed
 */
function verifyRecords({ folder, records, load, relaxed, isOfOtherKit }) {
  /** @type {string[]} */
  const differences = []
  /** @type {string[]} */
  const notRecomputed = []
  let lostCount = 0
  for (const record of records) {
    const recomputed = recomputeRecord({ folder, record, load, relaxed })
    if (typeof recomputed === 'string') {
      notRecomputed.push(`${record.trial.id}: ${recomputed}`)
      // A trial that failed may have left any files or none.
      if (record.outcome !== 'failed') lostCount++
    } else {
      // Numbers that an older kit did not have are not in its records.
      const computed = isOfOtherKit ? pickShape(recomputed, record) : recomputed
      differences.push(...listDifferingPaths(computed, pickShape(record, recomputed), record.trial.id))
    }
  }
  return { differences, notRecomputed, lostCount }
}

/**
 * Renders the conclusion of a verification.
 * @param {{ differenceCount: number, notRecomputedCount: number, lostCount: number, leftOutCount: number }} counts
 *   notRecomputedCount: records that were not computed again; lostCount: those of them whose raw files are missing or damaged;
 *   leftOutCount: lines of trials.jsonl that could not be read
 * @returns {string} one line
 */
function renderConclusion({ differenceCount, notRecomputedCount, lostCount, leftOutCount }) {
  if (differenceCount > 0) return `${differenceCount} numbers do not agree`
  if (leftOutCount > 0)
    return `${leftOutCount} lines of trials.jsonl were left out; summary.json agrees with the others`
  if (lostCount > 0)
    return `summary.json agrees with the records; ${lostCount} of them are not verified: their raw files are missing or damaged`
  if (notRecomputedCount === 0)
    return 'all of them agree: the records with their raw files, summary.json with the records'
  return `summary.json agrees with the records; ${notRecomputedCount} of them could not be compared with raw files`
}

/**
 * Lists the calibrations whose rate or bound differs from that of their record. Calibrations without a record or a rate are
 * skipped.
 * @param {Manifest} manifest
 * @param {TrialRecord[]} records
 * @returns {string[]} []: none differs
 */
function listCalibrationDifferences({ calibrations }, records) {
  return calibrations.flatMap(({ trialId, ratePerSecond: rate, boundBy }) => {
    const record = records.find(r => r.trial.id === trialId)
    if (!record || rate === null) return []
    const computed = { ratePerSecond: computeRatePerSecond(record), boundBy: record.boundBy }
    return listDifferingPaths(computed, { ratePerSecond: rate, boundBy }, `manifest.json: the calibration ${trialId}`)
  })
}

/**
 * Computes the parts of a record that its raw files give.
 * @param {{ folder: string, record: TrialRecord, load: Pick<LoadGenerator, 'parseResult'>, relaxed: string[] }} options
 * @returns {Partial<TrialRecord> | string} a string: the reason why they cannot be computed
 * @throws the system's error if the folder of its raw files cannot be listed
 */
function recomputeRecord({ folder, record, load, relaxed }) {
  if (record.outcome === 'failed') return 'the trial failed'
  try {
    const recordPart = findRecordPart(record)
    const judgement = recordPart ? recomputePart(folder, { record, ...recordPart }) : {}
    if (recordPart && !recordPart.part.hasWindow) return judgement
    const windowParts = recomputeWindow({ folder, record, load })
    if (typeof windowParts === 'string') return windowParts
    if (typeof judgement === 'string') return judgement
    const parts = { ...windowParts, ...judgement }
    return { ...parts, ...judgeTrial(/** @type {GatedRecord} */ ({ ...record, ...parts }), relaxed) }
  } catch (error) {
    if (error instanceof BenchError) return error.message
    throw error
  }
}

/**
 * Computes the part of a record that one kind of trials alone has.
 * @param {string} folder
 * @param {{ record: TrialRecord } & Pick<NonNullable<ReturnType<typeof findRecordPart>>, 'name' | 'part'>} options
 * @returns {Partial<TrialRecord> | string} a string: the reason why it cannot be computed
 * @throws {BenchError} if its raw file cannot be read
 */
function recomputePart(folder, { record, name, part }) {
  const rawPart = readRawPart(folder, { trialId: record.trial.id, name, schema: part.schema })
  return rawPart === null ? `${name}.json is missing or damaged` : { [name]: part.judge(rawPart) }
}

/**
 * Computes the numbers of a record in its window, with the result of its load.
 * @param {{ folder: string, record: TrialRecord, load: Pick<LoadGenerator, 'parseResult'> }} options
 * @returns {Partial<TrialRecord> | string} load: null for an idle trial; a string: the reason why they cannot be computed
 * @throws {BenchError} if a raw file cannot be read, or the log has another form; the system's error if its folder cannot be listed
 */
function recomputeWindow({ folder, record: { trial, beside }, load }) {
  const raw = renderRawName(trial)
  const observed = readTrialObservation(folder, raw)
  if (observed === null) return 'observation.json is missing or damaged'
  const windowNumbers = computeWindow({ ...observed, armId: trial.arm.id })
  if (windowNumbers === null) return 'samples.jsonl has no sample of an edge of the window'
  if (trial.arm.load.kind === 'idle') return { ...windowNumbers, load: null }
  // One log has the results of all arms that stood at the same time, in the order of `beside`. An arm alone has the first.
  const armIndex = Math.max(0, beside?.findIndex(({ armId }) => armId === trial.arm.id) ?? 0)
  const result = readResult({ folder, raw, armIndex, load })
  return result === null ? "the load generator's log has no result" : { ...windowNumbers, load: result }
}

/**
 * Reads the load result of one arm from the log of the generator.
 * @param {{ folder: string, raw: string, armIndex: number, load: Pick<LoadGenerator, 'parseResult'> }} options raw: the name of the
 *   trial's folder; armIndex: of the arm's result in the log
 * @returns {LoadResult | null} null: there is no log, or it has no result
 * @throws {BenchError} for a log that cannot be read, or has another form; the system's error if its folder cannot be listed
 */
function readResult({ folder, raw, armIndex, load }) {
  const loadLog = readLoadLog(folder, raw)
  if (loadLog === null) return null
  try {
    return load.parseResult(loadLog.log, armIndex)
  } catch (error) {
    throw new BenchError(`${loadLog.file}: ${/** @type {Error} */ (error).message}`, { cause: error })
  }
}

/**
 * Picks the members of a value that a shape has, at any depth. An array whose length is not that of the shape is returned whole, and
 * so is a value that is no object.
 * @param {any} value
 * @param {any} shape
 * @returns {any} a member that the value lacks is undefined
 */
function pickShape(value, shape) {
  if (Array.isArray(shape)) {
    const isAlike = Array.isArray(value) && value.length === shape.length
    return isAlike ? shape.map((part, i) => pickShape(value[i], part)) : value
  }
  if (typeof shape !== 'object' || shape === null || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(shape).map(([name, part]) => [name, pickShape(readMember(value, name), part)]),
  )
}

/**
 * Lists the paths at which two values differ by more than rounding. JSON writes NaN and Infinity as null, so they count as
 * equal to null.
 * @param {unknown} computed
 * @param {unknown} written
 * @param {string} path the path of both values
 * @returns {string[]} one line for each path; []: they do not differ
 */
function listDifferingPaths(computed, written, path) {
  if (isObject(computed) && isObject(written)) {
    const names = new Set([...Object.keys(computed), ...Object.keys(written)])
    return [...names].flatMap(name => {
      const memberPath = /^\d+$/.test(name) ? `${path}[${name}]` : `${path}.${name}`
      return listDifferingPaths(readMember(computed, name), readMember(written, name), memberPath)
    })
  }
  if (isSameValue(computed, written)) return []
  return [`${path} is ${renderShortJson(written)}, and the records say ${renderShortJson(computed)}`]
}

/** @param {unknown} value @returns {value is object} */
const isObject = value => typeof value === 'object' && value !== null

/**
 * Says whether two values are the same but for rounding. A number that JSON writes as null, null and undefined are the same.
 * @param {unknown} computed
 * @param {unknown} written
 */
function isSameValue(computed, written) {
  // `computed` must be finite: an infinite tolerance would take any number for the same.
  if (Number.isFinite(computed) && typeof computed === 'number' && typeof written === 'number') {
    const tolerance = ROUNDING * Math.max(1, Math.abs(computed))
    if (Math.abs(computed - written) <= tolerance) return true
  }
  return computed === written || (isNothing(computed) && isNothing(written))
}

/**
 * Says whether a value is null or undefined.
 * @param {unknown} value
 * @returns {boolean} true also: JSON writes the number as null (NaN, Infinity)
 */
const isNothing = value => value == null || (typeof value === 'number' && !Number.isFinite(value))

/**
 * Reads an own member of an object, and no inherited one such as `constructor`.
 * @param {any} value
 * @param {string} name of the member
 * @returns {any} undefined: the object does not have it
 */
function readMember(value, name) {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * Renders a value as JSON, cut after 80 characters.
 * @param {unknown} value
 * @returns {string} `null` also for undefined
 */
function renderShortJson(value) {
  const text = JSON.stringify(value ?? null)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
