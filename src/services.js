import path from 'node:path'
import { createApplication } from './applications.js'
import { BenchError } from './lib/errors.js'
import { send } from './lib/send.js'
import { createModel, findEntry, findNextHop, PORTS } from './topology.js'

/**
 * @import { Arm, DataPlane, Endpoint, Placement, ProcessSpec, RunSettings, LoadGenerator, Target, Tool, Topology } from './types.ts'
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
  const addresses = bench.target.addressesFor(
    index,
    topology.services.map(s => s.name),
  )
  const placement = bench.placements[arm.id] ?? null
  const specs = createSpecs({ bench, arm, topology, plane, addresses, folder }).map(spec => ({
    ...spec,
    cpuSet: placement?.[spec.role] ?? null,
  }))
  const deployment = await bench.target.deploy(specs, folder)
  try {
    await Promise.all(deployment.processes.map(p => p.waitUntilReady(signal)))
    const entry = findEntry(topology, { addresses, hasSidecars: plane.createSidecar !== null })
    await sendNonce({ entry, arm })
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
 * @param {{ bench: Bench, arm: Arm, topology: Topology, plane: DataPlane, addresses: Record<string, string>, folder: string }} options
 * @returns {ProcessSpec[]}
 */
function createSpecs({ bench, arm, topology, plane, addresses, folder }) {
  const hasSidecars = plane.createSidecar !== null
  const workers = countWorkers(arm, bench)
  return topology.services.flatMap(service => {
    const specs = []
    if (service.application) {
      specs.push(
        createApplication({
          service: service.name,
          kind: service.application,
          listen: { address: addresses[service.name], port: PORTS.application },
          next: service.application === 'forward' ? findNextHop(service, { addresses, hasSidecars }) : null,
          runtime: bench.appRuntime,
          scripts: bench.folders.echo,
          folder,
        }),
      )
    }
    if (plane.createSidecar && plane.tool) {
      const model = createModel(topology, {
        ...{ service, addresses, workers, trafficPolicy: bench.settings.trafficPolicy },
        certificates: bench.folders.certificates,
      })
      specs.push(
        plane.createSidecar({
          model,
          folder: path.join(folder, service.name),
          tool: bench.tools[plane.tool.name],
          scripts: arm.variant ?? bench.folders.pipyScripts,
          envoyProfile: bench.settings.envoyProfile,
          nodeCpus: bench.cpus,
          cpuCores: arm.capCores,
        }),
      )
    }
    return specs
  })
}

/** @param {{ entry: Endpoint & { host: string }, arm: Arm }} options */
async function sendNonce({ entry, arm }) {
  const nonce = `check-${arm.id}`
  const what = `one request through ${arm.id} (${entry.address}:${entry.port})`
  const ask = { host: entry.host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
  const answer = await send(entry, ask).catch(error => {
    throw new BenchError(`${what} failed: ${error.message}`, { cause: error })
  })
  if (answer.status !== 200 || answer.body !== nonce || answer.headers['x-nonce'] !== nonce) {
    throw new BenchError(
      `${what} was answered ${answer.status} "${answer.body.slice(0, 200)}", not by the application's echo of its nonce`,
    )
  }
}
