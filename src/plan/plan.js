import { P99_REQUESTS } from '../judge/measures.js'
import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { UsageError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { suggest } from '../lib/nearest.js'
import { createRandom, shuffle } from '../lib/random.js'
import { nameOf, parseChoice } from '../model/arms.js'
import { AXES, AXIS_NAMES, groupOf } from '../model/axes.js'
import { ROUNDS_MOST } from '../model/bounds.js'
import { canBind, largestBindingCap } from '../model/caps.js'
import { configurationOf } from '../parity/verdict/rows.js'
import { STEP_SIDECARS } from '../services/growth.js'
import { chooseControls, countSimulated, simulatesOn } from './controls.js'
import { PROFILES } from './experiment.js'

/**
 * @import { Arm, AxisName, Conditions, Plan, PlaneChoice, Trial } from '../model/types.ts'
 * @import { KindName } from '../model/kinds.js'
 * @import { Experiment, Profile } from './experiment.js'
 */

const FALLBACK_CAP = 0.25
const SMALL_CAP = 0.25
const USERS = { default: 200, atSmallCaps: 50, openLoop: 64 }
const WARM_AFTER_REQUESTS = 3
const WARMUP_SECONDS_PER_USER_AND_CORE = 0.005
// Starting, checking, k6's own start, the tail, stopping: measured, for the estimate of the time left.
const OVERHEAD_SECONDS = 1.4
const OBSERVE_SECONDS = 3
const PRECISION = { default: 0.05, smoke: 0.5 }
const PARITY_SECONDS = 4
const ARM_CHECK_SECONDS = 0.4
/** What a search takes, of each arm: measured, on a machine of its own. */
const SEARCH_TRIALS = { knee: 22, 'memory-floor': 14, size: 40 }
// Of services: the ends of the line, and the check of each.
const SERVICES_TRIALS = { line: 2, each: 3 }
// Before a burst, to know how requests are answered without one; and after it, as many times its length.
const BURST = { beginsSeconds: 2, afterLeastSeconds: 8, afterTimes: 2 }
// A capacity that rates are chosen by.
const CALIBRATION_SECONDS = 3
// Of a sidecar of a rollout, with its change: measured.
const ROLLOUT_SECONDS_PER_SIDECAR = 0.03
/** Of the control plane alone, and the words that ask for them. */
const CONTROL_WORDS = {
  sidecars: '--sidecars',
  controlCapCores: '--control-cpu',
  controlMemoryBytes: '--control-memory',
  shards: '--shards',
  assignment: '--assignment',
  sizes: '--sizes',
  isShardRemoved: '--remove-shard',
  commitsPerSecond: '--commit-rate',
  commitsAtOnce: '--concurrency',
}
// What can be asked of experiments with a control plane.
const CONTROLLED_AXES = [...Object.keys(CONTROL_WORDS), 'workers', 'configuredServices']
/** Of rollouts alone. */
const GROWS_WITHOUT = /** @type {const} */ ([
  ...['shards', 'assignment', 'sizes', 'isShardRemoved'],
  ...['commitsPerSecond', 'commitsAtOnce'],
])
// What an experiment file with a control plane has beside.
const GIVEN_AXES = ['plane', 'control', 'link', 'capCores', 'tls']
// All are made before the first runs.
const TRIALS_MOST = 100_000

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
 * Every trial of a run, in its order: arms in random order within each round.
 * @param {{ experiment: Experiment, overrides: Overrides, cpus: number, missing: Missing[],
 *   hasSidecars: (plane: string) => boolean, controlsOf?: (plane: string) => string[],
 *   runsControl?: (choice: PlaneChoice) => boolean, realMostOf?: (choice: PlaneChoice) => number | null,
 *   findUnsupported?: (arm: Arm) => string | null }} options
 *   missing: planes whose program cannot be had; controlsOf: names of the control planes of a plane; runsControl: whether
 *   a process hands out its configurations; realMostOf: sidecars that are real where nothing else is asked, null where none
 *   can be simulated; findUnsupported: why a plane cannot run an arm
 * @returns {Plan & { notes: string[] }}
 * @throws {UsageError}
 */
export function createPlan({
  experiment,
  overrides,
  cpus,
  missing,
  hasSidecars,
  controlsOf = () => [],
  runsControl = () => true,
  realMostOf = () => null,
  findUnsupported = () => null,
}) {
  const profile = findProfile(experiment, overrides)
  const axes = findAxes(experiment, overrides)
  const isOpen = (overrides.axes.ratePerSecond ?? axes.ratePerSecond ?? null) !== null
  // At saturation a cap is measured by what it lets through; elsewhere it only has to fit.
  const mustBind = !isOpen && !experiment.search && experiment.load.kind !== 'idle'
  const { caps, notes, notMeasured } = chooseCaps({ axes, overrides, cpus, mustBind })
  const chosen = choosePlanes(experiment, overrides)
  assertSearchable(experiment, chosen, hasSidecars)
  assertControlled({ experiment, overrides, axes, planes: chosen, hasSidecars })
  const given = overrides.controls ?? null
  // An arm of one sidecar names its control only where one was asked for: it has the same name as in older runs.
  const namesControls = axes.sidecars !== undefined || given !== null || axes.control !== undefined
  const contenders = namesControls
    ? chooseControls({ planes: chosen, given, own: axes.control ?? [], controlsOf })
    : chosen
  const planes = contenders.filter(({ plane }) => !missing.some(m => m.plane === plane))
  const ends = (/** @type {any[]} */ list) =>
    overrides.profile === 'smoke' && list.length > 2 ? [list[0], list.at(-1)] : list
  const lists = Object.fromEntries(
    AXIS_NAMES.filter(name => name !== 'capCores').map(name => [
      name,
      ends(overrides.axes[/** @type {'link'} */ (name)] ?? axes[name] ?? AXES[name].values),
    ]),
  )
  const cells = Object.values(lists).reduce((count, list) => count * list.length, planes.length * caps.length)
  assertFew(cells * profile.rounds, experiment)
  const isSimulable = !experiment.grows && !experiment.sizesControlOf && simulatesOn(lists)
  const ownMostOf = (/** @type {PlaneChoice} */ choice) => (isSimulable ? realMostOf(choice) : null)
  if (overrides.realMost && contenders.every(choice => ownMostOf(choice) === null))
    throw new UsageError(
      `--real ${overrides.realMost}: no control plane of this run has simulated sidecars${isSimulable ? '' : ` in ${experiment.name}`}: ${contenders.map(nameOf).join(', ') || 'there is none'}`,
    )
  const simulatedOf = (/** @type {PlaneChoice} */ choice, /** @type {number} */ count) =>
    countSimulated(count, { realMost: ownMostOf(choice), asked: overrides.realMost ?? null })
  const asked = product(lists).flatMap(cell =>
    planes.flatMap(choice =>
      (hasSidecars(choice.plane) ? ends(caps) : [null]).map(cap =>
        createArm({
          choice,
          hasSidecars: hasSidecars(choice.plane),
          isLimitable: !experiment.grows || runsControl(choice),
          cap,
          cell: { ...cell, ...(cell.sidecars !== null && { simulated: simulatedOf(choice, cell.sidecars) }) },
          caps,
          lists,
          experiment,
          overrides,
          profile,
        }),
      ),
    ),
  )
  const arms = distinct(asked)
  const reasons = new Map(arms.map(arm => [arm.id, findUnsupported(arm)]))
  const refused = refuse(arms, reasons)
  const possible = arms.filter(arm => !reasons.get(arm.id))
  if (possible.length === 0) {
    const why = refused.map(({ plane, reason }) => `${plane}: ${reason}`).join('; ')
    throw new UsageError(`nothing to measure: ${why || 'no plane is left'}`)
  }
  const { calibrations, calibrated } =
    experiment.mostOfCapacity === null ? { calibrations: [], calibrated: possible } : calibrate(possible, lists)
  const controls = profile.hasControl && !experiment.search ? createControls(calibrated) : []
  const measured = [...calibrated, ...controls]
  const random = createRandom(overrides.seed)
  const kind = findKind(experiment, axes)
  /** @type {Trial[]} */
  const trials = []
  const { precision } = overrides
  if (precision) assertPrecise({ experiment, overrides, arms: measured })
  const mostRounds = precision ? countRounds({ arms: measured, calibrations, precision }) : profile.rounds
  for (let round = 1; round <= (experiment.search ? 0 : mostRounds); round++) {
    for (const arm of shuffle(measured, random)) {
      trials.push({ id: `r${round}-${arm.id}`, kind, round, arm, repeats: null, searchOf: null })
    }
  }
  return {
    experiment: experiment.name,
    kind,
    question: experiment.question,
    claims: experiment.claims,
    seed: overrides.seed,
    rounds: mostRounds,
    ...(precision && { precision }),
    arms: measured,
    calibrations,
    mostOfCapacity: experiment.mostOfCapacity,
    search: experiment.search && {
      ...experiment.search,
      precision: overrides.profile === 'smoke' ? PRECISION.smoke : PRECISION.default,
    },
    notMeasured: [...missing, ...notMeasured, ...refused],
    notes: [...notes, ...(experiment.grows ? describeUncontrolled(possible, runsControl) : [])],
    trials,
    settings: {
      profile: overrides.profile,
      trafficPolicy: experiment.trafficPolicy,
      app: overrides.app,
      isPinned: overrides.isPinned,
      relaxes: experiment.relaxes,
      keepsServices: experiment.keepsServices,
      shows: experiment.shows,
      ...(experiment.grows && { grows: experiment.grows }),
      ...(experiment.sizesControlOf && { sizesControlOf: experiment.sizesControlOf }),
    },
  }
}

/**
 * @param {Experiment} experiment
 * @param {Experiment['axes']} axes in a profile
 * @returns {KindName}
 */
function findKind({ search, grows }, axes) {
  if (search) return 'search'
  if (grows) return 'growth'
  return axes.sidecars === undefined ? 'load' : 'rollout'
}

/**
 * The planes asked for, else those of the experiment in this profile.
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 * @returns {PlaneChoice[]}
 */
export function choosePlanes(experiment, overrides) {
  return overrides.planes ?? findAxes(experiment, overrides).plane.map(parseChoice)
}

/**
 * The axes of an experiment in a profile.
 * @param {Experiment} experiment
 * @param {Overrides} overrides
 */
function findAxes(experiment, overrides) {
  return { ...experiment.axes, ...findProfile(experiment, overrides).axes }
}

/**
 * How long trials take, in seconds: an estimate.
 * @param {Trial[]} trials
 */
export function estimateSeconds(trials) {
  return sumSeconds(trials.map(trial => trial.arm))
}

/** How many trials a search takes, of each arm. @param {NonNullable<Plan['search']>} search */
export function countSearchTrials(search) {
  if (search.kind !== 'services') return SEARCH_TRIALS[search.kind]
  return SERVICES_TRIALS.line + SERVICES_TRIALS.each * search.services.length
}

/**
 * How long a run takes with everything before its trials, in seconds: an estimate.
 * @param {Pick<Plan, 'trials' | 'calibrations' | 'search' | 'arms'>} plan
 */
export function estimatePlanSeconds({ trials, calibrations, search, arms }) {
  const own = arms.filter(arm => arm.repeatOf === null)
  const probes = new Set(own.filter(arm => arm.hasSidecars).map(arm => JSON.stringify(configurationOf(arm)))).size
  const checks = OBSERVE_SECONDS + probes * PARITY_SECONDS + own.length * ARM_CHECK_SECONDS
  const searched = search ? countSearchTrials(search) * sumSeconds(arms) : 0
  return checks + estimateSeconds(trials) + sumSeconds(calibrations) + searched
}

/** @param {Arm[]} arms each tried once */
function sumSeconds(arms) {
  return arms.reduce((sum, { load, conditions: { sidecars = 0, simulated = 0 } }) => {
    // As many as are real are started twice before.
    const started = simulated > 0 ? sidecars + 2 * (sidecars - simulated) : sidecars
    return sum + load.warmupSeconds + load.windowSeconds + OVERHEAD_SECONDS + ROLLOUT_SECONDS_PER_SIDECAR * started
  }, 0)
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

/**
 * The caps asked for, else the experiment's that fit here: in a closed loop at saturation, those that can bind.
 * @param {{ axes: Experiment['axes'], overrides: Overrides, cpus: number, mustBind: boolean }} options
 * @returns {{ caps: (number | null)[], notes: string[], notMeasured: Missing[] }}
 */
function chooseCaps({ axes, overrides: { caps, isLoadElsewhere }, cpus, mustBind }) {
  if (caps === 'none' || (caps === null && axes.capCores === 'none'))
    return { caps: [null], notes: [], notMeasured: [] }
  if (caps) {
    for (const cap of caps) {
      if (Math.ceil(cap) > cpus) {
        throw new UsageError(`--cpu ${cap}: this machine has ${cpus} CPUs; give at most ${cpus}, or --cpu none`)
      }
    }
    const tooLarge = mustBind ? caps.filter(cap => !canBind(cap, cpus, isLoadElsewhere)) : []
    const notes = tooLarge.map(
      cap =>
        `at a cap of ${cap} the sidecars can hardly bind on ${cpus} CPUs: CPU per request and memory are measured, capacity is not; for that: --cpu ${largestBindingCap(cpus, isLoadElsewhere)}`,
    )
    return { caps, notes, notMeasured: [] }
  }
  const fits = (/** @type {number} */ cap) => (mustBind ? canBind(cap, cpus, isLoadElsewhere) : Math.ceil(cap) <= cpus)
  const own = /** @type {number[]} */ (axes.capCores)
  const fitting = own.filter(fits)
  const others = own.filter(cap => !fits(cap))
  const reason = (/** @type {number} */ cap) =>
    mustBind ? `sidecars at ${cap} cores cannot bind on ${cpus} CPUs` : `this machine has ${cpus} CPUs`
  return {
    caps: fitting.length > 0 ? fitting : [FALLBACK_CAP],
    notes:
      fitting.length > 0
        ? []
        : [`${own.map(reason).join('; ')}: measuring at ${FALLBACK_CAP} instead (give --cpu to choose)`],
    notMeasured: others.map(cap => ({ plane: `every plane at ${cap} cores`, reason: reason(cap) })),
  }
}

/**
 * @param {Experiment} experiment
 * @param {PlaneChoice[]} planes
 * @param {(plane: string) => boolean} hasSidecars
 * @throws {UsageError} for a search for a limit that a plane has no sidecars to give to
 */
function assertSearchable({ name, search }, planes, hasSidecars) {
  if (search === null || search.kind === 'knee') return
  const without = planes.find(({ plane }) => !hasSidecars(plane))
  if (!without) return
  throw new UsageError(
    `--planes ${without.plane}: ${name} looks for a limit of sidecars, and it has none: leave it out`,
  )
}

/**
 * Whether an experiment with a control plane is asked what it can be.
 * @param {{ experiment: Experiment, overrides: Overrides, axes: Experiment['axes'], planes: PlaneChoice[],
 *   hasSidecars: (plane: string) => boolean }} options
 * @throws {UsageError}
 */
function assertControlled({
  experiment: { name, load, keepsServices, grows, targets },
  overrides,
  axes,
  planes,
  hasSidecars,
}) {
  if (axes.sidecars === undefined) {
    if (grows) throw new UsageError(`${name} grows, and does not say up to how many: add the axis sidecars: [400]`)
    const isChanged = axes.changesPerMinute !== undefined
    const controlled = planes.find(({ control }) => control !== undefined)
    const words = /** @type {[keyof typeof CONTROL_WORDS, string][]} */ (Object.entries(CONTROL_WORDS))
    const option =
      words.find(([axis]) => overrides.axes[axis])?.[1] ||
      (!isChanged && ((overrides.controls && '--control') || (controlled && `--planes ${nameOf(controlled)}`)))
    if (option)
      throw new UsageError(
        `${option} needs an experiment with a control plane of many sidecars, such as rollout: ${name} has none`,
      )
    const alone = Object.keys(axes).find(axis => (axis === 'control' && !isChanged) || axis in CONTROL_WORDS)
    if (alone) throw new UsageError(`${name} has the axis ${alone}, and no axis sidecars: give it that, too`)
    return
  }
  assertSharded(axis => overrides.axes[axis] ?? axes[axis], name)
  const uneven = grows && (overrides.axes.sidecars ?? axes.sidecars).find(sidecars => sidecars % STEP_SIDECARS !== 0)
  const unheard = grows && GROWS_WITHOUT.find(axis => overrides.axes[axis] ?? axes[axis])
  if (grows && targets.some(target => target !== 'local'))
    throw new UsageError(`${name} grows, which runs on this machine only: give it targets: [local]`)
  if (unheard) throw new UsageError(`${name} grows one control plane, and says nothing of ${unheard}: leave that out`)
  if (uneven)
    throw new UsageError(`--sidecars ${uneven}: ${name} adds ${STEP_SIDECARS} at a time: give a multiple of that`)
  const isPlaintext = axes.tls?.every(tls => tls === 'plaintext')
  if (load.kind !== 'idle' || keepsServices || axes.capCores !== 'none' || !isPlaintext) {
    throw new UsageError(
      `${name} varies sidecars: it must have load { kind: idle }, capCores none, tls plaintext, and keep no services`,
    )
  }
  const ignored = Object.keys(axes).find(axis => ![...CONTROLLED_AXES, ...GIVEN_AXES].includes(axis))
  if (ignored) throw new UsageError(`${name} varies sidecars, and says nothing of its axis ${ignored}: leave that out`)
  const without = planes.find(({ plane }) => !hasSidecars(plane))
  if (without) throw new UsageError(`--planes ${without.plane}: ${name} starts sidecars, and it has none: leave it out`)
  if (overrides.caps !== null && overrides.caps !== 'none')
    throw new UsageError(`--cpu: the sidecars of ${name} run in batches, and none has a limit of its own: leave it out`)
  const given = Object.entries(overrides.axes).find(([axis, values]) => values && !CONTROLLED_AXES.includes(axis))
  if (given) throw new UsageError(`${name} varies sidecars, and says nothing of ${given[0]}: leave that out`)
}

/**
 * @param {(axis: 'sidecars' | 'shards' | 'assignment' | 'sizes' | 'isShardRemoved' | 'configuredServices') => any[] | undefined} asked
 *   of an axis
 * @param {string} name of the experiment
 * @throws {UsageError} for what makes no difference, for shards without a sidecar, and for a shard to be removed that is the only one
 */
function assertSharded(asked, name) {
  if (asked('assignment') && !asked('shards'))
    throw new UsageError(`${name} is asked for an assignment to shards, and has one control plane: give it --shards`)
  const shards = asked('shards') ?? [1]
  if (asked('isShardRemoved')?.includes(true) && Math.min(...shards) < 2)
    throw new UsageError(
      `${name} is to remove a shard, and has an arm with one control plane: give it --shards of at least 2`,
    )
  const most = Math.max(...shards)
  const least = Math.min(...(asked('sidecars') ?? []))
  if (most > least)
    throw new UsageError(
      `${name} is asked for ${most} shards of ${least} sidecars, and some would have none: give --shards of at most ${least}, or more --sidecars`,
    )
  if (asked('sizes')?.includes('random') && Math.max(...(asked('configuredServices') ?? [0])) === 0)
    throw new UsageError(`${name} has sidecars that know no services, and no random sizes: leave --sizes out`)
}

/**
 * @param {Arm[]} arms that grow
 * @param {(choice: PlaneChoice) => boolean} runsControl
 */
function describeUncontrolled(arms, runsControl) {
  const names = new Set(arms.filter(arm => !runsControl(arm)).map(nameOf))
  return [...names].map(
    name => `${name}: its sidecars grow without a control plane, each from files of its own, and nothing is limited`,
  )
}

/**
 * @param {number} trials
 * @param {Experiment} experiment
 * @throws {UsageError} before so many are made
 */
function assertFew(trials, { name }) {
  if (trials <= TRIALS_MOST) return
  throw new UsageError(`${name} would be ${trials} trials, at most ${TRIALS_MOST}: ask for fewer values or rounds`)
}

/**
 * @param {{ experiment: Experiment, overrides: Overrides, arms: Arm[] }} options
 * @throws {UsageError} where there is nothing that rounds could make precise
 */
function assertPrecise({ experiment: { name, search, load, keepsServices, shows }, overrides, arms }) {
  const planes = arms.filter(arm => arm.hasSidecars && arm.repeatOf === null)
  const hasPair = shows.contrasts.length > 0 || new Set(planes.map(arm => groupOf(arm))).size < planes.length
  const why = search
    ? `${name} is a search, and has no rounds`
    : load.kind === 'idle'
      ? `${name} has no requests, and so no CPU per request`
      : keepsServices
        ? `${name} watches the same processes over time`
        : hasPair
          ? null
          : 'no two planes are compared: name two with --planes'
  if (why !== null) throw new UsageError(`--precision is for ratios of CPU per request, and ${why}`)
  if (overrides.rounds) throw new UsageError(`--precision decides how many rounds there are: leave out --rounds`)
}

/**
 * The rounds that there is time for.
 * @param {{ arms: Arm[], calibrations: Arm[], precision: NonNullable<Plan['precision']> }} options
 * @throws {UsageError} where the time is too short for an interval
 */
function countRounds({ arms, calibrations, precision: { maxMinutes } }) {
  const before = estimatePlanSeconds({ arms, calibrations, trials: [], search: null })
  const count = Math.floor((60 * maxMinutes - before) / sumSeconds(arms))
  if (count < SEQUENCE_LEAST) {
    const minutes = Math.ceil((before + SEQUENCE_LEAST * sumSeconds(arms)) / 60)
    throw new UsageError(
      `--precision needs at least ${SEQUENCE_LEAST} rounds, about ${minutes} min here, and --max-minutes allows ${maxMinutes}: give it ${minutes}, or ask for less (--profile quick, --planes)`,
    )
  }
  return Math.min(count, ROUNDS_MOST, Math.floor(TRIALS_MOST / arms.length))
}

/**
 * Every combination of one value of each list.
 * @param {Record<string, any[]>} lists
 * @returns {Record<string, any>[]}
 */
function product(lists) {
  return Object.entries(lists).reduce(
    (cells, [name, values]) => cells.flatMap(cell => values.map(value => ({ ...cell, [name]: value }))),
    /** @type {Record<string, any>[]} */ ([{}]),
  )
}

/**
 * @param {{ choice: PlaneChoice, hasSidecars: boolean, isLimitable: boolean, cap: number | null, cell: Record<string, any>,
 *   caps: (number | null)[], lists: Record<string, any[]>, experiment: Experiment, overrides: Overrides, profile: Profile }} options
 *   isLimitable: it has a control plane; cell: its place on the axes
 * @returns {Arm}
 */
function createArm({ choice, hasSidecars, isLimitable, cap, cell, caps, lists, experiment, overrides, profile }) {
  const usersAt = (/** @type {number | null} */ c) => (c !== null && c <= SMALL_CAP ? USERS.atSmallCaps : USERS.default)
  const usersOfClosedLoop = hasSidecars ? usersAt(cap) : Math.max(...caps.map(usersAt))
  const rate = cell.ratePerSecond && cell.ratePerSecond * (experiment.load.ratePer === 'service' ? cell.services : 1)
  const isIdle = experiment.load.kind === 'idle'
  const users = isIdle ? 0 : (cell.users ?? (rate === null ? usersOfClosedLoop : USERS.openLoop))
  // Without sidecars, what only sidecars are given makes no difference.
  const given = (/** @type {AxisName} */ name) =>
    hasSidecars || !AXES[name].isOfSidecars ? cell[name] : AXES[name].values[0]
  /** @type {Conditions} */
  const conditions = {
    services: given('services'),
    tls: given('tls'),
    protocol: given('protocol'),
    workers: given('workers'),
    configuredServices: given('configuredServices'),
    memoryLimitBytes: given('memoryLimitBytes'),
    changesPerMinute: given('changesPerMinute'),
    features: given('features'),
    ...Object.fromEntries(
      Object.keys(CONTROL_WORDS).flatMap(name =>
        cell[name] === null || (name !== 'sidecars' && !isLimitable) ? [] : [[name, cell[name]]],
      ),
    ),
    ...(cell.simulated > 0 && { simulated: cell.simulated }),
  }
  /** @type {Arm} */
  const arm = {
    ...choice,
    id: '',
    repeatOf: null,
    calibratedBy: null,
    hasSidecars,
    link: cell.link,
    capCores: cap,
    conditions,
    load: {
      ...(isIdle
        ? { kind: 'idle', users }
        : rate === null
          ? { kind: 'closed', users }
          : { kind: 'open', users, ratePerSecond: rate }),
      payloadBytes: cell.payloadBytes,
      connections: cell.connections,
      hasCertificate: experiment.load.hasCertificate && hasSidecars && conditions.tls !== 'plaintext',
      burst: cell.burstSeconds
        ? { factor: experiment.load.burstFactor, beginsSeconds: BURST.beginsSeconds, seconds: cell.burstSeconds }
        : null,
      ...chooseLengths({ cap, users, rate, burstSeconds: cell.burstSeconds, overrides, profile }),
      ...(experiment.search && rate ? { windowSeconds: Math.max(profile.windowSeconds, P99_REQUESTS / rate) } : {}),
    },
  }
  return { ...arm, id: idOf(arm, lists) }
}

/**
 * How long an arm is warmed up and measured.
 * @param {{ cap: number | null, users: number, rate: number | null, burstSeconds: number | null, overrides: Overrides,
 *   profile: Profile }} options
 */
function chooseLengths({ cap, users, rate, burstSeconds, overrides, profile }) {
  const { beginsSeconds, afterLeastSeconds, afterTimes } = BURST
  return {
    warmupSeconds: Math.max(
      profile.warmupSeconds,
      overrides.warmupLeastSeconds ?? 0,
      findWarmupLeast({ users, cap, rate }),
    ),
    windowSeconds: burstSeconds
      ? beginsSeconds + burstSeconds + Math.max(afterLeastSeconds, afterTimes * burstSeconds)
      : Math.max(profile.windowSeconds, overrides.windowLeastSeconds ?? 0),
  }
}

/**
 * The time for the handshakes of all users, and in the open loop for three requests of each.
 * @param {{ users: number, cap: number | null, rate: number | null }} options
 */
function findWarmupLeast({ users, cap, rate }) {
  const handshakeSeconds = cap ? (users * WARMUP_SECONDS_PER_USER_AND_CORE) / cap : 0
  return Math.max(handshakeSeconds, rate === null ? 0 : (WARM_AFTER_REQUESTS * 1.5 * users) / rate)
}

/**
 * An arm of a search with the warm-up that its cap and rate need.
 * @param {Arm} arm
 * @returns {Arm}
 */
export function withWarmupFor(arm) {
  const { users, ratePerSecond = null } = arm.load
  const least = findWarmupLeast({ users, cap: arm.capCores, rate: ratePerSecond })
  const warmupSeconds = Math.max(arm.load.warmupSeconds, least)
  return { ...arm, load: { ...arm.load, warmupSeconds } }
}

/**
 * The name of an arm within its run: link, plane, cap and rate, and what else the run varies.
 * @param {Arm} arm
 * @param {Record<string, any[]>} lists
 */
function idOf(arm, lists) {
  const others = AXIS_NAMES.filter(name => !['link', 'capCores', 'ratePerSecond'].includes(name))
  const varied = others.filter(name => lists[name].length > 1 && AXES[name].of(arm) !== null)
  const { ratePerSecond } = arm.load
  return [
    arm.link,
    // It is a folder's name, too, and a variant may be called anything.
    nameOf(arm)
      .replaceAll(/[^A-Za-z0-9._]+/g, '-')
      .slice(0, 80),
    arm.capCores,
    ratePerSecond === undefined ? null : `${ratePerSecond}rps`,
    ...varied.map(name => AXES[name].show(AXES[name].of(arm)).replaceAll(/[^A-Za-z0-9.]+/g, '-')),
  ]
    .filter(part => part !== null)
    .join('-')
}

/**
 * Arms without those that are the same as one before (none, where only sidecars differ).
 * @param {Arm[]} arms
 * @returns {Arm[]}
 */
function distinct(arms) {
  /** @type {Map<string, Arm>} */
  const byId = new Map()
  for (const arm of arms) {
    const same = byId.get(arm.id)
    if (same && same.variant !== arm.variant)
      throw new UsageError(`two variants are both called ${nameOf(arm)}: rename the folder of one`)
    if (!same) byId.set(arm.id, arm)
  }
  return [...byId.values()]
}

/**
 * What planes cannot do, each reason once.
 * @param {Arm[]} arms
 * @param {Map<string, string | null>} reasons by the arm's id
 * @returns {Missing[]}
 */
function refuse(arms, reasons) {
  /** @type {Map<string, Missing>} */
  const refused = new Map()
  for (const arm of arms) {
    const reason = reasons.get(arm.id)
    if (reason) refused.set(`${nameOf(arm)} ${reason}`, { plane: nameOf(arm), reason })
  }
  return [...refused.values()]
}

/**
 * A closed loop for every plane, link, cap and condition of an open loop, and the arms with the one that is theirs.
 * @param {Arm[]} arms
 * @param {Record<string, any[]>} lists
 */
function calibrate(arms, lists) {
  /** @type {Map<string, Arm>} */
  const calibrations = new Map()
  const calibrated = arms.map(arm => {
    const { ratePerSecond, ...load } = arm.load
    if (ratePerSecond === undefined) return arm
    /** @type {Arm} */
    const closed = { ...arm, load: { ...load, kind: 'closed', windowSeconds: CALIBRATION_SECONDS } }
    const id = `capacity-${idOf(closed, lists)}`
    if (!calibrations.has(id)) calibrations.set(id, { ...closed, id })
    return { ...arm, calibratedBy: id }
  })
  return { calibrations: [...calibrations.values()], calibrated }
}

/**
 * For every link, cap and load at which planes are compared, its first sidecar plane once more: an arm against
 * itself (A/A) shows the noise.
 * @param {Arm[]} arms
 * @returns {Arm[]}
 */
function createControls(arms) {
  const groups = groupBy(
    arms.filter(arm => arm.hasSidecars),
    arm => groupOf(arm),
  )
  return [...groups.values()]
    .filter(group => group.length > 1)
    .map(([first]) => ({ ...first, id: `${first.id}-aa`, repeatOf: first.id }))
}
