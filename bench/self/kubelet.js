// Whether the reader's CPU time on a cluster agrees with the kubelet's own cumulative counters, over the same two minutes.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createApiClient } from '../../src/targets/kubernetes/api.js'
import { createFinding, runKit, writeExperiment } from './kit.js'

/**
 * @import { Reading } from '../../src/model/types.ts'
 */

const WINDOW_SECONDS = 130
const POLL_MS = 2000
const NAMESPACE = 'sidecar-bench-self'

/**
 * Needs a cluster in KUBECONFIG, and `get nodes/proxy`. BENCH_ARGV may hold more options, such as images.
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function checkKubelet() {
  const api = await createApiClient({ context: null })
  const [node] = await api.list('v1', 'Node')
  const more = process.env.BENCH_ARGV?.split(' ') ?? []
  const findings = []
  for (const plane of ['pipy', 'envoy']) {
    const experiment = writeExperiment(`kubelet-${plane}`, { rounds: 1, windowSeconds: WINDOW_SECONDS })
    /** The kubelet's counters as they come: by pod, each stamp once. @type {Map<string, Map<number, number>>} */
    const counters = new Map()
    let isEnded = false
    const argv = [experiment, '--planes', plane, '--target', 'kubernetes', '--namespace', NAMESPACE, ...more]
    const poll = async () => {
      while (!isEnded) {
        const text = await api.request('read the kubelet', () =>
          api.core.connectGetNodeProxyWithPath({ name: node.metadata.name, path: 'metrics/resource' }),
        )
        collect(counters, String(text))
        await delay(POLL_MS)
      }
    }
    const polling = poll()
    const { records, folder } = await runKit(argv).finally(() => (isEnded = true))
    await polling
    for (const { service } of records[0].processes.filter(p => p.role === 'sidecar')) {
      const series = readSeries(folder, records[0].trial.id, `${service}-sidecar`)
      const { startMs, endMs } = /** @type {{ startMs: number, endMs: number }} */ (records[0].window)
      const podCounters = [...counters].find(
        ([pod]) => pod.startsWith(`${service}-`) && isAlive(counters.get(pod), startMs, endMs),
      )
      const stamps = [...(podCounters?.[1] ?? [])]
        .filter(([at]) => at >= startMs && at <= endMs)
        .sort(([a], [b]) => a - b)
      const [[from, first], [to, last]] = [stamps[0], stamps[stamps.length - 1]]
      findings.push(
        createFinding(
          `${plane}: CPU time of ${service}'s sidecar by the reader / by the kubelet, over ${((to - from) / 1000).toFixed(1)} s, within 2 %`,
          (interpolateCounter(series, to) - interpolateCounter(series, from)) / (last - first),
          [],
          ratio => Math.abs(ratio - 1) <= 0.02,
        ),
      )
    }
  }
  return findings
}

/**
 * @param {Map<string, Map<number, number>>} counters
 * @param {string} text of the kubelet's /metrics/resource
 */
function collect(counters, text) {
  const line =
    /^container_cpu_usage_seconds_total\{container="sidecar",namespace="([^"]*)",pod="([^"]*)"\} (\S+) (\d+)$/gm
  for (const [, namespace, pod, seconds, stamp] of text.matchAll(line)) {
    if (namespace !== NAMESPACE) continue
    const stamps = counters.get(pod) ?? new Map()
    counters.set(pod, stamps.set(Number(stamp), Number(seconds)))
  }
}

/**
 * @param {Map<number, number> | undefined} stamps
 * @param {number} startMs
 * @param {number} endMs
 */
function isAlive(stamps, startMs, endMs) {
  return [...(stamps?.keys() ?? [])].filter(stamp => stamp >= startMs && stamp <= endMs).length > 1
}

/**
 * @param {string} folder
 * @param {string} trialId
 * @param {string} name of a process
 * @returns {{ epochMs: number, cpuSeconds: number }[]}
 */
function readSeries(folder, trialId, name) {
  return readFileSync(path.join(folder, 'raw', trialId, 'samples.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
    .map(({ epochMs, processes }) => ({ epochMs, cpuSeconds: /** @type {Reading} */ (processes[name]).cpuSeconds }))
}

/**
 * The counter at a moment, linear between samples of a tenth of a second.
 * @param {{ epochMs: number, cpuSeconds: number }[]} series
 * @param {number} epochMs
 */
function interpolateCounter(series, epochMs) {
  const i = Math.max(
    1,
    series.findIndex(s => s.epochMs >= epochMs),
  )
  const [a, b] = [series[i - 1], series[i]]
  return a.cpuSeconds + ((epochMs - a.epochMs) / (b.epochMs - a.epochMs || 1)) * (b.cpuSeconds - a.cpuSeconds)
}
