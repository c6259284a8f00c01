import { judgeTrial } from '../judge/gates.js'
import { findFault, summarySchema } from '../model/schemas.js'
import { readEdges, readLoadLog, readRun, readSummary } from '../records/records.js'
import { summarise } from './summarise.js'

/**
 * @import { LoadGenerator, TrialRecord } from '../model/types.ts'
 */

const SHOWN_MOST = 20
// The series is written as it was read, so what is computed from it comes out the same.
const ROUNDING = 1e-9

/**
 * Computes a run again, from what is deepest on disk: records from raw files, judgements from records, the summary from both.
 * @param {{ folder: string, load: Pick<LoadGenerator, 'parseResult'> }} options
 * @returns {{ lines: string[], agrees: boolean }} lines: what was compared, and each number that differs
 * @throws {import('../lib/errors.js').BenchError} when the folder holds no run
 */
export function verifyRun({ folder, load }) {
  const { manifest, records, warnings } = readRun(folder)
  const written = readSummary(folder)
  const fault = findFault(summarySchema, written)
  const differences = fault === null ? [] : [`summary.json: ${fault}`]

  let computed = 0
  const without = []
  for (const record of records) {
    const again = recompute({
      folder,
      record,
      load,
      relaxed: manifest.settings.relaxes.map((/** @type {any} */ r) => r.gate),
    })
    differences.push(...compare(again.parts, pick(record, again.parts), record.trial.id))
    if (again.isRaw) computed++
    else if (record.outcome !== 'failed') without.push(record.trial.id)
  }
  differences.push(...compare(summarise({ manifest, records }), written, 'summary.json'))

  const shown = differences.slice(0, SHOWN_MOST)
  const rest = differences.length - shown.length
  return {
    agrees: differences.length === 0,
    lines: [
      ...warnings,
      `${records.length} records, ${computed} of them computed again from their raw files${without.length > 0 ? `; without raw files: ${without.join(', ')}` : ''}`,
      ...shown.map(difference => `differs: ${difference}`),
      ...(rest > 0 ? [`and ${rest} more`] : []),
      differences.length === 0
        ? 'every number of summary.json agrees with the records'
        : `${differences.length} numbers do not agree`,
    ],
  }
}

/**
 * What of a record follows from its raw files and from itself.
 * @param {{ folder: string, record: TrialRecord, load: Pick<LoadGenerator, 'parseResult'>, relaxed: string[] }} options
 */
function recompute({ folder, record, load, relaxed }) {
  /** @type {any} */
  const parts = {}
  if (record.outcome === 'failed' || record.load === null) return { parts, isRaw: false }
  const { trial, processes } = record
  const result = load.parseResult(readLoadLog(folder, trial.id))
  if (result !== null) parts.load = result

  const edges = readEdges(folder, trial.id)
  if (edges) {
    parts.processes = processes.map(({ service, role }) => {
      const [a, b] = [edges.start, edges.end].map(edge => edge[`${service}-${role}`])
      const cpuSeconds = b.cpuSeconds - a.cpuSeconds
      return { cpuSeconds, cpuCores: cpuSeconds / (b.atSeconds - a.atSeconds), memory: { anonBytes: b.anonBytes } }
    })
  }
  Object.assign(parts, judgeTrial(/** @type {import('../judge/gates.js').Measured} */ (record), relaxed))
  return { parts, isRaw: result !== null && edges !== null }
}

/**
 * The parts of a value that another has.
 * @param {any} value
 * @param {any} shape
 * @returns {any}
 */
function pick(value, shape) {
  if (Array.isArray(shape)) return value.length === shape.length ? shape.map((part, i) => pick(value[i], part)) : value
  if (typeof shape !== 'object' || shape === null || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(shape).map(([name, part]) => [name, pick(value[name], part)]))
}

/**
 * Where two values of JSON differ, by path.
 * @param {unknown} computed
 * @param {unknown} written
 * @param {string} at
 * @returns {string[]}
 */
function compare(computed, written, at) {
  const [a, b] = /** @type {any[]} */ ([computed, written].map(v => (v === undefined ? null : v)))
  if (typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= ROUNDING * Math.max(1, Math.abs(a)))
    return []
  if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)])
    return [...names].flatMap(name =>
      compare(a[name], b[name], `${at}${/^\d+$/.test(name) ? `[${name}]` : `.${name}`}`),
    )
  }
  const isNothing = (/** @type {unknown} */ v) => v === null || (typeof v === 'number' && !Number.isFinite(v))
  if (a === b || (isNothing(a) && isNothing(b))) return []
  return [`${at} is ${show(b)}, and the records say ${show(a)}`]
}

/** @param {unknown} value */
function show(value) {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
