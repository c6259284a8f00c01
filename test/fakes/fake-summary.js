import { nestQuantities, QUANTITIES } from '../../src/judge/quantities.js'
import { groupBy } from '../../src/lib/group-by.js'
import { summariseValues } from '../../src/lib/stats.js'
import { SCHEMA_VERSION } from '../../src/model/versions.js'
import { createArm, withKinds } from './fake-records.js'

/**
 * Summaries without a run: arms whose numbers the test gives.
 * @import { Load, Quantity, Result, ResultOf, Summary, SummaryArm } from '../../src/model/types.ts'
 */

const NOTHING = summariseValues([])

/**
 * @typedef {object} ArmFields
 * @property {string} plane
 * @property {string} [link]
 * @property {number | null} [cpuLimitCores]
 * @property {Partial<Load>} [load]
 * @property {Partial<SummaryArm['conditions']>} [conditions]
 * @property {Partial<Pick<SummaryArm, 'id' | 'variant' | 'profile' | 'repeatOf' | 'boundBy' | 'spoiled' | 'growth'>>} [fields]
 * @property {(number | null)[]} [throughput] requests/s, round by round
 * @property {(number | null)[]} [capacity]
 * @property {(number | null)[]} [cpuPerRequest] microseconds, of the arm
 * @property {(number | null)[]} [cores] of its only sidecar, the gateway's
 * @property {(number | null)[]} [p99] milliseconds
 * @property {(number | null)[]} [loudThroughput] requests/s of the loud pair
 */

/** Each without values, by its header. @type {Record<string, Quantity>} */
const EVERY_QUANTITY = Object.fromEntries(Object.values(QUANTITIES).map(({ header }) => [header, NOTHING]))

/** @param {ArmFields} given @returns {SummaryArm} */
export function createSummaryArm({ plane, link = 'pair', cpuLimitCores = plane === 'none' ? null : 1, ...armFields }) {
  const {
    load = {},
    conditions = {},
    fields = {},
    throughput,
    capacity,
    cpuPerRequest,
    cores,
    p99,
    loudThroughput,
  } = armFields
  const quantity = (/** @type {(number | null)[] | undefined} */ values) => (values ? summariseValues(values) : NOTHING)
  const isOpen = load.ratePerSecond !== undefined
  /** @type {'open' | 'closed'} */
  const kind = isOpen ? 'open' : 'closed'
  const nest = (/** @type {Record<string, Quantity>} */ known) =>
    nestQuantities({ ...EVERY_QUANTITY, ...known }, { kind: load.kind ?? kind })
  const arm = { plane, link, cpuLimitCores, load: { kind, users: 200, ...load } }
  return /** @type {SummaryArm} */ ({
    ...createArm({ ...arm, id: '', conditions }),
    target: 'fake',
    trials: { completed: 6, failed: 0, invalid: 0 },
    spoiled: [],
    boundBy: 'sidecar',
    ...{ responseTimeMs: null, latencyMs: null, addedLatencyMs: null, changes: null },
    ...nest({
      throughputPerSecond: quantity(throughput),
      cpuPerRequestMicros: quantity(cpuPerRequest),
      capacityPerSecond: quantity(capacity),
      cpuCores: quantity(cores),
      p90Ms: quantity(p99),
      p99Ms: quantity(p99),
      loudThroughputPerSecond: quantity(loudThroughput),
    }),
    sidecars: plane === 'none' ? [] : [{ service: 'gateway', copyOf: null, ...nest({ cpuCores: quantity(cores) }) }],
    ...fields,
  })
}

/**
 * Creates a result with what a test gives; an idle one is of the kind capacity.
 * @template {Partial<Result>} Fields @param {Fields} [fields] @returns {ResultOf<Fields['kind'] extends Result['kind'] ? Fields['kind'] : 'capacity'>}
 */
export function createResult(fields) {
  const nothing = { kind: 'capacity', arms: [], comparisons: [], lines: [], slopes: [] }
  return /** @type {any} */ ({ ...nothing, ...fields })
}

/** Fields of results, which are given to that of their kind. @type {Record<string, Record<string, any>>} */
const OF_KIND = {
  cost: { cpus: null, connections: [] },
  search: { searches: [], sizes: [] },
  rollout: { controlNeeds: [] },
  growth: { growths: [] },
}

/**
 * Fields of a summary and of its results.
 * @typedef {Partial<Omit<Summary, 'results' | 'run'> & Pick<Result, 'comparisons'> & ResultOf<'search'> &
 *   Pick<ResultOf<'growth'>, 'growths'> & Pick<ResultOf<'rollout'>, 'controlNeeds'> & Omit<ResultOf<'cost'>, 'kind'>>} SummaryFields
 */

/** @param {ArmFields[]} arms @param {Omit<SummaryFields, 'kind' | 'arms'> & { id?: string, experiment?: string }} [fields] @returns {Summary} */
export function createSummary(arms, { id = 'run-1', experiment = 'cap', comparisons = [], ...fields } = {}) {
  const { searches, sizes, growths, controlNeeds, cpus, connections, ...common } = fields
  const kindFields = { searches, sizes, growths, controlNeeds, cpus, connections }
  const isSearch = Boolean(searches?.length || sizes?.length)
  const armsWithKinds = withKinds(arms.map(createSummaryArm), { isSearch, grows: growths !== undefined })
  const ofGrowth = growths === undefined ? {} : { kind: 'growth' }
  const kinds = [
    ...groupBy(
      armsWithKinds.map(arm => ({ ...arm, ...ofGrowth })),
      arm => arm.kind,
    ),
  ]
  return {
    schemaVersion: SCHEMA_VERSION,
    run: { id, startedAt: '', experiment, seed: 1 },
    ...{ machine: {}, tools: {}, notMeasured: [], relaxes: [], parity: [], thresholds: [], calibrations: [] },
    shows: { quantities: [], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false },
    ...common,
    results: kinds.map(([kind, armsOfKind]) => {
      const entries = Object.keys(OF_KIND[kind] ?? {}).flatMap(name => {
        const value = kindFields[/** @type {keyof typeof kindFields} */ (name)]
        return value === undefined ? [] : [[name, value]]
      })
      return createResult(
        /** @type {any} */ ({ kind, arms: armsOfKind, comparisons, ...OF_KIND[kind], ...Object.fromEntries(entries) }),
      )
    }),
  }
}
