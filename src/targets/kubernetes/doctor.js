import { BenchError } from '../../lib/errors.js'
import { nodeTool } from '../../tools/node.js'
import { conclude } from '../../verbs/local-doctor.js'
import { checkAccess } from './access.js'
import { examineNodes, findNodes } from './examine-nodes.js'
import { renderNamespace, renderReader } from './manifests.js'
import { NATIVE_SIDECARS_SINCE, readVersion } from './site.js'

/**
 * @import { ToolSpec } from '../../model/types.ts'
 * @import { Access } from './access.js'
 * @import { Api } from './api.js'
 * @import { Where } from './manifests.js'
 */

/** More: further lines, under the first. @typedef {{ level: 'ok' | 'warning' | 'missing', text: string, more?: string[] }} Finding */

const TRIED_NAME = 'sidecar-bench-doctor'
// Said of a webhook that acts outside of the cluster: the server asks it about real objects only.
const UNTRIED = /does not support dry run/

/**
 * Looks for everything that a default run needs on a cluster; nothing is made there.
 * @param {{ api: Api, node: Where, loadNode: Where, images: Record<string, string>, specs: ToolSpec[] }} options
 *   as for a run; loadNode null: with the services; images: by the tool's name, instead of its own
 * @returns {Promise<{ text: string, isReady: boolean }>}
 */
export async function examineCluster({ api, node, loadNode, images, specs }) {
  const findings = await examine({ api, node, loadNode, images, specs })
  const isReady = findings.every(({ level }) => level !== 'missing')
  const lines = findings.flatMap(({ level, text, more = [] }) => [
    `${level.padEnd(8)} ${text}`,
    ...more.map(line => `${' '.repeat(9)}${line}`),
  ])
  return { text: [...lines, conclude(isReady)].join('\n'), isReady }
}

/**
 * @param {Parameters<typeof examineCluster>[0]} options
 * @returns {Promise<Finding[]>}
 */
async function examine({ api, node, loadNode, images, specs }) {
  const version = await attempt({ level: 'missing', what: 'API server' }, () => readVersion(api))
  if ('failed' in version) return [version.failed]
  const { minor } = version.value
  const access = await attempt({ level: 'warning', what: 'access could not be asked' }, () => checkAccess(api))
  const denied = 'failed' in access ? [] : access.value
  // What may not be asked for cannot be tried; that it may not is said once.
  const may = (/** @type {string} */ resource, /** @type {string} */ verb) =>
    !denied.some(d => d.resource === resource && d.verbs.includes(verb))
  const mayMakeReader = may('namespaces', 'create') && may('daemonsets', 'create') && may('daemonsets', 'patch')
  return [
    describeServer(api, version.value),
    ...('failed' in access ? [access.failed] : describeAccess(denied)),
    ...(mayMakeReader ? [await examineReader(api, images.node ?? nodeTool.image)] : []),
    ...(may('nodes', 'list') ? await examinePlaces() : []),
  ]

  async function examinePlaces() {
    const nodes = await attempt({ level: 'missing', what: 'nodes' }, () => findNodes(api, { node, loadNode }))
    if ('failed' in nodes) return [nodes.failed]
    return examineNodes(api, { ...nodes.value, images, specs, minor })
  }
}

/**
 * @param {Api} api
 * @param {{ minor: number, gitVersion: string }} version
 * @returns {Finding}
 */
function describeServer(api, { minor, gitVersion }) {
  const text = `API server: Kubernetes ${gitVersion} at ${api.server} (context ${api.nameOf()})`
  return minor >= NATIVE_SIDECARS_SINCE
    ? { level: 'ok', text }
    : {
        level: 'warning',
        text: `${text}: sidecars are ordinary containers; native ones came with 1.${NATIVE_SIDECARS_SINCE}`,
      }
}

/**
 * @param {Access[]} denied
 * @returns {Finding[]}
 */
function describeAccess(denied) {
  if (denied.length === 0) return [{ level: 'ok', text: 'access: all that a run asks is allowed' }]
  const hint =
    'k8s/rbac.yaml names all that a run needs: have it applied, and its ClusterRole sidecar-bench bound to you'
  return denied.map(({ group, resource, verbs, why }, i) => ({
    level: 'missing',
    text: `access: you may not ${verbs.join(', ')} ${resource}${group && `.${group}`} (${why})`,
    ...(i === denied.length - 1 ? { more: [hint] } : {}),
  }))
}

/**
 * Whether the reader would be let in: its namespace and its DaemonSet are tried, and not made.
 * @param {Api} api
 * @param {string} image
 * @returns {Promise<Finding>}
 */
async function examineReader(api, image) {
  const body = renderNamespace({ name: TRIED_NAME, runId: 'doctor', level: 'privileged' })
  // Where nothing has been made yet, it can only be tried in a namespace that every cluster has.
  const folder = { path: '/bench/kit', configMap: 'kit', names: [] }
  const reader = renderReader({
    name: TRIED_NAME,
    namespace: 'default',
    labels: {},
    image,
    folder,
    wheres: [],
    hasRecursiveReadOnly: false,
  })
  const namespaceTried = await attempt({ level: 'missing', what: 'reader: its privileged namespace is refused' }, () =>
    api.request('try a namespace', () => api.core.createNamespace({ body, dryRun: 'All' })),
  )
  const readerTried = await attempt({ level: 'missing', what: 'reader: its DaemonSet is refused' }, () =>
    api.tryApply(reader),
  )
  for (const tried of [namespaceTried, readerTried]) {
    if (!('failed' in tried)) continue
    return UNTRIED.test(tried.failed.text) ? { ...tried.failed, level: 'warning' } : tried.failed
  }
  return { level: 'ok', text: 'reader: its privileged namespace and its DaemonSet would be admitted' }
}

/**
 * Does something, and turns its refusal into a finding.
 * @template T
 * @param {{ level: Finding['level'], what: string }} refusal
 * @param {() => Promise<T>} act
 * @returns {Promise<{ value: T } | { failed: Finding }>}
 */
async function attempt({ level, what }, act) {
  try {
    return { value: await act() }
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    return { failed: { level, text: `${what}: ${error.message}` } }
  }
}
