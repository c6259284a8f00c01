import { setMaxListeners } from 'node:events'
import { locateCertificates, locateCredentials } from '../lib/certificate-files.js'
import { BenchError, EndedError } from '../lib/errors.js'
import { listLastLines } from '../lib/log-tail.js'
import { readTextFiles } from '../lib/text-files.js'
import { isInPod, isRedirected } from '../model/arms.js'
import { findPipelinePort, isEchoed } from '../model/pipeline-traffic.js'
import { createCheck } from '../model/requests.js'
import { GENERATOR, NODE_AGENT, NODE_PROXY, PORTS } from '../model/sidecar-contract.js'
import { CONTROL } from '../services/control.js'
import {
  chooseCpuRequest,
  createSpecs,
  findDeployedProfile,
  hasNodeProxy,
  listReachableEndpoints,
  NEIGHBOUR,
} from '../services/specs.js'
import { createArmTopology, findEntry, findEntryService } from '../services/topology.js'
import { assertAllRun, awaitAnyExit, hasEndedAsPlanned } from './alive.js'
import { createDeployer } from './deployer.js'
import { findArmPipeline, findScriptFolder } from './scripts.js'

/**
 * @import { Arm, Deployment, Endpoint, EndedProcess, Handle, OwnRequest, ProcessSpec, Target } from '../model/types.ts'
 * @import { Pipeline } from '../model/pipeline.js'
 * @import { Testbed } from './kind.js'
 * @import { Ending } from '../services/specs.js'
 * @typedef {ReturnType<typeof locateCredentials>} Credentials
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

// Pipy logs an exception of a script in about eight lines, and often a second one that it causes.
const SIDECAR_LINES = 24

/** The key of a placement whose CPUs a process of each role may use. */
const PLACED_AS = /** @type {const} */ ({
  sidecar: 'sidecar',
  neighbour: 'sidecar',
  application: 'application',
  control: 'application',
  generator: 'generator',
})

/**
 * Creates the field of a CPU request.
 * @param {number | undefined} cpuRequestCores
 * @returns {{ cpuRequestCores: number } | false} false: there is no request
 */
const withRequest = cpuRequestCores => cpuRequestCores !== undefined && { cpuRequestCores }

/**
 * Starts an arm's services and sidecars, waits until they are ready, and sends one request through them to the application. If
 * it throws, all processes are removed before.
 * @param {Omit<StartRequest, 'round'>} options
 * @returns deployment: all processes; changeTo: renders changes of a sidecar's configuration, null: the arm has none; ending:
 *   the end of a sidecar in the window, null or undefined: none ends; entry: URLs, host and identity of the load
 * @throws {BenchError} if a process is not ready or the request is not answered as expected, with the logs of sidecars;
 *   EndedError if processes exited
 */
export async function startServices({ testbed, arm, start, folder, isInterleaved = false, deadlineSeconds, signal }) {
  const { target } = testbed.site
  const topology = createArmTopology(arm, testbed.layout.topologies)
  const { hasSidecars } = arm
  // A service without a sidecar and an application has no process.
  const runningServices = topology.services.filter(s => hasSidecars || s.application)
  const names = runningServices.map(s => s.name)
  const isControlled = arm.conditions.changesPerMinute !== null
  const entryService = findEntryService(topology, hasSidecars)
  const companionNames = [
    ...(isControlled ? [CONTROL] : []),
    ...(hasNodeProxy(testbed.programs.planes, arm) ? [NODE_PROXY, NODE_AGENT] : []),
    ...(arm.conditions.neighbourCores === undefined ? [] : [NEIGHBOUR]),
  ]
  const places = await target.placesFor(start, [...names, ...companionNames], {
    entry: entryService,
    hasNamespaces: arm.conditions.interception !== undefined,
  })
  const specOptions = createSpecOptions({ testbed, arm, folder })
  const needsScripts = isControlled || findDeployedProfile(testbed.programs.planes, arm)?.scripts
  const scriptFiles = needsScripts ? readTextFiles(specOptions.folders.scripts) : {}
  const { specs, controlled, ending } = createSpecs({ ...specOptions, topology, places, scriptFiles })
  const placement = testbed.layout.placementOf(arm)
  // Each wait for a process listens to the signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, signal)
  const { deploy: begin, deployment } = createDeployer(target, { start, folder })
  const deploy = async (/** @type {ProcessSpec[]} */ rendered) => {
    const placed = rendered.map(spec => ({
      ...spec,
      ...(isInterleaved && { armId: arm.id }),
      cpuSet: placement?.[PLACED_AS[spec.role]] ?? null,
      ...withRequest(chooseCpuRequest(arm, { role: spec.role, cpus: testbed.site.cpus })),
      ...(isInPod(arm, spec.role) && { podCpuCores: arm.conditions.podCpuCores }),
      memoryLimitBytes: spec.role === 'sidecar' ? arm.conditions.memoryLimitBytes : null,
    }))
    const processes = await begin(placed)
    await Promise.all(processes.map(p => p.waitUntilReady(signal, { deadlineSeconds })))
  }
  let areReady = false
  try {
    if (controlled) {
      const { control, setUp, member } = controlled
      if (control) await deploy([control])
      await target.call('perform', { actions: [...setUp, ...member.enrolment] })
    }
    await deploy(specs)
    areReady = true
    const pipeline = findArmPipeline(testbed.programs, arm)
    // A caller that shortens the wait for ready sidecars does not wait longer for their answer.
    const timeoutSeconds = deadlineSeconds
    const entry = findEntry(topology, { places, hasSidecars, isRedirected: isRedirected(arm.conditions) })
    if (pipeline) for (const endpoint of entry.endpoints) endpoint.port = findPipelinePort(pipeline)
    await target.call('reach', {
      endpoints: [...listReachableEndpoints(specs, places), ...(pipeline ? entry.endpoints : [])],
    })
    const path = pipeline?.document.request.path ?? '/'
    const { hasCertificate } = arm.load
    const scheme = arm.conditions.protocol === 'grpc' ? 'grpc' : hasCertificate ? 'https' : 'http'
    const certificates = locateCertificates(testbed.folders.certificates, arm.conditions.tls)
    const certificate = hasCertificate ? locateCredentials(GENERATOR, target.locate(certificates, 'generator')) : null
    // The kit's own entry also takes plaintext, so its check needs no certificate.
    const credentials = pipeline ? certificate : null
    const firstRequest = { target, entry, arm, timeoutSeconds, credentials }
    const sending =
      pipeline && !isEchoed(pipeline)
        ? sendPipelineRequest({ ...firstRequest, pipeline })
        : sendNonce({ ...firstRequest, path })
    /** @type {OwnRequest | undefined} */
    const request = await sending.catch(async error => {
      if (!pipeline) throw error
      const { addForeignCodec } = await import('../model/pipeline-findings.js')
      throw addForeignCodec(error, pipeline)
    })
    return {
      deployment,
      changeTo: controlled?.member.changeTo ?? null,
      ending: ending && prepareEnding({ testbed, arm, ending, deployment, deploy: begin }),
      // The load's target and identity.
      entry: {
        urls: entry.endpoints.map(({ address, port }) => `${scheme}://${address}:${port}${path}`),
        host: pipeline?.document.request.headers.host ?? entry.host,
        ...(request && { request }),
        // The generator's progress can be read only if it has an address among these services.
        admin: places[GENERATOR] ? { address: places[GENERATOR].inside, port: PORTS.generator } : null,
        certificate,
      },
    }
  } catch (error) {
    const { processes } = deployment
    const ended = await awaitEarlyExits(processes)
    // If a process did not become ready, the error has its log. If all did, one may have exited since, and is then the likelier cause.
    const exitError = areReady ? await assertAllRun(processes, 'starting').catch(error => error) : null
    const failure = exitError ?? (areReady ? await withSidecarLogs(error, processes) : error)
    await deployment.remove()
    if (ended.length > 0 && failure instanceof BenchError)
      throw new EndedError(failure.message, { cause: error, ended })
    throw failure
  }
}

/**
 * Waits half a second for exits, and lists the processes that exited early, with cause and OOM flag.
 * @param {Handle[]} processes
 * @returns {Promise<EndedProcess[]>} how: the exit status or signal; []: none exited early
 */
export async function awaitEarlyExits(processes) {
  await awaitAnyExit(processes)
  return processes.flatMap(p => {
    const how = p.ending()
    const { service, role, armId } = p.spec
    return how === null || hasEndedAsPlanned(p, how)
      ? []
      : [{ service, role, how, isOutOfMemory: p.isOutOfMemory(), ...(armId !== undefined && { armId }) }]
  })
}

/**
 * Adds the last lines that sidecars logged to an error of a request through them: an exception in a script closes the
 * connection, and only the log has its reason.
 * @param {unknown} error
 * @param {Handle[]} processes
 * @returns {Promise<unknown>} a BenchError with the error as its cause; the error itself if it is no BenchError
 */
export async function withSidecarLogs(error, processes) {
  if (!(error instanceof BenchError)) return error
  const sidecars = processes.filter(({ spec }) => spec.role === 'sidecar')
  const logs = await Promise.all(
    sidecars.map(async ({ spec, readLog }) => {
      const lines = listLastLines(await readLog().catch(() => ''), SIDECAR_LINES)
      return lines.length > 0 ? `\n${spec.service}'s sidecar logged:\n  ${lines.join('\n  ')}` : ''
    }),
  )
  return new BenchError(`${error.message}${logs.join('')}`, { cause: error, exitStatus: error.exitStatus })
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
 * Prepares the end of the sidecar that ends in the window.
 * @param {{ testbed: Testbed, arm: Arm, ending: Ending, deployment: Deployment, deploy: ReturnType<typeof
 *   createDeployer>['deploy'] }} options
 * @returns process, notice and steps of its end; request: reaches its service past the sidecar of its client; succeed: starts
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
     */
    async succeed() {
      const { ends, ...lasting } = process.spec
      const [successor] = await deploy([{ ...lasting, service: `${spec.service}-next` }])
      return successor
    },
  }
}

/**
 * @typedef {object} FirstRequest
 * @property {Target} target
 * @property {{ endpoints: Endpoint[], host: string }} entry
 * @property {Arm} arm
 * @property {number} [timeoutSeconds] absent: that of a request
 * @property {Credentials | null} [credentials] of a load that speaks TLS; absent, or null: plaintext
 */

/**
 * Sends the request of a pipeline once. Answers of the load count if they have the same status and number of bytes.
 * @param {FirstRequest & { pipeline: Pipeline }} options
 * @returns {Promise<OwnRequest>} bytes: length of the body of the answer
 * @throws {BenchError} if it fails, has another status than `pipeline.yaml` names, or is compressed
 */
export async function sendPipelineRequest({ target, entry, arm, pipeline, timeoutSeconds, credentials }) {
  const { document, file } = pipeline
  const {
    method,
    path,
    headers,
    body = method === 'POST' ? 'x'.repeat(arm.load.payloadBytes ?? 0) : '',
  } = document.request
  const { host = entry.host, ...others } = headers
  const [endpoint] = entry.endpoints
  const requestLine = `${method} ${path} of ${file} to ${arm.id} (${endpoint.address}:${endpoint.port})`
  // `send` takes and returns bodies as latin1, where each character is one byte: its length counts bytes, and any byte survives JSON.
  const ask = { host, method, path, headers: others, body: Buffer.from(body).toString('latin1') }
  const answer = await target.call('send', { endpoint, ask, timeoutSeconds, credentials }).catch(error => {
    throw new BenchError(`${requestLine} failed: ${error.message}`, { cause: error })
  })
  assertCountableAnswer(answer, { what: requestLine, status: document.answer.status })
  return { method, headers: others, body, status: answer.status, bytes: answer.body.length }
}

/**
 * Asserts that the load can count answers like this one by their status and bytes.
 * @param {import('../node/send.js').Response} answer
 * @param {{ what: string, status: number }} options what: the request, for the error; status: that of `pipeline.yaml`
 * @throws {BenchError} if it has another status, or is compressed
 */
function assertCountableAnswer(answer, { what, status }) {
  if (answer.status !== status)
    throw new BenchError(
      `${what} was answered ${answer.status} "${answer.body.slice(0, 200)}", not ${status}: name a request that it answers, or answer: { status: ${answer.status} }`,
    )
  const { 'content-encoding': encoding = 'identity' } = answer.headers
  if (encoding !== 'identity')
    throw new BenchError(
      `${what} was answered with content-encoding ${encoding}, which the load would undo before it counts bytes: leave accept-encoding out of its headers, or have it answer without`,
    )
}

/**
 * Sends a request with a nonce, which only the application can echo, and asserts that it is echoed.
 * @param {FirstRequest & { path: string }} options
 * @returns {Promise<undefined>}
 * @throws {BenchError} if the request fails, or another answer comes
 */
async function sendNonce({ target, entry, arm, path, timeoutSeconds, credentials }) {
  const nonce = `check-${arm.id}`
  const [endpoint] = entry.endpoints
  const requestLine = `one request through ${arm.id} (${endpoint.address}:${endpoint.port})`
  const { protocol } = arm.conditions
  const { request, answer: expected } = createCheck(arm.load, nonce, protocol)
  const ask = { host: entry.host, ...request, ...(path !== '/' && { path }), protocol }
  const answer = await target.call('send', { endpoint, ask, timeoutSeconds, credentials }).catch(error => {
    throw new BenchError(`${requestLine} failed: ${error.message}`, { cause: error })
  })
  if (answer.status !== 200 || answer.body !== expected || answer.headers['x-nonce'] !== nonce)
    throw new BenchError(
      `${requestLine} was answered ${answer.status} "${answer.body.slice(0, 200)}", not by the application with its nonce and ${expected.length} bytes`,
    )
}
