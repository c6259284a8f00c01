import { groupOf, nameOf } from './arms.js'
import { PROFILES } from './experiment.js'
import { UsageError } from './lib/errors.js'
import { suggest } from './lib/nearest.js'
import { createRandom, shuffle } from './lib/random.js'

/**
 * @import { Arm, EnvoyProfile, Plan, PlaneChoice, Trial } from './types.ts'
 * @import { Experiment, Profile } from './experiment.js'
 */

// Beside one capped core of a sidecar, its peer, k6 and the applications use about 2.5 more at saturation
// (gateway-ratings, measured on two CPUs): a sidecar can bind where cap × this fits the machine.
const CPUS_PER_CAPPED_CORE = 3.5
const FALLBACK_CAP = 0.25
const SMALL_CAP = 0.25
const USERS = { default: 200, atSmallCaps: 50, openLoop: 64 }
const WARM_AFTER_REQUESTS = 3
const WARMUP_SECONDS_PER_USER_AND_CORE = 0.005
// Starting, checking, k6's own start, the tail, stopping: measured, for the estimate of the time left.
const OVERHEAD_SECONDS = 1.4

/**
 * What was asked for beside the experiment; null where nothing was.
 * @typedef {object} Overrides
 * @property {PlaneChoice[] | null} planes
 * @property {string[] | null} links
 * @property {number[] | 'none' | null} caps
 * @property {number | null} users
 * @property {number[] | null} rates of an open loop, requests per second
 * @property {number | null} payloadBytes
 * @property {number | null} rounds
 * @property {string} profile
 * @property {number} seed
 * @property {EnvoyProfile} envoyProfile
 * @property {'pipy' | 'node'} app
 * @property {boolean} isPinned
 * @property {number} [windowLeastSeconds] where counters come seldom
 * @property {number} [warmupLeastSeconds] where it takes a while to hear of the window
 */

/**
 * Every trial of a run, in its order: arms in random order within each round.
 * @param {{ experiment: Experiment, overrides: Overrides, cpus: number, missing: { plane: string, reason: string }[] }} options
 *   missing: planes whose program cannot be had
 * @returns {Plan & { notes: string[] }}
 * @throws {UsageError}
 */
export function createPlan({ experiment, overrides, cpus, missing }) {
  const profile = findProfile(experiment, overrides)
  const { caps, notes, notMeasured } = chooseCaps(experiment, overrides, cpus)
  const planes = choosePlanes(experiment, overrides).filter(({ plane }) => !missing.some(m => m.plane === plane))
  const ends = (/** @type {any[]} */ list) =>
    overrides.profile === 'smoke' && list.length > 2 ? [list[0], list.at(-1)] : list
  const links = overrides.links ?? experiment.axes.link
  const rates = overrides.rates ?? experiment.ratePerSecond ?? [null]
  const arms = ends(links).flatMap(link =>
    ends(rates).flatMap(rate =>
      planes.flatMap(choice =>
        (choice.plane === 'none' ? [null] : ends(caps)).map(cap =>
          createArm({ choice, link, cap, rate, caps, experiment, overrides, profile }),
        ),
      ),
    ),
  )
  if (arms.length === 0) throw new UsageError('nothing to measure: no plane is left')
  if (profile.hasControl) arms.push(...createControls(arms))
  const twice = arms.find((arm, i) => arms.findIndex(a => a.id === arm.id) < i)
  if (twice) throw new UsageError(`two variants are both called ${nameOf(twice)}: rename the folder of one`)
  const random = createRandom(overrides.seed)
  /** @type {Trial[]} */
  const trials = []
  for (let round = 1; round <= profile.rounds; round++) {
    for (const arm of shuffle(arms, random)) trials.push({ id: `r${round}-${arm.id}`, round, arm, repeats: null })
  }
  return {
    experiment: experiment.name,
    seed: overrides.seed,
    rounds: profile.rounds,
    arms,
    notMeasured: [...missing, ...notMeasured],
    notes,
    trials,
    settings: {
      profile: overrides.profile,
      trafficPolicy: experiment.trafficPolicy,
      envoyProfile: overrides.envoyProfile,
      app: overrides.app,
      isPinned: overrides.isPinned,
      relaxes: experiment.relaxes,
    },
  }
}

/**
 * The planes asked for, else the experiment's own.
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {PlaneChoice[]}
 */
export function choosePlanes({ axes }, { planes }) {
  return planes ?? axes.plane.map(plane => ({ plane, variant: null }))
}

/**
 * How long trials take, in seconds: an estimate.
 * @param {Trial[]} trials
 */
export function estimateSeconds(trials) {
  return trials.reduce((sum, { arm: { load } }) => sum + load.warmupSeconds + load.windowSeconds + OVERHEAD_SECONDS, 0)
}

/**
 * The largest cap at which sidecars can bind on so many CPUs.
 * @param {number} cpus
 */
export function largestBindingCap(cpus) {
  return [4, 3, 2, 1, 0.5, 0.25, 0.1].find(cap => cap * CPUS_PER_CAPPED_CORE <= cpus) ?? 0.1
}

/**
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {Profile}
 */
function findProfile(experiment, { profile, rounds }) {
  if (!(profile in PROFILES))
    throw new UsageError(`unknown profile "${profile}"${suggest(profile, Object.keys(PROFILES))}`)
  const own = experiment.profiles[/** @type {'quick'} */ (profile)]
  return { ...PROFILES[profile], ...own, ...(rounds ? { rounds } : {}) }
}

/**
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @param {number} cpus
 * @returns {{ caps: (number | null)[], notes: string[], notMeasured: { plane: string, reason: string }[] }}
 */
function chooseCaps({ axes }, { caps }, cpus) {
  if (caps === 'none') return { caps: [null], notes: [], notMeasured: [] }
  if (caps) {
    for (const cap of caps) {
      if (Math.ceil(cap) > cpus) {
        throw new UsageError(`--cpu ${cap}: this machine has ${cpus} CPUs; give at most ${cpus}, or --cpu none`)
      }
    }
    const tooLarge = caps.filter(cap => cap * CPUS_PER_CAPPED_CORE > cpus)
    const notes = tooLarge.map(
      cap =>
        `at a cap of ${cap} the sidecars can hardly bind on ${cpus} CPUs: CPU per request and memory are measured, capacity is not; for that: --cpu ${largestBindingCap(cpus)}`,
    )
    return { caps, notes, notMeasured: [] }
  }
  const binding = axes.capCores.filter(cap => cap * CPUS_PER_CAPPED_CORE <= cpus)
  const others = axes.capCores.filter(cap => !binding.includes(cap))
  const reason = (/** @type {number} */ cap) => `sidecars at ${cap} cores cannot bind on ${cpus} CPUs`
  return {
    caps: binding.length > 0 ? binding : [FALLBACK_CAP],
    notes:
      binding.length > 0
        ? []
        : [`${axes.capCores.map(reason).join('; ')}: measuring at ${FALLBACK_CAP} instead (give --cpu to choose)`],
    notMeasured: others.map(cap => ({ plane: `every plane at ${cap} cores`, reason: reason(cap) })),
  }
}

/**
 * @param {{ choice: PlaneChoice, link: string, cap: number | null, rate: number | null, caps: (number | null)[],
 *   experiment: Experiment, overrides: Overrides, profile: Profile }} options
 * @returns {Arm}
 */
function createArm({ choice, link, cap, rate, caps, experiment, overrides, profile }) {
  const usersAt = (/** @type {number | null} */ c) => (c !== null && c <= SMALL_CAP ? USERS.atSmallCaps : USERS.default)
  const usersOfClosedLoop = choice.plane === 'none' ? Math.max(...caps.map(usersAt)) : usersAt(cap)
  const users = overrides.users ?? experiment.users ?? (rate === null ? usersOfClosedLoop : USERS.openLoop)
  // At the smallest cap of the run: the handshakes of all users, and in the open loop three requests of each.
  const handshakeSeconds = cap ? (users * WARMUP_SECONDS_PER_USER_AND_CORE) / cap : 0
  const rotationSeconds = rate === null ? 0 : (WARM_AFTER_REQUESTS * 1.5 * users) / rate
  return {
    ...choice,
    id: [link, nameOf(choice).replace('=', '-'), cap, rate === null ? null : `${rate}rps`]
      .filter(part => part !== null)
      .join('-'),
    repeatOf: null,
    link,
    capCores: cap,
    load: {
      ...(rate === null ? { kind: 'closed', users } : { kind: 'open', users, ratePerSecond: rate }),
      payloadBytes: overrides.payloadBytes ?? experiment.payloadBytes,
      warmupSeconds: Math.max(
        profile.warmupSeconds,
        overrides.warmupLeastSeconds ?? 0,
        handshakeSeconds,
        rotationSeconds,
      ),
      windowSeconds: Math.max(profile.windowSeconds, overrides.windowLeastSeconds ?? 0),
    },
  }
}

/**
 * For every link, cap and load at which planes are compared, its first sidecar plane once more: an arm against
 * itself (A/A) shows the noise.
 * @param {Arm[]} arms
 * @returns {Arm[]}
 */
function createControls(arms) {
  const groups = new Map()
  for (const arm of arms.filter(a => a.plane !== 'none')) {
    const key = groupOf(arm)
    groups.set(key, [...(groups.get(key) ?? []), arm])
  }
  return [...groups.values()]
    .filter(group => group.length > 1)
    .map(([first]) => ({ ...first, id: `${first.id}-aa`, repeatOf: first.id }))
}
