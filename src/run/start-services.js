import { setMaxListeners } from 'node:events'
import { BenchError, EndedError } from '../lib/errors.js'
import { readTextFiles } from '../lib/text-files.js'
import { isRedirected, sharesPodQuota } from '../model/arms.js'
import { locateCertificates, locateCredentials } from '../model/certificate-files.js'
import { findPipelinePort } from '../model/pipeline-traffic.js'
import { GENERATOR, NODE_AGENT, NODE_PROXY, PORTS } from '../model/sidecar-contract.js'
import { findArmPipeline } from '../model/tools.js'
import { CONTROL } from '../services/control.js'
import { findDeployedProfile, hasNodeProxy } from '../services/profiles.js'
import { chooseCpuRequest, createSpecs, listReachableEndpoints, NEIGHBOUR } from '../services/specs.js'
import { chooseEntryService, createArmTopology, locateEntryEndpoints } from '../services/topology.js'
import { assertAllRun, awaitEarlyExits } from './alive.js'
import { createDeployer } from './deployer.js'
import { addSidecarLogs, sendFirstRequest } from './first-request.js'
import { findScriptFolder } from './scripts.js'

/**
 * @import { Arm, Deployment, Handle, Place, ProcessSpec, Topology } from '../model/types.ts'
 * @import { Testbed } from './kind.js'
 * @import { Deploy } from './deployer.js'
 * @import { Ending } from '../services/specs.js'
 */

/**
 * The services of an arm, and what a load needs to drive them.
 * @typedef {Awaited<ReturnType<typeof startServices>> & { findings?: import('./kind.js').StartFindings }} Started
 */

/**
 * @typedef {object} StartRequest
 * @property {Testbed} testbed
 * @property {Arm} arm
 * @property {number} start a number that no other start of this run has
 * @property {number} round
 * @property {string} folder for the files of the processes
 * @property {boolean} [isInterleaved] other arms stand at the same time; by default none do
 * @property {number} [deadlineSeconds] for a process to be ready, and for the first answer; absent: the defaults of the target
 *   and of a request
 * @property {AbortSignal} signal
 */

/** @typedef {(request: StartRequest) => Promise<Started>} StartServices */

/** The fields of `Started` that only a load needs, for trials without a load. */
export const UNLOADED = {
  changeTo: null,
  ending: null,
  entry: { urls: [], endpoint: { address: '', port: 0 }, path: '', host: '', admin: null, certificate: null },
}

/** The key of a placement whose CPUs a process of each role may use. */
const PLACED_AS = /** @type {const} */ ({
  sidecar: 'sidecar',
  neighbour: 'sidecar',
  application: 'application',
  control: 'application',
  generator: 'generator',
})

/**
 * Starts an arm's services and sidecars, waits until they are ready, and sends one request through them to the application. If
 * it throws, all processes are removed before.
 * @param {Omit<StartRequest, 'round'>} options
 * @returns deployment: all processes; changeTo: renders changes of a sidecar's configuration, null: the arm has none; ending:
 *   the end of a sidecar in the window, null: none ends; entry: as `openEntry` returns it
 * @throws {BenchError} if a process is not ready or the request is not answered as expected, with the logs of sidecars; an
 *   EndedError if processes exited; another error as it is, such as the signal's reason
 */
export async function startServices({ testbed, arm, start, folder, isInterleaved = false, deadlineSeconds, signal }) {
  const { target } = testbed.site
  const topology = createArmTopology(arm, testbed.layout.topologies)
  const places = await requestPlaces({ testbed, arm, start, topology })
  const { specs, controlled, ending } = createArmSpecs({ testbed, arm, folder, topology, places })
  // Each wait for a process listens to the signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, signal)
  const { deploy, deployment } = createDeployer(target, { start, folder })
  const deployReady = async (/** @type {ProcessSpec[]} */ planned) => {
    const processes = await deploy(planned.map(spec => assignResources(spec, { testbed, arm, isInterleaved })))
    await Promise.all(processes.map(process => process.waitUntilReady(signal, { deadlineSeconds })))
  }
  let areReady = false
  try {
    if (controlled) {
      const { control, setUp, member } = controlled
      if (control) await deployReady([control])
      await target.call('perform', { actions: [...setUp, ...member.enrolment] })
    }
    await deployReady(specs)
    areReady = true
    // A caller that shortens the wait for ready sidecars does not wait longer for their answer.
    const entry = await openEntry({ testbed, arm, topology, places, specs, timeoutSeconds: deadlineSeconds })
    return {
      deployment,
      changeTo: controlled?.member.changeTo ?? null,
      ending: ending && prepareEnding({ testbed, arm, ending, deployment, deploy }),
      entry,
    }
  } catch (error) {
    const explainedError = await explainStartError(error, { processes: deployment.processes, areReady })
    await deployment.remove()
    throw explainedError
  }
}

/**
 * Requests the places of an arm's processes from the target.
 * @param {{ testbed: Testbed, arm: Arm, start: number, topology: Topology }} options
 * @returns {Promise<Record<string, Place>>} by the name of the service; with those that the target adds, such as the generator's
 * @throws as `placesFor` of the target
 */
function requestPlaces({ testbed, arm, start, topology }) {
  const { hasSidecars, conditions } = arm
  // A service with neither a sidecar nor an application has no process.
  const running = topology.services.filter(({ application }) => hasSidecars || application)
  const names = [
    ...running.map(({ name }) => name),
    ...(conditions.changesPerMinute === null ? [] : [CONTROL]),
    ...(hasNodeProxy(testbed.programs.planes, arm) ? [NODE_PROXY, NODE_AGENT] : []),
    ...(conditions.neighbourCores === undefined ? [] : [NEIGHBOUR]),
  ]
  const entry = chooseEntryService(topology, hasSidecars)
  return testbed.site.target.placesFor(start, names, { entry, hasNamespaces: conditions.interception !== undefined })
}

/**
 * Creates the processes of an arm at their places. The texts of the scripts are read only if a control plane or a deployed profile
 * needs them.
 * @param {{ testbed: Testbed, arm: Arm, folder: string, topology: Topology, places: Record<string, Place> }} options
 * @returns {ReturnType<typeof createSpecs>}
 * @throws {BenchError} as `createSpecs`; the system's error if the scripts cannot be read
 */
function createArmSpecs({ testbed, arm, folder, topology, places }) {
  const options = createSpecOptions({ testbed, arm, folder })
  const isControlled = arm.conditions.changesPerMinute !== null
  const needsScripts = isControlled || findDeployedProfile(testbed.programs.planes, arm)?.scripts
  const scriptFiles = needsScripts ? readTextFiles(options.folders.scripts) : {}
  return createSpecs({ ...options, topology, places, scriptFiles })
}

/**
 * Creates the options of `createSpecs` for all processes of an arm.
 * @param {{ testbed: Testbed, arm: Arm, folder: string }} options folder: for the files of the processes
 * @returns {Omit<Parameters<typeof createSpecs>[0], 'topology' | 'places' | 'scriptFiles'>}
 */
export function createSpecOptions({ testbed, arm, folder }) {
  const { site, programs, settings, folders } = testbed
  const scripts = findScriptFolder(testbed, arm)
  return {
    arm,
    programs,
    folders: { process: folder, scripts, echo: folders.echo, certificates: folders.certificates },
    locate: site.target.locate,
    trafficPolicy: settings.trafficPolicy,
    cpus: site.cpus,
  }
}

/**
 * Assigns the CPUs, the CPU request and the limits of a process that the arm and its placement determine.
 * @param {ProcessSpec} spec
 * @param {{ testbed: Testbed, arm: Arm, isInterleaved: boolean }} options isInterleaved: the process also gets the id of its arm
 * @returns {ProcessSpec} a copy; cpuSet: null: it may use all CPUs
 */
function assignResources(spec, { testbed, arm, isInterleaved }) {
  const placement = testbed.layout.placementOf(arm)
  const cpuRequestCores = chooseCpuRequest(arm, { role: spec.role, cpus: testbed.site.cpus })
  return {
    ...spec,
    ...(isInterleaved && { armId: arm.id }),
    cpuSet: placement?.[PLACED_AS[spec.role]] ?? null,
    ...(cpuRequestCores !== undefined && { cpuRequestCores }),
    ...(sharesPodQuota(arm, spec.role) && { podCpuCores: arm.conditions.podCpuCores }),
    memoryLimitBytes: spec.role === 'sidecar' ? arm.conditions.memoryLimitBytes : null,
  }
}

/**
 * Waits until the services can be reached, and sends the first request to their entry.
 * @param {{ testbed: Testbed, arm: Arm, topology: Topology, places: Record<string, Place>, specs: ProcessSpec[],
 *   timeoutSeconds?: number }} options timeoutSeconds: of the request; absent: its default
 * @returns what the load is sent to: urls, with the endpoint and the path of the first, and host; request: that of a pipeline, absent if
 *   the kit's own is echoed; admin: the generator's own port, null if it has no address among these services; certificate: of the load,
 *   null if it has none
 * @throws {BenchError} if a service is not reached in time, or as `sendFirstRequest`
 */
async function openEntry({ testbed, arm, topology, places, specs, timeoutSeconds }) {
  const { target } = testbed.site
  const { hasSidecars, conditions, load } = arm
  const pipeline = findArmPipeline(testbed.programs, arm)
  const entry = locateEntryEndpoints(topology, { places, hasSidecars, isRedirected: isRedirected(conditions) })
  if (pipeline) for (const endpoint of entry.endpoints) endpoint.port = findPipelinePort(pipeline)
  const endpoints = [...listReachableEndpoints(specs, places), ...(pipeline ? entry.endpoints : [])]
  await target.call('reach', { endpoints })
  const certificates = locateCertificates(testbed.folders.certificates, conditions.tls)
  const certificate = load.hasCertificate
    ? locateCredentials(GENERATOR, target.locate(certificates, 'generator'))
    : null
  // The kit's own entry also takes plaintext, so its check needs no certificate.
  const credentials = pipeline ? certificate : null
  const request = await sendFirstRequest({ target, entry, arm, pipeline, timeoutSeconds, credentials })
  const httpScheme = load.hasCertificate ? 'https' : 'http'
  const scheme = conditions.protocol === 'grpc' ? 'grpc' : httpScheme
  const path = pipeline?.document.request.path ?? '/'
  return {
    urls: entry.endpoints.map(({ address, port }) => `${scheme}://${address}:${port}${path}`),
    endpoint: entry.endpoints[0],
    path,
    host: pipeline?.document.request.headers.host ?? entry.host,
    ...(request && { request }),
    admin: places[GENERATOR] ? { address: places[GENERATOR].inside, port: PORTS.generator } : null,
    certificate,
  }
}

/**
 * Prepares the end of the sidecar that ends in the window.
 * @param {{ testbed: Testbed, arm: Arm, ending: Ending, deployment: Deployment, deploy: Deploy }} options
 * @returns process, notice and steps of its end; request: reaches its service past the sidecar of its client; deploySuccessor: starts
 *   the successor
 */
function prepareEnding({ testbed, arm, ending: { spec, notice, steps, server }, deployment, deploy }) {
  const { client, ...target } = server
  const { tls } = arm.conditions
  const certificates = testbed.site.target.locate(locateCertificates(testbed.folders.certificates, tls))
  const process = /** @type {Handle} */ (deployment.processes.find(({ spec: { ends } }) => ends))
  return {
    process,
    notice,
    steps,
    request: { ...target, credentials: client && tls !== 'plaintext' ? locateCredentials(client, certificates) : null },
    /**
     * Starts the successor, at the same address.
     * @returns {Promise<Handle>} it need not be ready yet
     * @throws the target's error if it does not start
     */
    async deploySuccessor() {
      const { ends, ...lasting } = process.spec
      const [successor] = await deploy([{ ...lasting, service: `${spec.service}-next` }])
      return successor
    },
  }
}

/**
 * Finds the likeliest cause of a start that failed: the exit of a process, or the reasons in the logs of sidecars.
 * @param {unknown} error
 * @param {{ processes: Handle[], areReady: boolean }} options areReady: all processes had become ready
 * @returns {Promise<unknown>} an EndedError if processes exited; if all were ready, a BenchError that names a process which stopped, or
 *   has the logs of sidecars; else `error` itself, as also if it is no BenchError
 */
async function explainStartError(error, { processes, areReady }) {
  const ended = await awaitEarlyExits(processes)
  // If a process did not become ready, the error has its log. If all did, one may have exited since, and is then the likelier cause.
  const exitError = areReady ? await assertAllRun(processes, 'starting').catch(exit => exit) : null
  const failure = exitError ?? (areReady ? await addSidecarLogs(error, processes) : error)
  const isOfExit = ended.length > 0 && failure instanceof BenchError
  return isOfExit ? new EndedError(failure.message, { cause: error, ended }) : failure
}
