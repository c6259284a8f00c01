import { expect, it } from 'vitest'
import { assertPodResources } from '../../../src/targets/kubernetes/site.js'

const OLD = { minor: 34, gitVersion: 'v1.34.1', kubelet: 'v1.33.5' }
const conditions = (/** @type {object} */ fields) => [/** @type {any} */ ({}), /** @type {any} */ (fields)]

it('refuses a limit of pods if API server or kubelet has no pod-level resources, with the versions', () => {
  expect(() => assertPodResources(conditions({ podCpuCores: 1 }), OLD)).toThrow(
    '--pod-cpu 1: pods have resources of their own by default since Kubernetes 1.34, and here are v1.34.1 and the kubelet v1.33.5',
  )
  expect(() => assertPodResources(conditions({ podCpuCores: 1 }), { ...OLD, kubelet: 'v1.34.0' })).not.toThrow()
  expect(() => assertPodResources(conditions({ cpuRequestCores: 1 }), OLD)).not.toThrow()
})
