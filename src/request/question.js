import { kindsOf } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { suggest } from '../lib/nearest.js'
import { parseChoice } from '../model/arms.js'
import { INTERLEAVED_PROFILES, PROFILES } from './experiment.js'

/** An experiment in one of its profiles, with what was asked for beside it. Pure. */
/** @import { AxisName, Plan, PlaneChoice, TrialKind } from '../model/types.ts' */
/** @import { Experiment, Profile } from './experiment.js' */

/**
 * Wishes beside the experiment; null or absent: none.
 * @typedef {object} Overrides
 * @property {PlaneChoice[] | null} planes
 * @property {string[] | null} [controls] of those planes that have them
 * @property {number | null} [realMost] sidecars that are real; others are simulated, where a control plane has such
 * @property {number[] | 'none' | null} cpuLimits
 * @property {Partial<Record<Exclude<AxisName, 'cpuLimitCores'>, any[]>>} axes values instead of the experiment's
 * @property {number | null} rounds
 * @property {('cost' | 'capacity')[]} [measure] instead of what the experiment measures
 * @property {NonNullable<Plan['precision']>} [precision] rounds go on until this is reached
 * @property {string} profile
 * @property {number} seed
 * @property {'pipy' | 'node'} app
 * @property {boolean} isPinned
 * @property {boolean} [isLoadElsewhere] the generator takes no CPU of this machine
 * @property {Record<string, (payloadBytes: number) => NonNullable<import('../model/types.ts').Load['ownRequest']>>} [pipelineRequests]
 *   of variants with a pipeline.yaml whose request is not the kit's
 * @property {boolean} [hasCertificate] the load speaks TLS where the experiment's does not
 * @property {boolean} [hasNamespaces] services of all arms have network namespaces of their own
 * @property {number} [sliceMs] in turns: for how long the load goes to one arm
 * @property {number} [p99Ms] the limit that a search holds
 * @property {string} [generator] other than the default
 * @property {'local' | 'kubernetes'} [target]
 * @property {'cgroup' | 'kubelet'} [samples]
 * @property {number} [burstFactor] the rate in a burst as a multiple of the rate
 * @property {number} [windowLeastSeconds] where counters come seldom
 * @property {number} [warmupLeastSeconds] where it takes a while to hear of the window
 */

/** @typedef {{ plane: string, reason: string, cpuLimitsCores?: number[] }} Missing what is not measured, and why */

/**
 * The question to one kind of trials; kinds: of the run; profile, axes: of the experiment in the profile that was asked for.
 * @typedef {{ experiment: Experiment, overrides: Overrides, kind: TrialKind, kinds: TrialKind[], profile: Profile,
 *   axes: Experiment['axes'] }} Question
 */

/** Finds the question to each kind; throws UsageError. @param {Experiment} experiment @param {Overrides} overrides */
export function resolveQuestions(experiment, overrides) {
  const { axes: ofProfile, ...profile } = findProfile(experiment, overrides)
  const axes = { ...experiment.axes, ...ofProfile }
  const kindsOfExperiment = kindsOf({ ...experiment, axes })
  const measured = overrides.measure ?? kindsOfExperiment
  // The last of two kinds runs where the load is on another machine (it has one address), the first for a precision.
  const ofTwo = overrides.isLoadElsewhere ? measured.slice(1) : overrides.precision ? measured.slice(0, 1) : measured
  const kinds = measured.length === 1 ? measured : ofTwo
  return kinds.map(kind => ({
    experiment,
    overrides,
    axes,
    kind,
    kinds,
    profile:
      kind === 'cost'
        ? interleavedProfileOf(kindsOfExperiment, { experiment, overrides })
        : // Interleaved arms show the noise: windows beside them repeat no arm for it.
          { ...profile, hasControl: profile.hasControl && !kinds.includes('cost') },
  }))
}

/** @param {TrialKind[]} kinds @param {Pick<Question, 'experiment' | 'overrides'>} question @returns {Profile} */
function interleavedProfileOf(kinds, { experiment, overrides: { profile, rounds } }) {
  // The lengths in an experiment of two kinds are those of the windows.
  const profileLengths = kinds.join() === 'cost' ? experiment.profiles[/** @type {'quick'} */ (profile)] : {}
  const lengths = { ...INTERLEAVED_PROFILES[profile], ...profileLengths }
  return { ...lengths, rounds: rounds ?? lengths.rounds }
}

/** Chooses the planes asked for, else the experiment's. @param {Experiment} experiment @param {Overrides} overrides */
export function choosePlanes(experiment, overrides) {
  return overrides.planes ?? resolveQuestions(experiment, overrides)[0].axes.plane.map(parseChoice)
}

/** @param {Experiment} experiment @param {Overrides} overrides */
function findProfile(experiment, { profile, rounds }) {
  if (!Object.hasOwn(PROFILES, profile))
    throw new UsageError(`unknown profile "${profile}"${suggest(profile, Object.keys(PROFILES))}`)
  const profileLengths = experiment.profiles[/** @type {'quick'} */ (profile)]
  return { ...PROFILES[profile], ...profileLengths, ...(rounds ? { rounds } : {}) }
}
