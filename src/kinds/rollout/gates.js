import { renderMebibytes } from '../../lib/units.js'

/** Gates of a rollout. A finding with a part spoils no use: the table of quantities (quantities.js) withholds the values of that part. */
/**
 * @import { TrialRecord } from '../../model/types.ts'
 * @import { Gate } from '../../judge/gates/gate.js'
 * @import { PhaseName, RolloutNumbers } from './numbers.js'
 */

const NAMED_MOST = 5
// Limits of the gates `resolution` and `probe-cost`: shares of a time, of the machine's CPU, and of the highest rate of probes.
const UNKNOWN_MOST = 0.1
const KIT_CPU_MOST = 0.1
const PROBE_RATE_MOST = 0.9
/** The limit of the gate `fidelity`, as a share of what real sidecars take (docs/evidence/simulated-envoys.md). */
const INFIDELITY_MOST = 0.15

/** @type {Gate[]} */
export const ROLLOUT_GATES = [
  {
    name: 'resolution',
    finds:
      'a time of a phase that is uncertain by more than 10 %, because sidecars were asked too seldom, or the time of all where a sidecar outside of the sample had the change later: that time has no value',
    words: 'times too coarse',
    spoils: [],
    find: ({ rollout }) =>
      listPhases(rollout).flatMap(({ part, goal, phase }) => {
        const formatMs = (/** @type {number | null} */ seconds) => (1000 * Number(seconds)).toFixed(0)
        const coarse = listPhaseTimes(phase).filter(isCoarse)
        const unknownTimes = coarse.map(
          time => `${formatMs(time.unknownSeconds)} of ${formatMs(time.seconds)} ms of ${time.name}`,
        )
        const { late = 0, sampled } = phase
        return [
          coarse.length > 0 && { part, reason: `until ${goal}: unknown are ${unknownTimes.join(', ')}` },
          late > 0 && { part, reason: `until ${goal}: ${late} did not have it when the ${sampled} of the sample had` },
        ]
      }),
  },
  {
    name: 'probe-cost',
    finds:
      'a phase in which the kit itself used more than 10 % of the machine, or asked at more than 90 % of its highest rate: the times of that phase have no value',
    words: 'asking cost too much',
    spoils: [],
    find: ({ rollout }) =>
      listPhases(rollout).flatMap(({ part, goal, phase, cpus, askedPerSecondMost: most }) => [
        isKitCpuHigh(phase, cpus) && {
          part,
          reason: `until ${goal}, the kit itself used ${phase.ownCores.toFixed(2)} of ${cpus} cores`,
        },
        isProbeRateSaturated(phase, most) && {
          part,
          reason: `until ${goal}, the sidecars were asked ${phase.askedPerSecond.toFixed(0)} times a second, of at most ${most}: asking may be what was measured`,
        },
      ]),
  },
  {
    name: 'removal',
    finds: 'a sidecar of another shard that missed an answer while a shard was removed',
    words: 'others disturbed',
    find: ({ rollout }) => {
      const { silent = [], stayed = 0 } = rollout?.removal ?? {}
      return [
        silent.length > 0 &&
          `${silent.length} of ${stayed} sidecars that need not move did not go on answering: ${silent.slice(0, NAMED_MOST).join(', ')}`,
      ]
    },
  },
  {
    name: 'fidelity',
    finds:
      'simulated sidecars that cost the control plane over 15 % more or less than as many real ones, in CPU time or in memory: that figure of the control plane has no value',
    words: 'simulated unlike real',
    spoils: [],
    find: ({ rollout }) => listInfidelities(rollout ?? {}).map(({ resource, reason }) => ({ part: resource, reason })),
  },
]

/**
 * Lists the phases of a rollout for their gates. A withdrawal of services is not included.
 * @param {TrialRecord['rollout']} rollout
 * @returns part: the name of the phase in a finding; goal: its end in words; []: the trial is of another kind
 */
function listPhases(rollout) {
  if (!rollout) return []
  const { first, change, removal, cpus, askedPerSecondMost } = rollout
  const phases = [
    { part: 'rollout', goal: 'all sidecars had their first configuration', phase: first },
    { part: 'change', goal: 'all sidecars had the change', phase: change },
    { part: 'removal', goal: 'all sidecars that moved had the configuration of their new shard', phase: removal },
  ]
  return phases.flatMap(({ phase, ...rest }) => (phase ? [{ ...rest, phase, cpus, askedPerSecondMost }] : []))
}

/**
 * How long a phase took until all sidecars, or a quantile of them, had the configuration, and how much of that is unknown.
 * @typedef {object} Time
 * @property {string} name
 * @property {number | null} seconds null: too few sidecars had the configuration, or a sample does not show it
 * @property {number | null} unknownSeconds between a sidecar's last answer by the old configuration and the first by the new; null: no
 *   sidecar had it
 */

/**
 * Lists the times of a phase: `all` until the last sidecar has the configuration, and `p50`, `p99` and `max` of
 * single sidecars.
 * @param {RolloutNumbers['first']} phase
 * @returns {Time[]} these four
 */
export function listPhaseTimes({ seconds, each, censoredSeconds, lastCensoredSeconds }) {
  return [
    { name: 'all', seconds, unknownSeconds: lastCensoredSeconds },
    ...Object.entries(each).map(([name, value]) => ({ name, seconds: value, unknownSeconds: censoredSeconds })),
  ]
}

/**
 * Says whether more than UNKNOWN_MOST of a time is unknown.
 * @param {Time} time
 * @returns {boolean} false also: the time has no value
 */
export function isCoarse({ seconds, unknownSeconds }) {
  return seconds !== null && (unknownSeconds ?? 0) > UNKNOWN_MOST * seconds
}

/**
 * Says whether the kit sent so many probes that their highest rate may have bound the phase.
 * @param {RolloutNumbers['first']} phase
 * @param {number} askedPerSecondMost the highest rate
 * @returns {boolean}
 */
function isProbeRateSaturated({ askedPerSecond }, askedPerSecondMost) {
  return askedPerSecond > PROBE_RATE_MOST * askedPerSecondMost
}

/**
 * Says whether the kit itself used more than KIT_CPU_MOST of the machine's CPUs in a phase.
 * @param {RolloutNumbers['first']} phase
 * @param {number} cpus of the machine
 * @returns {boolean}
 */
function isKitCpuHigh({ ownCores }, cpus) {
  return ownCores > KIT_CPU_MOST * cpus
}

/**
 * Says whether a rollout has a phase, and probes did not stretch its times.
 * @param {RolloutNumbers} numbers
 * @param {PhaseName} phaseName
 * @returns {boolean}
 */
export function hasValidTimes({ cpus, askedPerSecondMost, ...phases }, phaseName) {
  const phase = phases[phaseName]
  return phase !== undefined && !isKitCpuHigh(phase, cpus) && !isProbeRateSaturated(phase, askedPerSecondMost)
}

/** @typedef {'CPU time in the rollout' | 'CPU time in the change' | 'memory'} Resource */

/**
 * Lists the resources of which the control plane takes over INFIDELITY_MOST more or less for simulated sidecars than for real ones, or
 * that were not measured.
 * @param {Pick<RolloutNumbers, 'fidelity'>} numbers
 * @returns {{ resource: Resource, reason: string }[]} reason: a clause; []: none are simulated, or all resources are alike
 */
function listInfidelities({ fidelity }) {
  if (!fidelity) return []
  const { sidecars, rolloutCpuSeconds, changeCpuSeconds, anonBytes } = fidelity
  const formatMilliseconds = (/** @type {number} */ seconds) => `${(1000 * seconds).toFixed(0)} ms`
  /** @type {{ resource: Resource, real: number | null, simulated: number | null, render: (value: number) => string }[]} */
  const rows = [
    { resource: 'CPU time in the rollout', ...rolloutCpuSeconds, render: formatMilliseconds },
    { resource: 'CPU time in the change', ...changeCpuSeconds, render: formatMilliseconds },
    { resource: 'memory', ...anonBytes, render: bytes => `${renderMebibytes(bytes)} MiB more than empty` },
  ]
  return rows.flatMap(({ resource, real, simulated, render }) => {
    const withheld = `its ${resource} has no value`
    if (real === null || simulated === null)
      return [
        {
          resource,
          reason: `the control plane was not measured for ${sidecars} sidecars, real and simulated: ${withheld}`,
        },
      ]
    if (Math.abs(simulated - real) <= INFIDELITY_MOST * real) return []
    const bothSizes = `${render(simulated)} for ${sidecars} sidecars of which 1 is real, and ${render(real)} where all are`
    return [{ resource, reason: `the control plane took ${bothSizes}, more than 15 % apart: ${withheld}` }]
  })
}

/**
 * Says whether simulated sidecars take about as much of a resource as real ones.
 * @param {Pick<RolloutNumbers, 'fidelity'>} numbers
 * @param {Resource} resource
 * @returns {boolean} true also: none are simulated; false also: the resource was not measured
 */
export function isFaithful(numbers, resource) {
  return listInfidelities(numbers).every(infidelity => infidelity.resource !== resource)
}
