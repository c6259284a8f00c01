import { setMaxListeners } from 'node:events'
import path from 'node:path'
import { AgentError, BenchError, EndedError, isCausedBy, SiteLostError } from '../lib/errors.js'
import { foldTail } from '../lib/log-tail.js'
import { listFeatures } from '../model/features.js'
import { findSidecarTool } from '../model/tools.js'
import { assertAllRun } from '../run/alive.js'
import { findScriptFolder } from '../run/scripts.js'
import { listMtlsModes } from '../services/sidecar-model.js'
import { createArmTopology } from '../services/topology.js'
import { probeFeatures } from './features.js'
import { createRig, pickMeasuredConditions } from './rig.js'
import { createSlots } from './slots.js'
import { PARITY_NAMES, START_ROWS } from './verdict/checks.js'
import { sortDifferences } from './verdict/lacks.js'

/** The corpus of equal work, run against a plane in a rig of its own. */
/**
 * @import { Arm, Handle, MtlsMode, ParityRow, ToolSpec } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { ProbedRow } from './beside/probe.js'
 * @import { Rig } from './rig.js'
 * @import { Slot } from './slots.js'
 */

// Longer than a start takes on one machine: pods take their time, and so do three sidecars on one slow CPU.
const RIG_START_SECONDS = 120

const PLANE_ROLES = ['sidecar', 'control']

/**
 * A row, with the links that do its work, and the declared reasons why it falls short.
 * @typedef {ProbedRow & Pick<ParityRow, 'links' | 'lacks'>} CheckRow
 */

/**
 * Probes a plane as `probeConfiguration` does. An error that may be the plane's fault becomes the finding of every row of the corpus.
 * @param {Parameters<typeof probeConfiguration>[0]} options
 * @returns {Promise<CheckRow[]>} after such an error, all but START_ROWS, with the first line of the error
 * @throws an error that is not the plane's (`isPlaneFault`); the signal's reason when it aborts
 */
export async function probePlane(options) {
  try {
    return await probeConfiguration(options)
  } catch (error) {
    if (options.signal.aborted || !isPlaneFault(error)) throw error
    // The plane serves its link, but not what the corpus needs: it does other work than the planes beside it.
    const why = `does not serve the corpus: ${foldTail(error.message).split('\n')[0]}`
    const rows = PARITY_NAMES.filter(row => !START_ROWS.includes(row))
    return rows.map(name => ({ name, found: why, expected: 'served', differences: [why] }))
  }
}

/**
 * Says whether an error may be the plane's fault: not that of the machine or the agent, nor of applications alone that exited.
 * @param {unknown} error
 * @returns {error is BenchError}
 */
export function isPlaneFault(error) {
  if (!(error instanceof BenchError) || isCausedBy(error, SiteLostError) || error instanceof AgentError) return false
  return !(error instanceof EndedError) || error.ended.some(({ role }) => PLANE_ROLES.includes(role))
}

/**
 * Runs the corpus of equal work against a plane in one configuration.
 * @param {{ testbed: Testbed, alike: Arm[], index: number, slot?: Slot, signal: AbortSignal }} options alike: the arms of the
 *   configuration; index: of its start, which gives it addresses of its own; slot: absent: no other check runs
 * @returns {Promise<CheckRow[]>} lacks: the declared reasons of a row, if they cover all its differences
 * @throws {BenchError} if the plane is not ready within RIG_START_SECONDS, or a sidecar exits; the signal's reason when it aborts;
 *   other errors as `createRig` and `probeRig`
 */
export async function probeConfiguration({ testbed, alike, ...options }) {
  const [arm] = alike
  const modes = [...new Set(alike.flatMap(other => listArmModes(other, testbed)))]
  const { trafficPolicy } = testbed.settings
  const lacks = testbed.programs.planes[arm.plane].findLacks?.({ ...arm.conditions, trafficPolicy, modes }) ?? []
  const rows = await probeInRig({ testbed, arm, ...options })
  return rows.map(row => {
    const { declared, undeclared } = sortDifferences(row, lacks)
    return declared.length > 0 && undeclared.length === 0 ? { ...row, lacks: declared } : row
  })
}

/**
 * Lists the mTLS modes of the inbound listeners on an arm's link.
 * @param {Arm} arm
 * @param {Pick<Testbed, 'layout'>} testbed
 * @returns {MtlsMode[]} each once; []: the link has no application
 */
export function listArmModes(arm, { layout }) {
  return listMtlsModes(createArmTopology(arm, layout.topologies), arm.conditions.tls)
}

/**
 * Probes an arm's plane in a rig that is started for it and then removed.
 * @param {{ testbed: Testbed, arm: Arm, index: number, slot?: Slot, signal: AbortSignal }} options
 * @returns {Promise<ProbedRow[]>}
 * @throws {BenchError} as `probeConfiguration`, with the same other errors
 */
async function probeInRig({ testbed, arm, index, slot = createSlots(1)[0], signal }) {
  const starting = new AbortController()
  const ending = AbortSignal.any([signal, starting.signal])
  // Each request of a check listens to this signal: Node would warn of a leak beyond ten.
  setMaxListeners(0, ending)
  const start = async () => {
    const timer = setTimeout(
      () => starting.abort(new BenchError(`it was not ready within ${RIG_START_SECONDS} s`)),
      RIG_START_SECONDS * 1000,
    )
    try {
      return await createArmRig({ testbed, arm, index, signal: ending })
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    // A rig chooses its timeouts by how long its upstreams take to start: another start meanwhile would lengthen them.
    const rig = await slot.runInTurn(start)
    try {
      return await probeRig(rig, slot)
    } finally {
      await rig.close()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/**
 * Creates a rig of an arm's plane, in the configuration of the arm. A plane that carries bytes only is tried with bytes.
 * @param {{ testbed: Testbed, arm: Arm, index: number, signal: AbortSignal }} options
 * @returns {Promise<Rig>} the caller closes it
 * @throws as `createRig`
 */
function createArmRig({ testbed, arm, index, signal }) {
  const { folders, programs, settings, site } = testbed
  const plane = programs.planes[arm.plane]
  return createRig({
    target: site.target,
    index,
    plane,
    tool: findSidecarTool(programs.tools, { tool: /** @type {ToolSpec} */ (plane.tool), variant: arm.variant }),
    certificates: folders.certificates,
    scripts: findScriptFolder(testbed, arm),
    folder: path.join(folders.raw, `parity-${index}-${arm.plane}`),
    measured: pickMeasuredConditions(arm, { plane, trafficPolicy: settings.trafficPolicy }),
    profile: arm.profile,
    interception: arm.conditions.interception,
    signal,
  })
}

/**
 * Probes the rows of the corpus: all that must be equal and does not depend on a link.
 * @param {Rig} rig
 * @param {Slot} [slot] of this check, if others run at the same time
 * @returns {Promise<ProbedRow[]>} without `parity-logging` if the sidecars have an access log
 * @throws {BenchError} if a sidecar exits; SiteLostError if the agent is lost; the reason of the rig's signal when it aborts; what
 *   the check of a feature throws
 */
export async function probeRig(rig, slot = createSlots(1)[0]) {
  const { call, sidecars, requestSeconds } = rig
  const answers = await call('probeAnswers', { requestSeconds })
  await assertAllRun(sidecars.processes, 'parity')
  const lengthBefore = await sumLogLengths(sidecars.processes)
  const { row: pooling, requests } = await call('probePooling', undefined)
  const written = (await sumLogLengths(sidecars.processes)) - lengthBefore
  const features = await probeFeatures(rig)
  const loneRetry = await slot.runAlone(() => call('probeLoneRetry', undefined))
  await assertAllRun(sidecars.processes, 'parity')
  const rows = [loneRetry, ...answers, pooling]
  // A plane with an access log may write: its lines are checked as a feature.
  if (listFeatures(rig.measured.features).includes('access-log')) return [...rows, ...features]
  const expected = `nothing for ${requests} requests`
  const found = written === 0 ? expected : `${written} bytes for ${requests} requests`
  return [...rows, { name: 'parity-logging', found, expected, differences: [] }, ...features]
}

/**
 * Sums the lengths of the logs of processes.
 * @param {Handle[]} processes
 * @returns {Promise<number>} characters
 * @throws what reading a log throws
 */
async function sumLogLengths(processes) {
  const logs = await Promise.all(processes.map(process => process.readLog()))
  return logs.reduce((sum, log) => sum + log.length, 0)
}
