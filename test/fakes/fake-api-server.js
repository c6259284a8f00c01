import { writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { createApiClient } from '../../src/targets/kubernetes/api.js'
import { listen } from './listen.js'

/**
 * An API server as far as a run needs one: it keeps the requests that it gets, and makes a ready pod for each controller.
 */

/**
 * A request, as the authorizer of a cluster sees it.
 * @typedef {{ verb: string, resource: string, namespace: string, kind: string, body: string }} ApiRequest resource: `group/resource/subresource`
 */

// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
const VERBS = /** @type {Record<string, string>} */ ({
  POST: 'create',
  PATCH: 'patch',
  PUT: 'update',
  DELETE: 'delete',
})
const KINDS = {
  'api/v1': ['Namespace', 'Node', 'Pod', 'Service', 'ConfigMap', 'Secret', 'Event'],
  'apis/apps/v1': ['Deployment', 'DaemonSet'],
  'apis/batch/v1': ['Job'],
}
const NODE = {
  metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
  status: {
    capacity: { cpu: '4', memory: '16777216Ki' },
    allocatable: { cpu: '4' },
    conditions: [{ type: 'Ready', status: 'True' }],
    nodeInfo: { kubeletVersion: 'v1.34.3' },
  },
}
// No pod is made for it: a quota forbids it.
export const FORBIDDEN = 'version-forbidden'

/** @returns {Promise<{ url: string, requests: ApiRequest[], close: () => void }>} */
export async function startFakeApiServer() {
  /** @type {ApiRequest[]} */
  const requests = []
  /** @type {Map<string, any>} */
  const pods = new Map()
  const namespaces = new Set()

  /** @param {http.IncomingMessage} request @param {string} body */
  function answer({ method = '', url = '' }, body) {
    const { pathname, searchParams } = new URL(url, 'http://x')
    const [, prefix, rest] = /^\/(api\/v1|apis\/[^/]+\/v1)\/(.+)/.exec(pathname) ?? []
    const kinds = KINDS[/** @type {'api/v1'} */ (pathname.slice(1))]
    if (kinds)
      return {
        resources: kinds.map(kind => ({
          kind,
          name: `${kind.toLowerCase()}s`,
          namespaced: kind !== 'Namespace' && kind !== 'Node',
        })),
      }
    if (pathname.startsWith('/version')) return { minor: '34', gitVersion: 'v1.34.3' }
    if (rest === 'selfsubjectaccessreviews') return { status: { allowed: true } }
    const words = rest.split('/')
    const namespace = words[0] === 'namespaces' && words.length > 2 ? words.splice(0, 2)[1] : ''
    const [plural, name, subresource] = words
    const group = prefix === 'api/v1' ? '' : prefix.split('/')[1]
    const object = body.startsWith('{') ? JSON.parse(body) : {}
    const read = searchParams.get('watch') ? 'watch' : name ? 'get' : 'list'
    const verb = VERBS[method] ?? read
    const resource = [group, plural, ...(subresource ? [subresource] : [])].join('/')
    requests.push({ verb, resource, namespace, kind: object.kind ?? '', body })
    if (plural === 'namespaces') {
      if (verb === 'create' && !searchParams.get('dryRun')) namespaces.add(object.metadata.name)
      if (verb === 'delete') namespaces.delete(name)
      return verb !== 'get' || namespaces.has(name) ? { ...object, items: [] } : null
    }
    if (subresource === 'proxy') return { kubeletconfig: {} }
    if (plural === 'nodes') return { items: [NODE] }
    if (plural === 'events') return { items: [refusalOf(FORBIDDEN)] }
    if (plural === 'pods' && verb === 'patch') {
      pods.set(name, createPod({ ...object, spec: { template: { metadata: object.metadata, spec: object.spec } } }))
      return pods.get(name)
    }
    if (plural === 'pods' && verb !== 'delete')
      return { items: [...pods.values()].filter(pod => pod.metadata.namespace === namespace) }
    if (verb === 'patch' && object.spec?.template && !searchParams.get('dryRun') && name !== FORBIDDEN)
      pods.set(name, createPod(object))
    if (verb === 'delete') pods.delete(name)
    return plural === 'services' ? { ...object, spec: { ...object.spec, clusterIP: '10.96.0.1' } } : object
  }

  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const result = answer(request, body)
    if (request.url?.includes('watch=true')) return void response.end()
    const isLog = /\/log(\?|$)/.test(request.url ?? '')
    response.writeHead(result === null ? 404 : 200, { 'content-type': isLog ? 'text/plain' : 'application/json' })
    response.end(isLog ? 'a line\n' : JSON.stringify(result ?? { kind: 'Status', message: 'not found' }))
  })
  server.on('upgrade', (request, socket) => {
    answer(request, '')
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  const { port } = await listen(server)
  return { url: `http://127.0.0.1:${port}`, requests, close: () => server.close() }
}

/** Connects by a kubeconfig of its own. @param {{ server: string, folder: string }} options folder: for the kubeconfig */
export function connectTo({ server, folder }) {
  const file = path.join(folder, 'kubeconfig')
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    // The client takes HTTP only from who waives TLS.
    clusters: [{ name: 'a', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: { token: 'token' } }],
  }
  writeFileSync(file, JSON.stringify(config))
  return createApiClient({ context: null, environment: { KUBECONFIG: file }, home: folder })
}

/** @param {any} controller */
function createPod({ metadata: { name, namespace }, spec: { template } }) {
  const containers = [...(template.spec.initContainers ?? []), ...template.spec.containers]
  return {
    metadata: { name: `${name}-x`, namespace, uid: name, labels: template.metadata.labels },
    spec: { nodeName: 'n1' },
    status: {
      phase: 'Running',
      podIP: '10.42.0.1',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: containers.map(c => ({
        name: c.name,
        restartCount: 0,
        containerID: `containerd://${c.name}`,
      })),
    },
  }
}

/** @param {string} maker */
function refusalOf(maker) {
  return { type: 'Warning', reason: 'FailedCreate', involvedObject: { name: maker }, message: 'exceeded quota' }
}
