import { readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { createMetrics } from '../../src/live/metrics.js'
import { LABELS } from '../../src/targets/kubernetes/manifests.js'
import { createArm, createFakeProcess, createRecord } from '../fakes/fake-records.js'
import { listen } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'
import { needProgram, startPrometheus } from '../real/prometheus.js'
import { listDashboardQueries, readDashboard } from './dashboard-queries.js'
import { createReading, endTrial, plan, startTrial } from './fake-events.js'

/**
 * @import { Reading, TrialRecord } from '../../src/model/types.ts' @import { RunEvent } from '../../src/run/events.js'
 */

const folder = makeFolder('metrics')

const ARM = 'plane="pipy",link="link",cap_cores="0.25",arm="link-pipy"'
const AT_RATE = 'plane="pipy",link="link",cap_cores="0.25",rate="200",arm="link-pipy"'
const GATEWAY = `${ARM},service="gateway"`
const openLoop = { load: { kind: /** @type {'open'} */ ('open'), ratePerSecond: 200 } }
const specs = /** @type {any[]} */ ([
  { service: 'gateway', role: 'application', cpuLimitCores: null },
  { service: 'gateway', role: 'sidecar', cpuLimitCores: 0.25 },
  { service: 'ratings', role: 'sidecar', cpuLimitCores: null },
  { service: 'k6', role: 'generator', cpuLimitCores: null },
])

/** @param {Parameters<typeof createArm>[0]} [arm] */
const started = (arm = {}, secondsLeft = /** @type {number | null} */ (90)) =>
  startTrial(createArm(arm), { round: 2, secondsLeft })
/** @param {Partial<Reading>} [gateway] @param {Partial<Reading>} [ratings] @returns {RunEvent} */
const sampled = (gateway = {}, ratings = {}) => ({
  ...{ kind: 'sampled', specs, windowStartMs: 0 },
  sample: { epochMs: 0, readings: [{}, gateway, ratings, {}].map(createReading) },
})
/** @param {number} requests @param {number} failed @returns {RunEvent} */
const counted = (requests, failed = 0) => ({ kind: 'counted', requests, failed, atMs: 0 })

/**
 * What is exposed after some events, without the prefix of the names.
 * @param {RunEvent[]} events @returns {Promise<Record<string, number>>}
 */
async function expose(...events) {
  const metrics = createMetrics()
  for (const event of events) metrics.apply(event)
  const lines = (await metrics.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map(line => {
      const at = line.lastIndexOf(' ')
      return [line.slice('sidecar_bench_'.length, at), Number(line.slice(at + 1))]
    }),
  )
}

/** @param {Record<string, number>} exposed @param {string} start of the name */
const only = (exposed, start) => Object.fromEntries(Object.entries(exposed).filter(([name]) => name.startsWith(start)))

describe('the metrics of a run', () => {
  it('are empty before an event', async () => expect(await expose()).toEqual({}))

  it('say what is planned', async () => {
    expect(await expose(plan({ atMs: 1_000_500 }))).toEqual({
      'run_info{run="run-1",experiment="cap"}': 1,
      run_started_timestamp_seconds: 1000.5,
      run_time_left_seconds: 480,
      rounds: 2,
      trials_planned: 8,
      'phase{phase="parity"}': 0,
      'phase{phase="starting"}': 0,
      'phase{phase="warm-up"}': 0,
      'phase{phase="window"}': 0,
      'phase{phase="tail"}': 0,
      'phase{phase="stopping"}': 0,
      'trials_ended_total{outcome="completed"}': 0,
      'trials_ended_total{outcome="failed"}': 0,
      'trials_ended_total{outcome="invalid"}': 0,
    })
  })

  it('leave out what a search does not plan, and an unknown time', async () => {
    const exposed = await expose(plan({ trials: null }), started({}, null))
    expect(exposed).toMatchObject({ round: 2 })
    for (const name of ['rounds', 'trials_planned', 'run_time_left_seconds']) expect(exposed).not.toHaveProperty(name)
  })

  it('say the round, the time left and the phase', async () => {
    const exposed = await expose(plan(), { kind: 'phase', phase: 'parity', atMs: 0 }, started(), {
      kind: 'phase',
      phase: 'warm-up',
      atMs: 0,
    })
    expect(exposed).toMatchObject({ round: 2, run_time_left_seconds: 90, 'phase{phase="parity"}': 0 })
    expect(Object.entries(only(exposed, 'phase')).filter(([, value]) => value !== 0)).toEqual([
      ['phase{phase="warm-up"}', 1],
    ])
  })

  it('count trials by how they ended', async () => {
    const exposed = await expose(
      plan(),
      started(),
      endTrial(),
      started(),
      endTrial(),
      started(),
      endTrial({ outcome: 'failed' }),
    )
    expect(only(exposed, 'trials_ended')).toEqual({
      'trials_ended_total{outcome="completed"}': 2,
      'trials_ended_total{outcome="failed"}': 1,
      'trials_ended_total{outcome="invalid"}': 0,
    })
  })

  it('have no phase, time left or sidecar once it has ended', async () => {
    const exposed = await expose(plan(), started(), { kind: 'phase', phase: 'window', atMs: 0 }, sampled(), {
      ...{ kind: 'ended', outcome: 'interrupted', atMs: 0 },
    })
    expect(Object.values(only(exposed, 'phase'))).toEqual([0, 0, 0, 0, 0, 0])
    expect(exposed).not.toHaveProperty('run_time_left_seconds')
    expect(only(exposed, 'sidecar_memory')).toEqual({})
  })

  it('keep what they have when the plan of the same run changes', async () => {
    const changed = plan({ trials: 12, seconds: 100, atMs: 1_800_000_000_000 })
    const before = [plan(), started(), /** @type {RunEvent} */ ({ kind: 'phase', phase: 'tail', atMs: 0 }), endTrial()]
    const exposed = await expose(...before, changed)
    expect(exposed).toEqual({ ...(await expose(...before)), run_time_left_seconds: 100, trials_planned: 12 })
  })

  it('forget the run before', async () => {
    const other = { id: 'another', experiment: 'idle', question: '' }
    const exposed = await expose(plan(), started(), endTrial(), plan({ run: other, trials: null }))
    expect(only(exposed, 'run_info')).toEqual({ 'run_info{run="another",experiment="idle"}': 1 })
    expect(only(exposed, 'trial_')).toEqual({})
    expect(exposed).not.toHaveProperty('trials_planned')
  })
})

describe('the metrics of a sidecar', () => {
  it('add differences of readings, of sidecars only, from the first reading of a trial on', async () => {
    const exposed = await expose(
      started(),
      sampled({ cpuSeconds: 5, periods: 100, throttledPeriods: 40 }, { cpuSeconds: 1 }),
      sampled({ cpuSeconds: 5.25, periods: 110, throttledPeriods: 44 }, { cpuSeconds: 1.125 }),
      sampled({ cpuSeconds: 5.5, periods: 120, throttledPeriods: 50 }, { cpuSeconds: 1.25 }),
    )
    expect(only(exposed, 'sidecar_')).toEqual({
      [`sidecar_cpu_seconds_total{${GATEWAY}}`]: 0.5,
      [`sidecar_cpu_seconds_total{${ARM},service="ratings"}`]: 0.25,
      [`sidecar_periods_total{${GATEWAY}}`]: 20,
      [`sidecar_periods_total{${ARM},service="ratings"}`]: 0,
      [`sidecar_throttled_periods_total{${GATEWAY}}`]: 10,
      [`sidecar_throttled_periods_total{${ARM},service="ratings"}`]: 0,
      [`sidecar_cap_cores{${GATEWAY}}`]: 0.25,
      [`sidecar_memory_anonymous_bytes{${GATEWAY}}`]: 30e6,
      [`sidecar_memory_anonymous_bytes{${ARM},service="ratings"}`]: 30e6,
      [`sidecar_memory_working_set_bytes{${GATEWAY}}`]: 40e6,
      [`sidecar_memory_working_set_bytes{${ARM},service="ratings"}`]: 40e6,
    })
  })

  it('are of each of the arms that stand at the same time, by its own sidecars and its own record', async () => {
    const load = { kind: /** @type {const} */ ('interleaved'), isInterleaved: /** @type {const} */ (true) }
    const arms = ['pipy', 'envoy'].map(plane => createArm({ plane, cpuLimitCores: null, load }))
    const armSpecs = /** @type {any[]} */ (
      arms.map(({ id }) => ({ service: 'gateway', role: 'sidecar', cpuLimitCores: null, armId: id }))
    )
    const sampleBoth = (/** @type {number[]} */ seconds) => ({
      ...{ kind: /** @type {const} */ ('sampled'), specs: armSpecs, windowStartMs: 0 },
      sample: { epochMs: 0, readings: seconds.map(cpuSeconds => createReading({ cpuSeconds })) },
    })
    const end = (/** @type {number} */ i) => endTrial({ arm: arms[i], load: { verified: 100 * (i + 1), failed: 0 } })
    const values = await expose(
      ...arms.map(arm => startTrial(arm)),
      ...[sampleBoth([1, 10]), sampleBoth([1.5, 12])],
      // k6 counts the requests of both.
      counted(300),
      ...[end(0), end(1)],
    )
    const of = (/** @type {string} */ plane) => `plane="${plane}",link="link",cap_cores="none",arm="link-${plane}"`
    expect(values[`sidecar_cpu_seconds_total{${of('pipy')},service="gateway"}`]).toBeCloseTo(0.5)
    expect(values[`sidecar_cpu_seconds_total{${of('envoy')},service="gateway"}`]).toBeCloseTo(2)
    expect(values[`requests_total{${of('pipy')}}`]).toBe(100)
    expect(values[`requests_total{${of('envoy')}}`]).toBe(200)
  })

  it('go on over trials, each of which starts from readings of its own', async () => {
    const trial = [started(), sampled({ cpuSeconds: 3 }), sampled({ cpuSeconds: 3.5 }), endTrial()]
    const exposed = await expose(plan(), ...trial, ...trial, ...trial)
    expect(exposed[`sidecar_cpu_seconds_total{${GATEWAY}}`]).toBe(1.5)
  })

  it('never fall, when a reading does', async () => {
    const readings = [2, 3, 0.5, 1].map(cpuSeconds => sampled({ cpuSeconds }))
    expect((await expose(started(), ...readings))[`sidecar_cpu_seconds_total{${GATEWAY}}`]).toBe(1.5)
  })

  it('skip what could not be read, and are absent if the kernel does not offer it', async () => {
    const unread = { cpuSeconds: NaN, periods: null, throttledPeriods: null, anonBytes: NaN, workingSetBytes: null }
    const exposed = await expose(
      started(),
      ...[1, NaN, 2].map(cpuSeconds => sampled({ ...unread, cpuSeconds }, unread)),
      sampled({ ...unread, anonBytes: 7 }, unread),
      sampled(unread, unread),
    )
    expect(only(exposed, 'sidecar_')).toEqual({
      [`sidecar_cap_cores{${GATEWAY}}`]: 0.25,
      [`sidecar_cpu_seconds_total{${GATEWAY}}`]: 1,
      [`sidecar_memory_anonymous_bytes{${GATEWAY}}`]: 7,
    })
  })

  it('take its gauges away when its trial ends, and keep its counters', async () => {
    const exposed = await expose(started(), sampled(), endTrial())
    for (const gauge of ['sidecar_cap', 'sidecar_memory']) expect(only(exposed, gauge)).toEqual({})
    expect(exposed[`sidecar_cpu_seconds_total{${GATEWAY}}`]).toBe(0)
  })

  it('are absent outside of a trial, and for a process without a reading', async () => {
    expect(only(await expose(plan(), sampled(), started(), endTrial(), sampled()), 'sidecar_')).toEqual({})
    const empty = { ...sampled(), sample: { epochMs: 0, readings: [] } }
    expect(only(await expose(started(), /** @type {RunEvent} */ (empty)), 'sidecar_')).toEqual({})
  })

  it('name the rate of an open loop, a variant, a control, and no cap', async () => {
    const arms = [
      openLoop,
      { variant: './my/scripts/', id: 'v' },
      { repeatOf: 'link-pipy', id: 'aa' },
      { cpuLimitCores: null, id: 'free' },
    ]
    const exposed = await expose(...arms.flatMap(arm => [started(arm), sampled(), endTrial({ arm })]))
    expect(Object.keys(only(exposed, 'sidecar_cpu')).filter(name => name.includes('gateway'))).toEqual([
      `sidecar_cpu_seconds_total{${AT_RATE},service="gateway"}`,
      'sidecar_cpu_seconds_total{plane="pipy=scripts",link="link",cap_cores="0.25",arm="v",service="gateway"}',
      'sidecar_cpu_seconds_total{plane="pipy (A/A)",link="link",cap_cores="0.25",arm="aa",service="gateway"}',
      'sidecar_cpu_seconds_total{plane="pipy",link="link",cap_cores="none",arm="free",service="gateway"}',
    ])
  })
})

describe('the metrics of the load', () => {
  it('count requests as they are counted, over trials', async () => {
    const exposed = await expose(
      ...[started(), counted(100, 1), counted(250, 3), endTrial({ load: { verified: 9999 } })],
      ...[started(), counted(50), endTrial({ load: { verified: 9999 } })],
    )
    expect(only(exposed, 'requests')).toEqual({ [`requests_total{${ARM}}`]: 300, [`requests_failed_total{${ARM}}`]: 3 })
  })

  it('take them from the record if they were not counted live, once', async () => {
    const trial = [started(), endTrial({ load: { verified: 1000, failed: 10 } })]
    const exposed = await expose(...trial, ...trial, endTrial({ load: { verified: 9999 } }))
    expect(only(exposed, 'requests')).toEqual({
      [`requests_total{${ARM}}`]: 2020,
      [`requests_failed_total{${ARM}}`]: 20,
    })
  })

  it('start at 0, but for an arm without load', async () => {
    expect((await expose(started()))[`requests_total{${ARM}}`]).toBe(0)
    const idle = { load: { kind: /** @type {'idle'} */ ('idle') } }
    const record = /** @type {TrialRecord} */ ({ ...createRecord({ arm: idle }), load: null })
    const exposed = await expose(started(idle), sampled(), { kind: 'trial-ended', record, progress: null, atMs: 0 })
    expect(only(exposed, 'requests')).toEqual({})
    expect(only(exposed, 'trial_')).toEqual({})
  })
})

describe('the metrics of trials that ended', () => {
  it('are of the last one of each arm: 0.1 cores and 1000 requests a second are 100 µs each', async () => {
    const exposed = await expose(
      ...[started(), endTrial({ load: { verified: 500 } })],
      ...[started(), endTrial()],
      ...[started(openLoop), endTrial({ arm: openLoop })],
    )
    const times = (/** @type {string} */ labels, /** @type {string} */ loop) =>
      ['50', '90', '95', '99'].map(p => `trial_response_time_seconds{${labels},loop="${loop}",percentile="${p}"}`)
    const all = only(exposed, 'trial_')
    for (const labels of [ARM, AT_RATE]) {
      expect(all[`trial_throughput_requests_per_second{${labels}}`]).toBe(1000)
      expect(all[`trial_cpu_seconds_per_request{${labels}}`]).toBeCloseTo(1e-4, 12)
    }
    for (const [labels, loop] of [
      [ARM, 'closed'],
      [AT_RATE, 'open'],
    ]) {
      expect(times(labels, loop).map(name => all[name])).toEqual([0.005, 0.009, 0.0095, 0.0099])
    }
    expect(Object.keys(all)).toHaveLength(2 + 2 + 8)
  })

  it('sum the CPU of its sidecars', async () => {
    const processes = [0.1, 0.3].map(cpuCores => createFakeProcess({ cpuCores }))
    const application = createFakeProcess({ role: 'application', cpuCores: 5 })
    const exposed = await expose(started(), endTrial({ processes: [...processes, application] }))
    expect(exposed[`trial_cpu_seconds_per_request{${ARM}}`]).toBeCloseTo(4e-4, 12)
  })

  it('go when its next one fails, and are without what a gate spoiled, as in the report', async () => {
    const failed = { ...{ outcome: /** @type {'failed'} */ ('failed'), window: null, processes: [] } }
    const record = /** @type {TrialRecord} */ ({ ...createRecord(failed), load: null })
    const events = [
      started(),
      endTrial(),
      started(),
      /** @type {RunEvent} */ ({ kind: 'trial-ended', record, progress: null, atMs: 0 }),
    ]
    expect(only(await expose(...events), 'trial_')).toEqual({})

    const gates = [
      { gate: 'neighbour', spoils: /** @type {const} */ (['throughput', 'capacity', 'latency']), reason: '' },
    ]
    const spoiled = await expose(started(), endTrial({ gates: gates.map(g => ({ ...g, spoils: [...g.spoils] })) }))
    expect(Object.keys(only(spoiled, 'trial_'))).toEqual([`trial_cpu_seconds_per_request{${ARM}}`])
  })
})

/** A run whose second trial is in its window, and that goes on. */
function createLiveRun() {
  const metrics = createMetrics()
  let ticks = 0
  const tick = () => {
    ticks++
    const used = { periods: ticks, throttledPeriods: ticks / 2 }
    metrics.apply(sampled({ ...used, cpuSeconds: ticks / 50 }, { ...used, cpuSeconds: ticks / 100 }))
    metrics.apply(counted(100 * ticks, ticks))
  }
  for (const event of [plan(), started(), endTrial(), started(openLoop), endTrial({ arm: openLoop }), started()]) {
    metrics.apply(event)
  }
  metrics.apply({ kind: 'phase', phase: 'window', atMs: 0 })
  tick()
  return { metrics, tick }
}

describe('the text', () => {
  it('is in the text format of Prometheus', () =>
    expect(createMetrics().contentType).toBe('text/plain; version=0.0.4; charset=utf-8'))

  it('keeps hostile names in their labels', async () => {
    const link = 'a"} 1\nevil{b="\\'
    const exposed = await expose(started({ link }), sampled())
    expect(Object.keys(exposed).some(name => name.startsWith('evil') || name === '')).toBe(false)
    const label = 'link="a\\"} 1\\nevil{b=\\"\\\\"'
    expect(exposed[`requests_total{${ARM.replace('link="link"', label)}}`]).toBe(0)
  })

  it('is what promtool takes without a remark', async context => {
    const promtool = await needProgram(context, 'promtool')
    const { metrics } = createLiveRun()
    metrics.apply(started({ link: 'a"} 1\nevil{b="\\' }))
    metrics.apply(sampled())
    for (const text of [await createMetrics().text(), await metrics.text()]) {
      expect((await execa(promtool, ['check', 'metrics'], { input: text, all: true })).all).toBe('')
    }
  })
})

describe('the dashboard', () => {
  const { panels, uid } = readDashboard()

  it('says of every panel what it shows and in which unit', () => {
    expect(uid).toBe('sidecar-bench')
    const dataPanels = panels.filter((/** @type {any} */ p) => p.type !== 'row')
    for (const { title, description, fieldConfig, datasource, targets } of dataPanels) {
      expect(description, title).toMatch(/\.$/)
      expect(fieldConfig.defaults.unit, title).toBeTruthy()
      for (const { legendFormat } of targets) expect(legendFormat, title).toBeTruthy()
      expect([datasource, ...targets.map((/** @type {any} */ t) => t.datasource)].map(d => d.uid)).toEqual(
        Array(1 + targets.length).fill('$' + '{datasource}'),
      )
    }
    expect(new Set(panels.map((/** @type {any} */ p) => p.id)).size).toBe(panels.length)
  })

  it('asks for no metric that is not exposed, and for every one that is', async () => {
    const text = await createMetrics().text()
    const exposed = [...text.matchAll(/^# TYPE (\S+)/gm)].map(match => match[1])
    const queriedMetrics = listDashboardQueries().flatMap(
      ({ expression }) => expression.match(/sidecar_bench_\w+/g) ?? [],
    )
    expect([...new Set(queriedMetrics)].filter(name => !exposed.includes(name))).toEqual([])
    // The time since is nothing to draw.
    expect(exposed.filter(name => !queriedMetrics.includes(name))).toEqual([
      'sidecar_bench_run_started_timestamp_seconds',
    ])
  })

  it('has only expressions that Prometheus parses', async context => {
    const promtool = await needProgram(context, 'promtool')
    // This version checks no expression by itself, but those of rules.
    const rules = listDashboardQueries().map(({ expression }, i) => ({ record: `query_${i}`, expr: expression }))
    const file = path.join(folder, 'rules.yml')
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
    const { stdout } = await execa(promtool, ['check', 'rules', file])
    expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`)
  })

  it('is found where the provisioning of Grafana looks, by the data source that scrapes each second', () => {
    const readConfig = (/** @type {string} */ file) => parse(readFileSync(`bench/monitoring/${file}`, 'utf8'))
    const [provider] = readConfig('provisioning/dashboards/sidecar-bench.yml').providers
    const readme = readFileSync('bench/monitoring/README.md', 'utf8')
    expect(readme).toContain(`"$PWD/bench/monitoring:${provider.options.path}:ro"`)
    expect(readme).toContain(`GF_PATHS_PROVISIONING=${provider.options.path}/provisioning`)
    const [source] = readConfig('provisioning/datasources/prometheus.yml').datasources
    expect(source).toMatchObject({ type: 'prometheus', url: 'http://localhost:9090' })
    expect(source.jsonData.timeInterval).toBe(readConfig('prometheus.yml').global.scrape_interval)
  })
})

describe('Prometheus', () => {
  it.for(['bench/monitoring/prometheus.yml', 'k8s/monitoring/prometheus.yml'])('takes %s', async (file, context) => {
    const promtool = await needProgram(context, 'promtool')
    expect((await execa(promtool, ['check', 'config', file])).stdout).toContain('is valid')
  })

  it('answers every query of the dashboard while a run goes on, and holds nothing of a trial that ended', async context => {
    const prometheus = await needProgram(context, 'prometheus')
    const { metrics, tick } = createLiveRun()
    const server = http.createServer(async (_, response) => {
      response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.text())
    })
    const { countSeries: query, stop } = await startPrometheus({
      program: prometheus,
      folder,
      metricsPort: (await listen(server)).port,
      mostSeconds: 55,
    })
    const ticking = setInterval(tick, 100)
    try {
      const queries = listDashboardQueries({ rateInterval: '15s' })
      const findSilent = async () => {
        const counts = await Promise.all(queries.map(q => query(q.expression)))
        return queries.filter((_, i) => !counts[i])
      }
      expect(await askUntil(findSilent, silent => silent.length === 0)).toEqual([])
      expect(await query('up{job="sidecar-bench"} == 1')).toBe(1)
      const ofAnother = listDashboardQueries({ rateInterval: '15s', run: 'another' }).slice(1)
      expect(await Promise.all(ofAnother.map(q => query(q.expression)))).toEqual(ofAnother.map(() => 0))

      clearInterval(ticking)
      metrics.apply(endTrial())
      const gauge = () => query('sidecar_bench_sidecar_memory_anonymous_bytes')
      expect(await askUntil(gauge, count => count === 0)).toBe(0)
    } finally {
      clearInterval(ticking)
      await stop()
      server.closeAllConnections()
      server.close()
    }
  })
})

/**
 * The first answer that is as wanted, or the last within 25 s.
 * @template T @param {() => Promise<T>} ask @param {(answer: T) => boolean} isWanted
 */
async function askUntil(ask, isWanted) {
  const deadline = performance.now() + 25_000
  for (;;) {
    const answer = await ask()
    if (isWanted(answer) || performance.now() > deadline) return answer
    await delay(250)
  }
}

describe('k8s/monitoring', () => {
  const parseAll = (/** @type {string} */ text) => parseAllDocuments(text).map(document => document.toJS())
  const read = (/** @type {string} */ file) => readFileSync(`k8s/monitoring/${file}`, 'utf8')

  it('scrapes as on this machine, but for the target, which is unreachable until it is set', () => {
    const [cluster, local] = [read('prometheus.yml'), readFileSync('bench/monitoring/prometheus.yml', 'utf8')].map(t =>
      parse(t),
    )
    const [{ targets }] = cluster.scrape_configs[0].static_configs
    expect(targets).toEqual(['192.0.2.1:9464'])
    local.scrape_configs[0].static_configs[0].targets = targets
    expect(cluster).toEqual(local)
    const { spec } = parse(read('scrape-config.yaml'))
    expect(spec.staticConfigs).toEqual([{ targets, labels: { job: local.scrape_configs[0].job_name } }])
    expect(spec.scrapeInterval).toBe(local.global.scrape_interval)
  })

  it('is built by kubectl: the one dashboard for Grafana, and Prometheus with its configuration', async context => {
    const kubectl = await needProgram(context, 'kubectl')
    const objects = parseAll((await execa(kubectl, ['kustomize', 'k8s/monitoring'])).stdout)
    const find = (/** @type {string} */ kind) => objects.filter(o => o.kind === kind)
    const dashboards = find('ConfigMap').filter(o => o.metadata.labels?.grafana_dashboard === '1')
    expect(dashboards.map(o => Object.keys(o.data))).toEqual([['sidecar-bench.json']])
    expect(JSON.parse(dashboards[0].data['sidecar-bench.json'])).toEqual(readDashboard())
    const [config] = find('ConfigMap').filter(o => o.data['prometheus.yml'])
    const { volumes } = find('Deployment')[0].spec.template.spec
    expect(volumes.flatMap((/** @type {any} */ v) => v.configMap?.name ?? [])).toEqual([config.metadata.name])
    const [namespace] = find('Namespace')
    for (const { kind, metadata } of objects.filter(o => o !== namespace)) {
      expect(metadata.namespace, kind).toBe(namespace.metadata.name)
    }
    expect(find('ScrapeConfig')).toEqual([])
  })

  it('is restricted, asks nothing of the API server, and is not what cleanup removes', () => {
    const objects = [...parseAll(read('namespace.yaml')), ...parseAll(read('prometheus.yaml'))]
    expect(objects[0].metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    const { spec } = objects.find(o => o.kind === 'Deployment').spec.template
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    for (const { image, securityContext } of spec.containers) {
      expect(image).toMatch(/:v\d+\.\d+\.\d+$/)
      expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })
    }
    for (const { metadata } of objects) expect(Object.keys(metadata.labels)).not.toContain(LABELS.managed)
  })
})
