import { setMaxListeners } from 'node:events'
import path from 'node:path'
import { AgentError, BenchError, EndedError, SiteLostError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { foldTail } from '../lib/log-tail.js'
import { renderMinute } from '../lib/units.js'
import { listFeatures } from '../model/features.js'
import { hasChunks } from '../model/requests.js'
import { findSidecarTool } from '../model/tools.js'
import { findPortShortage } from '../node/kernel/sockets.js'
import { assertAllRun } from '../run/alive.js'
import { findArmPipeline, findScriptFolder } from '../run/scripts.js'
import { startServices } from '../run/start-services.js'
import { countWorkers, findDeployedProfile } from '../services/specs.js'
import { createArmTopology, listModes } from '../services/topology.js'
import { hasAcceptedPlaintext } from './beside/access.js'
import { probeChunks } from './chunks.js'
import { createDependencies } from './dependencies.js'
import { probeFeatures } from './features.js'
import { hasUserScripts, probeLoadAnswers } from './own-answers.js'
import { listPipelineTlsNotes } from './own-tls.js'
import { createRig } from './rig.js'
import { createSlots } from './slots.js'
import { PARITY_NAMES, pickConfiguration, pickWorkerSize } from './verdict/checks.js'
import { isWrong, splitByLacks } from './verdict/rows.js'

/** @import { Arm, ParityRow, ToolSpec } from '../model/types.ts' */
/** @import { GateParity, Testbed } from '../run/kind.js' */
/** @import { ProbedRow } from './beside/probe.js' */
/**
 * @import { Rig } from './rig.js'
 * @import { Slot } from './slots.js'
 */

// Longer than a start takes on one machine: pods take their time, and so do three sidecars on one slow CPU.
const RIG_START_SECONDS = 120

/** The rows that the start of an arm gives; all others are of the corpus. */
const OF_START = ['parity-workers', 'parity-load', 'parity-chunks']

/** The row of a pipeline, without which it would look as if it had passed the corpus. */
const NOT_CONFIGURED = {
  name: 'parity-answers',
  found: 'not tried: its own configuration has no routes of the corpus',
  expected: 'tried',
  differences: [],
}

/**
 * A row, with the links that do its work, and the declared reasons why it falls short.
 * @typedef {ProbedRow & Pick<ParityRow, 'links' | 'lacks'>} CheckRow
 */
/**
 * Arms whose services did not start, or did not answer, and why.
 * @typedef {{ arms: Arm[], error: BenchError }} Failure
 */

/**
 * Starts each arm once, before any load, counts its workers, and tries each plane with the corpus in every configuration that
 * is measured. The corpus runs on processes of its own, since a body of 10 MiB leaves its mark on a process. A check that
 * passed before is not made again if all that it depends on is the same. An arm with sidecars that does not start or answer
 * goes to `leaveOut`, if another arm serves.
 * @type {GateParity}
 * @returns the rows of all arms that serve; A/A repeats have none
 * @throws {BenchError} if no arm with sidecars serves, one without does not, or the local ports are used up
 */
export async function gateParity({ testbed, arms, nextIndex, signal, say, cache, leaveOut, ...machine }) {
  const { findShortage = findPortShortage } = machine
  const measured = arms.filter(arm => arm.repeatOf === null)
  if (measured.length === 0) return []
  const dependencies = cache && createDependencies(testbed)
  /** @type {Failure[]} */
  const failures = []
  /** @type {Check[]} */
  const starts = groupByIdentity(measured, arm => ({ ...pickConfiguration(arm), ...pickWorkerSize(arm) })).map(
    alike => {
      // If some arm's answers come in chunks, that arm is started for all: only it gives the row of chunks.
      const arm = alike.find(({ load }) => hasChunks(load)) ?? alike[0]
      return {
        arm,
        size: pickWorkerSize(arm),
        depends: dependencies?.ofStart(arm),
        run: options =>
          checkStart({ testbed, arm, ...options, say, fail: error => failures.push({ arms: alike, error }) }),
      }
    },
  )
  // A pipeline is not configured by the kit, so the corpus has no routes in it.
  const withSidecars = measured.filter(arm => arm.hasSidecars && !findArmPipeline(testbed.programs, arm))
  /** @type {Check[]} */
  const probes = groupByIdentity(withSidecars, pickConfiguration).map(alike => ({
    arm: alike[0],
    alike,
    size: null,
    depends: dependencies?.ofConfiguration(alike),
    run: options => probePlane({ testbed, alike, ...options }),
  }))
  const checks = [...starts, ...probes]
  const passed = checks.map(({ depends }) => (depends && cache ? cache.find(depends) : null))
  const passedBefore = passed.filter(rows => rows !== null)
  const untried = checks.filter((_, i) => passed[i] === null)
  // An arm without sidecars has no part in equal work: if all others passed before, it is not started.
  const pendingChecks = passedBefore.length > 0 && untried.every(({ arm }) => !arm.hasSidecars) ? [] : untried
  if (pendingChecks.length > 0) say(`checking ${starts.length} arms, and that the planes do equal work`)
  if (passedBefore.length > 0)
    say(
      renderKnown(
        passedBefore.map(({ triedAt }) => triedAt),
        passedBefore.length + pendingChecks.length,
      ),
    )
  const newRows = await makeChecks(pendingChecks, { testbed, nextIndex, signal })
  if (failures.length > 0) assertPorts(findShortage)
  const failed = new Set(failures.flatMap(({ arms }) => arms))
  if (failures.length > 0 && !(leaveOut && measured.some(arm => arm.hasSidecars && !failed.has(arm))))
    throw failures[0].error
  for (const { arms, error } of failures) leaveOut?.(arms, error.message)
  const servingChecks = checks.filter(({ arm, alike = [arm] }) => alike.some(other => !failed.has(other)))
  for (const [check, rows] of newRows)
    if (check.depends && cache && servingChecks.includes(check)) cache.keep(check.depends, rows)
  const rows = checks.flatMap((check, i) => {
    if (!servingChecks.includes(check)) return []
    const { arm, alike, size } = check
    /** @type {{ rows: CheckRow[], triedAt?: string }} */
    const { rows: rowsOfCheck, triedAt } = passed[i] ?? { rows: newRows.get(check) ?? [] }
    return rowsOfCheck.flatMap(({ mode, ...row }) => {
      const links = alike?.filter(arm => !mode || listArmModes(arm, testbed).includes(mode)).map(({ link }) => link)
      if (links?.length === 0) return []
      return {
        ...row,
        ...(links && mode && { links: [...new Set(links)] }),
        ...pickConfiguration(arm),
        trafficPolicy: testbed.settings.trafficPolicy,
        size,
        ...(isOfRequests(testbed, arm) && { carriesBytes: /** @type {const} */ (true) }),
        ...(isExempt({ arm, row, planes: testbed.programs.planes }) && { isDeployed: /** @type {const} */ (true) }),
        ...(hasUserScripts(testbed, arm) && { isOwn: /** @type {const} */ (true) }),
        ...(triedAt && { triedAt }),
      }
    })
  })
  const countedRows = rows.filter(({ name, isOwn }) => PARITY_NAMES.includes(name) && !isOwn)
  if (countedRows.some(row => row.found !== row.expected)) assertPorts(findShortage)
  const reasons = countedRows.flatMap(({ plane, lacks = [] }) =>
    lacks.map(why => `${plane} falls short of equal work: ${why}`),
  )
  for (const reason of new Set(reasons)) say(reason)
  return rows
}

/**
 * Asserts that this machine has local ports left; without them, every plane fails.
 * @param {() => string | null} findShortage returns the reason that they are used up; null: they are not
 * @throws {BenchError} when they are used up
 */
function assertPorts(findShortage) {
  const shortage = findShortage()
  if (shortage !== null) throw new BenchError(`it could not be tried whether planes do equal work: ${shortage}`)
}

/**
 * @typedef {object} Check the start of an arm, or the corpus in a configuration
 * @property {Arm} arm
 * @property {Arm[]} [alike] arms of the configuration; absent: the check is of a start
 * @property {ParityRow['size']} size null: the rows are of every size
 * @property {object} [depends] all that its result depends on; absent: it is not cached
 * @property {(options: { index: number, slot: Slot, signal: AbortSignal }) => Promise<CheckRow[]>} run
 */

/**
 * Renders the line about checks that are not made again.
 * @param {string[]} moments when they were made (ISO 8601), at least one
 * @param {number} count of all checks
 * @returns {string}
 */
function renderKnown(moments, count) {
  const subject = moments.length === count ? 'passed before' : `passed before in ${moments.length} of ${count} checks`
  return `equal work ${subject} (last at ${renderMinute(moments.toSorted()[moments.length - 1])} UTC), and all that it depends on is the same: not tried again (--recheck)`
}

/**
 * Makes checks, as many at the same time as the target has room for rigs. A check that throws aborts all others.
 * @param {Check[]} checks
 * @param {{ testbed: Testbed, nextIndex: () => number, signal: AbortSignal }} options
 * @returns {Promise<Map<Check, CheckRow[]>>} the rows by check
 * @throws the error of the first check that failed, once all have ended; the signal's reason
 */
async function makeChecks(checks, { testbed, nextIndex, signal }) {
  // There is one way into the network namespaces of redirected connections, so that only one rig fits.
  const isRedirected = checks.some(({ arm }) => arm.conditions.interception !== undefined)
  const rigsMost = isRedirected ? 1 : (testbed.site.target.rigsMost ?? 1)
  const failing = new AbortController()
  const either = AbortSignal.any([signal, failing.signal])
  setMaxListeners(0, either)
  /** @type {Map<Check, CheckRow[]>} */
  const rowsByCheck = new Map()
  const starts = checks.filter(({ alike }) => !alike)
  const probes = checks.filter(({ alike }) => alike)
  const indices = new Map(checks.map(check => [check, nextIndex()]))
  /** @type {unknown} */
  let failure = null
  const make = async (/** @type {Check[]} */ batchChecks, /** @type {Slot} */ slot) => {
    try {
      for (const check of batchChecks) {
        if (either.aborted) return
        rowsByCheck.set(check, await check.run({ index: Number(indices.get(check)), slot, signal: either }))
      }
    } catch (error) {
      if (!failing.signal.aborted) failure = error
      failing.abort(error)
    } finally {
      slot.end()
    }
  }
  // If several rigs fit, the starts run beside the first of them.
  const batches = rigsMost > 1 ? [] : [[starts]]
  for (let first = 0; first < probes.length; first += rigsMost)
    batches.push(probes.slice(first, first + rigsMost).map(check => [check]))
  if (rigsMost > 1) batches[0] = [starts, ...(batches[0] ?? [])]
  for (const batch of batches) {
    const slots = createSlots(batch.length)
    await Promise.all(batch.map((batchChecks, i) => make(batchChecks, slots[i])))
  }
  signal.throwIfAborted()
  if (failing.signal.aborted) throw failure
  return rowsByCheck
}

/**
 * Says whether an arm's plane only carries bytes although its applications speak a protocol of requests.
 * @param {Testbed} testbed
 * @param {Arm} arm
 * @returns {boolean}
 */
function isOfRequests({ programs: { planes } }, { plane, conditions: { protocol } }) {
  return planes[plane].carriesBytesOnly === true && protocol !== 'tcp'
}

/**
 * Lists the mTLS modes of the inbound listeners on an arm's link.
 * @param {Arm} arm
 * @param {Testbed} testbed
 * @returns {import('../model/types.ts').MtlsMode[]}
 */
function listArmModes(arm, { layout }) {
  return listModes(createArmTopology(arm, layout.topologies), arm.conditions.tls)
}

/**
 * Starts an arm, counts the workers of its sidecars, and sends requests of their load to those that run scripts of the user.
 * @param {{ testbed: Testbed, arm: Arm, index: number, slot: Slot, signal: AbortSignal, fail: (error: BenchError) => void,
 *   say: (line: string) => void }} options fail: is called if sidecars do not start or answer; say: prints a line
 * @returns {Promise<CheckRow[]>} []: it called `fail`, or there is nothing to check
 */
async function checkStart({ testbed, arm, ...options }) {
  const started = await probeStart({ testbed, arm, ...options })
  if (started === null) return []
  const { sidecars, answers } = started
  if (findArmPipeline(testbed.programs, arm)) return [...answers, NOT_CONFIGURED]
  // Workers cannot be counted on a target that reads no sockets.
  if (sidecars.length === 0 || sidecars.some(({ sockets }) => sockets === null)) return answers
  const workers = countWorkers(arm, { cpus: testbed.site.cpus, planes: testbed.programs.planes })
  // A spec has the number of sockets that the right number of workers opens: threads may share one.
  const counted = sidecars.map(({ sockets, wanted }) => (sockets === wanted ? workers : sockets))
  const workersPerSidecar = `${[...new Set(counted)].join(' and ')} a sidecar`
  return [
    { name: 'parity-workers', found: workersPerSidecar, expected: `${workers} a sidecar`, differences: [] },
    ...answers,
  ]
}

/**
 * Starts the services of an arm, probes them and removes them.
 * @param {Parameters<typeof checkStart>[0]} options fail: is called if sidecars do not start or answer
 * @returns answers: the rows of the probes; sidecars: the number of their listening sockets (null: they cannot be counted) and
 *   of the workers in their spec; null: it called `fail`
 */
async function probeStart({ testbed, arm, index, slot, signal, fail, say }) {
  const folder = path.join(testbed.folders.raw, `check-${arm.id}`)
  const start = () => startServices({ testbed, arm, start: index, folder, signal })
  const leaveOutArm = (/** @type {unknown} */ error) => {
    if (signal.aborted || !arm.hasSidecars || !isOfPlane(error)) throw error
    fail(error)
  }
  const services = await slot.inTurn(start).catch(leaveOutArm)
  if (!services) return null
  const { deployment } = services
  try {
    const answers = hasUserScripts(testbed, arm) ? [await probeLoadAnswers({ testbed, arm, services })] : []
    if (arm.hasSidecars && hasChunks(arm.load)) {
      const chunks = await probeChunks({ testbed, arm, services, signal }).catch(leaveOutArm)
      if (!chunks) return null
      answers.push(chunks)
    }
    for (const note of await listPipelineTlsNotes({ testbed, arm, services })) say(note)
    const sidecars = deployment.processes.filter(p => p.spec.role === 'sidecar')
    const looks = await testbed.site.target.look(sidecars)
    return {
      answers,
      sidecars: looks.map(({ workers }, i) => ({ sockets: workers, wanted: sidecars[i].spec.workers })),
    }
  } finally {
    await deployment.remove()
  }
}

/**
 * Probes a plane with the corpus.
 * @param {Parameters<typeof probeConfiguration>[0]} options
 * @returns {Promise<CheckRow[]>} if the plane does not serve the corpus, each of its rows has that reason
 */
async function probePlane(options) {
  try {
    return await probeConfiguration(options)
  } catch (error) {
    if (options.signal.aborted || !isOfPlane(error)) throw error
    // The plane serves its link, but not what the corpus needs: it does other work than the planes beside it.
    const why = `does not serve the corpus: ${foldTail(error.message).split('\n')[0]}`
    return PARITY_NAMES.filter(row => !OF_START.includes(row)).map(name => ({
      name,
      found: why,
      expected: 'served',
      differences: [why],
    }))
  }
}

/**
 * Says whether a row's plane runs as a mesh deploys it, so that a difference is a finding and no fault. If a profile declares
 * all that it lacks, any other difference is a fault. Plaintext instead of mTLS is always a fault: no mesh deploys that, so
 * another program runs, or another configuration.
 * @param {{ arm: Arm, row: CheckRow, planes: Testbed['programs']['planes'] }} options
 * @returns {boolean}
 */
function isExempt({ arm, row, planes }) {
  const deployed = findDeployedProfile(planes, arm)
  if (!deployed || hasAcceptedPlaintext(row)) return false
  return !(deployed.isHeld && arm.profile === null && isWrong(row) && !row.lacks)
}

const PLANE_ROLES = ['sidecar', 'control']

/**
 * Says whether an error may be the plane's fault: not that of the machine or the agent, nor of applications alone that exited.
 * @param {unknown} error
 * @returns {error is BenchError}
 */
function isOfPlane(error) {
  if (!(error instanceof BenchError) || error instanceof SiteLostError || error instanceof AgentError) return false
  return !(error instanceof EndedError) || error.ended.some(({ role }) => PLANE_ROLES.includes(role))
}

/**
 * Runs the corpus of equal work against a plane in one configuration.
 * @param {{ testbed: Testbed, alike: Arm[], index: number, slot?: Slot, signal: AbortSignal }} options alike: the arms of the
 *   configuration; index: of its start, which gives it addresses of its own; slot: absent: no other check runs
 * @returns {Promise<CheckRow[]>} lacks: the declared reasons of a row, if they cover all its differences
 * @throws {BenchError} if the plane does not start, or does not serve the corpus
 */
export async function probeConfiguration({ testbed, alike, ...options }) {
  const [arm] = alike
  const modes = [...new Set(alike.flatMap(other => listArmModes(other, testbed)))]
  const { trafficPolicy } = testbed.settings
  const lacks = testbed.programs.planes[arm.plane].findLacks?.({ ...arm.conditions, trafficPolicy, modes }) ?? []
  return (await probeInRig({ testbed, arm, ...options })).map(row => {
    const { known, unknown } = splitByLacks(row, lacks)
    return known.length > 0 && unknown.length === 0 ? { ...row, lacks: known } : row
  })
}

/**
 * Probes a plane in a rig of its own, which is removed afterwards.
 * @param {{ testbed: Testbed, arm: Arm, index: number, slot?: Slot, signal: AbortSignal }} options
 * @returns {Promise<ProbedRow[]>}
 * @throws {BenchError} if the plane is not ready within 120 s, or a sidecar exits; the signal's reason when it aborts
 */
async function probeInRig({ testbed, arm, index, slot = createSlots(1)[0], signal }) {
  const plane = testbed.programs.planes[arm.plane]
  const { folders, settings } = testbed
  const { tls, features } = arm.conditions
  const protocol = plane.carriesBytesOnly ? 'tcp' : arm.conditions.protocol
  const starting = new AbortController()
  const ending = AbortSignal.any([signal, starting.signal])
  // Each request of a check listens to this signal: Node would warn of a leak beyond ten.
  setMaxListeners(0, ending)
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const start = () => {
    timer = setTimeout(
      () => starting.abort(new BenchError(`it was not ready within ${RIG_START_SECONDS} s`)),
      RIG_START_SECONDS * 1000,
    )
    return createRig({
      target: testbed.site.target,
      index,
      plane,
      tool: findSidecarTool(testbed.programs.tools, {
        tool: /** @type {ToolSpec} */ (plane.tool),
        variant: arm.variant,
      }),
      certificates: folders.certificates,
      scripts: findScriptFolder(testbed, arm),
      folder: path.join(folders.raw, `parity-${index}-${arm.plane}`),
      measured: { tls, protocol, features, trafficPolicy: settings.trafficPolicy },
      profile: arm.profile,
      interception: arm.conditions.interception,
      signal: ending,
    })
  }
  try {
    // A rig chooses its timeouts by how long its upstreams take to start: another start meanwhile would lengthen them.
    const rig = await slot.inTurn(start)
    clearTimeout(timer)
    try {
      return await probeRig(rig, slot)
    } finally {
      await rig.close()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Probes the rows of the corpus: all that must be equal and does not depend on a link.
 * @param {Rig} rig
 * @param {Slot} [slot] of this check, if others run at the same time
 * @returns {Promise<ProbedRow[]>} without `parity-logging` if the sidecars have an access log
 * @throws {BenchError} if a sidecar exits
 */
export async function probeRig(rig, slot = createSlots(1)[0]) {
  const { call, sidecars, requestSeconds } = rig
  const sumLogs = async () => {
    const logs = await Promise.all(sidecars.processes.map(p => p.readLog()))
    return logs.reduce((sum, log) => sum + log.length, 0)
  }
  const answers = await call('probeAnswers', { requestSeconds })
  await assertAllRun(sidecars.processes, 'parity')
  const before = await sumLogs()
  const { row, requests } = await call('probePooling', undefined)
  const bytes = (await sumLogs()) - before
  const features = await probeFeatures(rig)
  const lone = await slot.alone(() => call('probeLoneRetry', undefined))
  await assertAllRun(sidecars.processes, 'parity')
  const common = [lone, ...answers, row]
  // A plane with an access log may write: its lines are checked as a feature.
  if (listFeatures(rig.measured.features).includes('access-log')) return [...common, ...features]
  const nothing = `nothing for ${requests} requests`
  const written = bytes === 0 ? nothing : `${bytes} bytes for ${requests} requests`
  return [...common, { name: 'parity-logging', found: written, expected: nothing, differences: [] }, ...features]
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
