import { isCpuUsedUp } from '../../judge/gates/gate.js'
import { subtract } from '../../judge/record/compute-window.js'
import { createRowFactory } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'
import { fitLine } from '../../lib/stats.js'
import { MIB } from '../../lib/units.js'

/** The numbers of a growth, and its quantities: a run computes them from its record in memory, `verify` again from the file. Pure. */
/** @import { FailureReason, GrowthFit, GrowthRecord, TrialRecord } from '../../model/types.ts' */
/**
 * @import { RecordPart } from '../parts.js'
 * @import { QuantityRow } from '../../judge/record/quantity-row.js'
 */

/** A growth ends when less than this share of the machine's memory is left. */
export const AVAILABLE_LEAST = 0.1
const POINTS_LEAST = 2
const PEAK_SECONDS = 1

/** Endings caused by the machine, not by the control plane. @type {FailureReason[]} */
export const OF_MACHINE = ['host-memory', 'host-cpu', 'host-limit']

/** @typedef {NonNullable<TrialRecord['growth']>} GrowthNumbers */

/** @type {RecordPart<GrowthRecord, GrowthNumbers>} */
export const growthPart = {
  judge: judgeGrowth,
  hasWindow: false,
  tell({ sidecars, ended }) {
    const reason = ended?.reason ?? null
    return renderEnding(reason, countSidecarsAt({ sidecars, failedAt: ended?.sidecars ?? null, reason }))
  },
}

/**
 * Computes the numbers of a growth from its record.
 * @param {GrowthRecord} options
 * @returns {GrowthNumbers} sidecars: at the last step that held, 0 if none did; bytesPerSidecar: null below two such steps
 */
export function judgeGrowth({ cpus, sidecarsMost, backends, steps, ended, control }) {
  const described = steps.map(step => judgeStep(step, backends))
  const readings = control ?? []
  const anon = readings.flatMap(({ anonBytes }) => anonBytes ?? [])
  const points = listMemoryPoints({ steps: described })
  return {
    cpus,
    sidecarsMost,
    backends,
    ended,
    hasControl: control !== null,
    sidecars: Math.max(0, ...described.filter(hasHeld).map(step => step.sidecars)),
    steps: described,
    controlAnonBytes: { empty: readings[0]?.anonBytes ?? null, peak: anon.length > 0 ? Math.max(...anon) : null },
    controlPeakCores: findPeakCores(readings),
    bytesPerSidecar: points.length < POINTS_LEAST ? null : fitLine(points).slope,
  }
}

/**
 * Counts the sidecars at an ending: those of the step at which the control plane failed; if nothing failed, or the machine ended it,
 * those of the last step that held.
 * @param {{ sidecars: number, failedAt: number | null, reason: FailureReason | null }} round
 */
export function countSidecarsAt({ sidecars, failedAt, reason }) {
  return failedAt === null || reason === null || OF_MACHINE.includes(reason) ? sidecars : failedAt
}

/**
 * Renders how far a growth came.
 * @param {FailureReason | null} reason null: no failure
 * @param {number | string} at sidecars, or `least to most`
 */
export function renderEnding(reason, at) {
  if (reason === null) return `no failure up to ${at} sidecars`
  return OF_MACHINE.includes(reason)
    ? `no failure of the control plane up to ${at} sidecars, where the machine ended it (${reason})`
    : `failed at ${at} sidecars: ${reason}`
}

/**
 * Renders the fewest and the most sidecars of the rounds that ended for the same reason, for each reason.
 * @param {Pick<GrowthFit, 'rounds' | 'hasControl'>} growth
 */
export function renderEndings({ rounds, hasControl }) {
  const endings = [...groupBy(rounds, ({ reason }) => reason)].map(([reason, alike]) => {
    const counts = alike.map(countSidecarsAt)
    const [least, most] = [Math.min(...counts), Math.max(...counts)]
    return `${renderEnding(reason, most > least ? `${least} to ${most}` : least)} (${alike.length} of ${rounds.length} rounds)`
  })
  return `${endings.join('; ')}${hasControl ? '' : '; no control plane ran'}`
}

/**
 * Lists the sidecars and the control plane's anonymous bytes after each step that held and for which they were read.
 * @param {Pick<GrowthNumbers, 'steps'>} growth
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
 * @param {GrowthRecord['steps'][number]['host']} host over the step
 */
export function isHostUsedUp(host) {
  return isCpuUsedUp({ idleFraction: computeIdleFraction(host) })
}

/**
 * Says whether all sidecars of a step served in time.
 * @param {GrowthNumbers['steps'][number]} step
 */
export function hasHeld({ seconds }) {
  return seconds !== null
}

/**
 * Computes the numbers of a step.
 * @param {GrowthRecord['steps'][number]} step
 * @param {number} backends that each client must see
 * @returns {GrowthNumbers['steps'][number]} seconds: null if not all of its sidecars served; backendsSeen: the fewest of a
 *   client, null if no client was asked
 */
function judgeStep({ sidecars, members, startMs, endMs, host, control, ownCpuSeconds }, backends) {
  const configured = members.flatMap(member => member.told ?? [])
  const had = configured.flatMap(one => one.yesMs ?? [])
  const backendsReached = configured.flatMap(one => one.backends ?? [])
  return {
    sidecars,
    converged: had.length,
    backendsSeen: backendsReached.length > 0 ? Math.min(backends, ...backendsReached) : null,
    seconds: had.length === members.length ? (Math.max(...had) - startMs) / 1000 : null,
    controlAnonBytes: control.end?.anonBytes ?? null,
    controlCpuSeconds: subtract(control.end?.cpuSeconds, control.start?.cpuSeconds),
    hostIdleFraction: computeIdleFraction(host),
    ownCores: ownCpuSeconds / ((endMs - startMs) / 1000),
  }
}

/**
 * Computes the share of the machine's CPU time that was idle.
 * @param {GrowthRecord['steps'][number]['host']} host
 */
function computeIdleFraction({ start, end }) {
  return (end.idle - start.idle) / Math.max(1, end.total - start.total)
}

/**
 * Finds the most cores on average over a second, as near to that as the readings are; null: they span less.
 * @param {NonNullable<GrowthRecord['control']>} readings those without CPU time are ignored
 */
function findPeakCores(readings) {
  const counted = readings.flatMap(({ epochMs, cpuSeconds }) => (cpuSeconds === null ? [] : [{ epochMs, cpuSeconds }]))
  let first = 0
  let peak = null
  for (const { epochMs, cpuSeconds } of counted) {
    while (epochMs - counted[first + 1]?.epochMs >= PEAK_SECONDS * 1000) first++
    const seconds = (epochMs - counted[first].epochMs) / 1000
    if (seconds >= PEAK_SECONDS) peak = Math.max(peak ?? 0, (cpuSeconds - counted[first].cpuSeconds) / seconds)
  }
  return peak
}

const group = 'growth'
const mebibytes = createRowFactory({ group, unit: 'MiB', scale: MIB, digits: 1, use: 'memory' })
const kilobytes = createRowFactory({ group, unit: 'kB', scale: 1000, digits: 1, use: 'memory' })

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
    ...kilobytes('grownPerSidecar', 'control kB a sidecar', 'grownBytesPerSidecar'),
    definition:
      "In grow: the slope of the control plane's anonymous memory over the number of sidecars, by the steps that held.",
    measure: createGrowthMeasure(({ bytesPerSidecar }) => bytesPerSidecar),
  },
  {
    ...mebibytes('grownPeak', 'control MiB, peak', 'grownPeakBytes'),
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
 * Makes the measure of a row, which gives null for a record that is no growth.
 * @param {(numbers: NonNullable<TrialRecord['growth']>) => number | null} find
 * @returns {QuantityRow['measure']}
 */
function createGrowthMeasure(find) {
  return ({ record }) => (record.growth ? find(record.growth) : null)
}
