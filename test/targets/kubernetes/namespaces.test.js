import os from 'node:os'
import { describe, expect, it } from 'vitest'
import { BenchError } from '../../../src/lib/errors.js'
import { readPlace, readProcessStartTicks } from '../../../src/lib/process-start.js'
import { cleanUpCluster, createNamespace } from '../../../src/targets/kubernetes/namespaces.js'

/** An API server that holds namespaces, by name. @param {Record<string, any>} held */
function createFakeApi(held) {
  return /** @type {any} */ ({
    held,
    create: async (/** @type {any} */ object) => {
      if (held[object.metadata.name]) throw Object.assign(new BenchError('there'), { code: 409 })
      held[object.metadata.name] = object
    },
    readNamespace: async (/** @type {string} */ name) => held[name] ?? null,
    list: async () => Object.values(held),
    remove: async (/** @type {any} */ { metadata }) => void delete held[metadata.name],
  })
}
const owned = (/** @type {string} */ name, /** @type {string} */ owner) => ({
  metadata: { name, annotations: { 'sidecar-bench/owner': owner }, labels: { 'sidecar-bench/run': `run-${name}` } },
})
const { bootId, pidNamespace } = readPlace()
const place = `${bootId} ${pidNamespace}`
const liveOwner = `${os.hostname()} ${process.pid} ${readProcessStartTicks(process.pid)} ${place}`

describe('cleanUpCluster', () => {
  it('removes what dead runs of this machine left, and leaves those that go on or were started elsewhere', async () => {
    const api = createFakeApi({
      going: owned('going', liveOwner),
      dead: owned('dead', `${os.hostname()} ${process.pid} 1 ${place}`),
      elsewhere: owned('elsewhere', 'edge-7 1 1'),
    })
    expect(await cleanUpCluster({ api, includesOtherMachines: false })).toEqual({
      removed: ['namespace dead'],
      left: [
        'namespace going: its run goes on',
        'namespace elsewhere: its run was started on edge-7, in a container of it or before it was booted; remove it with --all',
      ],
    })
    expect((await cleanUpCluster({ api, includesOtherMachines: true })).removed).toEqual(['namespace elsewhere'])
    expect(Object.keys(api.held)).toEqual(['going'])
  })

  it('leaves what was retained until its run is named, and then touches no other', async () => {
    const api = createFakeApi({ kept: owned('kept', 'gone 1 1'), other: owned('other', 'gone 1 1') })
    const retained = ['run-kept', 'run-other']
    const { removed, left } = await cleanUpCluster({ api, includesOtherMachines: true, retained })
    expect(removed).toEqual([])
    expect(left[0]).toContain('it was retained; remove it with --retained, or with the id of its run: run-kept')
    const named = await cleanUpCluster({ api, includesOtherMachines: true, run: 'run-kept', retained })
    expect(named.removed).toEqual(['namespace kept'])
    expect(Object.keys(api.held)).toEqual(['other'])
  })
})

describe('createNamespace', () => {
  const options = { name: 'bench', runId: 'r1', level: /** @type {const} */ ('restricted') }

  it('refuses one that is there, and leaves it', async () => {
    const api = createFakeApi({ bench: owned('bench', 'somebody') })
    await expect(createNamespace({ api, ...options })).rejects.toThrow(
      /the namespace bench is already there: give --namespace another/,
    )
    expect(api.held.bench.metadata.annotations['sidecar-bench/owner']).toBe('somebody')
  })

  it('takes one that its own first try has made, whose answer was lost', async () => {
    const api = createFakeApi({})
    await createNamespace({ api, ...options })
    await createNamespace({ api, ...options })
    expect(api.held.bench.metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })
})
