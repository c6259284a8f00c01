import { expect, it } from 'vitest'
import { startAgents } from '../../../src/targets/kubernetes/agents.js'

/** @import { V1Pod } from '@kubernetes/client-node' @import { Api } from '../../../src/targets/kubernetes/api.js' */
/** @import { PodWatch } from '../../../src/targets/kubernetes/pod-watch.js' */

const READY = { type: 'Ready', status: 'True' }

/** A prober's pod. @param {V1Pod['status']} status @returns {V1Pod} */
const podOf = status => ({ metadata: { name: 'prober-x', namespace: 'r1' }, spec: { containers: [] }, status })

/** Starts the prober alone; `found` is what the watch of pods finds. @param {V1Pod[]} found */
function start(found) {
  /** @type {PodWatch} */
  const pods = {
    find: () => found,
    until: async look => look() || null,
    findFault: () => null,
    onChange: () => () => false,
    close: () => {},
  }
  return startAgents({
    api: /** @type {Api} */ (/** @type {unknown} */ ({ apply: async () => ({}) })),
    ...{ pods, namespace: 'r1', readerNamespace: null, labels: {}, image: 'node:22', where: null, loadWhere: null },
    ...{ hasRecursiveReadOnly: false, signal: new AbortController().signal },
  })
}

it('gives the address of the prober, and an error while its pod has none', async () => {
  const found = [podOf({ conditions: [READY], podIP: '10.244.0.9' })]
  const agents = await start(found)
  expect(agents.readProberAddress()).toBe('10.244.0.9')
  found[0] = podOf({ conditions: [READY] })
  expect(() => agents.readProberAddress()).toThrow(
    "the pod prober-x of the kit's own prober is ready and has no address",
  )
  found[0] = podOf({ conditions: [{ type: 'Ready', status: 'False' }], podIP: '10.244.0.9' })
  expect(() => agents.readProberAddress()).toThrow(
    "the kit's own prober is missing on every node: its pod is not ready",
  )
  found.length = 0
  expect(() => agents.readProberAddress()).toThrow("the kit's own prober is missing on every node: it has no pod there")
})
