import { createGroupKey, renderArmName } from '../../model/arms.js'

/**
 * Constraints that need a plan. PARTS: `--real` and `--precision`, for each part. PLANS_AT_PLACE: all arms of the plan against the
 * generator, the load host and the CPU quota. Pure.
 * @import { Arm, LoadGenerator, PlaneChoice, Site } from '../../model/types.ts'
 * @import { Constraint } from '../constraint.js'
 */

/**
 * The facts about one part of a plan: before it has arms, its planes, each with its control; then the arms.
 * @typedef {object} PlannedPart
 * @property {string} name of the experiment
 * @property {number | null} [realMost] the most sidecars that are real (--real); null: not requested
 * @property {PlaneChoice[]} [contenders]
 * @property {boolean} [isSimulable] no axis of the part needs real sidecars
 * @property {(choice: PlaneChoice) => boolean} [simulates] says whether the control plane of a choice has simulated sidecars
 * @property {object} [precision] absent: the number of rounds is fixed
 * @property {Arm[]} [arms]
 * @property {string[]} [contrasts] axes whose values are compared with each other
 */

/** @type {Constraint<PlannedPart>[]} */
export const PARTS = [
  {
    on: 'realMost',
    conflict: ({ contenders = [], isSimulable, simulates }) =>
      !isSimulable || !contenders.some(choice => simulates?.(choice)),
    message: ({ name, realMost, contenders = [], isSimulable }) =>
      `--real ${realMost}: no control plane of this run has simulated sidecars${isSimulable ? '' : ` in ${name}`}: ${contenders.map(renderArmName).join(', ') || 'there is none'}`,
  },
  {
    on: 'precision',
    conflict: ({ arms = [], contrasts = [] }) => {
      const candidates = arms.filter(arm => arm.hasSidecars && arm.repeatOf === null)
      const groups = new Set(candidates.map(arm => createGroupKey(arm)))
      return contrasts.length === 0 && groups.size === candidates.length
    },
    message: () =>
      '--precision is for ratios of CPU per request, and no two planes are compared: name two with --planes',
  },
]

/**
 * All arms of a plan, and the place where they would run.
 * @typedef {object} PlacedPlan
 * @property {string} experiment
 * @property {boolean} keepsServices
 * @property {Arm[]} arms
 * @property {LoadGenerator} load
 * @property {boolean} isDefaultLoad no option named the generator
 * @property {boolean} isLoadElsewhere it runs on another machine
 * @property {NonNullable<Extract<Site['limits'], { quota?: unknown }>['quota']> | null} quota of this job or container; null: none
 */

/**
 * Finds the first arm whose load the generator cannot make, with the reason. Idle arms have none.
 * @param {PlacedPlan} plan
 * @returns {{ arm: Arm, reason: string } | undefined} undefined: it can make all loads
 */
function findUnloadableArm({ arms, load }) {
  return arms
    .filter(arm => arm.load.kind !== 'idle')
    .flatMap(arm => {
      const reason = load.findUnsupported(arm)
      return reason === null ? [] : [{ arm, reason }]
    })[0]
}

/**
 * Renders the CPU quota that all processes of a run share, as a clause of a sentence.
 * @param {NonNullable<PlacedPlan['quota']>} quota
 * @returns {string}
 */
export function renderQuota({ cores, folder }) {
  return `this job or container may use ${cores} cores in all (the quota of ${folder})`
}

/** @type {Constraint<PlacedPlan>[]} */
export const PLANS_AT_PLACE = [
  {
    on: 'always',
    conflict: findUnloadableArm,
    message: ({ load, isDefaultLoad }, { arm, reason }) =>
      isDefaultLoad
        ? `--protocol ${arm.conditions.protocol}: ${reason}`
        : `--generator ${load.name}: ${reason}: leave it out, and k6 makes the load`,
  },
  {
    on: 'isLoadElsewhere',
    conflict: ({ arms }) => arms.some(({ load }) => load.isInterleaved),
    message: ({ experiment }) =>
      `--load-host: the load goes to one address, and ${experiment} interleaves arms: leave it out`,
  },
  {
    on: 'isLoadElsewhere',
    conflict: ({ keepsServices }) => keepsServices,
    message: ({ experiment }) =>
      `--load-host: leave it out, the load goes to one address, and ${experiment} keeps the services of all arms at once`,
  },
  {
    on: 'isLoadElsewhere',
    conflict: ({ arms }) => arms.find(({ hasSidecars, conditions }) => !hasSidecars && conditions.services > 1),
    message: (_, { plane, conditions }) =>
      `--load-host: leave it out, the load goes to one address, and ${plane} has one for each of ${conditions.services} copies`,
  },
  {
    on: 'isLoadElsewhere',
    conflict: ({ arms }) => arms.some(({ conditions, load }) => (conditions.pairs ?? 1) > 1 && load.kind !== 'idle'),
    message: ({ experiment }) =>
      `--load-host: leave it out, the load goes to one address, and ${experiment} has one for each pair`,
  },
  {
    on: 'isLoadElsewhere',
    conflict: ({ arms }) => arms.some(({ conditions }) => conditions.interception !== undefined),
    message: () =>
      '--load-host: the load goes to an address of this machine, and redirected connections go to network namespaces: leave out one',
  },
  {
    on: 'quota',
    // Under this quota, cgroup v1 refuses a larger limit, and v2 accepts it, but it is never reached.
    conflict({ arms, quota }) {
      const limit = arms.flatMap(arm => arm.cpuLimitCores ?? []).find(cores => quota && cores > quota.cores)
      return quota && limit !== undefined && { ...quota, limit }
    },
    message: (_, { limit, ...quota }) =>
      `--cpu ${limit}: ${renderQuota(quota)}; give at most ${quota.cores}, raise that quota, or give --cpu none`,
  },
]
