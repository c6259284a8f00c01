import path from 'node:path'
import { readCredentials } from '../certificates/credentials.js'
import { readTextFiles } from '../lib/text-files.js'
import { withAbort } from '../lib/wait.js'
import { locateAuthorityKey, locateCertificates } from '../model/certificate-files.js'
import {
  createPlace,
  listKeyExchangeGroups,
  NODE_AGENT,
  NODE_PROXY,
  PORTS,
  PROBER,
  TLS,
} from '../model/sidecar-contract.js'
import { adaptModels } from './adapt-models.js'
import { UPSTREAMS } from './beside/upstreams.js'
import { createRigModels, SERVICE_NAMES } from './rig-models.js'

/**
 * @import { Request, Response } from '../node/send.js'
 * @import { Arm, Conditions, DataPlane, Deployment, Endpoint, Place, Pod, ProcessSpec, Protocol } from '../model/types.ts'
 * @import { SidecarModel, Target, Tls, Tool, TrafficPolicy } from '../model/types.ts'
 * @import { Configuration } from './beside/probe.js'
 */

// The request timeout is `timesStart` times what the upstreams take to start, a quarter of a second as a rule, which shows how slow
// a machine is. A busy one takes over a second for a body of 10 MiB. The longest is half of ANSWER_SECONDS, after which an answer is
// late.
const REQUEST_SECONDS = { least: 4, most: 60, timesStart: 16 }
// The connect timeout as a share of the request timeout, so that both tries of a connection end well within the latter.
const CONNECT_SHARE = 1 / 4

/**
 * The conditions that change what sidecars do for a request.
 * @typedef {{ tls: Tls, protocol: Protocol, trafficPolicy: TrafficPolicy, features?: string }} Measured
 */

/**
 * Picks the conditions of an arm in which a rig is measured. A plane that carries bytes only is tried with bytes.
 * @param {Pick<Arm, 'conditions'>} arm
 * @param {{ plane: Pick<DataPlane, 'carriesBytesOnly'>, trafficPolicy: TrafficPolicy }} options
 * @returns {Measured}
 */
export function pickMeasuredConditions({ conditions: { tls, protocol, features } }, { plane, trafficPolicy }) {
  return { tls, protocol: plane.carriesBytesOnly ? 'tcp' : protocol, features, trafficPolicy }
}

/**
 * A plane's sidecars and the upstreams to try them with.
 * @typedef {object} Rig
 * @property {Deployment} sidecars of client, server and permissive with their companions, or the one proxy of the node with its own
 * @property {Target['call']} call rejects with the signal's reason when it aborts
 * @property {(request: Request, options?: { endpoint?: Endpoint, timeoutSeconds?: number }) => Promise<Response>} send sends a request to
 *   the client's sidecar, unless an endpoint is named; rejects with a BenchError if nothing answers in time, and with the signal's
 *   reason when it aborts
 * @property {number} requestSeconds the sidecars' timeout of a request
 * @property {Endpoint} permissive of the sidecar that takes plaintext, too
 * @property {Measured} measured
 * @property {DataPlane} plane
 * @property {AbortSignal} signal ends the waits of its checks
 * @property {() => Promise<void>} close removes sidecars and upstreams
 */

/**
 * Starts three sidecars of a plane and the upstreams to try them with. The client's sidecar (plaintext outbound) calls the
 * server's (strict) in the measured configuration, which calls upstreams that answer, refuse, reset or hang; the third is
 * permissive.
 * @param {object} options
 * @param {Target} options.target
 * @param {number} options.index of a start that no other has
 * @param {DataPlane} options.plane
 * @param {Tool} options.tool
 * @param {string} options.scripts the folder of the plane's scripts
 * @param {string} options.certificates the folder of those of all key types, as in certificate-files.js
 * @param {string} options.folder of the rig's files
 * @param {Measured} options.measured
 * @param {string | null} options.profile null: the plane's first
 * @param {Conditions['interception']} [options.interception] absent: connections come directly
 * @param {AbortSignal} options.signal ends the start, and calls of procedures
 * @returns {Promise<Rig>} the caller closes it
 * @throws {BenchError} if the upstreams or a process do not start, or a sidecar cannot be reached; the system's error if certificates
 *   or scripts cannot be read; the signal's reason when it aborts; what was started is removed before
 */
export async function createRig({ target, index, plane, folder, measured, signal, ...options }) {
  const { tool, scripts, profile, interception } = options
  const { isRedirected, port } = chooseServerPort(measured, interception)
  const certificates = locateCertificates(options.certificates, measured.tls)
  const isOfNode = plane.deployed?.[`${profile}`]?.isOfNode === true
  const serviceNames = [...SERVICE_NAMES, ...(isOfNode ? [NODE_PROXY, NODE_AGENT] : [])]
  const places = await target.placesFor(index, serviceNames, { hasNamespaces: interception !== undefined })
  const endpoints = chooseSidecarEndpoints(places, { plane, port })
  /** Calls a procedure until the signal aborts: a sidecar that hangs must not hold up an interrupted run. @type {Target['call']} */
  const call = (procedure, args) => withAbort(target.call(procedure, args, { rig: index }), signal)
  /** @type {Deployment | null} */
  let sidecars = null
  const close = async () => {
    try {
      await sidecars?.remove()
    } finally {
      await target.call('close', undefined, { rig: index })
    }
  }
  try {
    const startedAt = performance.now()
    await call('open', {
      address: places[PROBER].listen,
      ...readCredentials(certificates),
      sidecars: endpoints,
      configuration: createConfiguration(measured, plane),
    })
    const timeouts = chooseTimeouts((performance.now() - startedAt) / 1000)
    const { locate } = target
    const locatedCertificates = locate(certificates)
    const models = createRigModels({
      places,
      certificates: locatedCertificates,
      measured,
      timeouts,
      isRedirected,
      port,
    })
    const specs = createRigSpecs(models, {
      plane,
      tool,
      profile,
      scripts,
      folder,
      locate,
      authorityKeyPath: locateAuthorityKey(locatedCertificates),
    })
    sidecars = await target.deploy(specs, { start: index, folder })
    await Promise.all(sidecars.processes.map(p => p.waitUntilReady(signal)))
    await call('reach', { endpoints: Object.values(endpoints) })
    const { client, permissive } = endpoints
    /** @type {Rig['send']} */
    const send = (request, { endpoint = client, ...others } = {}) => call('send', { endpoint, request, ...others })
    const { requestSeconds } = timeouts
    return { sidecars, call, send, requestSeconds, permissive, measured, plane, signal, close }
  } catch (error) {
    // An error of the removal wins: what still runs would disturb the next check.
    await close()
    throw error
  }
}

/**
 * Chooses the port at which a rig's servers are called: that of the application if connections are redirected, else that of the
 * sidecar.
 * @param {Measured} measured
 * @param {Conditions['interception']} [interception] absent: connections come directly
 * @returns {{ isRedirected: boolean, port: number }} isRedirected: rules redirect connections to the sidecars
 */
function chooseServerPort({ protocol }, interception) {
  // Redirected bytes can go to one port only, and the corpus of bytes has a port for each host: they go to the listeners themselves.
  const isRedirected = interception === 'redirect' && protocol !== 'tcp'
  return { isRedirected, port: isRedirected ? PORTS.application : PORTS.inbound }
}

/**
 * Chooses the endpoints at which the sidecars of a rig are called.
 * @param {Record<string, Place>} places by service
 * @param {{ plane: Pick<DataPlane, 'tunnelPort' | 'routesAtCaller'>, port: number }} options port: of the servers
 * @returns {Record<'client' | 'server' | 'permissive', Endpoint>}
 */
function chooseSidecarEndpoints({ client, server, permissive }, { plane: { tunnelPort, routesAtCaller }, port }) {
  // Sidecars that forward to the port of the connection are called at that of the upstream `a`.
  const serverPort = tunnelPort || routesAtCaller ? UPSTREAMS.a : port
  return {
    client: { address: client.reach, port: PORTS.outbound },
    server: { address: server.reach, port: serverPort },
    permissive: { address: permissive.reach, port: serverPort },
  }
}

/**
 * Creates the configuration by which the prober knows what sidecars must do.
 * @param {Measured} measured
 * @param {Pick<DataPlane, 'tunnelPort'>} plane
 * @returns {Configuration} without `tunnelPort` in plaintext, or if the plane has no tunnel
 */
function createConfiguration(measured, { tunnelPort }) {
  return {
    ...measured,
    ...TLS,
    groups: listKeyExchangeGroups(measured.tls),
    ...(tunnelPort && measured.tls !== 'plaintext' && { tunnelPort }),
  }
}

/**
 * Chooses the timeouts of a rig's sidecars: that of a request is `timesStart` times the start of the upstreams, within the bounds
 * of REQUEST_SECONDS; that of a connection is CONNECT_SHARE of it; an idle connection outlasts a request by a minute.
 * @param {number} startSeconds how long the upstreams took to start
 * @returns {SidecarModel['timeouts']} in seconds
 */
export function chooseTimeouts(startSeconds) {
  const { least, most, timesStart } = REQUEST_SECONDS
  const requestSeconds = Math.min(most, Math.max(least, Math.floor(timesStart * startSeconds)))
  return { connectSeconds: requestSeconds * CONNECT_SHARE, requestSeconds, idleSeconds: 60 + requestSeconds }
}

/**
 * @typedef {object} SpecOptions
 * @property {DataPlane} plane
 * @property {Tool} tool
 * @property {string | null} profile null: the plane's first
 * @property {string} scripts the folder of the plane's scripts
 * @property {string} folder of the rig's files
 * @property {(folder: string) => string} locate finds the path of a folder as sidecars see it
 * @property {string} [authorityKeyPath] absent: no process signs certificates
 */

/**
 * Creates the processes of a rig's models, as adapted to the plane: sidecars with their companions, or the one proxy of the node
 * with its own. Rules that redirect connections get the translations of `adaptModels`.
 * @param {SidecarModel[]} direct the models before the plane's own way to forward (adapt-models.js)
 * @param {SpecOptions} options
 * @returns {ProcessSpec[]}
 * @throws {Error} if the profile runs scripts that cannot be read
 */
function createRigSpecs(direct, { plane, tool, profile, scripts, folder, locate, authorityKeyPath }) {
  const { createSidecar, createCompanions, createNodeProxy, deployed } = plane
  const deployedProfile = deployed?.[`${profile}`]
  const scriptFiles = deployedProfile?.scripts && readTextFiles(scripts)
  const { models, translations } = adaptModels(direct, plane)
  const createSidecarOptions = (/** @type {SidecarModel} */ model) => ({
    scripts: locate(scripts),
    folder: locate(path.join(folder, model.service)),
    model,
    tool,
    profile,
    cpuLimitCores: null,
    scriptFiles,
    authorityKeyPath,
  })
  if (deployedProfile?.isOfNode) {
    const translatePod = (/** @type {Pod} */ pod) => ({
      ...pod,
      ...(translations && { redirects: { ...pod.redirects, translations: translations[pod.service] } }),
    })
    const specs = createNodeProxy?.(models.map(createSidecarOptions), locate(path.join(folder, NODE_PROXY))) ?? []
    return specs.map(spec => ({ ...spec, ...(spec.pods && { pods: spec.pods.map(translatePod) }) }))
  }
  return models.flatMap(model => {
    const options = createSidecarOptions(model)
    const spec = /** @type {ProcessSpec} */ (createSidecar?.(options))
    const redirects = spec.redirects && translations && { ...spec.redirects, translations: translations[model.service] }
    return [...(createCompanions?.(options) ?? []), { ...spec, ...(redirects && { redirects }) }]
  })
}

/**
 * Creates the processes of a rig at addresses and in folders that are the same each time, so that their hash changes only if
 * the configuration does. They are hashed, and never started.
 * @param {Pick<Parameters<typeof createRig>[0], 'plane' | 'tool' | 'scripts' | 'measured' | 'profile' | 'interception'>}
 *   options
 * @returns {ProcessSpec[]}
 * @throws {Error} if the profile runs scripts that cannot be read; BenchError for a feature that this kit does not know
 */
export function createStableSpecs({ plane, tool, scripts, measured, profile, interception }) {
  const { isRedirected, port } = chooseServerPort(measured, interception)
  const names = [...SERVICE_NAMES, PROBER]
  const places = Object.fromEntries(names.map((name, i) => [name, createPlace(`127.0.0.${i + 1}`)]))
  const timeouts = chooseTimeouts(0)
  const models = createRigModels({ places, certificates: '/certificates', measured, timeouts, isRedirected, port })
  return createRigSpecs(models, { plane, tool, profile, scripts, folder: '/rig', locate: location => location })
}
