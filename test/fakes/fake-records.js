import { SCHEMA_VERSION } from '../../src/model/versions.js'

/**
 * Records without a run: a good trial, and what the test changes.
 * @import { Arm, Conditions, Load, LoadResult, ParityRow, ProcessRecord } from '../../src/model/types.ts'
 * @import { GatedRecord } from '../../src/judge/gates/gate.js'
 */

/** @param {Partial<ProcessRecord>} fields @returns {ProcessRecord} */
export function createFakeProcess(fields) {
  return {
    ...{
      service: 'gateway',
      copyOf: null,
      role: 'sidecar',
      command: [],
      cpuLimitCores: 0.25,
      cpuLimitReadBackCores: 0.25,
    },
    ...{ askedWorkers: 1, workers: 1, cpuSet: '0-1', isReplaced: false, overflows: null, files: [] },
    ...{ cpuSeconds: 0.1, cpuCores: 0.1, throttledFraction: 0, throttledSeconds: 0, oomKills: 0 },
    ...{ busiestThreadCores: 0.1, threads: [] },
    memory: { anonBytes: 1e6, rssBytes: 4e6, workingSetBytes: 1, pssBytes: 1, peakBytes: 1, idleRssBytes: 1 },
    ...fields,
  }
}

/** @type {Conditions} */
export const DEFAULT_CONDITIONS = {
  ...{ services: 1, tls: 'ecdsa-p256', protocol: 'http/1.1', workers: null },
  ...{ configuredServices: 0, memoryLimitBytes: null, changesPerMinute: null },
}

/** @param {string} plane */
export const hasSidecars = plane => plane !== 'none'

/**
 * @param {Partial<Omit<Arm, 'load' | 'conditions'>> & { load?: Partial<Load>, conditions?: Partial<Conditions> }} fields
 * @returns {Arm}
 */
export function createArm({ load, ...fields }) {
  const plane = fields.plane ?? 'pipy'
  return {
    ...{ id: `link-${plane}`, plane, variant: null, profile: null, repeatOf: null, calibratedBy: null },
    ...{ hasSidecars: hasSidecars(plane), link: 'link', cpuLimitCores: 0.25 },
    kind: fields.conditions?.sidecars ? 'rollout' : load?.isInterleaved ? 'cost' : 'capacity',
    ...fields,
    load: {
      ...{ kind: 'closed', users: 10, payloadBytes: 1024, warmupSeconds: 1, windowSeconds: 1 },
      ...{ connections: 'kept', hasCertificate: false, burst: null },
      ...load,
    },
    conditions: { ...DEFAULT_CONDITIONS, ...fields.conditions },
  }
}

/**
 * A row of every arm of a plane, as createArm makes them; what was found is as it must be.
 * @param {Partial<ParityRow>} fields @returns {ParityRow}
 */
export function createParityRow({ found: actual = 'as asked', expected = actual, ...fields }) {
  return {
    ...{ name: 'parity-tls', plane: 'pipy', tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'listed' },
    ...{ size: null, differences: [], found: actual, expected, ...fields },
  }
}

/**
 * A second of 1000 requests by 10 users at 10 ms each.
 * @param {Partial<Omit<GatedRecord, 'load' | 'trial'>> & { arm?: Parameters<typeof createArm>[0], round?: number, load?: Partial<LoadResult> }} [fields]
 * @returns {GatedRecord}
 */
export function createRecord({ arm = {}, round = 1, load = {}, ...fields } = {}) {
  const made = createArm(arm)
  return {
    ...{ schemaVersion: SCHEMA_VERSION, target: 'fake', startedAt: '', outcome: 'completed', reasons: [] },
    trial: {
      id: `r${round}-${made.id}`,
      kind: fields.growth ? 'growth' : fields.rollout ? 'rollout' : made.kind,
      round,
      arm: made,
      repeats: null,
      searchOf: null,
    },
    window: { startMs: 0, endMs: 1000, seconds: 1, startLateMs: 0, endLateMs: 0 },
    load: {
      ...{ verified: 1000, failed: 0, corrupted: 0, verifiedInSecondHalf: 500, coldUsers: 0, reportedUsers: 10 },
      ...{ dropped: 0, lagP99Ms: null, series: null, failures: [] },
      distribution: { count: 1000, meanMs: 10, grid: [0.5, 0.9, 0.95, 0.99].map(q => [q, 10 * q]) },
      ...load,
    },
    processes: [createFakeProcess({})],
    host: { cpus: 2, idleFraction: 0.5, stealFraction: 0, foreignCores: 0 },
    ...{
      placement: null,
      generatorCpus: 1,
      samples: { count: 10, largestGapSeconds: 0.1, missing: 0, source: 'cgroup', clockOffsetMs: 0 },
      orchestratorCpuSeconds: 0,
    },
    ...{ boundBy: 'users', isSteady: true, gates: [], changes: null, ended: [], phasesSeconds: {} },
    ...fields,
  }
}

/**
 * Gives arms the kind that trials of such a run have. @template {Arm} T @param {T[]} arms
 * @param {{ isSearch: boolean, grows: boolean }} run @returns {T[]}
 */
export function withKinds(arms, { isSearch, grows }) {
  return arms.map(arm => {
    if (isSearch) return { ...arm, kind: 'search' }
    return grows && arm.kind === 'rollout' ? { ...arm, kind: 'growth' } : arm
  })
}
