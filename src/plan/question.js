import { UsageError } from '../lib/errors.js'
import { suggest } from '../lib/nearest.js'
import { parseChoice } from '../model/arms.js'
import { kindOf } from '../model/kinds.js'
import { PROFILES } from './experiment.js'

/**
 * An experiment in one of its profiles, with what was asked for beside it. Pure.
 * @import { AxisName, Plan, PlaneChoice } from '../model/types.ts'
 * @import { TrialKind } from '../model/kinds.js'
 * @import { Experiment, Profile } from './experiment.js'
 */

/**
 * What was asked for beside the experiment; null or absent where nothing was.
 * @typedef {object} Overrides
 * @property {PlaneChoice[] | null} planes
 * @property {string[] | null} [controls] of those planes that have them
 * @property {number | null} [realMost] sidecars that are real; others are simulated, where a control plane has such
 * @property {number[] | 'none' | null} caps
 * @property {Partial<Record<Exclude<AxisName, 'capCores'>, any[]>>} axes values instead of the experiment's
 * @property {number | null} rounds
 * @property {NonNullable<Plan['precision']>} [precision] rounds go on until this is reached
 * @property {string} profile
 * @property {number} seed
 * @property {'pipy' | 'node'} app
 * @property {boolean} isPinned
 * @property {boolean} [isLoadElsewhere] the generator takes no CPU of this machine
 * @property {number} [windowLeastSeconds] where counters come seldom
 * @property {number} [warmupLeastSeconds] where it takes a while to hear of the window
 */

/** @typedef {{ plane: string, reason: string }} Missing what is not measured, and why */

/**
 * kind: of its trials; profile, axes: of the experiment in the profile that was asked for.
 * @typedef {{ experiment: Experiment, overrides: Overrides, kind: TrialKind, profile: Profile, axes: Experiment['axes'] }} Question
 */

/**
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {Question}
 * @throws {UsageError} for a profile that is not known
 */
export function resolveQuestion(experiment, overrides) {
  const profile = findProfile(experiment, overrides)
  const axes = { ...experiment.axes, ...profile.axes }
  return { experiment, overrides, profile, axes, kind: kindOf({ ...experiment, axes }) }
}

/**
 * The planes asked for, else those of the experiment in this profile.
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {PlaneChoice[]}
 */
export function choosePlanes(experiment, overrides) {
  return overrides.planes ?? resolveQuestion(experiment, overrides).axes.plane.map(parseChoice)
}

/**
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {Profile & { axes?: Partial<Experiment['axes']> }}
 */
function findProfile(experiment, { profile, rounds }) {
  if (!Object.hasOwn(PROFILES, profile))
    throw new UsageError(`unknown profile "${profile}"${suggest(profile, Object.keys(PROFILES))}`)
  const own = experiment.profiles[/** @type {'quick'} */ (profile)]
  return { ...PROFILES[profile], ...own, ...(rounds ? { rounds } : {}) }
}
