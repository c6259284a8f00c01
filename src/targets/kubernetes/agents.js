import { BenchError } from '../../lib/errors.js'
import { PROBER } from '../../model/sidecar-contract.js'
import { awaitPods } from './await-pods.js'
import { collectAgentCode } from './code.js'
import { KIT } from './files.js'
import { LABELS, renderFiles, renderProber, renderReader } from './manifests.js'
import { findObstacle, isReady } from './pod-status.js'
import { openSession } from './session.js'

/**
 * @import { Api } from './api.js'
 * @import { Where } from './manifests.js'
 * @import { PodWatch } from './pod-watch.js'
 * @import { Session } from './session.js'
 */

export const READER = 'reader'
const READY_SECONDS = 120

/**
 * The kit's own pods: the prober beside the services, and a reader on each of their nodes.
 * @param {{ api: Api, pods: PodWatch, namespace: string, readerNamespace: string | null, labels: Record<string, string>,
 *   image: string, where: Where, loadWhere: Where, hasRecursiveReadOnly: boolean, signal: AbortSignal }} options readerNamespace: null for no reader
 */
export async function startAgents({
  api,
  pods,
  namespace,
  readerNamespace,
  labels,
  image,
  where,
  loadWhere,
  signal,
  ...options
}) {
  const files = collectAgentCode()
  const folder = { path: KIT, configMap: 'kit', names: Object.keys(files) }
  const common = { labels, image, folder }
  /** @type {Map<string, Promise<Session>>} */
  const sessions = new Map()

  await api.apply(renderFiles({ name: 'kit', namespace, labels, files }))
  await api.apply(renderProber({ ...common, name: PROBER, namespace, where }))
  if (readerNamespace !== null) {
    await api.apply(renderFiles({ name: 'kit', namespace: readerNamespace, labels, files }))
    const wheres = [where, loadWhere]
    await api.apply(renderReader({ ...common, name: READER, namespace: readerNamespace, wheres, ...options }))
  }
  for (const [name, at] of [
    [PROBER, namespace],
    [READER, readerNamespace],
  ]) {
    if (name === null || at === null) continue
    const find = () => pods.find({ [LABELS.service]: name })
    await awaitPods({
      ...{ api, pods, namespace: at, find, maker: name, signal },
      ...{
        what: `the kit's own ${name}`,
        deadlineSeconds: READY_SECONDS,
        isDone: found => found.length > 0 && found.every(isReady),
      },
    })
  }

  return {
    /** Where the prober is. */
    proberAddress: () => `${pods.find({ [LABELS.service]: PROBER }).find(isReady)?.status?.podIP}`,

    /**
     * A conversation with the agent in the prober, or in the reader of a node.
     * @param {string} name
     * @param {string | null} node null: any
     * @returns {Promise<Session>}
     * @throws {BenchError} when there is none
     */
    async session(name, node) {
      const own = pods.find({ [LABELS.service]: name }).filter(p => node === null || p.spec?.nodeName === node)
      const pod = own.find(isReady)
      if (!pod) {
        const why = own[0] ? (findObstacle(own[0])?.why ?? 'its pod is not ready') : 'it has no pod there'
        throw new BenchError(`the kit's own ${name} is missing on ${node ?? 'every node'}: ${why}`)
      }
      const key = `${pod.metadata?.uid}`
      const kept = await sessions.get(key)?.catch(() => null)
      if (kept?.isOpen()) return kept
      const at = { namespace: `${pod.metadata?.namespace}`, pod: `${pod.metadata?.name}` }
      const session = openSession({ api, ...at, container: name, folder: KIT })
      sessions.set(key, session)
      return session
    },

    close() {
      for (const session of sessions.values())
        session.then(
          s => s.close(),
          () => {},
        )
    },
  }
}
