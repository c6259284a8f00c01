import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { certificatesFolder, credentialsOf } from '../lib/certificate-files.js'
import { BenchError, EndedError } from '../lib/errors.js'
import { readTextFiles } from '../lib/text-files.js'
import { GENERATOR, PORTS } from '../model/sidecar-contract.js'
import { createApplication } from '../services/applications.js'
import { createModel, findEntry, findNextHop, topologyOf } from '../services/topology.js'

/**
 * @import { Arm, DataPlane, Deployment, Endpoint, EndedProcess, Handle, Place, Placement, ProcessSpec, RunSettings, LoadGenerator, ReloadAction, Reloads, SidecarOptions, Target, Tool, Topology } from '../model/types.ts'
 * @import { RunEvent } from '../live/state.js'
 */

const ENDING_MS = 500

/**
 * What a trial needs of the world.
 * @typedef {object} Bench
 * @property {RunSettings} settings
 * @property {Target} target
 * @property {LoadGenerator} load
 * @property {Tool} loadTool
 * @property {Record<string, DataPlane>} planes
 * @property {Record<string, Tool>} tools by name
 * @property {Tool} appRuntime
 * @property {Record<string, Topology>} topologies
 * @property {number} cpus of the machine
 * @property {import('../model/types.ts').SampleSource} sampleSource
 * @property {Record<string, Placement | null>} placements by the arm's id
 * @property {{ pipyScripts: string, echo: string, k6: string, certificates: string, raw: string }} folders
 * @property {boolean} retain leave the services of the trial running
 * @property {(event: RunEvent) => void} [watch] is told what happens, as it does; must be quick
 */

/**
 * Starts an arm's services and its sidecars, and sends one nonce through.
 * @param {{ bench: Bench, arm: Arm, index: number, folder: string, signal: AbortSignal }} options
 *   index: a number that no other start of this run has
 */
export async function startServices({ bench, arm, index, folder, signal }) {
  const topology = topologyOf(arm, bench.topologies)
  const plane = bench.planes[arm.plane]
  const places = await bench.target.placesFor(
    index,
    // Without sidecars, a service without an application runs nothing.
    topology.services.filter(s => plane.createSidecar || s.application).map(s => s.name),
  )
  const placement = bench.placements[arm.id] ?? null
  const { specs: rendered, reloadable } = createSpecs({ bench, arm, topology, plane, places, folder })
  const place = (/** @type {ProcessSpec} */ spec) => ({
    ...spec,
    cpuSet: placement?.[spec.role === 'control' ? 'application' : spec.role] ?? null,
    memoryLimitBytes: spec.role === 'sidecar' ? arm.conditions.memoryLimitBytes : null,
  })
  const specs = rendered.map(place)
  const control = reloadable?.control
    ? await bench.target.deploy([place(reloadable.control)], { start: index, folder })
    : null
  /** @type {Deployment} */
  const deployment = { processes: [...(control?.processes ?? [])], remove: async () => control?.remove() }
  try {
    await Promise.all(deployment.processes.map(p => p.waitUntilReady(signal)))
    if (reloadable) await bench.target.call('perform', { actions: reloadable.setUp })
    const services = await bench.target.deploy(specs, { start: index, folder })
    deployment.processes.push(...services.processes)
    deployment.remove = async () => void (await Promise.all([services.remove(), control?.remove()]))
    await Promise.all(deployment.processes.map(p => p.waitUntilReady(signal)))
    const entry = findEntry(topology, { places, hasSidecars: plane.createSidecar !== null })
    await bench.target.call('reach', { endpoints: findReachable(specs, places) })
    await sendNonce({ bench, entry, arm })
    const scheme = arm.load.hasCertificate ? 'https' : 'http'
    return {
      deployment,
      urls: entry.endpoints.map(({ address, port }) => `${scheme}://${address}:${port}/`),
      host: entry.host,
      changeTo: reloadable?.changeTo ?? null,
      // On a cluster nobody but the generator's own pod could ask there.
      admin: places[GENERATOR] ? { address: places[GENERATOR].inside, port: PORTS.generator } : null,
      certificate: arm.load.hasCertificate ? credentialsOf(GENERATOR, certificatesOf(bench, arm)) : null,
    }
  } catch (error) {
    const ended = await awaitEnded(deployment.processes)
    await deployment.remove()
    if (ended.length > 0 && error instanceof BenchError) throw new EndedError(error.message, { cause: error, ended })
    throw error
  }
}

/**
 * The workers asked of a sidecar: what the experiment says, else the plane, else as many as its cap can use.
 * @param {Pick<Arm, 'plane' | 'profile' | 'capCores' | 'conditions'>} arm
 * @param {Pick<Bench, 'cpus' | 'planes'>} bench
 */
export function countWorkers({ plane, profile, capCores, conditions }, { cpus, planes }) {
  const own = planes[plane].countWorkers({ profile, cpus })
  return conditions.workers ?? own ?? Math.max(1, Math.ceil(capCores ?? cpus))
}

/**
 * The same a moment later: who answers no more may be about to end.
 * @param {Handle[]} processes
 */
export async function awaitEnded(processes) {
  await Promise.race([delay(ENDING_MS), ...processes.map(p => p.exited)])
  return describeEnded(processes)
}

/**
 * The processes that ended without being stopped.
 * @param {Handle[]} processes
 * @returns {EndedProcess[]}
 */
function describeEnded(processes) {
  return processes.flatMap(p => {
    const how = p.ending()
    return how === null ? [] : [{ service: p.spec.service, role: p.spec.role, how, isOutOfMemory: p.isOutOfMemory() }]
  })
}

/**
 * Where processes see the certificates of an arm's key type.
 * @param {Bench} bench
 * @param {Pick<Arm, 'conditions'>} arm
 */
function certificatesOf({ target, folders }, { conditions }) {
  return target.locate(certificatesFolder(folders.certificates, conditions.tls))
}

/**
 * @param {{ bench: Bench, arm: Arm, topology: Topology, plane: DataPlane, places: Record<string, Place>, folder: string }} options
 * @returns {{ specs: ProcessSpec[], reloadable: Reloadable | null }}
 */
function createSpecs({ bench, arm, topology, plane, places, folder }) {
  const hasSidecars = plane.createSidecar !== null
  const workers = countWorkers(arm, bench)
  const { target, folders, settings } = bench
  const { tls, protocol, configuredServices } = arm.conditions
  /** @type {Reloadable | null} */
  let reloadable = null
  const all = topology.services.flatMap(service => {
    const specs = []
    if (service.application) {
      specs.push(
        createApplication({
          service: service.name,
          kind: service.application,
          listen: { address: places[service.name][hasSidecars ? 'inside' : 'listen'], port: PORTS.application },
          next: service.application === 'forward' ? findNextHop(service, { places, hasSidecars }) : null,
          runtime: bench.appRuntime,
          scripts: target.locate(folders.echo),
          folder: target.locate(folder),
        }),
      )
    }
    if (plane.createSidecar && plane.tool) {
      const model = createModel(topology, {
        ...{ service, places, workers, trafficPolicy: settings.trafficPolicy },
        certificates: certificatesOf(bench, arm),
        ...{ tls, protocol, configuredServices, client: arm.load.hasCertificate ? GENERATOR : null },
      })
      const options = {
        model,
        folder: target.locate(path.join(folder, service.name)),
        tool: bench.tools[plane.tool.name],
        scripts: target.locate(arm.variant ?? folders.pipyScripts),
        profile: arm.profile,
        cpuCores: arm.capCores,
      }
      if (arm.conditions.changesPerMinute !== null && service.name === topology.entry.service && plane.reloads) {
        reloadable = makeReloadable({ reloads: plane.reloads, options, scripts: arm.variant ?? folders.pipyScripts })
        specs.push(reloadable.sidecar)
      } else {
        specs.push(plane.createSidecar(options))
      }
    }
    return specs.map(spec => ({ ...spec, copyOf: service.copyOf }))
  })
  return { specs: all, reloadable }
}

/**
 * A sidecar whose configuration can be changed while it serves: with every version another host has a route, in the
 * place of that of the version before.
 * @typedef {object} Reloadable
 * @property {ProcessSpec} sidecar
 * @property {ProcessSpec | null} control
 * @property {ReloadAction[]} setUp
 * @property {(version: number) => { actions: ReloadAction[], endpoint: Endpoint, host: string }} changeTo
 */

/**
 * @param {{ reloads: Reloads, options: SidecarOptions, scripts: string }} made scripts: the folder that Pipy runs
 * @returns {Reloadable}
 */
function makeReloadable({ reloads, options, scripts }) {
  const { outbound } = options.model
  if (outbound === null) throw new BenchError(`${options.model.service} calls nobody: it has no routes to change`)
  const complete = { ...options, scriptFiles: readTextFiles(scripts) }
  return {
    sidecar: reloads.createSidecar(complete),
    control: reloads.createControl?.(complete) ?? null,
    setUp: reloads.setUp(complete),
    changeTo(version) {
      const host = `change-${version}.test`
      const routes = [...outbound.routes, { ...outbound.routes[0], host }]
      const model = { ...options.model, outbound: { ...outbound, routes } }
      const { address, port } = outbound
      return { actions: reloads.change({ ...complete, model }, version), endpoint: { address, port }, host }
    },
  }
}

/**
 * Where others reach what listens for them.
 * @param {ProcessSpec[]} specs
 * @param {Record<string, Place>} places
 * @returns {Endpoint[]}
 */
function findReachable(specs, places) {
  return specs.flatMap(({ service, listens }) =>
    listens
      .filter(({ address }) => address === places[service].listen)
      .map(({ port }) => ({ address: places[service].reach, port })),
  )
}

/** @param {{ bench: Bench, entry: { endpoints: Endpoint[], host: string }, arm: Arm }} options */
async function sendNonce({ bench, entry, arm }) {
  const nonce = `check-${arm.id}`
  const [endpoint] = entry.endpoints
  const what = `one request through ${arm.id} (${endpoint.address}:${endpoint.port})`
  const ask = { host: entry.host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
  const answer = await bench.target.call('send', { endpoint, ask }).catch(error => {
    throw new BenchError(`${what} failed: ${error.message}`, { cause: error })
  })
  if (answer.status !== 200 || answer.body !== nonce || answer.headers['x-nonce'] !== nonce) {
    throw new BenchError(
      `${what} was answered ${answer.status} "${answer.body.slice(0, 200)}", not by the application's echo of its nonce`,
    )
  }
}
