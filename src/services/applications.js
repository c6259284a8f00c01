import { createPipyArgv } from '../dataplanes/pipy/argv.js'
import { createProcess } from '../model/processes.js'
import { parseChunks, readServiceTime } from '../model/requests.js'
import { renderEndpoint } from '../model/sidecar-contract.js'

/** @import { Endpoint, ProcessSpec, RequestKind, Tool } from '../model/types.ts' */

/**
 * @typedef {object} ApplicationOptions
 * @property {string} service
 * @property {'echo' | 'tls-echo' | 'answer' | 'forward' | 'named' | 'grpc-echo' | 'grpc-answer' | 'grpc-forward'} kind a script
 *   of `echo/`
 * @property {Endpoint} listen
 * @property {Endpoint[]} [others] more endpoints at which it listens; none by default
 * @property {ReturnType<typeof import('../lib/certificate-files.js').locateCredentials>} [credentials] of a `tls-echo`
 * @property {(Endpoint & { host: string }) | null} next the hop that a `forward` calls; null: none
 * @property {RequestKind[]} [requests] kinds that `answer` and `grpc-answer` serve; none by default
 * @property {Tool} runtime pipy or node
 * @property {string} scripts the path of the folder `echo/`
 * @property {string} folder of the process
 */

/**
 * Creates the application of a service, as a process of one worker.
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
    ...(kind.endsWith('answer') ? [JSON.stringify(requests.map(renderKind))] : []),
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
 * Converts a kind of request to the form that the scripts of `echo/` read. Members at their default are absent.
 * @param {RequestKind} kind
 * @returns {object} waitMs: the mean service time; requestBytes, responseBytes: of the bodies
 */
function renderKind({ method, path, requestBytes, responseBytes, chunks, ...kind }) {
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
