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

/** @import { Measured } from '../judge/gates/gate.js' */
/** @import { LoadGenerator, LoadResult, Manifest, Summary, TrialRecord } from '../model/types.ts' */

const SHOWN_MOST = 20
const UNSEEN = 'the times of phases (time to the first answer), changes of configuration, placement, parity'
const OTHER_KIT = `another version of the kit made this run: only numbers that both versions have in summary.json are compared (${renderCommand('report')} makes it again)`
// A share of a number: JSON keeps it exactly, but sums may be added up in another order.
const ROUNDING = 1e-9

/**
 * Computes a run again from its raw files and records, and compares it with what was written. Failed trials are not computed
 * again. If another version of the kit made the run, only numbers that both versions have are compared.
 * @param {{ folder: string, findLoad: (name: string | null) => Pick<LoadGenerator, 'parseResult'>,
 *   kitSha256?: string }} options kitSha256: checksum of this kit's code; absent: this version is taken to have made the run
 * @returns {{ agrees: boolean, lines: string[] }} agrees: no number differs, and no record or raw file is missing or damaged;
 *   lines: what was compared, what could not be, and the first 20 differences
 * @throws {BenchError} if the folder holds no run
 */
export function verifyRun({ folder, findLoad, kitSha256 }) {
  const { manifest, records, warnings } = readRun(folder)
  const load = findLoad(findGenerator(manifest))
  const isOfOtherKit = kitSha256 !== undefined && manifest.kit.sha256 !== kitSha256
  const { written, differences } = readWrittenSummary(folder, isOfOtherKit)
  const relaxed = manifest.settings.relaxes.map(r => r.gate)

  const notRecomputed = []
  let lostCount = 0
  for (const record of records) {
    const again = recomputeRecord({ folder, record, load, relaxed })
    if (typeof again === 'string') {
      notRecomputed.push(`${record.trial.id}: ${again}`)
      // A trial that failed may have left any files or none.
      if (record.outcome !== 'failed') lostCount++
    } else {
      // Numbers that an older kit did not have are not in its records.
      const ours = isOfOtherKit ? pickShape(again, record) : again
      differences.push(...listDifferingPaths(ours, pickShape(record, again), record.trial.id))
    }
  }
  differences.push(...listCalibrationDifferences(manifest, records))
  if (written !== null) {
    const again = summarise({ manifest, records })
    const [ours, theirs] = isOfOtherKit ? [pickShape(again, written), pickShape(written, again)] : [again, written]
    differences.push(...listDifferingPaths(ours, theirs, 'summary.json'))
  }

  const listed = differences.slice(0, SHOWN_MOST)
  const unlistedCount = differences.length - listed.length
  const again = records.length - notRecomputed.length
  return {
    agrees: differences.length === 0 && warnings.length === 0 && lostCount === 0,
    lines: [
      ...warnings,
      ...(isOfOtherKit ? [OTHER_KIT] : []),
      `${again} of ${records.length} records were computed again from their raw files`,
      ...notRecomputed.map(reason => `not computed again: ${reason}`),
      `not computed again, for there are no raw files of them: ${UNSEEN}`,
      ...listed.map(difference => `differs: ${difference}`),
      ...(unlistedCount > 0 ? [`and ${unlistedCount} more`] : []),
      renderConclusion({
        differences: differences.length,
        without: notRecomputed.length,
        lost: lostCount,
        leftOut: warnings.length,
      }),
    ],
  }
}

/**
 * Reads summary.json and checks its form.
 * @param {string} folder
 * @param {boolean} isOfOtherKit another version of the kit made the run: its form is not checked
 * @returns {{ written: Summary | null, differences: string[] }} written: null if the file cannot be read; differences: the
 *   reason, or the fault of its form; []: the file is readable and valid
 */
function readWrittenSummary(folder, isOfOtherKit) {
  try {
    const written = readSummary(folder)
    const fault = isOfOtherKit ? null : findFault(summarySchema, written)
    return { written, differences: fault === null ? [] : [`summary.json: ${fault}`] }
  } catch (error) {
    return { written: null, differences: [/** @type {Error} */ (error).message] }
  }
}

/**
 * Renders the conclusion of a verification.
 * @param {{ differences: number, without: number, lost: number, leftOut: number }} counts without: records that were not
 *   computed again; lost: those of them whose raw files are missing or damaged; leftOut: lines of trials.jsonl that could not
 *   be read
 * @returns {string} one line
 */
function renderConclusion({ differences, without, lost, leftOut }) {
  if (differences > 0) return `${differences} numbers do not agree`
  if (leftOut > 0) return `${leftOut} lines of trials.jsonl were left out; summary.json agrees with the others`
  if (lost > 0)
    return `summary.json agrees with the records; ${lost} of them are not verified: their raw files are missing or damaged`
  if (without === 0) return 'all of them agree: the records with their raw files, summary.json with the records'
  return `summary.json agrees with the records; ${without} of them could not be compared with raw files`
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
 */
function recomputeRecord({ folder, record, load, relaxed }) {
  const { trial, outcome } = record
  if (outcome === 'failed') return 'the trial failed'
  try {
    const partial = findRecordPart(record)
    const rawPart =
      partial && readRawPart(folder, { trialId: trial.id, name: partial.name, schema: partial.part.schema })
    const damage = rawPart === null ? `${partial?.name}.json is missing or damaged` : null
    const judgement = partial && rawPart ? { [partial.name]: partial.part.judge(rawPart) } : {}
    if (partial && !partial.part.hasWindow) return damage ?? judgement
    const raw = renderRawName(trial)
    const observed = readTrialObservation(folder, raw)
    if (observed === null) return 'observation.json is missing or damaged'
    const windowNumbers = computeWindow({ ...observed, armId: trial.arm.id })
    if (windowNumbers === null) return 'samples.jsonl has no sample of an edge of the window'
    const isIdle = trial.arm.load.kind === 'idle'
    // One log has the results of all arms that stood at the same time, in the order of `beside`.
    const place = Math.max(0, record.beside?.findIndex(({ armId }) => armId === trial.arm.id) ?? 0)
    const result = isIdle ? null : readResult({ folder, raw, place, load })
    if (result === null && !isIdle) return "the load generator's log has no result"
    if (damage) return damage
    const parts = { ...windowNumbers, load: result, ...judgement }
    return { ...parts, ...judgeTrial(/** @type {Measured} */ ({ ...record, ...parts }), relaxed) }
  } catch (error) {
    if (error instanceof BenchError) return error.message
    throw error
  }
}

/**
 * Reads the load result of one arm from the log of the generator.
 * @param {{ folder: string, raw: string, place: number, load: Pick<LoadGenerator, 'parseResult'> }} options place: of the arm
 *   in the log
 * @returns {LoadResult | null} null: there is no log, or it has no result
 * @throws {BenchError} for a log of another form
 */
function readResult({ folder, raw, place, load }) {
  const read = readLoadLog(folder, raw)
  if (read === null) return null
  try {
    return load.parseResult(read.log, place)
  } catch (error) {
    throw new BenchError(`${read.file}: ${/** @type {Error} */ (error).message}`, { cause: error })
  }
}

/**
 * Picks the members of a value that a shape has, at any depth. Arrays of another length are returned whole.
 * @param {any} value
 * @param {any} shape
 * @returns {any}
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
  const [a, b] = /** @type {any[]} */ ([computed, written].map(v => (v === undefined ? null : v)))
  if (typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= ROUNDING * Math.max(1, Math.abs(a)))
    return []
  if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)])
    return [...names].flatMap(name =>
      listDifferingPaths(
        readMember(a, name),
        readMember(b, name),
        `${path}${/^\d+$/.test(name) ? `[${name}]` : `.${name}`}`,
      ),
    )
  }
  const isNothing = (/** @type {unknown} */ v) => v === null || (typeof v === 'number' && !Number.isFinite(v))
  if (a === b || (isNothing(a) && isNothing(b))) return []
  return [`${path} is ${renderShortJson(b)}, and the records say ${renderShortJson(a)}`]
}

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
 * @returns {string}
 */
function renderShortJson(value) {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
