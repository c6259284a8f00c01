import { setMaxListeners } from 'node:events'
import path from 'node:path'
import { AgentError, BenchError, SiteLostError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { listFeatures } from '../model/features.js'
import { toolOf } from '../model/tools.js'
import { assertAllRun } from '../run/alive.js'
import { findScriptFolder } from '../run/scripts.js'
import { startServices } from '../run/start-services.js'
import { countWorkers, findDeployed } from '../services/specs.js'
import { listModes, topologyOf } from '../services/topology.js'
import { probeFeatures } from './features.js'
import { createRig } from './rig.js'
import { configurationOf, holdAgainst, PARITY_NAMES, sizeOf } from './verdict/rows.js'

/** @import { Arm, ParityRow, ToolSpec } from '../model/types.ts' */
/** @import { Testbed } from '../run/kind.js' */
/** @import { Row } from './beside/probe.js' */
/** @import { Rig } from './rig.js' */

// The limit is longer than on one machine: pods take their time, and so do three sidecars on one slow CPU.
const RIG_START_SECONDS = 120

/** A row, the links that it is about, and why it falls short. @typedef {Row & Pick<ParityRow, 'links' | 'lacks'>} Found */
/**
 * @typedef {{ testbed: Testbed, arms: Arm[], nextIndex: () => number, signal: AbortSignal, say: (line: string) => void }} GateOptions
 * @typedef {(options: GateOptions) => Promise<ParityRow[]>} GateParity
 */

/**
 * Starts each arm once, before any load, counts its workers, and tries each plane with the corpus in every
 * configuration that is measured, on processes of their own that are then ended (a body of 10 MiB leaves its mark on
 * a process).
 * @type {GateParity}
 * @throws {BenchError} when an arm does not start or does not answer
 */
export async function gateParity({ testbed, arms, nextIndex, signal, say }) {
  const own = arms.filter(arm => arm.repeatOf === null)
  if (own.length === 0) return []
  const starts = groupAlike(own, arm => ({ ...configurationOf(arm), ...sizeOf(arm) })).map(([arm]) => arm)
  const withSidecars = own.filter(arm => arm.hasSidecars)
  say(`checking ${starts.length} arms, and that the planes do equal work`)
  /** @type {ParityRow[]} */
  const rows = []
  const add = (/** @type {Arm} */ arm, /** @type {Found} */ row, /** @type {ParityRow['size']} */ size) =>
    rows.push({
      ...row,
      ...configurationOf(arm),
      trafficPolicy: testbed.settings.trafficPolicy,
      size,
      ...(findDeployed(testbed.programs.planes, arm) && { isDeployed: true }),
    })
  for (const arm of starts) {
    const sidecars = await countSockets({ testbed, arm, index: nextIndex(), signal })
    // Workers cannot be counted on a target that reads no sockets.
    if (sidecars.length === 0 || sidecars.some(({ sockets }) => sockets === null)) continue
    const asked = countWorkers(arm, { cpus: testbed.site.cpus, planes: testbed.programs.planes })
    const counted = sidecars.map(({ sockets, wanted }) => (sockets === wanted ? asked : sockets))
    const found = `${[...new Set(counted)].join(' and ')} a sidecar`
    const expected = `${asked} a sidecar`
    add(arm, { name: 'parity-workers', found, expected, differences: [] }, sizeOf(arm))
  }
  for (const alike of groupAlike(withSidecars, configurationOf)) {
    for (const { mode, ...row } of await probePlane({ testbed, alike, index: nextIndex(), signal })) {
      const links = alike.filter(arm => !mode || modesOf(arm, testbed).includes(mode)).map(({ link }) => link)
      if (links.length > 0) add(alike[0], { ...row, ...(mode && { links: [...new Set(links)] }) }, null)
    }
  }
  const held = rows.filter(({ name }) => PARITY_NAMES.includes(name))
  const reasons = held.flatMap(({ plane, lacks = [] }) =>
    lacks.map(why => `${plane} falls short of equal work: ${why}`),
  )
  for (const reason of new Set(reasons)) say(reason)
  return rows
}

/** Lists the modes of the inbound listeners on an arm's link. @param {Arm} arm @param {Testbed} testbed */
function modesOf(arm, { layout }) {
  return listModes(topologyOf(arm, layout.topologies), arm.conditions.tls)
}

/**
 * Starts the sidecars of an arm, and counts the listening sockets of each.
 * @param {{ testbed: Testbed, arm: Arm, index: number, signal: AbortSignal }} options
 */
async function countSockets({ testbed, arm, index, signal }) {
  const folder = path.join(testbed.folders.raw, `check-${arm.id}`)
  const { deployment } = await startServices({ testbed, arm, start: index, folder, signal })
  try {
    const sidecars = deployment.processes.filter(p => p.spec.role === 'sidecar')
    const looks = await testbed.site.target.look(sidecars)
    return looks.map(({ workers }, i) => ({ sockets: workers, wanted: sidecars[i].spec.workers }))
  } finally {
    await deployment.remove()
  }
}

/**
 * Tries a plane with the corpus; one that does not serve it falls short of every row.
 * @param {Parameters<typeof tryConfiguration>[0]} options @returns {Promise<Found[]>}
 */
async function probePlane(options) {
  try {
    return await tryConfiguration(options)
  } catch (error) {
    const isPlanes = error instanceof BenchError && !(error instanceof SiteLostError || error instanceof AgentError)
    if (options.signal.aborted || !isPlanes) throw error
    // The plane serves its link, but not what the corpus needs: it does other work than the planes beside it.
    const why = `does not serve the corpus: ${error.message.split('\n')[0]}`
    return PARITY_NAMES.filter(row => row !== 'parity-workers').map(name => ({
      name,
      found: why,
      expected: 'served',
      differences: [why],
    }))
  }
}

/**
 * Tries the plane of arms of one configuration. lacks: of a row that falls short only of what the plane declares to lack.
 * @param {{ testbed: Testbed, alike: Arm[], index: number, signal: AbortSignal }} options
 * @returns {Promise<Found[]>}
 * @throws {BenchError} where the plane does not serve the corpus
 */
export async function tryConfiguration({ testbed, alike, ...options }) {
  const [arm] = alike
  const modes = [...new Set(alike.flatMap(other => modesOf(other, testbed)))]
  const { trafficPolicy } = testbed.settings
  const lacks = testbed.programs.planes[arm.plane].findLacks?.({ ...arm.conditions, trafficPolicy, modes }) ?? []
  return (await probeInRig({ testbed, arm, ...options })).map(row => {
    const { known, unknown } = holdAgainst(row, lacks)
    return known.length > 0 && unknown.length === 0 ? { ...row, lacks: known } : row
  })
}

/** @param {{ testbed: Testbed, arm: Arm, index: number, signal: AbortSignal }} options @returns {Promise<Row[]>} */
async function probeInRig({ testbed, arm, index, signal }) {
  const plane = testbed.programs.planes[arm.plane]
  const { folders, settings } = testbed
  const { tls, protocol, features } = arm.conditions
  const starting = new AbortController()
  const ending = AbortSignal.any([signal, starting.signal])
  // Each request of a check listens to this signal.
  setMaxListeners(0, ending)
  const timer = setTimeout(
    () => starting.abort(new BenchError(`it was not ready within ${RIG_START_SECONDS} s`)),
    RIG_START_SECONDS * 1000,
  )
  try {
    const rig = await createRig({
      target: testbed.site.target,
      index,
      plane,
      tool: toolOf(testbed.programs.tools, { tool: /** @type {ToolSpec} */ (plane.tool), variant: arm.variant }),
      certificates: folders.certificates,
      scripts: findScriptFolder(testbed, arm),
      folder: path.join(folders.raw, `parity-${index}-${arm.plane}`),
      measured: { tls, protocol, features, trafficPolicy: settings.trafficPolicy },
      profile: arm.profile,
      interception: arm.conditions.interception,
      signal: ending,
    })
    clearTimeout(timer)
    try {
      return await probeRig(rig)
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

/** Probes all that is held equal and does not depend on a link. @param {Rig} rig @returns {Promise<Row[]>} */
export async function probeRig(rig) {
  const { call, sidecars } = rig
  const sumLogs = async () => {
    const logs = await Promise.all(sidecars.processes.map(p => p.readLog()))
    return logs.reduce((sum, log) => sum + log.length, 0)
  }
  const answers = await call('probeAnswers', undefined)
  await assertAllRun(sidecars.processes, 'parity')
  const before = await sumLogs()
  const { row, requests } = await call('probePooling', undefined)
  const bytes = (await sumLogs()) - before
  const features = await probeFeatures(rig)
  // An access log is tried as a feature.
  if (listFeatures(rig.measured.features).includes('access-log')) return [...answers, row, ...features]
  const nothing = `nothing for ${requests} requests`
  const found = bytes === 0 ? nothing : `${bytes} bytes for ${requests} requests`
  return [...answers, row, { name: 'parity-logging', found, expected: nothing, differences: [] }, ...features]
}

/** @param {Arm[]} arms @param {(arm: Arm) => object} identityOf */
function groupAlike(arms, identityOf) {
  return [...groupBy(arms, arm => JSON.stringify(identityOf(arm))).values()]
}
