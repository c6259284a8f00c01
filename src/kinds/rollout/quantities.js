import { findRoundValue, listSidecars, sumValues } from '../../judge/record/measures.js'
import { createRowFactory } from '../../judge/record/quantity-row.js'
import { hasValidTimes, isCoarse, isFaithful, listPhaseTimes } from './gates.js'
import { createKilobytesRow, createMebibytesRow, createShareRow, SERVICES_MEMORY_ROWS } from './memory-quantities.js'

/** Quantities of many sidecars and the control plane that configures them. Pure. */
/**
 * @import { TrialRecord } from '../../model/types.ts'
 * @import { QuantityRow } from '../../judge/record/quantity-row.js'
 */
/** @import { Resource } from './gates.js' */
/** @import { PhaseName, RolloutNumbers } from './numbers.js' */
/** Reads a value of a rollout; null: it has none. @typedef {(numbers: RolloutNumbers, record: TrialRecord) => number | null} ReadValue */

const STATISTIC_WORDS = { p50: '50 % of the sidecars take at most this', p99: '99 % of them', max: 'the longest' }
/** @type {Record<'first' | 'change', Resource>} */
const CPU_RESOURCES = { first: 'CPU time in the rollout', change: 'CPU time in the change' }
const ON_REQUEST = { kinds: /** @type {'idle'[]} */ (['idle']), isHeadline: true, isOnRequest: true }
const group = 'rollout'
const createSecondsRow = createRowFactory({ group, unit: 's', digits: 2, use: 'latency' })
const createMillisecondsRow = createRowFactory({ group, unit: 'ms', digits: 2, use: 'cpuPerRequest' })
const createCountRow = createRowFactory({ group, unit: 'sidecars', digits: 0, use: 'memory' })

/** @type {QuantityRow[]} */
export const ROLLOUT_ROWS = [
  {
    ...createSecondsRow('rolloutSeconds', 'rollout s'),
    definition:
      'From the start of the first sidecar until the last is answered by its first configuration, over a new connection. They are started in batches: where the machine is the limit, this is its time. Where sidecars are simulated it has no value, since those do not start.',
    measure: createTimeMeasureOfAll('first'),
    compared: {
      ...ON_REQUEST,
      label: 'time of the rollout',
      less: 'has rolled out % sooner',
      more: 'has rolled out % later',
    },
    chart: { kinds: ['idle'], title: 'Time of the rollout' },
  },
  {
    ...createSecondsRow('startingSeconds', 'of it starting s'),
    definition: 'From the start of the first sidecar to the start of the last batch, of real ones.',
    measure: createRolloutMeasure(numbers => (hasValidTimes(numbers, 'first') ? numbers.first.toldSeconds : null)),
  },
  ...createTimeRows({
    name: 'podReady',
    label: 'pod ready',
    definition:
      "On Kubernetes, from the request for a sidecar's pod until the API server tells that it is Ready, by the kit's own clock. The pod has no readiness probe: Ready says that its container runs, and nothing of its configuration",
    createMeasure: statistic => createRolloutMeasure(({ pods }) => pods?.readySeconds[statistic] ?? null),
  }),
  ...createTimeRows({
    name: 'firstConfig',
    label: 'first configuration',
    definition:
      "From the start of a sidecar's batch, or of its process in a pod, until it answers by its first configuration",
    createMeasure: statistic => createTimeMeasure('first', statistic),
  }),
  {
    ...createSecondsRow('changeAllSeconds', 'change of all s'),
    definition:
      'From the first commit until the last sidecar is answered by the change. Each has a commit of its own. Of more than 30 sidecars it is the last of a random sample, with those whose commits come first and last; the others are asked once that has it. Where one of them then says no, or not at once, or sidecars are simulated, it has no value.',
    measure: createTimeMeasureOfAll('change'),
    compared: {
      ...ON_REQUEST,
      label: 'time of a change',
      less: 'has changed all % sooner',
      more: 'has changed all % later',
    },
    chart: { kinds: ['idle'], title: 'Time of a change of all sidecars' },
  },
  ...createTimeRows({
    name: 'change',
    label: 'change',
    definition:
      'From the commit for a sidecar until it answers by it, over a new connection. Only the median has a value where a sample is asked',
    createMeasure: statistic => createTimeMeasure('change', statistic),
  }),
  {
    ...createCountRow('changeAsked', 'sidecars timed in it', 'changeAskedSidecars'),
    definition: 'Sidecars of the random sample that was asked during the change; no value: all were asked.',
    measure: createRolloutMeasure(({ change }) => change?.sampled ?? null),
  },
  {
    ...createCountRow('movedSidecars', 'sidecars moved'),
    definition:
      'Sidecars that have another shard after the last was removed: those that it had, and those that the assignment moves.',
    measure: createRolloutMeasure(({ removal }) => removal?.moved ?? null),
  },
  {
    ...createSecondsRow('moveSeconds', 'move of all s'),
    definition:
      'From the end of the last shard until every sidecar that moves is answered by the configuration of its new shard. It is made known there and started anew in that time.',
    measure: createTimeMeasureOfAll('removal'),
    chart: { kinds: ['idle'], title: 'Time until the sidecars of a removed shard are configured again' },
  },
  {
    ...createSecondsRow('moveP50', 'move p50 s', 'moveP50Seconds'),
    definition: `From the end of the last shard until a sidecar that moves is answered by the configuration of its new shard: ${STATISTIC_WORDS.p50}.`,
    measure: createTimeMeasure('removal', 'p50'),
  },
  {
    ...createCountRow('stayedAnswering', 'others that answered', 'stayedAnsweringSidecars'),
    definition:
      'Sidecars that need not move and answered each time that they were asked, from the end of the last shard until all that move were configured again: each at least once, 50 requests a second in all.',
    measure: createRolloutMeasure(({ removal }) => (removal ? removal.stayed - removal.silent.length : null)),
  },
  {
    ...createMillisecondsRow('controlCpuRollout', 'control CPU a sidecar, rollout ms', 'controlCpuRolloutMs'),
    definition:
      "The control plane's CPU time in the rollout, over the number of sidecars. Making them known to it comes before, and is not included.",
    measure: createControlMeasure(CPU_RESOURCES.first, ({ first, sidecars }) => computeMsPerSidecar(first, sidecars)),
  },
  {
    ...createMillisecondsRow('controlCpuChange', 'control CPU a sidecar, change ms', 'controlCpuChangeMs'),
    definition: "The control plane's CPU time in the change, over the number of sidecars.",
    measure: createControlMeasure(CPU_RESOURCES.change, ({ change, sidecars }) =>
      change ? computeMsPerSidecar(change, sidecars) : null,
    ),
  },
  createAtLimitRow('first', 'controlAtLimitRollout', 'rollout'),
  createAtLimitRow('change', 'controlAtLimitChange', 'change'),
  {
    ...createMillisecondsRow('shardSpread', 'CPU of shards, spread'),
    unit: 'of the mean',
    definition:
      'CPU time in the rollout of the shard that used most minus that of the shard that used least, as a share of the mean.',
    measure: createRolloutMeasure(({ first }) => computeRelativeSpread(first.shardCpuSeconds ?? [])),
  },
  {
    ...createMillisecondsRow('controlCores', 'control cores, stable'),
    unit: 'cores',
    digits: 4,
    definition:
      'CPU time over wall time of the control plane in the window, when nothing changes any more. None where sidecars are simulated: the gate fidelity has no window.',
    measure: createRolloutMeasure(({ simulated }, { processes }) =>
      simulated === undefined
        ? sumValues(
            processes.filter(({ role }) => role === 'control'),
            p => p.cpuCores,
          )
        : null,
    ),
  },
  {
    ...createMebibytesRow('controlEmpty', 'control MiB, empty', 'controlEmptyBytes'),
    definition: 'Anonymous memory of the control plane before it is given anything.',
    measure: createRolloutMeasure(({ controlAnonBytes }) => controlAnonBytes.empty),
  },
  {
    ...createMebibytesRow('controlStable', 'control MiB, stable', 'controlStableBytes'),
    definition: 'Anonymous memory of the control plane when all sidecars have their first configuration.',
    measure: createControlMeasure('memory', ({ controlAnonBytes }) => controlAnonBytes.stable),
  },
  {
    ...createMebibytesRow('controlPeak', 'control MiB, peak', 'controlPeakBytes'),
    definition: 'The most anonymous memory of the control plane in rollout and change, read ten times a second.',
    measure: createControlMeasure('memory', ({ controlAnonBytes }) => controlAnonBytes.peak),
  },
  {
    ...createKilobytesRow('controlPerSidecar', 'control kB a sidecar', 'controlPerSidecarBytes'),
    definition: 'Anonymous memory of the control plane when stable minus that when empty, over the number of sidecars.',
    measure: createControlMeasure('memory', ({ controlAnonBytes: { stable, empty }, sidecars }) =>
      stable === null || empty === null ? null : (stable - empty) / sidecars,
    ),
  },
  {
    ...createMebibytesRow('sidecarAnon', 'a sidecar, anon MiB', 'sidecarAnonBytes'),
    definition: "Anonymous memory of all batches' cgroups at the end of the window, over the number of sidecars.",
    measure: createMeanMeasure(p => p.memory.anonBytes),
  },
  {
    ...createKilobytesRow('anonPerService', 'kB a service known', 'anonPerServiceBytes'),
    definition:
      'Anonymous memory of a sidecar minus that of a sidecar that knows only the service it calls, in the same round, over the number of other services that it knows.',
    measure({ record, unconfigured }) {
      const { configuredServices } = record.trial.arm.conditions
      const measureAnon = createMeanMeasure(p => p.memory.anonBytes)
      const bytes = measureAnon({ record })
      const bytesWithout = findRoundValue(unconfigured ?? [], 'memory', r => measureAnon({ record: r }))
      return bytes === null || bytesWithout === null || configuredServices === 0
        ? null
        : (bytes - bytesWithout) / configuredServices
    },
  },
  ...SERVICES_MEMORY_ROWS,
  {
    ...createMebibytesRow('sidecarPss', 'a sidecar, PSS MiB', 'sidecarPssBytes'),
    definition:
      'Resident memory of all sidecars after the window, over their number; pages that they share are divided among them.',
    measure: createMeanMeasure(p => p.memory.pssBytes),
  },
  {
    ...createMillisecondsRow('idleMillicores', 'a sidecar, cores/1000 idle'),
    unit: 'cores/1000',
    definition: 'CPU time of all sidecars over wall time in the window, over their number.',
    measure: createMeanMeasure(p => 1000 * p.cpuCores),
  },
  {
    ...createShareRow('rolloutHostIdle', 'host idle, rollout', 'rolloutHostIdleFraction'),
    definition: "Share of the machine's CPU time that was idle in the rollout. Near 0 the machine is the limit.",
    measure: createRolloutMeasure(({ first }) => first.hostIdleFraction),
  },
  {
    ...createShareRow('changeHostIdle', 'host idle, change', 'changeHostIdleFraction'),
    definition: "Share of the machine's CPU time that was idle in the change. Near 0 the machine is the limit.",
    measure: createRolloutMeasure(({ change }) => change?.hostIdleFraction ?? null),
  },
]

/**
 * Creates the measure of a value of rollouts.
 * @param {ReadValue} readValue
 * @returns {QuantityRow['measure']} it gives null for a record that is no rollout, or has no such value
 */
function createRolloutMeasure(readValue) {
  return ({ record }) => (record.rollout ? readValue(record.rollout, record) : null)
}

/**
 * Creates the measure of a resource of the control plane.
 * @param {Resource} resource
 * @param {ReadValue} readValue
 * @returns {QuantityRow['measure']} it gives null if the gate `fidelity` found simulated sidecars unlike real ones in
 *   this resource, or as `createRolloutMeasure`
 */
function createControlMeasure(resource, readValue) {
  return createRolloutMeasure((numbers, record) => (isFaithful(numbers, resource) ? readValue(numbers, record) : null))
}

/**
 * Creates the measure of the seconds until all sidecars have a configuration.
 * @param {PhaseName} phaseName
 * @returns {QuantityRow['measure']} it gives null if some are simulated, or as `createTimeMeasure`
 */
function createTimeMeasureOfAll(phaseName) {
  const measure = createTimeMeasure(phaseName, 'all')
  return records => (records.record.rollout?.simulated === undefined ? measure(records) : null)
}

/**
 * Creates the measure of a time of a phase.
 * @param {PhaseName} phaseName
 * @param {string} name of the time, as of `listPhaseTimes`
 * @returns {QuantityRow['measure']} in seconds; it gives null without that phase, or if the time is unknown or too
 *   coarse, or probes may have stretched it
 */
function createTimeMeasure(phaseName, name) {
  return createRolloutMeasure(numbers => {
    const phase = numbers[phaseName]
    if (!phase || !hasValidTimes(numbers, phaseName)) return null
    const time = listPhaseTimes(phase).find(time => time.name === name)
    return !time || isCoarse(time) ? null : time.seconds
  })
}

/**
 * Creates the rows of a time of single sidecars: its median, p99 and maximum.
 * @param {{ name: string, label: string, definition: string, createMeasure: (statistic: 'p50' | 'p99' | 'max') =>
 *   QuantityRow['measure'] }} time name: of the quantity, before the statistic
 * @returns {QuantityRow[]} three rows
 */
function createTimeRows({ name, label, definition, createMeasure }) {
  return /** @type {const} */ (['p50', 'p99', 'max']).map(statistic => {
    const quantityName = `${name}${statistic[0].toUpperCase()}${statistic.slice(1)}`
    return {
      ...createSecondsRow(quantityName, `${label} ${statistic} s`, `${quantityName}Seconds`),
      definition: `${definition}: ${STATISTIC_WORDS[statistic]}.`,
      measure: createMeasure(statistic),
    }
  })
}

/**
 * Creates the row of the share of a phase in which the control plane was at its limit.
 * @param {'first' | 'change'} phaseName
 * @param {string} name of the quantity
 * @param {string} noun of the phase
 * @returns {QuantityRow}
 */
function createAtLimitRow(phaseName, name, noun) {
  return {
    ...createShareRow(name, `control at its limit, ${noun}`, `${name}Fraction`),
    definition: `Share of the time of the ${noun} in which the busiest control plane was at its limit: stopped by its CPU limit, or with all its threads running. From 25 % on it was the limit of the ${noun}.`,
    measure: createControlMeasure(CPU_RESOURCES[phaseName], numbers => numbers[phaseName]?.controlAtLimit ?? null),
  }
}

/**
 * Computes the range of values as a share of their mean.
 * @param {(number | null)[]} values
 * @returns {number | null} null: there are fewer than two values, one is unknown, or all are 0
 */
function computeRelativeSpread(values) {
  const known = values.filter(value => value !== null)
  const sum = known.reduce((total, value) => total + value, 0)
  if (known.length < 2 || known.length < values.length || sum === 0) return null
  return ((Math.max(...known) - Math.min(...known)) * known.length) / sum
}

/**
 * Creates the measure of a value's mean over the real sidecars.
 * @param {(process: TrialRecord['processes'][0]) => number | null} readValue null: the process has none
 * @returns {QuantityRow['measure']} it gives null if one has no value, or the record has no sidecars or is no rollout
 */
function createMeanMeasure(readValue) {
  return createRolloutMeasure(({ sidecars, simulated = 0 }, record) => {
    const sum = sumValues(listSidecars(record), readValue)
    return sum === null ? null : sum / (sidecars - simulated)
  })
}

/**
 * Computes the CPU time of the control plane in a phase, for each sidecar.
 * @param {RolloutNumbers['first']} phase
 * @param {number} sidecars their number, including the simulated ones
 * @returns {number | null} milliseconds; null: the CPU time was not read
 */
function computeMsPerSidecar({ controlCpuSeconds }, sidecars) {
  return controlCpuSeconds === null ? null : (1000 * controlCpuSeconds) / sidecars
}
