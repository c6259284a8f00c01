import { listKinds } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { parsePlaneChoice } from '../model/arms.js'
import { INTERLEAVED_PROFILES, PROFILES } from './experiment.js'

/**
 * An experiment in one of its profiles, with the options of the command line. Pure.
 * @import { AxisName, Plan, PlaneChoice, TrialKind } from '../model/types.ts'
 * @import { Experiment, Profile } from './experiment.js'
 */

/**
 * Options that override the experiment; null or absent: as the experiment has it.
 * @typedef {object} Overrides
 * @property {PlaneChoice[] | null} planes
 * @property {string[] | null} [controls] names of controls, for the planes that have them
 * @property {number | null} [realMost] the most sidecars that are real; others are simulated, if the control plane can
 * @property {number[] | 'none' | null} cpuLimits
 * @property {Partial<Record<Exclude<AxisName, 'cpuLimitCores'>, any[]>>} axes values instead of the experiment's
 * @property {number | null} rounds
 * @property {('cost' | 'capacity')[]} [measure] instead of what the experiment measures
 * @property {NonNullable<Plan['precision']>} [precision] rounds run until this is reached
 * @property {string} profile
 * @property {number} seed
 * @property {'pipy' | 'node'} app
 * @property {boolean} isPinned
 * @property {boolean} [isLoadElsewhere] the generator takes no CPU of this machine
 * @property {Record<string, (payloadBytes: number) => NonNullable<import('../model/types.ts').Load['ownRequest']>>} [pipelineRequests]
 *   of variants with a pipeline.yaml whose request is not the kit's
 * @property {boolean} [hasCertificate] the load speaks TLS where the experiment's does not
 * @property {boolean} [hasNamespaces] services of all arms have network namespaces of their own
 * @property {number} [sliceMs] of interleaved arms: for how long the load goes to one of them
 * @property {number} [p99Ms] the limit that a search holds
 * @property {string} [generator] other than the default
 * @property {'local' | 'kubernetes'} [target]
 * @property {'cgroup' | 'kubelet'} [samples]
 * @property {number} [burstFactor] the rate in a burst as a multiple of the rate
 * @property {number} [windowLeastSeconds] the shortest window, for counters that come seldom
 * @property {number} [warmupLeastSeconds] the shortest warm-up, for observers that learn late of the window
 */

/**
 * A plane that is not measured.
 * @typedef {object} Missing
 * @property {string} plane
 * @property {string} reason
 * @property {number[]} [cpuLimitsCores] the limits at which it is not measured; absent: all
 * @property {true} [isRefused] it is here, and cannot do what was asked of it; absent: it is not here, or did not start
 */

/**
 * The part of an experiment that one kind of trials answers.
 * @typedef {object} Question
 * @property {Experiment} experiment
 * @property {Overrides} overrides
 * @property {TrialKind} kind
 * @property {TrialKind[]} kinds all of the run
 * @property {Profile} profile as the options override it
 * @property {Experiment['axes']} axes those of the experiment with those of its profile
 */

/**
 * Creates a question for each kind of trials of the run, in the order in which they run.
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {Question[]} at least one
 * @throws {UsageError} for a profile that the kit does not have
 */
export function createQuestions(experiment, overrides) {
  const { axes: profileAxes, ...profile } = createProfile(experiment, overrides)
  const axes = { ...experiment.axes, ...profileAxes }
  const kindsOfExperiment = listKinds({ ...experiment, axes })
  const kinds = chooseKinds(overrides.measure ?? kindsOfExperiment, overrides)
  // The A/A control of interleaved arms shows the noise of the run: windows beside them need none.
  const windowProfile = { ...profile, hasControl: profile.hasControl && !kinds.includes('cost') }
  const interleavedProfile = createInterleavedProfile(kindsOfExperiment, { experiment, overrides })
  return kinds.map(kind => ({
    experiment,
    overrides,
    axes,
    kind,
    kinds,
    profile: kind === 'cost' ? interleavedProfile : windowProfile,
  }))
}

/**
 * Chooses the kinds of trials that a run can measure: it leaves out cost if the load comes from elsewhere, else capacity if a
 * precision is wanted. A kind that is alone stays.
 * @param {TrialKind[]} kinds one, or cost and then capacity
 * @param {Pick<Overrides, 'isLoadElsewhere' | 'precision'>} overrides
 * @returns {TrialKind[]}
 */
function chooseKinds(kinds, { isLoadElsewhere, precision }) {
  if (kinds.length === 1) return kinds
  // A load from another machine goes to one address, which excludes cost.
  if (isLoadElsewhere) return kinds.slice(1)
  // A precision is one of cost ratios, which excludes capacity.
  return precision ? kinds.slice(0, 1) : kinds
}

/**
 * Creates the profile of interleaved arms: that of the kit, with the lengths of the experiment if it has no other trials, and
 * with --rounds.
 * @param {TrialKind[]} kinds of the experiment
 * @param {Pick<Question, 'experiment' | 'overrides'>} question
 * @returns {Profile}
 */
function createInterleavedProfile(kinds, { experiment, overrides: { profile, rounds } }) {
  // An experiment of two kinds has lengths for the windows of capacity: for cost, the defaults hold.
  const profileLengths = kinds.join() === 'cost' ? experiment.profiles[/** @type {'quick'} */ (profile)] : {}
  const lengths = { ...INTERLEAVED_PROFILES[profile], ...profileLengths }
  return { ...lengths, rounds: rounds ?? lengths.rounds }
}

/**
 * Chooses the planes: those of --planes, else those of the experiment in its profile.
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {PlaneChoice[]}
 * @throws {UsageError} for a profile that the kit does not have, unless --planes replaces the planes
 */
export function choosePlanes(experiment, overrides) {
  return overrides.planes ?? createQuestions(experiment, overrides)[0].axes.plane.map(parsePlaneChoice)
}

/**
 * Creates the profile of a run: that of the kit, with the lengths of the experiment and --rounds.
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {Profile & { axes?: Partial<Experiment['axes']> }} axes: those of this profile; absent: it has none
 * @throws {UsageError} for a profile that the kit does not have
 */
function createProfile(experiment, { profile, rounds }) {
  if (!Object.hasOwn(PROFILES, profile))
    throw new UsageError(`unknown profile "${profile}"${renderSuggestion(profile, Object.keys(PROFILES))}`)
  const profileLengths = experiment.profiles[/** @type {'quick'} */ (profile)]
  return { ...PROFILES[profile], ...profileLengths, ...(rounds ? { rounds } : {}) }
}
