import { BenchError } from '../../lib/errors.js'
import { nodeTool } from '../../tools/node.js'
import { checkAccess } from './access.js'
import { examineNodes } from './examine-nodes.js'
import { renderNamespace, renderReader } from './manifests.js'
import { NATIVE_SIDECARS_SINCE, readVersion } from './site.js'

/** @import { ToolSpec } from '../../model/types.ts' @import { Api } from './api.js' */
/** @import { Where } from './pod.js' */

/** More: further lines, under the first. @typedef {{ level: 'ok' | 'warning' | 'missing', text: string, more?: string[] }} Finding */

const TRIED_NAME = 'sidecar-bench-doctor'
// Words of the server where a webhook acts outside of the cluster: it is asked about real objects only.
const UNTRIED = /does not support dry run/
const RBAC = 'k8s/rbac.yaml names all that a run needs: have it applied, and its ClusterRole sidecar-bench bound to you'

/**
 * Looks for everything that a default run needs on a cluster; it makes nothing there.
 * @param {{ api: Api, node: Where, loadNode: Where, images: Record<string, string>, specs: ToolSpec[] }} options
 *   as for a run; loadNode null: with the services; images: by the tool's name, instead of its own
 */
export async function examineCluster({ api, node, loadNode, images, specs }) {
  /** @type {Finding[]} */
  const findings = []
  try {
    const { minor, gitVersion } = await readVersion(api)
    const isOld = minor < NATIVE_SIDECARS_SINCE
    const old = `: sidecars are ordinary containers; native ones came with 1.${NATIVE_SIDECARS_SINCE}`
    findings.push({
      level: isOld ? 'warning' : 'ok',
      text: `API server: Kubernetes ${gitVersion} at ${api.server} (context ${api.nameOf()})${isOld ? old : ''}`,
    })
    const denied = await checkAccess(api).catch(error => {
      findings.push({ level: 'warning', text: `access: ${error.message}` })
      return null
    })
    if (denied !== null) findings.push(...describeAccess(denied))
    // A check that is denied would fail again when it is tried.
    const may = (/** @type {string} */ resource) => !denied?.some(d => d.resource === resource)
    if (may('namespaces') && may('daemonsets')) findings.push(await examineReader(api, images.node ?? nodeTool.image))
    if (may('nodes')) findings.push(...(await examineNodes(api, { node, loadNode, images, specs, minor })))
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    findings.push({ level: 'missing', text: error.message })
  }
  return findings
}

/** @param {import('./access.js').Access[]} denied @returns {Finding[]} */
function describeAccess(denied) {
  if (denied.length === 0) return [{ level: 'ok', text: 'access: all that a run asks is allowed' }]
  return denied.map(({ group, resource, verbs, why }, i) => ({
    level: 'missing',
    text: `access: you may not ${verbs.join(', ')} ${resource}${group && `.${group}`} (${why})`,
    more: i === denied.length - 1 ? [RBAC] : [],
  }))
}

/** Tries in a dry run to make the reader. @param {Api} api @param {string} image @returns {Promise<Finding>} */
async function examineReader(api, image) {
  const reader = renderReader({
    name: TRIED_NAME,
    // A dry run needs a namespace that is there.
    namespace: 'default',
    labels: {},
    image,
    folder: { path: '/bench/kit', configMap: 'kit', names: [] },
    wheres: [],
    hasRecursiveReadOnly: false,
  })
  let what = 'privileged namespace'
  try {
    const body = renderNamespace({ name: TRIED_NAME, runId: 'doctor', level: 'privileged' })
    await api.request('create its namespace', () => api.core.createNamespace({ body, dryRun: 'All' }))
    what = 'DaemonSet'
    await api.tryApply(reader)
    return { level: 'ok', text: 'reader: its privileged namespace and its DaemonSet would be admitted' }
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    const level = UNTRIED.test(error.message) ? 'warning' : 'missing'
    return { level, text: `reader: its ${what} is refused: ${error.message}` }
  }
}
