import { describe, expect, it } from 'vitest'
import { renderShortage } from '../../src/plan/sidecar-room.js'

const LIMITS = {
  ...{ memoryBytes: 24 * 2 ** 30, threads: 32768, threadsUsed: 200, files: 20000, ports: 28232 },
  ...{ inotifyInstances: 8192, inotifyInstancesUsed: 3 },
}
const PIPY = { sidecarBytes: 4e6, controlBytes: 120e3, threads: 3, inotifyInstances: 0 }
const ENVOY = { sidecarBytes: 22e6, controlBytes: 0, threads: 12, inotifyInstances: 1 }

describe('what a machine holds', () => {
  it('is 1600 Pipy in 24 GiB, and not as many Envoy: with the arithmetic, and how many fit', () => {
    expect(renderShortage({ sidecars: 1600, needs: PIPY, limits: LIMITS })).toBeNull()
    expect(renderShortage({ sidecars: 1600, needs: ENVOY, limits: LIMITS })).toBe(
      '1600 sidecars take 33855.4 MiB of memory (1600 × 21.0 MiB + 286.1 MiB), and this machine has 24576.0 MiB: at most 1157 fit',
    )
    expect(renderShortage({ sidecars: 1157, needs: ENVOY, limits: LIMITS })).toBeNull()
    expect(renderShortage({ sidecars: 1158, needs: ENVOY, limits: LIMITS })).not.toBeNull()
  })

  it.each([
    [
      'threads',
      { threads: 4000 },
      '1600 sidecars take 5000 of threads (1600 × 3 + 200), and this machine has 4000: at most 1266 fit',
    ],
    [
      'files',
      { files: 1024 },
      'take 5000 of open files of one process (1600 × 3 + 200), and this machine has 1024: at most 274 fit',
    ],
    [
      'ports',
      { ports: 1000 },
      'take 4800 of ports for connections (1600 × 3), and this machine has 1000: at most 333 fit',
    ],
  ])('is as many as its %s are enough for', (_, limit, words) => {
    expect(renderShortage({ sidecars: 1600, needs: PIPY, limits: { ...LIMITS, ...limit } })).toContain(words)
  })

  it('is as many Envoy as may watch files: without a watch it crashes', () => {
    const limits = { ...LIMITS, inotifyInstances: 128 }
    expect(renderShortage({ sidecars: 400, needs: ENVOY, limits })).toBe(
      '400 sidecars take 403 of inotify instances (400 × 1 + 3), and this machine has 128: at most 125 fit; sysctl fs.inotify.max_user_instances=N allows more',
    )
    expect(renderShortage({ sidecars: 400, needs: PIPY, limits })).toBeNull()
    // Others took more before the limit was lowered: what takes none is not refused for it.
    const lowered = { ...limits, inotifyInstancesUsed: 200 }
    expect(renderShortage({ sidecars: 400, needs: PIPY, limits: lowered })).toBeNull()
  })

  it('is, of a node, what its scheduler has left for pods', () => {
    const node = {
      ...{ node: 'n1', pods: 110, podsUsed: 8, memoryBytes: 16 * 2 ** 30, memoryRequestedBytes: 2 ** 30 },
      ...{ cpus: 2, cpusRequested: 0.5 },
    }
    const findOf = (/** @type {number} */ sidecars, /** @type {object} */ limit = {}) =>
      renderShortage({ sidecars, needs: PIPY, limits: { ...node, ...limit } })
    expect(findOf(98)).toBeNull()
    expect(findOf(99)).toBe('99 sidecars take 111 of pods (99 × 1 + 12), and the node n1 has 110: at most 98 fit')
    // Also of a few, since those that are there may have taken all.
    expect(findOf(5, { podsUsed: 106 })).toContain('at most 0 fit')
    // 16 MiB is what a pod requests, if its sidecar takes less.
    expect(findOf(90, { memoryBytes: 2 * 2 ** 30 })).toBe(
      '90 sidecars take 2528.0 MiB of memory (90 × 16.0 MiB + 1088.0 MiB), and the node n1 has 2048.0 MiB: at most 60 fit',
    )
    expect(findOf(90, { cpus: 1 })).toBe(
      '90 sidecars take 1440m of CPU requests (90 × 10m + 540m), and the node n1 has 1000m: at most 46 fit',
    )
    const shards = (/** @type {object} */ limit, /** @type {object} */ conditions) =>
      renderShortage({
        sidecars: 98,
        needs: PIPY,
        limits: { ...node, ...limit },
        conditions: { shards: 3, ...conditions },
      })
    expect(shards({}, {})).toContain('98 × 1 + 14), and the node n1 has 110: at most 96 fit')
    expect(shards({ pods: 200 }, {})).toBeNull()
    expect(shards({ pods: 200 }, { controlCpuLimitCores: 0.5 })).toContain('of CPU requests (98 × 10m + 2030m)')
    expect(shards({ pods: 200 }, { controlMemoryBytes: 5 * 2 ** 30 })).toContain('98 × 16.0 MiB + 16432.0 MiB')
    expect(renderShortage({ sidecars: 20, needs: ENVOY, limits: { ...node, memoryBytes: 2 ** 31 } })).toBeNull()
    expect(renderShortage({ sidecars: 40, needs: ENVOY, limits: { ...node, memoryBytes: 2 ** 31 } })).toContain(
      '40 × 32.4 MiB',
    )
    const simulated = (/** @type {number} */ sidecars, /** @type {object} */ limit = {}) =>
      renderShortage({ sidecars, needs: PIPY, limits: { ...node, ...limit }, simulated: { count: 1200, bytes: 200e3 } })
    expect(simulated(97)).toBeNull()
    expect(simulated(98)).toContain('of pods (98 × 1 + 13)')
    expect(simulated(97, { memoryBytes: 2 ** 31 })).toContain('97 × 16.0 MiB + 1470.2 MiB')
  })

  it('is for simulated sidecars what the control plane takes for them, and what they take themselves', () => {
    const simulated = { count: 1200, bytes: 200e3 }
    const request = { sidecars: 400, needs: { ...ENVOY, controlBytes: 300e3 }, simulated }
    expect(renderShortage({ ...request, limits: LIMITS })).toBeNull()
    expect(renderShortage({ ...request, limits: { ...LIMITS, memoryBytes: 9e9 } })).toContain(
      '(400 × 21.3 MiB + 858.3 MiB)',
    )
    expect(renderShortage({ ...request, limits: { ...LIMITS, files: 2000 } })).toContain('(400 × 3 + 1400)')
  })

  it('is no matter of a few', () => {
    expect(renderShortage({ sidecars: 10, needs: PIPY, limits: { ...LIMITS, memoryBytes: 1 } })).toBeNull()
  })
})
