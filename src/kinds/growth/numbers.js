import { isCpuUsedUp } from '../../judge/gates/gate.js'
import { createRowFactory } from '../../judge/record/quantity-row.js'
import { computeRise } from '../../lib/counters.js'
import { groupBy } from '../../lib/group-by.js'
import { fitLine } from '../../lib/stats.js'
import { MIB, renderRange } from '../../lib/units.js'

/** The numbers of a growth, and its quantities: a run computes them from its record in memory, `verify` again from the file. Pure. */
/** @import { FailureReason, GrowthFit, GrowthRecord, TrialRecord } from '../../model/types.ts' */
/**
 * @import { RecordPart } from '../parts.js'
 * @import { QuantityRow } from '../../judge/record/quantity-row.js'
 */

/** A growth ends when less than this share of the machine's memory is left. */
export const AVAILABLE_LEAST = 0.1
// The points that a line needs.
const POINTS_LEAST = 2
// A peak is the mean over at least so many seconds.
const PEAK_SECONDS = 1

/** Endings caused by the machine, not by the control plane. @type {FailureReason[]} */
export const MACHINE_REASONS = ['host-memory', 'host-cpu', 'host-limit']

/** @typedef {NonNullable<TrialRecord['growth']>} GrowthNumbers */

/** @type {RecordPart<GrowthRecord, GrowthNumbers>} */
export const growthPart = {
  judge: computeGrowthNumbers,
  hasWindow: false,
  renderProgress({ sidecars, ended }) {
    const reason = ended?.reason ?? null
    return renderGrowthEnding(reason, countSidecarsAtEnding({ sidecars, failedAt: ended?.sidecars ?? null, reason }))
  },
}

/**
 * Computes the numbers of a growth from its record.
 * @param {GrowthRecord} growth
 * @returns {GrowthNumbers} sidecars: at the last step in which all served, 0: there is none; bytesPerSidecar: null: the memory was
 *   read after fewer than POINTS_LEAST such steps; controlAnonBytes: its values are null if not read; controlPeakCores: null: the CPU
 *   was read for less than PEAK_SECONDS
 */
export function computeGrowthNumbers({ cpus, sidecarsMost, backends, steps, ended, control }) {
  const stepNumbers = steps.map(step => computeStepNumbers(step, backends))
  const readings = control ?? []
  const anon = readings.flatMap(({ anonBytes }) => anonBytes ?? [])
  const points = listMemoryPoints({ steps: stepNumbers })
  return {
    cpus,
    sidecarsMost,
    backends,
    ended,
    hasControl: control !== null,
    sidecars: Math.max(0, ...stepNumbers.filter(hasHeld).map(step => step.sidecars)),
    steps: stepNumbers,
    controlAnonBytes: { empty: readings[0]?.anonBytes ?? null, peak: anon.length > 0 ? Math.max(...anon) : null },
    controlPeakCores: computePeakCores(readings),
    bytesPerSidecar: points.length < POINTS_LEAST ? null : fitLine(points).slope,
  }
}

/**
 * Counts the sidecars at an ending: those of the step at which the control plane failed; if nothing failed, or the
 * machine was the cause, those of the last step in which all served.
 * @param {{ sidecars: number, failedAt: number | null, reason: FailureReason | null }} round sidecars: of the last step in which
 *   all served; failedAt: of the failed step; failedAt, reason: null: nothing failed
 * @returns {number}
 */
export function countSidecarsAtEnding({ sidecars, failedAt, reason }) {
  return failedAt === null || reason === null || MACHINE_REASONS.includes(reason) ? sidecars : failedAt
}

/**
 * Renders how far a growth came.
 * @param {FailureReason | null} reason null: nothing failed
 * @param {number | string} sidecars their number, or `least to most`
 * @returns {string}
 */
export function renderGrowthEnding(reason, sidecars) {
  if (reason === null) return `no failure up to ${sidecars} sidecars, the most that were tried`
  return MACHINE_REASONS.includes(reason)
    ? `no failure of the control plane up to ${sidecars} sidecars, where the machine ended it (${reason})`
    : `failed at ${sidecars} sidecars: ${reason}`
}

/**
 * Renders the endings of all rounds: for each reason, the fewest and the most sidecars.
 * @param {Pick<GrowthFit, 'rounds' | 'hasControl'>} growth
 * @returns {string}
 */
export function renderGrowthEndings({ rounds, hasControl }) {
  const endings = [...groupBy(rounds, ({ reason }) => reason)].map(([reason, endedRounds]) => {
    const counts = endedRounds.map(countSidecarsAtEnding)
    const [least, most] = [Math.min(...counts), Math.max(...counts)]
    const ending = renderGrowthEnding(reason, renderRange(least, most))
    return `${ending} (${endedRounds.length} of ${rounds.length} repeats)`
  })
  return `${endings.join('; ')}${hasControl ? '' : '; no control plane ran'}`
}

/**
 * Lists the memory of the control plane after each step in which all sidecars served. Steps without a reading are
 * left out.
 * @param {Pick<GrowthNumbers, 'steps'>} growth
 * @returns {[number, number][]} the number of sidecars, anonymous bytes; []: no such step has a reading
 */
export function listMemoryPoints({ steps }) {
  return steps.flatMap(step =>
    hasHeld(step) && step.controlAnonBytes !== null
      ? [/** @type {[number, number]} */ ([step.sidecars, step.controlAnonBytes])]
      : [],
  )
}

/**
 * Says whether the machine's CPUs were used up in a step.
 * @param {GrowthRecord['steps'][number]['host']} host CPU times at the start and the end of the step
 * @returns {boolean}
 */
export function isHostCpuUsedUp(host) {
  return isCpuUsedUp({ idleFraction: computeIdleFraction(host) })
}

/**
 * Says whether all sidecars of a step served in time.
 * @param {GrowthNumbers['steps'][number]} step
 * @returns {boolean}
 */
export function hasHeld({ seconds }) {
  return seconds !== null
}

/**
 * Computes the numbers of a step.
 * @param {GrowthRecord['steps'][number]} step
 * @param {number} backends the number that each client must see
 * @returns {GrowthNumbers['steps'][number]} seconds: null: not all of its sidecars served; backendsSeen: the fewest of a client,
 *   null: no client was asked; controlAnonBytes, controlCpuSeconds: null: not read
 */
function computeStepNumbers({ sidecars, members, startMs, endMs, host, control, ownCpuSeconds }, backends) {
  const configured = members.flatMap(member => member.told ?? [])
  const servedMs = configured.flatMap(times => times.yesMs ?? [])
  const backendsReached = configured.flatMap(times => times.backends ?? [])
  return {
    sidecars,
    converged: servedMs.length,
    backendsSeen: backendsReached.length > 0 ? Math.min(backends, ...backendsReached) : null,
    seconds: servedMs.length === members.length ? (Math.max(...servedMs) - startMs) / 1000 : null,
    controlAnonBytes: control.end?.anonBytes ?? null,
    controlCpuSeconds: computeRise(control.end?.cpuSeconds, control.start?.cpuSeconds),
    hostIdleFraction: computeIdleFraction(host),
    ownCores: ownCpuSeconds / ((endMs - startMs) / 1000),
  }
}

/**
 * Computes the share of the machine's CPU time that was idle.
 * @param {GrowthRecord['steps'][number]['host']} host CPU times at the start and the end of the step
 * @returns {number} 0 to 1; 0 also: no clock tick passed
 */
function computeIdleFraction({ start, end }) {
  return (end.idle - start.idle) / Math.max(1, end.total - start.total)
}

/**
 * Computes the highest mean CPU use over PEAK_SECONDS, or over the shortest longer time that the readings allow.
 * @param {NonNullable<GrowthRecord['control']>} readings those without CPU time are ignored
 * @returns {number | null} cores; null: the readings span less than PEAK_SECONDS
 */
function computePeakCores(readings) {
  const withCpu = readings.flatMap(({ epochMs, cpuSeconds }) => (cpuSeconds === null ? [] : [{ epochMs, cpuSeconds }]))
  let first = 0
  let peak = null
  for (const { epochMs, cpuSeconds } of withCpu) {
    while (epochMs - withCpu[first + 1]?.epochMs >= PEAK_SECONDS * 1000) first++
    const seconds = (epochMs - withCpu[first].epochMs) / 1000
    if (seconds >= PEAK_SECONDS) peak = Math.max(peak ?? 0, (cpuSeconds - withCpu[first].cpuSeconds) / seconds)
  }
  return peak
}

const group = 'growth'
const createMebibyteRow = createRowFactory({ group, unit: 'MiB', scale: MIB, digits: 1, use: 'memory' })
const createKilobyteRow = createRowFactory({ group, unit: 'kB', scale: 1000, digits: 1, use: 'memory' })

/** @type {QuantityRow[]} */
export const GROWTH_ROWS = [
  {
    ...createRowFactory({ group, unit: 'sidecars', digits: 0, use: 'memory' })('grownSidecars', 'sidecars that held'),
    definition:
      'The number of sidecars up to which every step held: each sidecar serves, and each client has seen every backend. Where nothing failed, it is the number asked for, and not a limit.',
    measure: createGrowthMeasure(({ sidecars }) => sidecars),
  },
  {
    ...createRowFactory({ group, unit: 's', digits: 2, use: 'latency' })('grownStepSeconds', 'last step s'),
    definition:
      'The time of the last step that held: from the first of its sidecars made known to the control plane until all serve and each client has seen every backend.',
    measure: createGrowthMeasure(({ steps }) => steps.findLast(hasHeld)?.seconds ?? null),
  },
  {
    ...createKilobyteRow('grownPerSidecar', 'control kB a sidecar', 'grownBytesPerSidecar'),
    definition:
      "In grow: the slope of the control plane's anonymous memory over the number of sidecars, by the steps that held.",
    measure: createGrowthMeasure(({ bytesPerSidecar }) => bytesPerSidecar),
  },
  {
    ...createMebibyteRow('grownPeak', 'control MiB, peak', 'grownPeakBytes'),
    definition: 'The most anonymous memory of the control plane, read ten times a second.',
    measure: createGrowthMeasure(({ controlAnonBytes }) => controlAnonBytes.peak),
  },
  {
    ...createRowFactory({ group, unit: 'cores', digits: 2, use: 'cpuPerRequest' })(
      'grownPeakCores',
      'control cores, peak',
    ),
    definition: 'The most CPU of the control plane in any second.',
    measure: createGrowthMeasure(({ controlPeakCores }) => controlPeakCores),
  },
]

/**
 * Creates the measure of a row.
 * @param {(numbers: GrowthNumbers) => number | null} readValue reads the value of a growth
 * @returns {QuantityRow['measure']} it gives null for a record that is no growth
 */
function createGrowthMeasure(readValue) {
  return ({ record }) => (record.growth ? readValue(record.growth) : null)
}
