import { describe, expect, it } from 'vitest'
import { findContainerId, findEnding, findObstacle, isReady } from '../../../src/targets/kubernetes/pod-status.js'

const ID = 'containerd://0f1e2d'

/** A container's part of a pod's status. @param {object} [status] @returns {any} */
const container = (status = {}) => ({
  ...{ name: 'application', image: 'docker.io/flomesh/pipy:1.5.18', imageID: '', ready: false, restartCount: 0 },
  ...{ state: {}, lastState: {}, ...status },
})
const waiting = (/** @type {string} */ reason, message = '') => ({ state: { waiting: { reason, message } } })
const terminated = (/** @type {object} */ how) => ({ containerID: ID, state: { terminated: { exitCode: 0, ...how } } })
const running = { containerID: ID, ready: true, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }

/** @param {object} status @param {object} [metadata] @returns {any} */
const pod = (status, metadata = {}) => ({
  metadata: { name: 'ratings-1', namespace: 'bench', ...metadata },
  spec: { containers: [{ name: 'application' }] },
  status: { phase: 'Running', ...status },
})
const podOf = (/** @type {object[]} */ ...statuses) => pod({ containerStatuses: statuses.map(container) })
const ready = { type: 'Ready', status: 'True' }

const evicted = pod({
  ...{ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' },
  containerStatuses: [container(terminated({ exitCode: 137, reason: 'ContainerStatusUnknown' }))],
})
const crashing = podOf({
  ...waiting('CrashLoopBackOff', 'back-off 10s restarting failed container'),
  ...{ restartCount: 1, lastState: { terminated: { exitCode: 1, reason: 'Error' } } },
})

describe('findEnding', () => {
  it('finds none of a container that runs, waits, or is not there', () => {
    expect(findEnding(podOf(running), 'application')).toBeNull()
    expect(findEnding(podOf(waiting('ContainerCreating')), 'application')).toBeNull()
    expect(findEnding(podOf(running), 'sidecar')).toBeNull()
    expect(findEnding(pod({ phase: 'Pending' }), 'application')).toBeNull()
  })

  it.each([
    [{ exitCode: 0, reason: 'Completed' }, 'status 0'],
    [{ exitCode: 1, reason: 'Error' }, 'status 1'],
    [{ exitCode: 139, signal: 11, reason: 'Error' }, 'signal 11'],
    [{ exitCode: 137, reason: 'OOMKilled' }, 'OOMKilled: its memory limit was reached'],
  ])('says how a container ended: %o', (how, expected) => {
    expect(findEnding(podOf(terminated(how)), 'application')).toBe(expected)
  })

  it('says how the process ended whose container was started again', () => {
    const again = { ...running, restartCount: 1, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }
    expect(findEnding(podOf(again), 'application')).toMatch(/^OOMKilled/)
    expect(findEnding(crashing, 'application')).toBe('status 1')
  })

  it('takes the status of its own container, a native sidecar among them', () => {
    const both = pod({
      initContainerStatuses: [container({ name: 'sidecar', ...terminated({ exitCode: 3 }) })],
      containerStatuses: [container(running)],
    })
    expect(findEnding(both, 'sidecar')).toBe('status 3')
    expect(findEnding(both, 'application')).toBeNull()
  })

  it('names an eviction before what it did to the containers', () => {
    expect(findEnding(evicted, 'application')).toBe('an eviction by the kubelet: The node was low on resource: memory.')
  })

  it('says that a pod failed as a whole, or is deleted, while its containers say nothing', () => {
    const refused = pod({ phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'no CPUs left' })
    expect(findEnding(refused, 'application')).toBe("the pod's failure: UnexpectedAdmissionError no CPUs left")
    const deleted = pod({ containerStatuses: [container(running)] }, { deletionTimestamp: '2026-01-01T00:00:00Z' })
    expect(findEnding(deleted, 'application')).toBe('the deletion of its pod')
  })
})

describe('findObstacle', () => {
  it('finds none where a pod is ready, is being made, or has done its work', () => {
    expect(findObstacle(pod({ phase: 'Pending' }))).toBeNull()
    expect(findObstacle(podOf(running))).toBeNull()
    expect(findObstacle(podOf(waiting('ContainerCreating')))).toBeNull()
    expect(findObstacle(podOf(waiting('PodInitializing')))).toBeNull()
    expect(findObstacle(podOf(terminated({ exitCode: 0, reason: 'Completed' })))).toBeNull()
  })

  it('waits for a node that may yet take the pod', () => {
    const message = '0/1 nodes are available: 1 Insufficient cpu.'
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }]
    expect(findObstacle(pod({ phase: 'Pending', conditions }))).toEqual({
      ...{ why: `no node takes the pod ratings-1: ${message}`, isFinal: false, container: null },
    })
  })

  it('gives an image that cannot be pulled a second chance, and not a third', () => {
    const message = 'failed to resolve reference "docker.io/flomesh/pipy:1.5.18": not found'
    const once = findObstacle(podOf(waiting('ErrImagePull', message)))
    expect(once).toMatchObject({ isFinal: false, container: null })
    expect(once?.why).toBe(
      `the image docker.io/flomesh/pipy:1.5.18 of application of the pod ratings-1 cannot be pulled: ErrImagePull: ${message}`,
    )
    expect(findObstacle(podOf(waiting('ImagePullBackOff', 'Back-off pulling image')))?.isFinal).toBe(true)
    expect(findObstacle(podOf(waiting('InvalidImageName')))?.isFinal).toBe(true)
  })

  it('names the container that keeps crashing, for its log', () => {
    expect(findObstacle(crashing)).toEqual({
      ...{ why: 'application of the pod ratings-1 ended with status 1', isFinal: true, container: 'application' },
    })
  })

  it('has the last message of a container that ended', () => {
    const { why } = findObstacle(podOf(terminated({ exitCode: 128, message: 'exec: "pipy": not found' }))) ?? {}
    expect(why).toBe('application of the pod ratings-1 ended with status 128 (exec: "pipy": not found)')
  })

  it('names a memory limit that was reached', () => {
    const again = { ...running, restartCount: 2, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }
    expect(findObstacle(podOf(again))).toMatchObject({
      why: expect.stringMatching(/ended with OOMKilled$/),
      isFinal: true,
    })
  })

  it('does not let a restart pass that ended well', () => {
    const again = { ...running, restartCount: 1, lastState: { terminated: { exitCode: 0, reason: 'Completed' } } }
    expect(findObstacle(podOf(again))).toMatchObject({ why: expect.stringMatching(/status 0$/), isFinal: true })
  })

  it('says what keeps a container from starting', () => {
    const missing = podOf(waiting('CreateContainerConfigError', 'configmap "kit" not found'))
    expect(findObstacle(missing)).toEqual({
      why: 'application of the pod ratings-1 does not start: CreateContainerConfigError: configmap "kit" not found',
      isFinal: false,
      container: 'application',
    })
  })

  it('ends with a pod that was evicted', () => {
    expect(findObstacle(evicted)).toEqual({
      why: 'the pod ratings-1 failed: Evicted: The node was low on resource: memory.',
      isFinal: true,
      container: null,
    })
  })

  it('sees the native sidecar that holds the application up', () => {
    const held = pod({
      phase: 'Pending',
      initContainerStatuses: [container({ name: 'sidecar', ...terminated({ exitCode: 2 }) })],
      containerStatuses: [container(waiting('PodInitializing'))],
    })
    expect(findObstacle(held)).toMatchObject({ isFinal: true, container: 'sidecar' })
  })
})

describe('isReady', () => {
  it('is what the pod says, until it is deleted', () => {
    expect(isReady(pod({ conditions: [ready] }))).toBe(true)
    expect(isReady(pod({ conditions: [{ ...ready, status: 'False' }] }))).toBe(false)
    expect(isReady(pod({}))).toBe(false)
    expect(isReady(pod({ conditions: [ready] }, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe(false)
  })
})

describe('findContainerId', () => {
  it('is without the name of the runtime, and null before the container has one', () => {
    expect(findContainerId(podOf(running), 'application')).toBe('0f1e2d')
    expect(findContainerId(podOf(waiting('ContainerCreating')), 'application')).toBeNull()
    expect(findContainerId(podOf(running), 'sidecar')).toBeNull()
  })
})
