import path from 'node:path'
import { createApplication } from './applications.js'
import { BenchError } from './lib/errors.js'
import { PORTS } from './sidecar-contract.js'
import { createModel, findEntry, findNextHop } from './topology.js'

/**
 * @import { Arm, DataPlane, Endpoint, Place, Placement, ProcessSpec, RunSettings, LoadGenerator, Target, Tool, Topology } from './types.ts'
 */

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
 * @property {import('./types.ts').SampleSource} sampleSource
 * @property {number | null} memoryLimitBytes of every sidecar
 * @property {Record<string, Placement | null>} placements by the arm's id
 * @property {{ pipyScripts: string, echo: string, k6: string, certificates: string, raw: string }} folders
 * @property {boolean} retain leave the services of the trial running
 */

/**
 * Starts an arm's services and its sidecars, and sends one nonce through.
 * @param {{ bench: Bench, arm: Arm, index: number, folder: string, signal: AbortSignal }} options
 *   index: a number that no other start of this run has
 */
export async function startServices({ bench, arm, index, folder, signal }) {
  const topology = bench.topologies[arm.link]
  const plane = bench.planes[arm.plane]
  const places = await bench.target.placesFor(
    index,
    topology.services.map(s => s.name),
  )
  const placement = bench.placements[arm.id] ?? null
  const specs = createSpecs({ bench, arm, topology, plane, places, folder }).map(spec => ({
    ...spec,
    cpuSet: placement?.[spec.role] ?? null,
    memoryLimitBytes: spec.role === 'sidecar' ? bench.memoryLimitBytes : null,
  }))
  const deployment = await bench.target.deploy(specs, folder)
  try {
    await Promise.all(deployment.processes.map(p => p.waitUntilReady(signal)))
    const entry = findEntry(topology, { places, hasSidecars: plane.createSidecar !== null })
    await bench.target.call('reach', { endpoints: findReachable(specs, places) })
    await sendNonce({ bench, entry, arm })
    return { deployment, url: `http://${entry.address}:${entry.port}/`, host: entry.host }
  } catch (error) {
    await deployment.remove()
    throw error
  }
}

/**
 * The workers asked of a sidecar: as many as its cap can use.
 * @param {Pick<Arm, 'capCores'>} arm
 * @param {Pick<Bench, 'cpus'>} bench
 */
export function countWorkers({ capCores }, { cpus }) {
  return Math.max(1, Math.ceil(capCores ?? cpus))
}

/**
 * @param {{ bench: Bench, arm: Arm, topology: Topology, plane: DataPlane, places: Record<string, Place>, folder: string }} options
 * @returns {ProcessSpec[]}
 */
function createSpecs({ bench, arm, topology, plane, places, folder }) {
  const hasSidecars = plane.createSidecar !== null
  const workers = countWorkers(arm, bench)
  const { target, folders, settings } = bench
  return topology.services.flatMap(service => {
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
        certificates: target.locate(folders.certificates),
      })
      specs.push(
        plane.createSidecar({
          model,
          folder: target.locate(path.join(folder, service.name)),
          tool: bench.tools[plane.tool.name],
          scripts: target.locate(arm.variant ?? folders.pipyScripts),
          envoyProfile: settings.envoyProfile,
          nodeCpus: bench.cpus,
          cpuCores: arm.capCores,
        }),
      )
    }
    return specs
  })
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

/** @param {{ bench: Bench, entry: Endpoint & { host: string }, arm: Arm }} options */
async function sendNonce({ bench, entry, arm }) {
  const nonce = `check-${arm.id}`
  const what = `one request through ${arm.id} (${entry.address}:${entry.port})`
  const ask = { host: entry.host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
  const answer = await bench.target.call('send', { endpoint: entry, ask }).catch(error => {
    throw new BenchError(`${what} failed: ${error.message}`, { cause: error })
  })
  if (answer.status !== 200 || answer.body !== nonce || answer.headers['x-nonce'] !== nonce) {
    throw new BenchError(
      `${what} was answered ${answer.status} "${answer.body.slice(0, 200)}", not by the application's echo of its nonce`,
    )
  }
}
