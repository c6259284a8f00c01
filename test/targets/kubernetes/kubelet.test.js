import { readFileSync } from 'node:fs'
import http from 'node:http'
import { describe, expect, it } from 'vitest'
import { createProcessRecord, summariseSamples } from '../../../src/judge/record/compute-window.js'
import { findFault, trialSchema } from '../../../src/model/schemas.js'
import {
  findContainerCounter,
  lookByKubelet,
  observeByKubelet,
  parseCpuCounter,
  readKubeletSummary,
} from '../../../src/targets/kubernetes/kubelet.js'
import { connectTo } from '../../fakes/fake-api-server.js'
import { createRecord } from '../../fakes/fake-records.js'
import { listenInTest } from '../../fakes/listen.js'
import { makeFolder } from '../../fakes/scratch.js'

const captured = readFileSync('test/fixtures/kubelet-1.34.3-stats-summary.json', 'utf8')
const START_MS = Date.parse('2026-11-21T14:00:03.400Z')
const window = { startMs: START_MS, endMs: START_MS + 120_000 }

describe('findContainerCounter', () => {
  const { node, pods } = JSON.parse(captured)
  const gateway = { namespace: 'kubelet-counters', pod: 'gateway-1-abc' }

  it('takes the counters of a container with their stamp, of a sidecar among the init containers too', () => {
    expect(findContainerCounter(pods, { ...gateway, container: 'sidecar' })).toEqual({
      ...{ epochMs: Date.parse('2026-11-21T14:12:02Z'), cpuSeconds: 12.536289487 },
      ...{ workingSetBytes: 8904704, rssBytes: 7819264 },
    })
    expect(findContainerCounter(pods, { ...gateway, container: 'application' })?.cpuSeconds).toBe(2.659847457)
  })

  it('takes the counter of the node', () => {
    const epochMs = Date.parse('2026-11-21T14:12:14Z')
    expect(parseCpuCounter(node.cpu)).toEqual({ epochMs, cpuSeconds: 2400.481766656 })
  })

  it('is null for another pod, one of that name in another namespace, and a container not yet counted', () => {
    expect(findContainerCounter(pods, { ...gateway, container: 'generator' })).toBe(null)
    expect(findContainerCounter(pods, { ...gateway, pod: 'gateway-2', container: 'sidecar' })).toBe(null)
    expect(findContainerCounter(pods, { ...gateway, namespace: 'default', container: 'sidecar' })).toBe(null)
    const young = JSON.parse(captured).pods
    young[0].containers[0].cpu = { time: '2026-11-21T14:07:40Z' }
    expect(findContainerCounter(young, { ...gateway, container: 'sidecar' })).toBe(null)
    expect(findContainerCounter([{ podRef: young[0].podRef }], { ...gateway, container: 'a' })).toBe(null)
  })
})

describe('observeByKubelet', () => {
  it('takes the rate from the first count of the window to the last, each by its stamp, out to its edges', async () => {
    const { start, end } = await observeFake()
    // Counts at 10 s and 115 s of 0.2 cores; what was used before and after them is not in it.
    const [first, last] = [start, end].map(edge => /** @type {any} */ (edge).sample.readings[0])
    expect(last.cpuSeconds - first.cpuSeconds).toBeCloseTo(0.2 * 120, 9)
    expect(first.atSeconds).toBe(window.startMs / 1000)
    expect(last.atSeconds).toBe(window.endMs / 1000)
    expect(end?.sample.readings[1].cpuSeconds).toBeCloseTo(7 + 0.05 * 120, 9)
  })

  it('takes the working set and the anonymous memory from the last count, and leaves open what is not counted', async () => {
    const { end, after } = await observeFake()
    expect(end?.sample.readings[0]).toMatchObject({
      ...{ workingSetBytes: 115_000, anonBytes: 11_500 },
      ...{ periods: null, throttledPeriods: null, throttledSeconds: null, peakBytes: null, oomKills: null },
    })
    expect(end?.states[0]).toEqual({
      threads: [],
      cpuLimitCores: null,
      identity: ['id-sidecar', '0 restarts'],
      cpuSet: '',
    })
    expect(after?.[0]).toEqual({ memory: null, identity: ['id-sidecar', '0 restarts'], workers: null })
  })

  it('counts of the machine what was busy, and the rest of its CPUs as idle', async () => {
    const { start, end } = await observeFake()
    const [a, b] = [start, end].map(edge => /** @type {any} */ (edge).host)
    expect(b.total - a.total).toBeCloseTo(2 * 120 * 100, 6)
    expect((b.busy - a.busy) / (b.total - a.total)).toBeCloseTo(0.3, 9)
    expect((b.idle - a.idle) / (b.total - a.total)).toBeCloseTo(0.7, 9)
    expect(b).toMatchObject({ steal: 0, cpus: 2 })
  })

  it('asks every five seconds from before the window to its end, and keeps what was new', async () => {
    const timesSeconds = /** @type {number[]} */ ([])
    const { samples } = await observeFake({ onAsk: atSeconds => timesSeconds.push(atSeconds) })
    expect(timesSeconds.slice(0, 4)).toEqual([-12, -10, -5, 0])
    expect(timesSeconds.slice(-2)).toEqual([115, 120])
    expect(samples.map(s => s.edge ?? Math.round((s.epochMs - START_MS) / 1000))).toEqual([
      ...[-12, -10, -5, 0, 'start', 10, 20, 25, 30, 40, 50, 55, 60, 70, 80, 85, 90, 100, 110, 115, 120, 'end'],
    ])
    const raw = samples.find(s => s.epochMs === START_MS + 25_000)
    expect(raw?.readings[0].atSeconds).toBe(START_MS / 1000 + 25)
    expect(summariseSamples(samples, window)).toMatchObject({ missing: 0 })
  })

  it('makes a record that says of threads, cap, workers and throttling that they are not known', async () => {
    const { start, end, after } = await observeFake()
    const facts = { service: 'gateway', role: /** @type {const} */ ('sidecar'), command: ['/p'], cpuLimitCores: 0.25 }
    const at = (/** @type {any} */ edge, /** @type {any} */ look) => ({
      reading: edge.sample.readings[0],
      state: edge.states[0],
      look,
    })
    const record = createProcessRecord({
      facts: { ...facts, askedWorkers: 1, files: [], copyOf: null },
      start: at(start, { memory: null, identity: ['id-sidecar', '0 restarts'], workers: null }),
      end: at(end, after?.[0]),
      overflows: null,
      received: null,
      closed: null,
    })
    expect(record).toMatchObject({
      ...{
        cpuLimitCores: 0.25,
        cpuLimitReadBackCores: null,
        workers: null,
        busiestThreadCores: null,
        throttledFraction: null,
      },
      ...{ isReplaced: false, oomKills: null },
      memory: { anonBytes: 11_500, workingSetBytes: 115_000, rssBytes: null, pssBytes: null, peakBytes: null },
    })
    expect(record.cpuCores).toBeCloseTo(0.2, 6)
    expect(findFault(trialSchema, createRecord({ processes: [record] }))).toBe(null)
  })

  it('does without a container until the kubelet counts it', async () => {
    expect(usedIn(await observeFake({ firstSeenSeconds: 20 }))).toBeCloseTo(24, 9)
  })

  it.each([
    ['is not counted', 0, { firstSeenSeconds: 1000 }],
    ['is counted once', 0, { firstSeenSeconds: 110 }],
    ['is counted in too little of the window', 75, { firstSeenSeconds: 39 }],
  ])('throws when a container %s', async (_, covered, fields) => {
    await expect(observeFake(fields)).rejects.toThrow(
      `the kubelet's counts of sidecar of the pod gateway-1 cover ${covered} s of a window of 120 s (75 % at least): let windows last longer`,
    )
  })

  it('throws when a container was started again', async () => {
    await expect(observeFake({ restartSeconds: 60 })).rejects.toThrow(
      'the CPU time of sidecar of the pod gateway-1 fell from 42 to 23 s in the window: it was started again',
    )
  })

  it('gives what it has when it is stopped', async () => {
    const stop = new AbortController()
    const onAsk = (/** @type {number} */ atSeconds) => atSeconds === 60 && stop.abort(new Error('interrupted'))
    const observation = await observeFake({ onAsk, signal: stop.signal })
    expect(observation).toMatchObject({ start: null, end: null, after: null })
    expect(observation.samples.length).toBeGreaterThan(3)
  })

  it('goes on without an answer that comes after the load is gone', async () => {
    const hangs = (/** @type {number} */ atSeconds) => atSeconds === 120
    expect(usedIn(await observeFake({ hangs }))).toBeCloseTo(24, 9)
  })

  it('throws what the API server says', async () => {
    const onAsk = () => {
      throw new Error('forbidden')
    }
    await expect(observeFake({ onAsk })).rejects.toThrow('forbidden')
  })
})

describe('readKubeletSummary', () => {
  /** @param {http.RequestListener} answer */
  async function connectToServer(answer) {
    const { port } = await listenInTest(http.createServer(answer))
    return connectTo({ server: `http://127.0.0.1:${port}`, folder: makeFolder('kubelet') })
  }

  it('asks the kubelet through the API server', async () => {
    /** @type {string[]} */
    const requests = []
    const api = await connectToServer((request, response) => {
      requests.push(`${request.method} ${decodeURIComponent(`${request.url}`)}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end(captured)
    })
    expect(await readKubeletSummary(api, 'node1')).toEqual(JSON.parse(captured))
    expect(requests).toEqual(['GET /api/v1/nodes/node1/proxy/stats/summary'])
  })

  it('says which verb on what is not allowed', async () => {
    const message =
      'nodes "node1" is forbidden: User "a" cannot get resource "nodes/proxy" in API group "" at the cluster scope'
    const api = await connectToServer((_, response) => {
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason: 'Forbidden', code: 403 }
      response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(status))
    })
    await expect(readKubeletSummary(api, 'node1')).rejects.toThrow(
      `cannot read the kubelet's counters of node1: ${message} (k8s/rbac.yaml`,
    )
  })
})

describe('lookByKubelet', () => {
  it('says who a container is, and nothing that the kubelet does not count', () => {
    expect(lookByKubelet(watch())).toEqual([
      { memory: null, identity: ['id-sidecar', '0 restarts'], workers: null },
      { memory: null, identity: ['id-application', '0 restarts'], workers: null },
    ])
  })
})

/** CPU seconds of the sidecar from edge to edge. @param {Awaited<ReturnType<typeof observeFake>>} observation */
function usedIn({ start, end }) {
  return Number(end?.sample.readings[0].cpuSeconds) - Number(start?.sample.readings[0].cpuSeconds)
}

function watch() {
  return ['sidecar', 'application'].map(container => ({
    locateContainer: () => ({ id: `id-${container}`, namespace: 'run', pod: 'gateway-1', container, restarts: 0 }),
  }))
}

/**
 * A window of two minutes by a clock that jumps from wait to wait. The kubelet counts the sidecar every 15 s, at 10 s
 * of the window and so on, the application and the node every 10 s: 0.2, 0.05 and 0.6 cores. Before its first count in
 * the window the sidecar used far more.
 * @param {{ onAsk?: (atSeconds: number) => unknown, hangs?: (atSeconds: number) => boolean, signal?: AbortSignal,
 *   firstSeenSeconds?: number, restartSeconds?: number }} [options]
 */
async function observeFake({
  onAsk = () => {},
  hangs = () => false,
  signal = new AbortController().signal,
  firstSeenSeconds = -1000,
  restartSeconds = 1000,
} = {}) {
  let nowMs = START_MS - 12_000
  const stampOf = (/** @type {number} */ atSeconds) => new Date(START_MS + atSeconds * 1000).toISOString()
  const count = (/** @type {number} */ atSeconds, /** @type {number} */ cpuSeconds) => ({
    cpu: { time: stampOf(atSeconds), usageNanoCores: 7, usageCoreNanoSeconds: Math.round(cpuSeconds * 1e9) },
    memory: { time: stampOf(atSeconds), workingSetBytes: atSeconds * 1000, rssBytes: atSeconds * 100 },
  })
  const summarise = (/** @type {number} */ atSeconds) => {
    const sidecarAt = Math.floor((atSeconds + 5) / 15) * 15 - 5
    const sidecarSeconds = sidecarAt < 0 ? 1 : 40 + 0.2 * sidecarAt - (sidecarAt > restartSeconds ? 40 : 0)
    const applicationAt = Math.floor((atSeconds + 10) / 10) * 10 - 10
    const nodeAt = Math.floor(atSeconds / 10) * 10
    const containers = [
      ...(sidecarAt >= firstSeenSeconds ? [{ name: 'sidecar', ...count(sidecarAt, sidecarSeconds) }] : []),
      { name: 'application', ...count(applicationAt, 7 + 0.05 * applicationAt) },
    ]
    const podRef = { name: 'gateway-1', namespace: 'run' }
    return { node: count(nodeAt, 1000 + 0.6 * nodeAt), pods: [{ podRef, containers }] }
  }
  return observeByKubelet({
    ...{ containers: watch(), cpus: 2, window, signal },
    now: () => nowMs,
    wait: async epochMs => {
      nowMs = Math.max(nowMs, epochMs)
    },
    readSummary: async () => {
      const atSeconds = (nowMs - START_MS) / 1000
      onAsk(atSeconds)
      return hangs(atSeconds) ? new Promise(() => {}) : summarise(atSeconds)
    },
  })
}
