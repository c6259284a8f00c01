import { expect, it } from 'vitest'
import { computeNodeLimits } from '../../../src/targets/kubernetes/nodes.js'

/** @import { V1Pod } from '@kubernetes/client-node' */

/** @param {string} nodeName @param {Record<string, string>[]} requests of its containers @param {object} [more] */
const podOn = (nodeName, requests, more = {}) =>
  /** @type {V1Pod} */ ({
    spec: {
      nodeName,
      containers: requests.map((request, i) => ({ name: `${i}`, resources: { requests: request } })),
      ...more,
    },
    status: { phase: 'Running' },
  })

it('a node has what its pods that run have not requested', () => {
  const pods = [
    podOn('n1', [{ cpu: '100m', memory: '64Mi' }, { cpu: '1' }]),
    podOn('n1', [{}], {
      initContainers: [
        { name: 'native', restartPolicy: 'Always', resources: { requests: { cpu: '250m', memory: '1M' } } },
        { name: 'short', resources: { requests: { cpu: '400m' } } },
      ],
      containers: [{ name: 'a', resources: { requests: { cpu: '500m' } } }],
    }),
    // An init container that takes more than what runs after it, the overhead of a runtime class, and a request of the pod itself.
    podOn('n1', [{ cpu: '100m' }], {
      initContainers: [{ name: 'first', resources: { requests: { cpu: '2' } } }],
      overhead: { cpu: '100m' },
      resources: { requests: { memory: '1M' } },
    }),
    podOn('n2', [{ cpu: '2' }]),
    { ...podOn('n1', [{ cpu: '2' }]), status: { phase: 'Succeeded' } },
    { metadata: { name: 'waits' }, status: { phase: 'Pending' } },
  ]
  const node = { metadata: { name: 'n1' }, status: { allocatable: { cpu: '3920m', memory: '15Gi', pods: '110' } } }
  expect(computeNodeLimits({ node, pods })).toEqual({
    ...{ node: 'n1', pods: 110, podsUsed: 3, cpus: 3.92, cpusRequested: 1.1 + 0.5 + 0.25 + 2.1 },
    ...{ memoryBytes: 15 * 2 ** 30, memoryRequestedBytes: 64 * 2 ** 20 + 2e6 },
  })
})
