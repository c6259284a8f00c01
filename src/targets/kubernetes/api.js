import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BenchError, SiteLostError, UsageError } from '../../lib/errors.js'
import { parseJson } from '../../lib/json.js'
import { renderSuggestion } from '../../lib/nearest.js'
import { locateHomeFolder } from '../../lib/paths.js'
import { withTimeout } from '../../lib/wait.js'

/** @import { KubeConfig, KubernetesObject } from '@kubernetes/client-node' */

const FIELD_MANAGER = 'sidecar-bench'
// On a small node the server shares the CPUs with the pods that a run starts: dozens at once delay its answers for over 30 s.
const LOST_AFTER_SECONDS = 90
const ANSWER_SECONDS = 10
const RETRY_MS = 500
// Errors of connections after which a request is retried.
const RETRIABLE =
  /ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|socket hang up|no answer within/
const RBAC = 'k8s/rbac.yaml names the least that a run needs'

/** @typedef {Awaited<ReturnType<typeof createApiClient>>} Api */

/**
 * Creates the client of the API server that a kubeconfig names. It sends no request yet.
 * @param {object} options
 * @param {string | null} options.context of the kubeconfig; null: the current one
 * @param {NodeJS.ProcessEnv} [options.environment]
 * @param {string} [options.home] the user's folder
 * @returns request: sends a request of `core` or of another API of `k8s`; apply, create, tryApply, remove, list, readNamespace,
 *   readLog: send one, and throw as `request`; server: its address; readContext: gives the name of the context; config, core, k8s: of
 *   @kubernetes/client-node
 * @throws {UsageError} if no kubeconfig can be read, or it has no such context, or no current one
 */
export async function createApiClient({ context, environment = process.env, home = locateHomeFolder() }) {
  const k8s = await import('@kubernetes/client-node')
  const config = new k8s.KubeConfig()
  loadConfig(config, environment, home)
  if (context !== null) {
    const names = config.getContexts().map(c => c.name)
    if (!names.includes(context))
      throw new UsageError(`the kubeconfig has no context "${context}"${renderSuggestion(context, names)}`)
    config.setCurrentContext(context)
  }
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new UsageError('the kubeconfig has no current context: give --context NAME')
  const { server } = cluster
  const core = config.makeApiClient(k8s.CoreV1Api)
  const request = createApiSender(server)
  return {
    config,
    server,
    core,
    k8s,
    request,
    readContext: () => config.getCurrentContext(),
    ...createObjectRequests({ k8s, config, request }),

    /** Reads a namespace; null: it does not exist. @param {string} name */
    readNamespace: name => request(`read namespace ${name}`, () => core.readNamespace({ name }).catch(ignoreNotFound)),

    /**
     * Reads the log of a container.
     * @param {{ namespace: string, pod: string, container: string, tailLines?: number, isPrevious?: boolean }} options
     *   isPrevious: of the container before its last restart
     * @returns {Promise<string>} empty: the log is empty, the container has not started, or the pod does not exist
     */
    readLog({ namespace, pod, container, tailLines, isPrevious }) {
      const options = { name: pod, namespace, container, tailLines, previous: isPrevious }
      return request(`read the log of ${namespace}/${pod}`, async () => {
        const text = await core.readNamespacedPodLog(options).catch(ignoreMissingLog)
        return text ?? ''
      })
    },
  }
}

/**
 * Creates the requests that take any kind of object.
 * @param {{ k8s: typeof import('@kubernetes/client-node'), config: KubeConfig, request: ReturnType<typeof createApiSender> }}
 *   options
 * @returns apply, create, tryApply, remove, list: all throw as `request`
 */
function createObjectRequests({ k8s, config, request }) {
  const objects = k8s.KubernetesObjectApi.makeApiClient(config)

  /**
   * Applies an object on the server, by force: fields of other managers become the kit's.
   * @template {KubernetesObject} T
   * @param {T} object
   * @param {'All'} [dryRun] changes nothing; absent: the object is changed
   * @returns {Promise<T>} as the server has it
   * @throws the error of the client, for `parseApiError`
   */
  const patch = (object, dryRun) =>
    objects.patch(object, undefined, dryRun, FIELD_MANAGER, true, k8s.PatchStrategy.ServerSideApply)

  return {
    /**
     * Creates or changes an object.
     * @template {KubernetesObject} T
     * @param {T} object
     * @returns {Promise<T>} as the server has it
     */
    apply: object => request(`apply ${renderObjectName(object)}`, () => patch(object)),

    /**
     * Creates an object.
     * @param {KubernetesObject} object
     * @throws {BenchError} with the code 409, if it exists
     */
    create: object =>
      request(`create ${renderObjectName(object)}`, () => objects.create(object, undefined, undefined, FIELD_MANAGER)),

    /**
     * Applies an object as a dry run, to learn whether the server accepts it.
     * @param {KubernetesObject} object
     */
    tryApply: object => request(`apply ${renderObjectName(object)}`, () => patch(object, 'All')),

    /**
     * Deletes an object, if it exists, and in the background all that it owns. It does not wait until that is gone.
     * @param {KubernetesObject} object
     * @param {{ lostAfterSeconds?: number }} [options] as for `request`
     */
    remove(object, options) {
      const send = () => objects.delete(object, undefined, undefined, undefined, undefined, 'Background')
      return request(`delete ${renderObjectName(object)}`, () => send().catch(ignoreNotFound), options)
    },

    /**
     * Lists objects.
     * @param {string} apiVersion
     * @param {string} kind
     * @param {{ namespace?: string, labels?: string }} [where] namespace: absent: of all namespaces; labels: a selector;
     *   absent: whatever labels they have
     * @returns {Promise<any[]>} []: there are none
     */
    async list(apiVersion, kind, { namespace, labels } = {}) {
      const send = () => objects.list(apiVersion, kind, namespace, undefined, undefined, undefined, undefined, labels)
      return /** @type {any[]} */ ((await request(`list ${kind.toLowerCase()}s`, send)).items)
    },
  }
}

/** Creates `request`, which sends requests to an API server. @param {string} server its address, for errors */
function createApiSender(server) {
  let isLost = false

  /**
   * Sends a request. While the server does not answer, or reports a temporary error, the request is retried for
   * `lostAfterSeconds`. Once the server was lost, a request is not retried until one is answered.
   * @template T
   * @param {string} action the request in words, for errors, after "cannot"
   * @param {() => Promise<T>} send
   * @param {{ lostAfterSeconds?: number }} [options] LOST_AFTER_SECONDS by default
   * @returns {Promise<T>} the result of `send`
   * @throws {SiteLostError} if the server does not answer, or reports temporary errors, for that long; {BenchError}, with the HTTP
   *   status as its code, if it refuses
   */
  return async function request(action, send, { lostAfterSeconds = LOST_AFTER_SECONDS } = {}) {
    const deadline = performance.now() + (isLost ? 0 : lostAfterSeconds * 1000)
    for (;;) {
      try {
        const rejectLate = () => Promise.reject(new Error(`no answer within ${ANSWER_SECONDS} s`))
        const answer = await withTimeout(send(), { seconds: ANSWER_SECONDS, late: rejectLate })
        isLost = false
        return answer
      } catch (error) {
        const { isRetriable, message } = parseApiError(error)
        if (!isRetriable) {
          const { code } = /** @type {any} */ (error)
          throw Object.assign(new BenchError(`cannot ${action}: ${message}`, { cause: error }), { code })
        }
        if (performance.now() > deadline) {
          isLost = true
          const why = `${server} has not answered for ${lostAfterSeconds} s (${message})`
          throw new SiteLostError(`cannot ${action}: ${why}`, { cause: error })
        }
        await delay(RETRY_MS)
      }
    }
  }
}

/**
 * Parses an error of the client into a message for the user.
 * @param {unknown} error
 * @returns {{ isRetriable: boolean, message: string }} isRetriable: a retry may succeed
 */
export function parseApiError(error) {
  const { body, message, cause, code: ownCode, error: inner } = /** @type {any} */ (error)
  const text = `${message ?? inner?.message ?? error}`
  // The error of a refused web socket has its status in its text only.
  const refusal = /Unexpected server response: (\d+)/.exec(text)?.[1]
  const code = refusal ? Number(refusal) : ownCode
  if (typeof code === 'number') {
    const statusMessage = readStatusMessage(body) ?? text
    if (code === 401) return { isRetriable: false, message: 'the credentials of the kubeconfig are not accepted (401)' }
    const isForbidden = code === 403 && (refusal || /cannot \S+ (resource|path)/.test(statusMessage))
    if (isForbidden) return { isRetriable: false, message: `${statusMessage} (${RBAC})` }
    const isWebhookError = /admission webhook|failed calling webhook/.test(statusMessage)
    return { isRetriable: code === 429 || (code >= 500 && !isWebhookError), message: statusMessage }
  }
  // Without an HTTP status, the connection was refused or broken, or the error has nothing to do with connections.
  const detail = ownCode ?? cause?.code ?? ''
  const isRetriable = RETRIABLE.test(detail) || RETRIABLE.test(text)
  return { isRetriable, message: `${text}${detail && !text.includes(detail) ? ` (${detail})` : ''}` }
}

/**
 * Renders the kind, namespace and name of an object.
 * @param {KubernetesObject} object
 * @returns {string} such as `Pod bench-1/cart`; the namespace is left out if it has none
 */
function renderObjectName({ kind, metadata }) {
  const { name, namespace } = metadata ?? {}
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`
}

/**
 * Loads the files of KUBECONFIG, else ~/.kube/config, else the service account of this pod.
 * @param {KubeConfig} config is changed
 * @param {NodeJS.ProcessEnv} environment
 * @param {string} home the user's folder
 * @throws {UsageError} if there is none of these, or a file is missing or cannot be read
 */
function loadConfig(config, environment, home) {
  const defaultFile = path.join(home, '.kube/config')
  const files = environment.KUBECONFIG?.split(path.delimiter).filter(Boolean) ?? []
  const isInCluster = files.length === 0 && !existsSync(defaultFile)
  const missing = files.find(file => !existsSync(file))
  if (missing) throw new UsageError(`KUBECONFIG names ${missing}, which is not there`)
  if (isInCluster && !environment.KUBERNETES_SERVICE_HOST)
    throw new UsageError(`no kubeconfig: set KUBECONFIG, or put one at ${defaultFile}`)
  let currentFile = files[0] ?? defaultFile
  try {
    if (isInCluster) return config.loadFromCluster()
    config.loadFromFile(currentFile)
    for (const file of files.slice(1)) {
      currentFile = file
      const other = new /** @type {any} */ (config).constructor()
      other.loadFromFile(file)
      // The first file that sets a value wins, as in kubectl.
      config.mergeConfig(other, Boolean(config.currentContext))
    }
  } catch (error) {
    throw new UsageError(`the kubeconfig ${currentFile} cannot be read: ${/** @type {Error} */ (error).message}`)
  }
}

/**
 * Returns null for the error that an object does not exist.
 * @param {any} error
 * @returns {null}
 * @throws any other error
 */
function ignoreNotFound(error) {
  if (error.code === 404) return null
  throw error
}

/**
 * Returns an empty log for the errors that a container has not started or a pod does not exist. For a pod without a node, the client
 * only complains that the answer has no content type.
 * @param {any} error
 * @returns {string}
 * @throws any other error
 */
function ignoreMissingLog(error) {
  if ([400, 404].includes(error.code) || /No Content-Type/.test(error.message)) return ''
  throw error
}

/**
 * Reads the message of an error's body.
 * @param {any} body of an error: a Status object, or its text
 * @returns {string | undefined} the first 500 characters of a text that is no Status; undefined: there is no body, or it has no message
 */
const readStatusMessage = body =>
  typeof body === 'string' ? (parseJson(body)?.message ?? body.slice(0, 500)) : body?.message
