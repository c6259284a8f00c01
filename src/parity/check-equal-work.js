import { setMaxListeners } from 'node:events'
import { BenchError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { renderMinute, renderNounCount } from '../lib/units.js'
import { hasChunks } from '../model/requests.js'
import { findArmPipeline } from '../model/tools.js'
import { findPortShortage } from '../node/kernel/sockets.js'
import { findDeployedProfile } from '../services/profiles.js'
import { hasAcceptedPlaintext } from './beside/access.js'
import { checkStart } from './check-start.js'
import { createDependencyLister } from './dependencies.js'
import { listArmModes, probePlane } from './probe-plane.js'
import { createSlots } from './slots.js'
import { hasUserScripts } from './user-scripts.js'
import { PARITY_NAMES, pickConfiguration, pickWorkerSize } from './verdict/checks.js'
import { isWrong, renderUnequalPairs } from './verdict/rows.js'

/** The check for equal work that a run makes before any load. */
/**
 * @import { Arm, ParityRow } from '../model/types.ts'
 * @import { GateParity, Testbed } from '../run/kind.js'
 * @import { Passed } from './cache.js'
 * @import { CheckRow } from './probe-plane.js'
 * @import { Slot } from './slots.js'
 */

/**
 * The start of an arm, or the corpus in a configuration.
 * @typedef {object} Check
 * @property {Arm} arm
 * @property {Arm[]} [alike] arms of the configuration; absent: the check is of a start
 * @property {ParityRow['size']} size null: the rows are of every size
 * @property {object} [dependencies] all that its result depends on; absent: it is not cached
 * @property {(options: { index: number, slot: Slot, signal: AbortSignal }) => Promise<CheckRow[]>} run
 */

/**
 * Arms whose services did not start, or did not answer, and why.
 * @typedef {{ arms: Arm[], error: BenchError }} Failure
 */

/**
 * Starts each arm once, before any load, counts its workers, and tries each plane with the corpus in every configuration that
 * is measured. The corpus runs on processes of its own, since a body of 10 MiB leaves its mark on a process. A check that
 * passed before is not made again if all that it depends on is the same; one that passes now is added to the cache. An arm with
 * sidecars that does not start or answer goes to `leaveOut`, if another arm with sidecars serves.
 * @type {GateParity}
 * @returns the rows of all arms that serve; A/A repeats have none; []: all arms are such repeats, or no check gave a row
 * @throws {BenchError} if an arm with sidecars does not serve, unless `leaveOut` takes it and another one serves; if one without
 *   sidecars does not start, or the local ports are used up; the error of the first check that throws; as
 *   `createDependencyLister` and its functions; the signal's reason when it aborts
 */
export async function checkEqualWork({ testbed, arms, nextIndex, signal, say, cache, leaveOut, ...machine }) {
  const { findShortage = findPortShortage } = machine
  const measured = arms.filter(arm => arm.repeatOf === null)
  if (measured.length === 0) return []
  /** @type {Failure[]} */
  const failures = []
  const lister = cache && createDependencyLister(testbed)
  const checks = createChecks({ testbed, arms: measured, lister, say, fail: failure => failures.push(failure) })
  /** @type {Map<Check, Passed | null>} */
  const passed = new Map(checks.map(check => [check, (check.dependencies && cache?.find(check.dependencies)) ?? null]))
  const passedTimes = [...passed.values()].flatMap(entry => (entry === null ? [] : [entry.triedAt]))
  const pendingChecks = listPendingChecks(
    checks.filter(check => passed.get(check) === null),
    passedTimes.length > 0,
  )
  if (pendingChecks.length > 0) {
    const starts = checks.filter(({ alike }) => !alike)
    say(`checking ${renderNounCount(starts.length, 'arm')}, and that the planes do equal work`)
  }
  if (passedTimes.length > 0) say(renderPassedBefore(passedTimes, passedTimes.length + pendingChecks.length))

  const newRows = await makeChecks(pendingChecks, { testbed, nextIndex, signal })
  if (failures.length > 0) assertPortsLeft(findShortage)
  const failedArms = new Set(failures.flatMap(failure => failure.arms))
  const isAnyServing = measured.some(arm => arm.hasSidecars && !failedArms.has(arm))
  if (failures.length > 0 && !(leaveOut && isAnyServing)) throw failures[0].error
  for (const failure of failures) leaveOut?.(failure.arms, failure.error.message)

  const servingChecks = checks.filter(({ arm, alike = [arm] }) => alike.some(other => !failedArms.has(other)))
  for (const [check, rows] of newRows)
    if (check.dependencies && servingChecks.includes(check)) cache?.keep(check.dependencies, rows)
  const rows = servingChecks.flatMap(check =>
    completeRows(passed.get(check) ?? { rows: newRows.get(check) ?? [] }, { check, testbed }),
  )
  const countedRows = rows.filter(({ name, isOwn }) => PARITY_NAMES.includes(name) && !isOwn)
  if (countedRows.some(row => row.found !== row.expected)) assertPortsLeft(findShortage)
  const relaxed = testbed.settings.relaxes.map(({ gate }) => gate)
  // A search compares no arms: each has an answer of its own.
  const comparedArms = measured.filter(({ kind }) => kind !== 'search')
  for (const line of renderUnequalPairs({ arms: comparedArms, rows, relaxed })) say(line)
  return rows
}

/**
 * Creates the checks of arms: the start of each, and the corpus in each configuration of those with sidecars.
 * @param {object} options
 * @param {Testbed} options.testbed
 * @param {Arm[]} options.arms
 * @param {ReturnType<typeof createDependencyLister>} [options.lister] absent: no check is cached
 * @param {(line: string) => void} options.say prints a line
 * @param {(failure: Failure) => void} options.fail is called when arms do not start or answer
 * @returns {Check[]} starts first
 * @throws as the functions of the lister
 */
function createChecks({ testbed, arms, lister, say, fail }) {
  const starts = groupByIdentity(arms, arm => ({ ...pickConfiguration(arm), ...pickWorkerSize(arm) })).map(alike => {
    // If some arm's answers come in chunks, that arm is started for all: only it gives the row of chunks.
    const arm = alike.find(({ load }) => hasChunks(load)) ?? alike[0]
    const failAll = (/** @type {BenchError} */ error) => fail({ arms: alike, error })
    /** @type {Check} */
    const check = {
      arm,
      size: pickWorkerSize(arm),
      dependencies: lister?.listForStart(arm),
      run: options => checkStart({ testbed, arm, ...options, say, fail: failAll }),
    }
    return check
  })
  // A pipeline is not configured by the kit, so the corpus has no routes in it.
  const withSidecars = arms.filter(arm => arm.hasSidecars && !findArmPipeline(testbed.programs, arm))
  /** @type {Check[]} */
  const probes = groupByIdentity(withSidecars, pickConfiguration).map(alike => ({
    arm: alike[0],
    alike,
    size: null,
    dependencies: lister?.listForCorpus(alike[0]),
    run: options => probePlane({ testbed, alike, ...options }),
  }))
  return [...starts, ...probes]
}

/**
 * Groups arms whose identity has the same JSON.
 * @param {Arm[]} arms
 * @param {(arm: Arm) => object} identityOf
 * @returns {Arm[][]}
 */
function groupByIdentity(arms, identityOf) {
  return [...groupBy(arms, arm => JSON.stringify(identityOf(arm))).values()]
}

/**
 * Lists the checks to make. An arm without sidecars has no part in equal work: if all others passed before, it is not started.
 * @param {Check[]} untried those that have not passed before
 * @param {boolean} hasPassedAny some check has passed before
 * @returns {Check[]} []: nothing is left to check
 */
function listPendingChecks(untried, hasPassedAny) {
  const hasOnlyBaselines = untried.every(({ arm }) => !arm.hasSidecars)
  return hasPassedAny && hasOnlyBaselines ? [] : untried
}

/**
 * Renders the line about checks that are not made again.
 * @param {string[]} times when they were made (ISO 8601), at least one
 * @param {number} count of all checks
 * @returns {string}
 */
function renderPassedBefore(times, count) {
  const pending = count - times.length
  const last = renderMinute(times.toSorted()[times.length - 1])
  const rest = pending === 0 ? '' : `; ${pending} made now`
  return `equal work: ${times.length} of ${count} checks passed before (last at ${last} UTC), with the same programs, scripts and configuration: not made again (--recheck)${rest}`
}

/**
 * Makes checks, as many at the same time as the target has room for rigs. A check that throws aborts all others.
 * @param {Check[]} checks
 * @param {{ testbed: Testbed, nextIndex: () => number, signal: AbortSignal }} options
 * @returns {Promise<Map<Check, CheckRow[]>>} the rows by check
 * @throws the error of the first check that failed, once all have ended; the signal's reason when it aborts
 */
async function makeChecks(checks, { testbed, nextIndex, signal }) {
  const failing = new AbortController()
  const ending = AbortSignal.any([signal, failing.signal])
  setMaxListeners(0, ending)
  /** @type {Map<Check, CheckRow[]>} */
  const rowsByCheck = new Map()
  const indices = new Map(checks.map(check => [check, nextIndex()]))
  const makeInOrder = async (/** @type {Check[]} */ ordered, /** @type {Slot} */ slot) => {
    try {
      for (const check of ordered) {
        if (ending.aborted) return
        rowsByCheck.set(check, await check.run({ index: Number(indices.get(check)), slot, signal: ending }))
      }
    } catch (error) {
      // The first error stays the reason: later ones of the checks that it aborts change nothing.
      failing.abort(error)
    } finally {
      slot.end()
    }
  }
  for (const batch of createBatches(checks, testbed)) {
    const slots = createSlots(batch.length)
    await Promise.all(batch.map((ordered, i) => makeInOrder(ordered, slots[i])))
  }
  signal.throwIfAborted()
  failing.signal.throwIfAborted()
  return rowsByCheck
}

/**
 * Groups checks into batches, which run one after the other. The members of a batch run at the same time, and each of them is a
 * list of checks to make in order.
 * @param {Check[]} checks
 * @param {Testbed} testbed
 * @returns {Check[][][]} each batch with at most as many rigs as the target has room for; the starts are one list of the first
 */
function createBatches(checks, testbed) {
  // There is one way into the network namespaces of redirected connections, so that only one rig fits.
  const hasRedirected = checks.some(({ arm }) => arm.conditions.interception !== undefined)
  const rigsMost = hasRedirected ? 1 : (testbed.site.target.rigsMost ?? 1)
  const starts = checks.filter(({ alike }) => !alike)
  const probes = checks.filter(({ alike }) => alike)
  /** @type {Check[][][]} */
  const probeBatches = []
  for (let first = 0; first < probes.length; first += rigsMost)
    probeBatches.push(probes.slice(first, first + rigsMost).map(check => [check]))
  if (rigsMost === 1) return [[starts], ...probeBatches]
  // If several rigs fit, the starts run beside the first of them.
  const [firstProbes = [], ...others] = probeBatches
  return [[starts, ...firstProbes], ...others]
}

/**
 * Completes the rows of a check by the arm and links that they are for. A row of a mode is left out if no link has a listener of
 * that mode.
 * @param {{ rows: CheckRow[], triedAt?: string }} result triedAt: when an earlier run made the check (ISO 8601); absent: this run
 *   made it
 * @param {{ check: Check, testbed: Testbed }} options
 * @returns {ParityRow[]} []: the check has no rows, or none is left
 */
function completeRows({ rows, triedAt }, { check: { arm, alike, size }, testbed }) {
  const { trafficPolicy } = testbed.settings
  return rows.flatMap(({ mode, ...row }) => {
    const armsWithMode = alike?.filter(other => !mode || listArmModes(other, testbed).includes(mode))
    if (armsWithMode?.length === 0) return []
    return {
      ...row,
      ...(armsWithMode && mode && { links: [...new Set(armsWithMode.map(({ link }) => link))] }),
      ...pickConfiguration(arm),
      trafficPolicy,
      size,
      ...(carriesRequestsAsBytes(testbed, arm) && { carriesBytes: /** @type {const} */ (true) }),
      ...(isExempt({ arm, row, planes: testbed.programs.planes }) && { isDeployed: /** @type {const} */ (true) }),
      ...(hasUserScripts(testbed, arm) && { isOwn: /** @type {const} */ (true) }),
      ...(triedAt && { triedAt }),
    }
  })
}

/**
 * Says whether an arm's plane only carries bytes although its applications speak a protocol of requests.
 * @param {Testbed} testbed
 * @param {Arm} arm
 * @returns {boolean}
 */
function carriesRequestsAsBytes({ programs: { planes } }, { plane, conditions: { protocol } }) {
  return planes[plane].carriesBytesOnly === true && protocol !== 'tcp'
}

/**
 * Says whether a row's plane runs as a mesh deploys it, so that a difference is a finding and no fault. If an arm names no profile
 * and the plane's first one declares all that it lacks (`isHeld`), any other difference is a fault. Plaintext instead of mTLS is
 * always a fault: no mesh deploys that, so another program runs, or another configuration.
 * @param {{ arm: Arm, row: CheckRow, planes: Testbed['programs']['planes'] }} options
 * @returns {boolean} false also: the profile is the kit's own
 */
function isExempt({ arm, row, planes }) {
  const deployed = findDeployedProfile(planes, arm)
  if (!deployed || hasAcceptedPlaintext(row)) return false
  const mustDeclare = deployed.isHeld && arm.profile === null
  return !mustDeclare || !isWrong(row) || row.lacks !== undefined
}

/**
 * Asserts that this machine has local ports left; without them, every plane fails.
 * @param {() => string | null} findShortage returns the reason that they are used up; null: they are not
 * @throws {BenchError} when they are used up
 */
function assertPortsLeft(findShortage) {
  const shortage = findShortage()
  if (shortage !== null) throw new BenchError(`it could not be tried whether planes do equal work: ${shortage}`)
}
