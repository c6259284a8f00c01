import { UsageError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { createRandom, shuffleItems } from '../lib/random.js'
import { createGroupKey, renderArmName } from '../model/arms.js'
import { computeSlowSeconds } from '../model/requests.js'
import { WARM_AFTER_REQUESTS } from './load.js'

/**
 * Arms that stand at the same time and share one load. Pure.
 * @import { Arm, Load, Trial } from '../model/types.ts'
 */

/** The most arms in one deployment, for the memory of a small node. Planes under one condition stay together, up to PLANES_MOST. */
const TOGETHER_MOST = 6
const PLANES_MOST = 8
// Requests/s of all arms together, per CPU of the machine: a request at a low rate costs up to 760 µs of a sidecar pair
// (two shared CPUs, docs/evidence/turns.md), and the generator and the applications need as much again.
const TOGETHER_PER_CPU = 250
// Turns of arms with a rate, and the fewest that each arm has in a window.
const RATE_SLICE_MS = 1000
const RATE_SLICES_LEAST = 3
// A closed loop warms up until every user has had three answers of an arm, on a machine that is busy.
const WARMUP_SECONDS_AN_ARM = 0.3
// A connection may be unused in a part of the turn before, and a turn begins late on a busy machine.
const IDLE_SHARE_MOST = 0.8
// Turns of 200 ms cost up to 8 % more µs than turns of a second, and shorter ones more (docs/evidence/accuracy.md).
const SHORTENED_LEAST_MS = 200

/**
 * Finds the idle timeout of an arm, in seconds: its sidecars then close unused connections. Infinity: they keep them.
 * @typedef {(arm: Arm) => number} FindArmIdleSeconds
 */

/** Finds no idle timeout: connections stay open. @type {FindArmIdleSeconds} */
export const keepForever = () => Number.POSITIVE_INFINITY

/**
 * Lets arms of one link and load share one generator: a low rate goes to all at the same time, a higher rate or a
 * closed loop to one after the other, in turns. With turns, warm-up and window are whole passes, in each of which every arm
 * has one turn, and may be longer than those of the load. All arms of a generator have the warm-up of the slowest.
 * @param {Arm[]} arms
 * @param {{ cpus: number, findArmIdleSeconds?: FindArmIdleSeconds }} options findArmIdleSeconds: absent: connections stay open
 * @returns {Arm[]} the arms with new loads, in the same order
 * @throws {UsageError} as `splitDeployments`
 */
export function shareLoads(arms, { cpus, findArmIdleSeconds = keepForever }) {
  const sharedArms = groupByGenerator(arms).flatMap(group => {
    // All arms of a load have the same turns, in whichever deployment they are.
    const { count, sliceMs } = planTurns(group, { cpus, findArmIdleSeconds })
    // One generator warms all up: as long as the slowest needs, with three answers of each arm in turn.
    const slowSeconds = Math.max(...group.map(({ load }) => computeSlowSeconds(load)))
    const warmupSeconds = Math.max(
      ...group.map(({ load }) => load.warmupSeconds),
      count * WARM_AFTER_REQUESTS * slowSeconds,
    )
    return group.map(arm => {
      const load = fitLoadToTurns(arm.load, { count, sliceMs, warmupSeconds })
      return /** @type {const} */ ([arm, { ...arm, load }])
    })
  })
  const sharedByArm = new Map(sharedArms)
  return arms.map(arm => /** @type {Arm} */ (sharedByArm.get(arm)))
}

/**
 * Fits a load into the turns of a generator.
 * @param {Load} load of one of the arms
 * @param {{ count: number, sliceMs: number | undefined, warmupSeconds: number }} turns count: of the arms that take turns;
 *   sliceMs: undefined: all have the load at the same time; warmupSeconds: that the slowest arm needs
 * @returns {Load} with at least this window and warm-up; only the warm-up changes if all have a rate at the same time. With turns at
 *   a rate, each arm has the whole warm-up in its own turns
 */
function fitLoadToTurns(load, { count, sliceMs, warmupSeconds }) {
  if (load.ratePerSecond === undefined)
    return { ...load, sliceMs, ...roundClosedLoop({ ...load, sliceMs, warmupSeconds }, count) }
  if (sliceMs === undefined) return { ...load, warmupSeconds }
  // With shorter slices an arm still gets as much of the window as with slices of the usual length.
  const leastSeconds = Math.max(load.windowSeconds, (RATE_SLICES_LEAST * count * RATE_SLICE_MS) / 1000)
  const windowSeconds = roundToPasses(leastSeconds, count * sliceMs)
  const passSeconds = (count * sliceMs) / 1000
  const passesSeconds = Math.ceil((1000 * warmupSeconds) / sliceMs) * passSeconds
  return { ...load, sliceMs, windowSeconds, warmupSeconds: passesSeconds }
}

/**
 * Renders a note if turns are shorter than usual, or so long that a plane closes its idle connections between two of
 * them.
 * @param {Arm[]} arms before they share loads
 * @param {{ cpus: number, findArmIdleSeconds: FindArmIdleSeconds }} options
 * @returns {string[]} each note once; []: turns need no note
 * @throws {UsageError} as `splitDeployments`
 */
export function renderTurnNotes(arms, options) {
  const notes = groupByGenerator(arms).flatMap(group => {
    const { count, sliceMs, usualMs, firstToClose } = planTurns(group, options)
    if (sliceMs === undefined || usualMs === undefined || firstToClose === undefined) return []
    const idleSeconds = options.findArmIdleSeconds(firstToClose)
    const closing = `${renderArmName(firstToClose)} closes connections that were idle for ${idleSeconds} s`
    if (sliceMs < usualMs) return [`turns of ${sliceMs} ms instead of ${usualMs}: ${closing}`]
    const passMs = count * sliceMs
    if (passMs <= 1000 * idleSeconds) return []
    return [
      `${closing}, and each of ${count} arms in turns of ${sliceMs} ms is idle for up to ${passMs / 1000} s: its cost includes opening them again, so measure it beside fewer (--planes)`,
    ]
  })
  return [...new Set(notes)]
}

/**
 * Chooses the turns of arms that share a load. An arm is idle while the others have their turns (`orderSlices`).
 * Turns are shortened to keep this idle time clearly below the shortest idle timeout: else that arm would reopen its
 * connections in each turn, as it does under no steady load. If turns would become too short, they keep their usual
 * length.
 * @param {Arm[]} group arms that share a generator
 * @param {{ cpus: number, findArmIdleSeconds: FindArmIdleSeconds }} options
 * @returns {{ count: number, sliceMs?: number, usualMs?: number, firstToClose?: Arm }} count: the arms that take
 *   turns; sliceMs: undefined: all arms get their rate at the same time; usualMs: the length without shortening;
 *   firstToClose: the arm with the shortest idle timeout, which may be Infinity; absent: no arm has sidecars with kept
 *   connections, there are no turns, or only one arm would take them
 * @throws {UsageError} as `splitDeployments`
 */
function planTurns(group, { cpus, findArmIdleSeconds }) {
  const count = Math.max(...splitDeployments(group).map(deployment => deployment.length))
  const [{ load }] = group
  const usualMs = chooseUsualSliceMs(load, { count, cpus })
  const closable = group.filter(arm => arm.hasSidecars && load.connections !== 'new')
  const firstToClose = closable.toSorted((a, b) => findArmIdleSeconds(a) - findArmIdleSeconds(b)).at(0)
  if (usualMs === undefined || count === 1 || firstToClose === undefined) return { count, sliceMs: usualMs, usualMs }
  const mostMs = (IDLE_SHARE_MOST * 1000 * findArmIdleSeconds(firstToClose)) / count
  const fittedMs = mostMs >= usualMs ? usualMs : Math.floor(mostMs / 10) * 10
  return { count, sliceMs: fittedMs < SHORTENED_LEAST_MS ? usualMs : fittedMs, usualMs, firstToClose }
}

/**
 * Chooses the length of a turn before it is shortened.
 * @param {Load} load
 * @param {{ count: number, cpus: number }} options count: the arms that take turns
 * @returns {number | undefined} undefined: the machine can bear the rates of all arms at the same time, or a load without a rate has
 *   no slices
 */
function chooseUsualSliceMs({ ratePerSecond, sliceMs }, { count, cpus }) {
  if (ratePerSecond === undefined) return sliceMs
  return count * ratePerSecond <= TOGETHER_PER_CPU * cpus ? undefined : RATE_SLICE_MS
}

/**
 * Rounds a duration up to whole passes; in a pass every arm has one turn.
 * @param {number} seconds
 * @param {number} passMs
 * @returns {number} seconds
 */
function roundToPasses(seconds, passMs) {
  return (Math.ceil((1000 * seconds) / passMs) * passMs) / 1000
}

/**
 * Rounds the warm-up and the window of a closed loop up to whole passes. The warm-up is at least WARMUP_SECONDS_AN_ARM for each arm.
 * @param {Load} load with its sliceMs; without it, a pass is a millisecond
 * @param {number} count of arms that take turns
 * @returns {{ warmupSeconds: number, windowSeconds: number }}
 */
function roundClosedLoop({ sliceMs = 0, warmupSeconds, windowSeconds }, count) {
  const passMs = Math.max(1, count * sliceMs)
  return {
    warmupSeconds: roundToPasses(Math.max(warmupSeconds, count * WARMUP_SECONDS_AN_ARM), passMs),
    windowSeconds: roundToPasses(windowSeconds, passMs),
  }
}

/**
 * Creates the trials of every round. Deployments come in random order; within a deployment the order of arms is drawn once, and
 * rotates from round to round. An arm that is in several deployments has a trial in each.
 * @param {{ arms: Arm[], rounds: number, seed: number }} options
 * @returns {Omit<Trial, 'kind'>[]} interleaving: names the deployment and the round; []: there are 0 rounds
 * @throws {UsageError} as `splitDeployments`
 */
export function createInterleavedTrials({ arms, rounds, seed }) {
  const random = createRandom(seed)
  const deployments = groupByGenerator(arms)
    .flatMap(splitDeployments)
    .map(deployment => shuffleItems(deployment, random))
  const trials = []
  for (let round = 1; round <= rounds; round++) {
    for (const deployment of shuffleItems(deployments, random)) {
      const suffix = deployments.length > 1 ? `-${deployments.indexOf(deployment) + 1}` : ''
      const interleaving = `r${round}-interleaved${suffix}`
      for (const arm of rotateArms(deployment, round)) {
        const id = `r${round}${suffix}-${arm.id}`
        trials.push({ id, round, arm, interleaving, repeats: null, searchOf: null })
      }
    }
  }
  return trials
}

/**
 * Rotates arms by one for each round, and reverses their order in every other stretch of as many rounds as there are arms, so that
 * each arm follows either neighbour.
 * @param {Arm[]} arms
 * @param {number} round from 1 on
 * @returns {Arm[]}
 */
function rotateArms(arms, round) {
  const earlierRounds = round - 1
  const rotated = arms.map((_, i) => arms[(i + earlierRounds) % arms.length])
  return Math.floor(earlierRounds / arms.length) % 2 === 1 ? rotated.toReversed() : rotated
}

/**
 * Groups arms to which one generator can send requests: those of one link and load. Only times, requests and idle connections of the
 * load may differ.
 * @param {Arm[]} arms
 * @returns {Arm[][]}
 */
export function groupByGenerator(arms) {
  // One generator can make requests of another size or kind for each arm. Slices and warm-ups are those of the group (`shareLoads`).
  const createGeneratorKey = (/** @type {Arm} */ { link, load }) => {
    const { sliceMs, windowSeconds, warmupSeconds, payloadBytes, requests, traffic, ownRequest, ...rest } = load
    const { idleConnections, ...shared } = rest
    return JSON.stringify([link, shared])
  }
  return [...groupBy(arms, createGeneratorKey).values()]
}

/**
 * Splits arms of one link and load into deployments of at most TOGETHER_MOST. Planes under the same conditions stay
 * together, even if they are more. If there is room, each deployment also has the arms under the first conditions;
 * one has the A/A repeats.
 * @param {Arm[]} arms
 * @returns {Arm[][]} deployments; an arm may be in several
 * @throws {UsageError} for more planes under the same conditions than PLANES_MOST
 */
function splitDeployments(arms) {
  if (arms.length <= TOGETHER_MOST) return [arms]
  const controls = arms.filter(arm => arm.repeatOf !== null)
  const groups = [...groupBy(arms, arm => (arm.repeatOf === null ? createGroupKey(arm) : 'A/A')).entries()]
  const [first, ...others] = groups.flatMap(([key, group]) => (key === 'A/A' ? [] : [group]))
  // An A/A repeat shows the noise of the arms that it stands beside: there is always room for it.
  const room = Math.max(TOGETHER_MOST - first.length, controls.length)
  const tooLarge = groups.find(([, group]) => group.length > PLANES_MOST)?.[1]
  if (tooLarge)
    throw new UsageError(`${tooLarge.length} planes side by side, at most ${PLANES_MOST}: name fewer with --planes`)
  /** @type {Arm[][]} */
  const parts = []
  for (const group of [...others, ...(controls.length > 0 ? [controls] : [])]) {
    const partWithRoom = parts.find(part => part.length + group.length <= room)
    if (partWithRoom) partWithRoom.push(...group)
    else parts.push([...group])
  }
  // A part that has no room beside the first group stands alone.
  const deployments = parts.map(part => (part.length > room ? part : [...first, ...part]))
  const hasFirst = deployments.some(deployment => deployment.includes(first[0]))
  return hasFirst ? deployments : [first, ...deployments]
}
