import { createArm, createRecord } from '../fakes/fake-records.js'

/**
 * Events of a run that nobody runs.
 * @import { Arm, ProcessSpec, Reading, TrialRecord } from '../../src/model/types.ts'
 * @import { RunEvent } from '../../src/run/events.js'
 */

export const START_MS = 1_000_000

/** Two planes and none, at a cap and no other. */
export const ARMS = [
  createArm({ plane: 'none', cpuLimitCores: null }),
  createArm({ plane: 'cheap' }),
  createArm({ plane: 'dear' }),
  createArm({ plane: 'cheap', id: 'link-cheap-again', repeatOf: 'link-cheap' }),
]

/** @param {Partial<Extract<RunEvent, { kind: 'planned' }>>} [fields] @returns {RunEvent} */
export function plan(fields = {}) {
  return {
    kind: 'planned',
    run: { id: 'run-1', experiment: 'cap', question: 'what does it cost?' },
    ...{ arms: ARMS, rounds: 2, trials: 8, seconds: 480, contrasts: [], atMs: START_MS },
    ...fields,
  }
}

/**
 * @param {Arm} arm
 * @param {{ round?: number, atMs?: number, secondsLeft?: number | null, repeats?: string | null, progress?: string }} [fields]
 * @returns {RunEvent}
 */
export function startTrial(arm, { round = 1, atMs = START_MS, secondsLeft = 120, repeats = null, ...fields } = {}) {
  return {
    kind: 'trial-started',
    trial: {
      id: `r${round}-${arm.id}${repeats ? '-again' : ''}`,
      kind: 'capacity',
      round,
      arm,
      repeats,
      searchOf: null,
    },
    ...{ progress: `repeat ${round} of 2`, secondsLeft, atMs },
    ...fields,
  }
}

/** @param {string} service @param {number | null} [cpuLimitCores] @returns {ProcessSpec} */
export function createSidecarSpec(service, cpuLimitCores = 0.25) {
  return /** @type {ProcessSpec} */ ({ service, role: 'sidecar', cpuLimitCores })
}

/**
 * A sample of the gateway's sidecar, and of an application and a generator before and after it.
 * @param {{ seconds: number, reading: Partial<Reading>, specs?: ProcessSpec[] }} options seconds: from the start of the window
 * @returns {RunEvent}
 */
export function sample({ seconds, reading, specs = [createSidecarSpec('gateway')] }) {
  const other = (/** @type {string} */ role) =>
    /** @type {ProcessSpec} */ ({ service: role, role, cpuLimitCores: null })
  const readings = [createReading({ cpuSeconds: 99 }), ...specs.map(() => createReading(reading)), createReading({})]
  return {
    kind: 'sampled',
    specs: [other('application'), ...specs, other('generator')],
    sample: { epochMs: START_MS + 1000 * seconds, readings },
    windowStartMs: START_MS,
  }
}

/** @param {Parameters<typeof createRecord>[0]} [fields] @returns {RunEvent} */
export function endTrial(fields) {
  return {
    kind: 'trial-ended',
    record: /** @type {TrialRecord} */ (createRecord(fields)),
    progress: 'repeat 1 of 2',
    atMs: START_MS,
  }
}

/** @param {Partial<Reading>} fields @returns {Reading} */
export function createReading(fields) {
  return {
    ...{ atSeconds: 0, cpuSeconds: 0, periods: 0, throttledPeriods: 0, throttledSeconds: 0 },
    ...{ anonBytes: 30e6, workingSetBytes: 40e6, peakBytes: 50e6, oomKills: 0 },
    ...fields,
  }
}

/** @param {number} round @param {{ arms?: Arm[], rounds?: number, secondsLeft?: number }} [fields] @returns {RunEvent} */
export function endRepeat(round, { arms = ARMS, rounds = 2, secondsLeft = 60 } = {}) {
  const ids = arms.map(({ id }) => id)
  return { kind: 'repeat-ended', round, rounds, isMost: false, arms: ids, secondsLeft, atMs: START_MS }
}
