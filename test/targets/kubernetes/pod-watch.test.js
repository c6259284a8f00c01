import { describe, expect, it, onTestFinished } from 'vitest'
import { awaitPods } from '../../../src/targets/kubernetes/await-pods.js'
import { watchPods } from '../../../src/targets/kubernetes/pod-watch.js'

const NAMESPACE = 'bench'
const POD = { metadata: { name: 'a', namespace: NAMESPACE, labels: {} }, status: { phase: 'Running' } }
const DAMAGED = { ...POD, status: { containerStatuses: [{ name: 'a', restartCount: 'many' }] } }
const FAULT = 'the cluster described a pod in a way that the kit does not know: status.containerStatuses.0.restartCount'

/** @param {import('../../../src/targets/kubernetes/pod-watch.js').PodWatch} pods @returns {Parameters<typeof awaitPods>[0]} */
const createWait = pods => ({
  ...{ api: /** @type {any} */ ({}), pods, namespace: NAMESPACE, noun: 'a', controllerPrefix: 'a' },
  ...{
    listPods: () => [/** @type {any} */ (POD)],
    isDone: () => false,
    deadlineSeconds: 0.05,
    signal: AbortSignal.timeout(60_000),
  },
})

/** Waits for a pod that never is as it should be. @param {import('../../../src/targets/kubernetes/pod-watch.js').PodWatch} pods */
const awaitReady = pods => awaitPods(createWait(pods)).catch(error => error.message)

/** Watches the pods of a cluster that lists one. @param {object[]} [laterItems] what it lists from the second time on */
async function watch(laterItems = [POD]) {
  let listings = 0
  /** @type {((type: string, pod: object) => void) | null} */
  let takeEvent = null
  class Watch {
    /** @param {string} _path @param {object} _query @param {NonNullable<typeof takeEvent>} callback */
    async watch(_path, _query, callback) {
      takeEvent = callback
      return { abort: () => {} }
    }
  }
  const core = { listNamespacedPod: async () => ({ items: listings++ === 0 ? [POD] : laterItems }) }
  const request = (/** @type {string} */ _, /** @type {() => unknown} */ call) => call()
  const api = /** @type {any} */ ({ k8s: { Watch }, config: {}, core, request })
  const pods = await watchPods({ api, namespaces: [NAMESPACE] })
  onTestFinished(pods.close)
  await expect.poll(() => takeEvent !== null).toBe(true)
  const send = (/** @type {string} */ type, /** @type {object} */ pod) => takeEvent?.(type, pod)
  return { pods, send }
}

describe('a wait for a pod', () => {
  it('says which member of a damaged pod the kit does not know, until the pod is sound or gone', async () => {
    const { pods, send } = await watch()
    expect(await awaitReady(pods)).toBe('a was not ready within 0.05 s')
    send('MODIFIED', DAMAGED)
    expect(await awaitReady(pods)).toContain(FAULT)
    await awaitPods({ ...createWait(pods), isDone: () => true })
    send('MODIFIED', POD)
    expect(await awaitReady(pods)).toBe('a was not ready within 0.05 s')
    send('MODIFIED', DAMAGED)
    send('DELETED', DAMAGED)
    expect(await awaitReady(pods)).toBe('a was not ready within 0.05 s')
  })

  it('says so, too, if the damaged pod is in a list, which counts as no deletion', async () => {
    const other = { ...POD, metadata: { ...POD.metadata, name: 'b', labels: { 'app.kubernetes.io/name': 'b' } } }
    const { pods } = await watch([DAMAGED, other])
    await expect.poll(() => pods.find('b')).toEqual([other])
    expect(await awaitReady(pods)).toContain(FAULT)
    expect(pods.find('b')).toEqual([other])
  })
})
