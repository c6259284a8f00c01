import { isBudgetUsed, isCoarse, isCostly, listInfidelities, listPhaseTimes } from './numbers.js'

/** Gates of a rollout. A finding with a part spoils no use: the table of quantities (quantities.js) withholds the values of that part. */
/**
 * @import { TrialRecord } from '../../model/types.ts'
 * @import { Gate } from '../../judge/gates/gate.js'
 */

const NAMED_MOST = 5

/** @type {Gate[]} */
export const ROLLOUT_GATES = [
  {
    name: 'resolution',
    finds:
      'a time of a phase that is uncertain by more than 10 %, because sidecars were asked too seldom, or the time of all where a sidecar outside of the sample had the change later: that time has no value',
    words: 'times too coarse',
    spoils: [],
    find: ({ rollout }) =>
      listPhases(rollout).flatMap(({ part, what, phase }) => {
        const formatMs = (/** @type {number | null} */ seconds) => (1000 * Number(seconds)).toFixed(0)
        const coarse = listPhaseTimes(phase).filter(isCoarse)
        const unknownTimes = coarse.map(
          time => `${formatMs(time.unknownSeconds)} of ${formatMs(time.seconds)} ms of ${time.name}`,
        )
        const { late = 0, sampled } = phase
        return [
          coarse.length > 0 && { part, reason: `until ${what}: unknown are ${unknownTimes.join(', ')}` },
          late > 0 && { part, reason: `until ${what}: ${late} did not have it when the ${sampled} of the sample had` },
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
      listPhases(rollout).flatMap(({ part, what, phase, cpus, askedPerSecondMost: most }) => [
        isCostly(phase, cpus) && {
          part,
          reason: `until ${what}, the kit itself used ${phase.ownCores.toFixed(2)} of ${cpus} cores`,
        },
        isBudgetUsed(phase, most) && {
          part,
          reason: `until ${what}, the sidecars were asked ${phase.askedPerSecond.toFixed(0)} times a second, of at most ${most}: asking may be what was measured`,
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
 * Lists the phases of a rollout, each with its end in words (`what`). A withdrawal of services is not included.
 * @param {TrialRecord['rollout']} rollout undefined: the trial is of another kind
 * @returns []: the trial is of another kind
 */
function listPhases(rollout) {
  if (!rollout) return []
  const { first, change, removal, cpus, askedPerSecondMost } = rollout
  const phases = [
    { part: 'rollout', what: 'all sidecars had their first configuration', phase: first },
    { part: 'change', what: 'all sidecars had the change', phase: change },
    { part: 'removal', what: 'all sidecars that moved had the configuration of their new shard', phase: removal },
  ]
  return phases.flatMap(({ phase, ...rest }) => (phase ? [{ ...rest, phase, cpus, askedPerSecondMost }] : []))
}
