import { BURST_ROWS, CHANGE_ROWS, ENDING_ROWS, LOUD_ROWS, PAIR_ROWS } from '../kinds/capacity/quantities.js'
import { GROWTH_ROWS } from '../kinds/growth/numbers.js'
import { ROLLOUT_ROWS } from '../kinds/rollout/quantities.js'
import { summariseValues } from '../lib/stats.js'
import { MIB } from '../lib/units.js'
import { listByRole } from '../model/process-records.js'
import {
  computeCoresUnderLoad,
  computeCpuPerRequestMicros,
  computeRatePerSecond,
  findCapacityPerSecond,
  findLargestValue,
  findQuantileMs,
  findRoundValue,
  listMeasuredSidecars,
  QUANTILES,
  readStartSeconds,
  sumValues,
} from './record/measures.js'

/** The one table of quantities, which reports, charts, metrics and claims read, and its readers. Long, since it is a table. Pure. */
/**
 * @import { Arm, Load, Quantity, SummaryArm, TrialRecord, Use } from '../model/types.ts'
 * @import { Compared, QuantityRow, RoundRecords } from './record/quantity-row.js'
 */

/** @type {Load['kind'][]} */
const EVERY_LOAD = ['interleaved', 'closed', 'open', 'idle']
const WHERE_GIVEN = 'Given where the rounds together hold ten requests beyond it.'
const PERCENTILES = { p50: '50', p90: '90', p95: '95', p99: '99', p999: '99.9' }
const PERCENTILE_NAMES = /** @type {(keyof typeof PERCENTILES)[]} */ (Object.keys(PERCENTILES))

/** The first is the primary quantity. @type {QuantityRow[]} */
const ROWS = [
  {
    name: 'cpuPerRequest',
    header: 'cpuPerRequestMicros',
    label: 'CPU per request, µs',
    short: 'µs/req',
    unit: 'µs',
    digits: 0,
    digitsOfOne: 1,
    definition:
      "CPU time of the sidecars' cgroups in the window over the verified requests in it, however often a request passes a sidecar; of one sidecar, its own. The first thing to compare, within one run: it changes with the rate, the number of users and the payload.",
    use: 'cpuPerRequest',
    sidecars: 'sum',
    measure: ({ record, service }) => computeCpuPerRequestMicros(record, listMeasuredSidecars(record, service)),
    compared: {
      kinds: ['interleaved', 'closed', 'open'],
      label: 'CPU per request',
      less: 'uses % less CPU per request',
      more: 'uses % more CPU per request',
      isHeadline: true,
      isOf: hasNoEnding,
    },
    chart: { kinds: ['interleaved', 'closed', 'open'], title: 'CPU per request, all sidecars' },
    metric: { name: 'trial_cpu_seconds_per_request', scale: 1e6 },
  },
  {
    name: 'servicesCpuPerRequest',
    header: 'servicesCpuPerRequestMicros',
    label: 'CPU per request with the applications, µs',
    short: 'µs/req, all',
    unit: 'µs',
    digits: 0,
    isSparse: true,
    definition:
      "CPU time of the cgroups of sidecars and applications in the window over the verified requests in it: with the kernel's part at either end of a connection inside of a service.",
    use: 'cpuPerRequest',
    measure: ({ record }) =>
      hasNamespaces(record.trial.arm)
        ? computeCpuPerRequestMicros(record, [
            ...listMeasuredSidecars(record),
            ...listByRole(record.processes, 'application'),
          ])
        : null,
    compared: {
      kinds: ['interleaved', 'closed', 'open'],
      label: 'CPU per request with the applications',
      less: 'uses % less CPU per request with the applications',
      more: 'uses % more CPU per request with the applications',
      isHeadline: true,
      isOnRequest: true,
      isOf: hasNamespaces,
    },
  },
  {
    name: 'throughput',
    header: 'throughputPerSecond',
    label: 'requests/s',
    short: 'req/s',
    unit: 'requests/s',
    digits: 0,
    definition:
      'Verified requests per second of those that start in the window: status 200 and the right length, and for one in 50 the right body. It is the capacity of a plane only where the sidecar bound the run.',
    use: 'throughput',
    measure: ({ record }) => computeRatePerSecond(record),
    chart: { kinds: ['closed', 'open'], title: 'Throughput' },
    metric: { name: 'trial_throughput_requests_per_second' },
  },
  {
    name: 'capacity',
    header: 'capacityPerSecond',
    label: 'capacity, requests/s',
    unit: 'requests/s',
    digits: 0,
    definition:
      'The rate of the closed loop where the sidecar bound the run: it used at least 95 % of its cap, and nothing else was saturated. No value where something else was the limit.',
    use: 'capacity',
    measure: ({ record }) => findCapacityPerSecond(record),
    compared: { kinds: ['closed'], label: 'capacity', less: 'has % less capacity', more: 'has % more capacity' },
  },
  {
    name: 'cpuCores',
    header: 'cpuCores',
    label: 'CPU cores',
    unit: 'cores',
    digits: 3,
    definition:
      'CPU time over wall time in the window, of all sidecars or of one; of interleaved arms, over the time of their slices.',
    use: 'cpuPerRequest',
    sidecars: 'sum',
    measure: ({ record, service }) => computeCoresUnderLoad(record, service),
    compared: { kinds: ['idle'], label: 'CPU', less: 'uses % less CPU', more: 'uses % more CPU' },
    chart: { kinds: ['idle'], title: 'CPU of idle sidecars', digits: 4 },
  },
  {
    name: 'cpuOfCap',
    header: 'cpuOfCap',
    label: 'CPU of cap',
    short: 'of cap',
    unit: '%',
    scale: 0.01,
    digits: 0,
    definition:
      'CPU cores used over the cap, of the sidecar that used the largest share of its cap. From 95 % on the sidecar counts as bound.',
    use: 'cpuPerRequest',
    sidecars: 'most',
    measure: ({ record, service }) =>
      findLargestValue(listMeasuredSidecars(record, service), p =>
        p.cpuLimitCores === null ? null : p.cpuCores / p.cpuLimitCores,
      ),
  },
  {
    name: 'throttled',
    header: 'throttledFraction',
    label: 'periods throttled',
    short: 'throttled',
    unit: '%',
    scale: 0.01,
    digits: 0,
    definition:
      'Scheduler periods (100 ms) in which the sidecar was stopped because it had used its quota, over all periods; of the sidecar with the most.',
    use: 'cpuPerRequest',
    sidecars: 'most',
    measure: ({ record, service }) => findLargestValue(listMeasuredSidecars(record, service), p => p.throttledFraction),
  },
  {
    name: 'cpuPerConnection',
    header: 'cpuPerConnectionMicros',
    label: 'CPU of a new connection, µs',
    unit: 'µs',
    digits: 0,
    isSparse: true,
    definition:
      'CPU per request over a new connection each minus CPU per request over kept ones, in the same round: what a connection costs and, with TLS, its handshake.',
    use: 'cpuPerRequest',
    measure: createConnectionMeasure(record => computeCpuPerRequestMicros(record, listMeasuredSidecars(record))),
  },
  {
    name: 'bytesPerConnection',
    header: 'bytesPerConnection',
    label: 'bytes of a new connection',
    short: 'bytes/conn',
    unit: 'bytes',
    digits: 0,
    isSparse: true,
    definition:
      'Bytes that the load sends and receives for a request over a new connection each minus those for a request over kept ones, in the same round: with TLS, the handshake, in both directions.',
    use: 'cpuPerRequest',
    measure: createConnectionMeasure(({ load }) =>
      load?.wire?.requests ? (load.wire.sentBytes + load.wire.receivedBytes) / load.wire.requests : null,
    ),
  },
  {
    name: 'serviceTime',
    header: 'serviceTimeMs',
    label: 'service time, ms',
    unit: 'ms',
    digits: 1,
    isSparse: true,
    definition:
      'How long the application waits before it answers, as it says itself: the mean of the times that it drew, and the median of how much later it answered. Response times include it.',
    use: 'latency',
    measure: ({ record: { load } }) => (load?.waited ? load.waited.meanMs + load.waited.lateP50Ms : null),
  },
  createStreamRow('firstByteMs', 'firstByte', {
    label: 'time to first byte, ms',
    definition:
      'From the request to the first byte of the body of an answer in chunks, service time included: the median of answers that the kit itself read in the window, over a new connection each.',
  }),
  createStreamRow('longestGapMs', 'longestGap', {
    label: 'longest gap between chunks, ms',
    definition:
      'The longest time between two parts of the body of an answer in chunks that came: the median of answers that the kit itself read in the window.',
  }),
  createPercentileRow('p50', { isCompared: true }),
  createPercentileRow('p90', { isCompared: true }),
  createPercentileRow('p95'),
  createPercentileRow('p99', { isCompared: true, isMain: true }),
  createPercentileRow('p999'),
  ...PERCENTILE_NAMES.map(createAddedPercentileRow),
  createMemoryRow('rss', {
    label: 'RSS MiB',
    definition:
      'Resident set size of all sidecars right after the window, still under load: anonymous memory and the mapped parts of the program. Compare RSS with RSS, and anonymous memory with anonymous memory.',
    words: 'resident memory',
    isHeadline: true,
    chart: { kinds: ['idle'], title: 'Resident memory of idle sidecars' },
  }),
  createMemoryRow('anon', {
    label: 'anon MiB',
    short: 'anon',
    definition: "Anonymous memory of the sidecars' cgroups at the end of the window: what the processes allocated.",
    words: 'anonymous memory',
  }),
  createMemoryRow('peak', {
    label: 'peak MiB',
    definition: "The most memory that the sidecars' cgroups were charged for, from their start.",
  }),
  createMemoryRow('workingSet', {
    label: 'working set MiB',
    definition:
      "Memory that the sidecars' cgroups were charged for at the end of the window, without file pages that could be dropped.",
  }),
  createMemoryRow('pss', {
    label: 'PSS MiB',
    definition: 'Resident memory in which pages that several processes share are divided among them.',
  }),
  {
    name: 'startSeconds',
    header: 'startSeconds',
    label: 'first answer after s',
    unit: 's',
    digits: 2,
    definition: 'From the start of the first process to the first answer through all sidecars.',
    use: 'memory',
    measure: ({ record }) => readStartSeconds(record),
    compared: {
      kinds: EVERY_LOAD,
      label: 'time to the first answer',
      less: 'gives its first answer % sooner',
      more: 'gives its first answer % later',
      isHeadline: true,
      isOnRequest: true,
    },
  },
  ...PAIR_ROWS,
  ...LOUD_ROWS,
  ...ENDING_ROWS,
  ...CHANGE_ROWS,
  ...ROLLOUT_ROWS,
  ...GROWTH_ROWS,
  ...BURST_ROWS,
]

/** The quantities by name. @type {Record<string, QuantityRow>} */
export const QUANTITIES = Object.fromEntries(ROWS.map(row => [row.name, row]))
/** @type {[string, ...string[]]} */
export const QUANTITY_NAMES = /** @type {any} */ (Object.keys(QUANTITIES))

/** The quantities of an experiment that names none. */
export const SHOWN_BY_DEFAULT = ['throughput', 'cpuPerRequest', 'rss']
export const [PRIMARY] = ROWS

/**
 * Says whether no sidecar of an arm ends in the window. Sums exclude one that does.
 * @param {Pick<Arm, 'conditions'>} arm
 * @returns {boolean}
 */
function hasNoEnding({ conditions }) {
  return !conditions.ending
}

/**
 * Creates a measure of the cost that a new connection adds to a request over a kept one, in the same round.
 * @param {(record: TrialRecord) => number | null} computeCost computes the cost of a request; null: it was not measured
 * @returns {QuantityRow['measure']} its result is null if connections are kept, or the cost of one of the two was not measured
 */
function createConnectionMeasure(computeCost) {
  return ({ record, kept }) => {
    if (record.trial.arm.load.connections !== 'new') return null
    const costOverNew = computeCost(record)
    const costOverKept = findRoundValue(kept ?? [], 'cpuPerRequest', computeCost)
    return costOverNew === null || costOverKept === null ? null : costOverNew - costOverKept
  }
}

/**
 * Says whether the services of an arm have network namespaces, as redirected arms and those beside them do.
 * @param {Pick<Arm, 'conditions'>} arm
 * @returns {boolean}
 */
function hasNamespaces({ conditions }) {
  return conditions.interception !== undefined
}

/**
 * Creates the row of a percentile of response times.
 * @param {keyof typeof PERCENTILES} name of the percentile
 * @param {{ isCompared?: boolean, isMain?: boolean }} [roles] isMain: the percentile that stands for latency in headlines and
 *   charts; both false by default
 * @returns {QuantityRow}
 */
function createPercentileRow(name, { isCompared = false, isMain = false } = {}) {
  return {
    name,
    header: `${name}Ms`,
    group: { closed: 'responseTimeMs', open: 'latencyMs' },
    key: name,
    label: `${name.replace('999', '99.9')} ms`,
    short: isMain ? `${name} ms` : name,
    unit: 'ms',
    digits: 1,
    definition: `${renderTimeDefinition(`${PERCENTILES[name]} %`)} ${WHERE_GIVEN}`,
    family: {
      label: 'p50 to p99.9 ms',
      definition: `${renderTimeDefinition('50, 90, 95, 99 or 99.9 %')} ${WHERE_GIVEN}`,
    },
    use: 'latency',
    useOfClosed: 'throughput',
    quantile: QUANTILES[name],
    measure: ({ record }) => findQuantileMs(record, QUANTILES[name]),
    ...(isCompared && {
      compared: {
        kinds: ['open'],
        label: `${name} at this rate`,
        less: `has a % lower ${name}`,
        more: `has a % higher ${name}`,
        isHeadline: isMain,
      },
    }),
    ...(isMain && { chart: { kinds: ['open'], title: `${name} latency` }, isFollowed: true }),
    metric: {
      name: 'trial_response_time_seconds',
      scale: 1000,
      percentile: PERCENTILES[name],
      definition: renderTimeDefinition('`percentile` %'),
    },
  }
}

/**
 * Renders the definition of a percentile of response times.
 * @param {string} share of the requests, in words
 * @returns {string}
 */
function renderTimeDefinition(share) {
  return `The time that ${share} of the requests of the window took at most, from sending to the last byte. In the open loop it is latency at an equal rate; in the closed loop it is the response time at saturation, which follows from the rate and the number of users (Little's law), and is no latency.`
}

/**
 * Creates the row of the time that sidecars add to a percentile.
 * @param {keyof typeof PERCENTILES} percentile
 * @returns {QuantityRow} its measure is null outside of the open loop, and if the arm or the same round without sidecars has no value
 */
function createAddedPercentileRow(percentile) {
  const name = `addedP${percentile.slice(1)}`
  return {
    name,
    header: `${name}Ms`,
    label: `added ${percentile} ms`,
    short: percentile === 'p99' ? 'p99 ms' : `added ${percentile}`,
    unit: 'ms',
    digits: 2,
    group: { open: 'addedLatencyMs' },
    key: percentile,
    isSparse: true,
    definition: `The ${percentile} of a round minus the ${percentile} of the same round without sidecars, at the same rate.`,
    use: 'latency',
    quantile: QUANTILES[percentile],
    measure({ record, baseline }) {
      if (record.trial.arm.load.kind !== 'open') return null
      const measureMs = (/** @type {TrialRecord} */ trial) => findQuantileMs(trial, QUANTILES[percentile])
      const withSidecars = measureMs(record)
      const without = findRoundValue(baseline ?? [], 'latency', measureMs)
      return withSidecars === null || without === null ? null : withSidecars - without
    },
  }
}

/**
 * Creates the row of a time of answers in chunks: the median of the answers that the kit itself read.
 * @param {'firstByteMs' | 'longestGapMs'} header member of a stream record, and name in summary.json
 * @param {string} name of the quantity
 * @param {Pick<QuantityRow, 'label' | 'definition'>} words
 * @returns {QuantityRow} its measure is null if the kit read no answers
 */
function createStreamRow(header, name, words) {
  return {
    name,
    header,
    unit: 'ms',
    digits: 1,
    isSparse: true,
    use: 'latency',
    ...words,
    measure: ({ record: { streams = [] } }) =>
      streams.length === 0 ? null : summariseValues(streams.map(stream => stream[header])).median,
  }
}

/**
 * Creates the row of a kind of memory. It is compared if it has `words`.
 * @param {'rss' | 'anon' | 'peak' | 'workingSet' | 'pss'} name of the kind of memory
 * @param {Pick<QuantityRow, 'label' | 'short' | 'definition' | 'chart'> & { words?: string, isHeadline?: boolean }} options
 *   words: its name in a comparison; absent: it is not compared; isHeadline: as in `Compared`
 * @returns {QuantityRow}
 */
function createMemoryRow(name, { words, isHeadline, ...row }) {
  const header = /** @type {const} */ (`${name}Bytes`)
  return {
    ...row,
    name,
    header,
    group: 'memory',
    unit: 'MiB',
    scale: MIB,
    digits: 1,
    use: 'memory',
    sidecars: 'sum',
    measure: ({ record, service }) => sumValues(listMeasuredSidecars(record, service), p => p.memory[header]),
    ...(words && {
      compared: {
        kinds: EVERY_LOAD,
        label: words,
        isHeadline,
        less: `uses % less ${words}`,
        more: `uses % more ${words}`,
        isOf: hasNoEnding,
      },
      isFollowed: true,
    }),
  }
}

/**
 * Lists the rows of the quantities in which arms are compared.
 * @param {Load['kind'][]} [kinds] absent: under any load
 * @returns {(QuantityRow & { compared: Compared })[]} []: under these loads none is
 */
export function listComparedQuantities(kinds) {
  return Object.values(QUANTITIES).flatMap(({ compared, ...row }) => {
    const isCompared = compared?.kinds.some(kind => kinds === undefined || kinds.includes(kind))
    return compared && isCompared ? [{ ...row, compared }] : []
  })
}

/**
 * Chooses the use that a trial must be good for, so that it has a quantity under a load.
 * @param {Pick<QuantityRow, 'use' | 'useOfClosed'>} row
 * @param {Pick<Load, 'kind'>} load
 * @returns {Use}
 */
export function chooseRequiredUse({ use, useOfClosed = use }, { kind }) {
  return kind === 'closed' ? useOfClosed : use
}

/**
 * Measures a quantity of an arm in a round, by the first trial that counts, is good for its use and has the quantity
 * (`findRoundValue`).
 * @param {QuantityRow} row
 * @param {TrialRecord[]} trials of the arm in the round
 * @param {Omit<RoundRecords, 'record'>} [beside] the service, and the records of arms that the arm is held against
 * @returns {number | null} in the unit of the header; null: no trial has it, or there are no trials
 */
export function measureRound(row, trials, beside = {}) {
  if (trials.length === 0) return null
  const use = chooseRequiredUse(row, trials[0].trial.arm.load)
  return findRoundValue(trials, use, record => row.measure({ record, ...beside }))
}

/**
 * Finds a quantity of an arm, or of one service's sidecar, in a summary.
 * @param {SummaryArm} arm
 * @param {string} name a key of QUANTITIES
 * @param {string | null} [service] null or absent: the arm's own quantity
 * @returns {Quantity} median: null and values: [] if the summary lacks it, the load does not have it, or the arm has no such sidecar
 */
export function findQuantity(arm, name, service = null) {
  const row = QUANTITIES[name]
  /** @type {any} */
  const holder = service === null ? arm : arm.sidecars.find(sidecar => sidecar.service === service)
  const group = findQuantityGroup(row, arm.load)
  if (group === null) return summariseValues([])
  const members = group === undefined ? holder : holder?.[group]
  return members?.[row.key ?? row.header] ?? summariseValues([])
}

/**
 * Puts quantities into objects by their group, as in summary.json; one without a group stays at the top. Those that the load does
 * not have, and sparse ones without a value, are left out.
 * @param {Record<string, Quantity>} quantities by header
 * @param {Pick<Load, 'kind'>} load
 * @returns {Record<string, any>} quantities, and objects of quantities by group
 */
export function nestQuantities(quantities, load) {
  /** @type {Record<string, any>} */
  const nested = {}
  for (const row of Object.values(QUANTITIES)) {
    const quantity = quantities[row.header]
    const group = findQuantityGroup(row, load)
    if (quantity === undefined || group === null) continue
    if (row.isSparse && quantity.values.every(value => value === null)) continue
    if (group === undefined) nested[row.header] = quantity
    else nested[group] = { ...nested[group], [row.key ?? row.header]: quantity }
  }
  return nested
}

/**
 * Finds the name of the object that holds a quantity in a summary.
 * @param {QuantityRow} row
 * @param {Pick<Load, 'kind'>} load
 * @returns {string | null | undefined} null: the load does not have the quantity; undefined: it is a member of the arm
 */
function findQuantityGroup({ group }, { kind }) {
  return typeof group === 'object' ? (group[kind] ?? null) : group
}

/**
 * Renders a value with the digits of its row; `%` is the only unit that it adds. Cores that would round to 0, as those of idle
 * sidecars do, get one significant digit.
 * @param {Pick<QuantityRow, 'unit' | 'scale' | 'digits'>} row
 * @param {number} value in the unit of the header
 * @returns {string}
 */
export function formatValue({ unit, scale = 1, digits }, value) {
  const text = (value / scale).toFixed(digits)
  if (unit === 'cores' && value !== 0 && Number(text) === 0)
    return value.toFixed(-Math.floor(Math.log10(Math.abs(value))))
  return `${text}${unit === '%' ? ' %' : ''}`
}
