import { UsageError } from '../lib/errors.js'
import { suggest } from '../lib/nearest.js'
import { parseChoice } from '../model/arms.js'
import { kindsOf } from '../model/kinds.js'
import { PROFILES, TURN_PROFILES } from './experiment.js'

/** An experiment in one of its profiles, with what was asked for beside it. Pure. */
/** @import { AxisName, Plan, PlaneChoice } from '../model/types.ts' */
/** @import { TrialKind } from '../model/kinds.js' */
/** @import { Experiment, Profile } from './experiment.js' */

/**
 * What was asked for beside the experiment; null or absent where nothing was.
 * @typedef {object} Overrides
 * @property {PlaneChoice[] | null} planes
 * @property {string[] | null} [controls] of those planes that have them
 * @property {number | null} [realMost] sidecars that are real; others are simulated, where a control plane has such
 * @property {number[] | 'none' | null} caps
 * @property {Partial<Record<Exclude<AxisName, 'capCores'>, any[]>>} axes values instead of the experiment's
 * @property {number | null} rounds
 * @property {('turns' | 'load')[]} [measure] instead of what the experiment measures
 * @property {NonNullable<Plan['precision']>} [precision] rounds go on until this is reached
 * @property {string} profile
 * @property {number} seed
 * @property {'pipy' | 'node'} app
 * @property {boolean} isPinned
 * @property {boolean} [isLoadElsewhere] the generator takes no CPU of this machine
 * @property {number} [sliceMs] in turns: for how long the load goes to one arm
 * @property {number} [windowLeastSeconds] where counters come seldom
 * @property {number} [warmupLeastSeconds] where it takes a while to hear of the window
 */

/** @typedef {{ plane: string, reason: string }} Missing what is not measured, and why */

/**
 * kind: of its trials; profile, axes: of the experiment in the profile that was asked for.
 * @typedef {{ experiment: Experiment, overrides: Overrides, kind: TrialKind, profile: Profile, axes: Experiment['axes'] }} Question
 */

/**
 * What is asked of the trials of each kind, in the order in which they are run.
 * @param {Experiment} experiment @param {Overrides} overrides @returns {Question[]}
 * @throws {UsageError} for a profile that is not known
 */
export function resolveQuestions(experiment, overrides) {
  const { axes: own, ...profile } = findProfile(experiment, overrides)
  const axes = { ...experiment.axes, ...own }
  const kinds = chooseKinds(askKinds({ ...experiment, axes }, overrides), overrides)
  return kinds.map(kind => ({
    experiment,
    overrides,
    axes,
    kind,
    profile: profileOf(kind, { experiment, profile, kinds, overrides }),
  }))
}

/**
 * The kinds of trials that were asked for, else those of the experiment.
 * @param {Experiment} experiment @param {Overrides} overrides @throws {UsageError} for an experiment of other kinds
 */
function askKinds(experiment, { measure }) {
  const own = kindsOf(experiment)
  if (measure === undefined) return own
  const isUnderLoad = own.every(kind => kind === 'turns' || kind === 'load') && experiment.load.kind !== 'idle'
  // Its rates are chosen by what each plane reaches alone.
  const isCalibrated = experiment.mostOfCapacity !== null && measure.includes('turns')
  if (isUnderLoad && !isCalibrated && !experiment.keepsServices) return measure
  throw new UsageError(`--measure ${measure}: ${experiment.name} measures something else: leave it out`)
}

/**
 * The kinds that are measured. A precision is of the cost. A load from another machine goes to one address, so no two
 * arms can stand side by side.
 * @param {TrialKind[]} kinds of the experiment @param {Overrides} overrides
 */
function chooseKinds(kinds, { precision, isLoadElsewhere }) {
  if (kinds.length === 1) return kinds
  if (precision && !isLoadElsewhere) return kinds.slice(0, 1)
  return isLoadElsewhere ? kinds.slice(1) : kinds
}

/**
 * The profile of one kind of trial. Beside turns, which show the noise, windows repeat no arm for it.
 * @param {TrialKind} kind
 * @param {{ experiment: Experiment, profile: Profile, kinds: TrialKind[], overrides: Overrides }} options
 * @returns {Profile}
 */
function profileOf(kind, { experiment, profile, kinds, overrides }) {
  if (kind === 'turns') {
    // What an experiment of two kinds says of its lengths is about the windows.
    const isOwn = `${kindsOf(experiment)}` === 'turns'
    const own = isOwn ? experiment.profiles[/** @type {'quick'} */ (overrides.profile)] : {}
    const lengths = { ...TURN_PROFILES[overrides.profile], ...own }
    return { ...lengths, rounds: overrides.rounds ?? lengths.rounds }
  }
  return { ...profile, hasControl: profile.hasControl && !kinds.includes('turns') }
}

/**
 * The planes asked for, else those of the experiment in this profile.
 * @param {Experiment} experiment @param {Overrides} overrides @returns {PlaneChoice[]}
 */
export function choosePlanes(experiment, overrides) {
  return overrides.planes ?? resolveQuestions(experiment, overrides)[0].axes.plane.map(parseChoice)
}

/**
 * @param {Experiment} experiment @param {Overrides} overrides
 * @returns {Profile & { axes?: Partial<Experiment['axes']> }}
 */
function findProfile(experiment, { profile, rounds }) {
  if (!Object.hasOwn(PROFILES, profile))
    throw new UsageError(`unknown profile "${profile}"${suggest(profile, Object.keys(PROFILES))}`)
  const own = experiment.profiles[/** @type {'quick'} */ (profile)]
  return { ...PROFILES[profile], ...own, ...(rounds ? { rounds } : {}) }
}
