import { createPipyArgv } from '../dataplanes/pipy/argv.js'
import { isRedirected } from '../model/arms.js'
import { locateCertificates, locateCredentials } from '../model/certificate-files.js'
import { hasUpstreamTls } from '../model/pipeline-traffic.js'
import { createProcess } from '../model/processes.js'
import { hasChunks, parseChunks, readServiceTime } from '../model/requests.js'
import { PORTS, renderEndpoint } from '../model/sidecar-contract.js'
import { findArmPipeline } from '../model/tools.js'
import { locateNextHop } from './topology.js'

/**
 * @import { Arm, Endpoint, ProcessSpec, RequestKind, Service, Tool } from '../model/types.ts'
 * @import { ArmServices } from './specs.js'
 */

/**
 * @typedef {object} ApplicationOptions
 * @property {string} service
 * @property {'echo' | 'tls-echo' | 'answer' | 'forward' | 'named' | 'grpc-echo' | 'grpc-answer' | 'grpc-forward'} kind a script
 *   of `echo/`
 * @property {Endpoint} listen
 * @property {Endpoint[]} [others] more endpoints at which it listens; none by default
 * @property {ReturnType<typeof import('../model/certificate-files.js').locateCredentials>} [credentials] of a `tls-echo`
 * @property {(Endpoint & { host: string }) | null} next the hop that a `forward` or `grpc-forward` calls; null: none
 * @property {RequestKind[]} [requests] kinds that `answer` and `grpc-answer` serve; none by default
 * @property {Tool} runtime pipy or node
 * @property {string} scripts the path of the folder `echo/`
 * @property {string} folder of the process
 */

/**
 * Creates the process of a service's application. It listens at the ports that the arm's pipeline fixes, or else at the application port
 * of the service's place, and has the service's certificate if its sidecar calls it over TLS.
 * @param {Service} service that has an application
 * @param {ArmServices} services
 * @returns {ProcessSpec}
 */
export function createServiceApplication(service, { arm, places, programs, folders, locate }) {
  const { hasSidecars, conditions } = arm
  const pipeline = findArmPipeline(programs, arm)
  const hasTls = pipeline !== undefined && hasUpstreamTls(pipeline)
  const certificates = locate(locateCertificates(folders.certificates, conditions.tls))
  const address = places[service.name][hasSidecars ? 'inside' : 'listen']
  // Scripts with fixed upstream ports call 127.0.0.1: the application listens there, in the same network namespace.
  const [listen = { address, port: PORTS.application }, ...others] =
    pipeline?.document.upstream?.ports?.map(port => ({ address: '127.0.0.1', port })) ?? []
  const hops = { places, hasSidecars, isRedirected: isRedirected(conditions) }
  return createApplication({
    service: service.name,
    kind: chooseApplicationScript(service, { arm, hasTls }),
    requests: arm.load.requests,
    listen,
    others,
    // The application has the certificate of its service, as its sidecar has. Copies of a service have one identity.
    ...(hasTls && { credentials: locateCredentials(service.copyOf ?? service.name, certificates) }),
    next: service.application === 'forward' ? locateNextHop(service, hops) : null,
    runtime: needsNode(arm) ? programs.tools.node : programs.appRuntime,
    scripts: locate(folders.echo),
    folder: locate(folders.process),
  })
}

/**
 * Chooses the script of `echo/` that a service's application runs: one for gRPC if the load is gRPC, else `tls-echo` if it has TLS,
 * whatever the application, else that of the application.
 * @param {Service} service that has an application
 * @param {{ arm: Arm, hasTls: boolean }} options hasTls: its sidecar calls it over TLS
 * @returns {ApplicationOptions['kind']}
 */
function chooseApplicationScript({ application }, { arm, hasTls }) {
  const kind = /** @type {NonNullable<Service['application']>} */ (application)
  // The last application echoes a POST, or gives the answers that the kinds of requests name.
  const echoOrAnswer = kind === 'echo' && arm.load.requests ? 'answer' : kind
  if (arm.conditions.protocol === 'grpc') return `grpc-${echoOrAnswer}`
  return hasTls ? 'tls-echo' : echoOrAnswer
}

/**
 * Says whether only Node can serve an arm's applications: Pipy cannot write an answer in chunks, and crashes if a gRPC call is
 * cancelled.
 * @param {Pick<Arm, 'load' | 'conditions'>} arm
 * @returns {boolean} false: the runtime that the run has chosen serves them, which may be Node, too
 */
export function needsNode({ load, conditions }) {
  return conditions.protocol === 'grpc' || hasChunks(load)
}

/**
 * Creates an application as a process of one worker. Pipy runs `<kind>.js` of the folder of scripts, Node `node/<kind>.js`; both get the
 * endpoints, joined by commas, and behind them what the kind needs, in the order in which its script reads it.
 * @param {ApplicationOptions} options
 * @returns {ProcessSpec}
 */
export function createApplication({
  service,
  kind,
  listen,
  others = [],
  credentials,
  next,
  requests = [],
  runtime,
  scripts,
  folder,
}) {
  const args = [
    [listen, ...others].map(renderEndpoint).join(),
    ...(next ? [renderEndpoint(next), next.host] : []),
    ...(credentials ? [credentials.certificatePath, credentials.keyPath] : []),
    ...(kind === 'named' ? [service] : []),
    ...(kind.endsWith('answer') ? [JSON.stringify(requests.map(createEchoRequestKind))] : []),
  ]
  const argv =
    runtime.name === 'pipy'
      ? createPipyArgv({ version: runtime.version, threads: 1, script: `${scripts}/${kind}.js`, args })
      : [`${scripts}/node/${kind}.js`, ...args]
  return createProcess({
    service,
    role: 'application',
    program: runtime.path,
    argv,
    folder,
    scripts: [scripts],
    ...(credentials && { credentials: Object.values(credentials) }),
    listens: [listen, ...others],
    image: runtime.image ?? null,
  })
}

/**
 * Creates a kind of request in the form that the scripts of `echo/` read.
 * @param {RequestKind} kind
 * @returns {object} requestBytes, responseBytes: of the bodies; waitMs: the mean service time, absent: none; isExponential: absent: a
 *   fixed service time; chunks: as `parseChunks`, absent: an answer in one piece
 */
function createEchoRequestKind({ method, path, requestBytes, responseBytes, chunks, ...kind }) {
  const { meanMs, isExponential } = readServiceTime(kind)
  return {
    method,
    path,
    requestBytes,
    responseBytes,
    ...(meanMs > 0 && { waitMs: meanMs }),
    ...(isExponential && { isExponential }),
    ...(chunks && { chunks: parseChunks(chunks) }),
  }
}
