import {
  cpuPerRequestMicros,
  QUANTILES,
  quantileMs,
  ratePerSecond,
  sidecarsOf,
  startSeconds,
} from '../judge/measures.js'
import { nameOf } from '../model/arms.js'
import { AXES, AXIS_NAMES } from '../model/axes.js'
import { QUANTITIES } from '../model/quantities.js'

/**
 * A run for spreadsheets and statistics programs (RFC 4180): units in the headers, shares as fractions, what is missing
 * empty. Pure.
 * @import { Arm, Summary, TrialRecord } from '../model/types.ts'
 */

/** @typedef {string | number | null | undefined} Cell */

/** A row an arm: medians and intervals. @param {Summary} summary */
export function renderArmsCsv({ arms }) {
  const names = Object.keys(QUANTITIES)
  return renderCsv([
    [
      ...[
        'armId',
        'plane',
        'repeatOf',
        ...AXIS_NAMES,
        'loop',
        'trialsCompleted',
        'trialsFailed',
        'trialsInvalid',
        'boundBy',
      ],
      ...names.flatMap(name => ['', 'Low', 'High'].map(end => `${QUANTITIES[name].header}${end}`)),
    ],
    ...arms.map(arm => {
      const { completed, failed, invalid } = arm.trials
      return [
        ...[arm.id, nameOf({ ...arm, repeatOf: null }), arm.repeatOf, ...conditionsOf(arm)],
        ...[completed, failed, invalid, arm.boundBy],
        ...names.flatMap(name => {
          const quantity = QUANTITIES[name].of(arm, null)
          return [quantity?.median, quantity?.low, quantity?.high]
        }),
      ]
    }),
  ])
}

/** A row a trial, as it was measured: what a gate spoiled is there, and named. @param {TrialRecord[]} records */
export function renderTrialsCsv(records) {
  return renderCsv([
    [
      ...['trialId', 'round', 'repeats', 'startedAt', 'armId', 'plane', 'repeatOf', ...AXIS_NAMES, 'loop'],
      ...['outcome', 'boundBy', 'spoiledBy', 'verifiedPerSecond', 'failedRequests', 'cpuPerRequestMicros'],
      ...Object.keys(QUANTILES).map(name => `${name}Ms`),
      ...['sidecarsCpuCores', 'sidecarsRssBytes', 'sidecarsAnonBytes', 'throttledFractionMost', 'startSeconds'],
      ...['hostIdleFraction', 'hostStealFraction', 'foreignCores'],
    ],
    ...records.map(record => {
      const { trial, startedAt, outcome, boundBy, gates, load, host } = record
      const sidecars = sidecarsOf(record)
      /** @param {(sidecar: typeof sidecars[0]) => number | null} of */
      const sum = of => {
        const values = sidecars.map(of)
        return values.length === 0 || values.includes(null) ? null : values.reduce((a, b) => Number(a) + Number(b), 0)
      }
      const throttled = sidecars.flatMap(s => s.throttledFraction ?? [])
      return [
        ...[trial.id, trial.round, trial.repeats, startedAt],
        ...[trial.arm.id, nameOf({ ...trial.arm, repeatOf: null }), trial.arm.repeatOf, ...conditionsOf(trial.arm)],
        ...[outcome, boundBy, gates.map(g => g.gate).join(' '), ratePerSecond(record), load?.failed],
        cpuPerRequestMicros(record, sidecars),
        ...Object.values(QUANTILES).map(q => quantileMs(record, q)),
        ...[sum(s => s.cpuCores), sum(s => s.memory.rssBytes), sum(s => s.memory.anonBytes)],
        ...[throttled.length > 0 ? Math.max(...throttled) : null, startSeconds(record)],
        ...[host?.idleFraction, host?.stealFraction, host?.foreignCores],
      ]
    }),
  ])
}

/** @param {Pick<Arm, 'link' | 'capCores' | 'load' | 'conditions'>} arm */
function conditionsOf(arm) {
  return [...AXIS_NAMES.map(name => AXES[name].of(arm)), arm.load.kind]
}

/** @param {Cell[][]} rows */
function renderCsv(rows) {
  return rows.map(cells => `${cells.map(renderCell).join(',')}\r\n`).join('')
}

/** @param {Cell} cell */
function renderCell(cell) {
  const text = cell === null || cell === undefined || Number.isNaN(cell) ? '' : `${cell}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
