import { MIB } from '../lib/units.js'
import { sidecarsOf, sumOf, valueOfRound } from './measures.js'
import { isCoarse, isMeasured, timesOf } from './rollout.js'

/**
 * The rows of the table of quantities that are of many sidecars and the control plane that configures them. Pure.
 * @import { TrialRecord } from '../model/types.ts'
 * @import { QuantityRow } from './quantities.js'
 */

/** @typedef {NonNullable<TrialRecord['rollout']>} Numbers */

const SHARE = { p50: '50 % of the sidecars take at most this', p99: '99 % of them', max: 'the longest' }
const OF_IT = { group: 'rollout', isSparse: true }
const SECONDS = /** @type {const} */ ({ ...OF_IT, unit: 's', digits: 2, use: 'latency' })
const MEBIBYTES = /** @type {const} */ ({ ...OF_IT, unit: 'MiB', scale: MIB, digits: 1, use: 'memory' })
const CPU_MS = /** @type {const} */ ({ ...OF_IT, unit: 'ms', digits: 2, use: 'cpuPerRequest' })
const HOST_IDLE = /** @type {const} */ ({ ...OF_IT, unit: '%', scale: 0.01, digits: 0, use: 'memory' })

/** @type {QuantityRow[]} */
export const ROLLOUT_ROWS = [
  {
    ...{ name: 'rolloutSeconds', header: 'rolloutSeconds', label: 'rollout s', ...SECONDS },
    definition:
      'From the start of the first sidecar until the last is answered by its first configuration, over a new connection. They are started in batches: where the machine is the limit, this is its time.',
    measure: timeOf('first', 'all'),
  },
  {
    ...{ name: 'startingSeconds', header: 'startingSeconds', label: 'of it starting s', ...SECONDS },
    definition: 'From the start of the first sidecar to the start of the last batch.',
    measure: of(numbers => (isMeasured(numbers, 'first') ? numbers.first.toldSeconds : null)),
  },
  ...timesOfEach('first', {
    ...{ name: 'firstConfig', label: 'first configuration' },
    definition: "From the start of a sidecar's batch until it is answered by its first configuration",
  }),
  {
    ...{ name: 'changeAllSeconds', header: 'changeAllSeconds', label: 'change of all s', ...SECONDS },
    definition: 'From the first commit until the last sidecar is answered by the change. Each has a commit of its own.',
    measure: timeOf('change', 'all'),
  },
  ...timesOfEach('change', {
    ...{ name: 'change', label: 'change' },
    definition: 'From the commit for a sidecar until it is answered by it, over a new connection',
  }),
  {
    ...{
      name: 'controlCpuRollout',
      header: 'controlCpuRolloutMs',
      label: 'control CPU a sidecar, rollout ms',
      ...CPU_MS,
    },
    definition: "The control plane's CPU time in the rollout, over the sidecars. Each was made known to it before.",
    measure: of(({ first, sidecars }) => perSidecarMs(first, sidecars)),
  },
  {
    ...{ name: 'controlCpuChange', header: 'controlCpuChangeMs', label: 'control CPU a sidecar, change ms', ...CPU_MS },
    definition: "The control plane's CPU time in the change, over the sidecars.",
    measure: of(({ change, sidecars }) => (change ? perSidecarMs(change, sidecars) : null)),
  },
  {
    ...{ name: 'controlCores', header: 'controlCores', label: 'control cores, stable', ...CPU_MS },
    ...{ unit: 'cores', digits: 4 },
    definition: 'CPU time over wall time of the control plane in the window, when nothing changes any more.',
    measure: of((_, { processes }) => sumOf(processes.filter(isControl), p => p.cpuCores)),
  },
  {
    ...{ name: 'controlEmpty', header: 'controlEmptyBytes', label: 'control MiB, empty', ...MEBIBYTES },
    definition: 'Anonymous memory of the control plane before it is given anything.',
    measure: of(({ controlAnonBytes }) => controlAnonBytes.empty),
  },
  {
    ...{ name: 'controlStable', header: 'controlStableBytes', label: 'control MiB, stable', ...MEBIBYTES },
    definition: 'Anonymous memory of the control plane when all sidecars have their first configuration.',
    measure: of(({ controlAnonBytes }) => controlAnonBytes.stable),
  },
  {
    ...{ name: 'controlPeak', header: 'controlPeakBytes', label: 'control MiB, peak', ...MEBIBYTES },
    definition: 'The most anonymous memory of the control plane in rollout and change, read ten times a second.',
    measure: of(({ controlAnonBytes }) => controlAnonBytes.peak),
  },
  {
    ...{ name: 'controlPerSidecar', header: 'controlPerSidecarBytes', label: 'control kB a sidecar', ...MEBIBYTES },
    ...{ unit: 'kB', scale: 1000 },
    definition: 'Anonymous memory of the control plane when stable, less that when empty, over the sidecars.',
    measure: of(({ controlAnonBytes: { stable, empty }, sidecars }) =>
      stable === null || empty === null ? null : (stable - empty) / sidecars,
    ),
  },
  {
    ...{ name: 'sidecarAnon', header: 'sidecarAnonBytes', label: 'a sidecar, anon MiB', ...MEBIBYTES },
    definition: "Anonymous memory of all batches' cgroups at the end of the window, over the sidecars.",
    measure: of(anonOfOne),
  },
  {
    ...{ name: 'anonPerService', header: 'anonPerServiceBytes', label: 'kB a service known', ...MEBIBYTES },
    ...{ unit: 'kB', scale: 1000 },
    definition:
      'Anonymous memory of a sidecar more than that of one that knows only the service that it calls, in the same round, over the services that it knows beside.',
    measure({ record, unconfigured }) {
      const { configuredServices } = record.trial.arm.conditions
      const findAnon = of(anonOfOne)
      const [own, without] = [
        findAnon({ record }),
        valueOfRound(unconfigured ?? [], 'memory', r => findAnon({ record: r })),
      ]
      return own === null || without === null || configuredServices === 0 ? null : (own - without) / configuredServices
    },
  },
  {
    ...{ name: 'sidecarPss', header: 'sidecarPssBytes', label: 'a sidecar, PSS MiB', ...MEBIBYTES },
    definition:
      'Resident memory of all sidecars after the window, over their number; pages that they share are divided among them.',
    measure: of((numbers, record) =>
      shareOf(
        numbers,
        sumOf(sidecarsOf(record), p => p.memory.pssBytes),
      ),
    ),
  },
  {
    ...{ name: 'idleMillicores', header: 'idleMillicores', label: 'a sidecar, cores/1000 idle', ...CPU_MS },
    ...{ unit: 'cores/1000' },
    definition: 'CPU time of all sidecars over wall time in the window, over their number.',
    measure: of((numbers, record) =>
      shareOf(
        numbers,
        sumOf(sidecarsOf(record), p => 1000 * p.cpuCores),
      ),
    ),
  },
  {
    ...{ name: 'rolloutHostIdle', header: 'rolloutHostIdleFraction', label: 'host idle, rollout', ...HOST_IDLE },
    definition: 'CPU time of the machine that nobody used in the rollout. Near 0 the machine is the limit.',
    measure: of(({ first }) => first.hostIdleFraction),
  },
  {
    ...{ name: 'changeHostIdle', header: 'changeHostIdleFraction', label: 'host idle, change', ...HOST_IDLE },
    definition: 'CPU time of the machine that nobody used in the change. Near 0 the machine is the limit.',
    measure: of(({ change }) => change?.hostIdleFraction ?? null),
  },
]

/**
 * @param {(numbers: Numbers, record: TrialRecord) => number | null} find
 * @returns {QuantityRow['measure']}
 */
function of(find) {
  return ({ record }) => (record.rollout ? find(record.rollout, record) : null)
}

/**
 * A time of a phase; null where it is too coarse, or the times of this phase do not count.
 * @param {'first' | 'change'} part
 * @param {string} name
 * @returns {QuantityRow['measure']}
 */
function timeOf(part, name) {
  return of(numbers => {
    const { [part]: phase } = numbers
    if (!phase || !isMeasured(numbers, part)) return null
    const time = timesOf(phase).find(time => time.name === name)
    return !time || isCoarse(time) ? null : time.seconds
  })
}

/**
 * @param {'first' | 'change'} phase
 * @param {{ name: string, label: string, definition: string }} words
 * @returns {QuantityRow[]}
 */
function timesOfEach(phase, { name, label, definition }) {
  return /** @type {const} */ (['p50', 'p99', 'max']).map(at => {
    const own = `${name}${at[0].toUpperCase()}${at.slice(1)}`
    return {
      ...{ name: own, header: `${own}Seconds`, label: `${label} ${at} s`, ...SECONDS },
      definition: `${definition}: ${SHARE[at]}.`,
      measure: timeOf(phase, at),
    }
  })
}

/** @param {Numbers} numbers @param {TrialRecord} record */
function anonOfOne(numbers, record) {
  return shareOf(
    numbers,
    sumOf(sidecarsOf(record), p => p.memory.anonBytes),
  )
}

/** @param {Numbers['first']} phase @param {number} sidecars */
function perSidecarMs({ controlCpuSeconds }, sidecars) {
  return controlCpuSeconds === null ? null : (1000 * controlCpuSeconds) / sidecars
}

/** @param {Numbers} numbers @param {number | null} sum */
function shareOf({ sidecars }, sum) {
  return sum === null ? null : sum / sidecars
}

/** @param {TrialRecord['processes'][number]} process */
function isControl({ role }) {
  return role === 'control'
}
