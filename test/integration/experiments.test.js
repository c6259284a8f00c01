import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { adsTool } from '../../src/dataplanes/envoy/ads-control.js'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { listArms } from '../../src/model/results.js'
import { findTool } from '../../src/tools/find.js'
import { cli, folder, run, tryExperiment } from './experiment-runs.js'
import { need, sidecarPlanes, tools } from './real-tools.js'

const dataPlanes = Object.values(await loadPlanes())

/** @import { Summary, TrialRecord } from '../../src/model/types.ts' */

const QUIET = 'quiet-experiments.test.js'
/**
 * Experiments that do not run here, and the runs that do all that they do. test/plan/experiment.test.js plans each of them, in
 * every profile.
 * @type {Record<string, string>}
 */
const ELSEWHERE = {
  ...{ burst: QUIET, drain: QUIET, knee: QUIET, 'memory-floor': QUIET, 'rate-ladder': QUIET },
  'as-deployed': 'as-deployed.test.js',
  'as-deployed-latency': 'as-deployed.test.js for its planes, rate-ladder for its quantities',
  balance: 'test/verbs/computed.test.js: it starts nothing',
  cap: 'smoke.test.js',
  'cap-ladder': 'smoke.test.js: cap at one limit',
  'commit-rate': 'shards has its axes',
  concurrency: 'shards has its axes',
  connections: 'AXES, and rate-ladder for its rates',
  cost: 'smoke.test.js: cap without a limit',
  'envoy-profiles': 'workers, and bench.test.js for the profile',
  hops: 'AXES, and rate-ladder for its rates',
  interception: 'interception.test.js',
  items: 'shards has its axes',
  'mtls-tax': 'AXES, and churn for its keys',
  'node-proxy': 'docs-commands.test.js, with two planes and two numbers of pairs',
  'node-proxy-load': 'docs-commands.test.js, as node-proxy',
  'node-proxy-loud': 'interception.test.js',
  'open-mesh': 'memory-of-services, which also removes the services',
  payload: 'AXES',
}
const HERE = readdirSync('bench/experiments')
  .map(file => file.replace('.yaml', ''))
  .filter(name => !(name in ELSEWHERE))

/** The ends of axes whose experiments differ in nothing else, both kinds of trial. */
const AXES = `name: axes
question: Does every axis reach the services and the generator?
axes: { plane: [pipy], link: [ratings, pair], tls: [rsa-2048], users: [64], payloadBytes: [102400], cpuLimitCores: [0.5] }
measure: [cost, capacity]
`
const ads = await findTool(adsTool)
const other = sidecarPlanes.find(({ plane }) => plane.name.startsWith('pipy-2.'))?.tool
// Every plane that takes another configuration while it serves, and whose program is here.
const reloadable = dataPlanes.flatMap(({ name, tool, controls }) => (tool && controls && tools[tool.name] ? name : []))

/** @param {TrialRecord[]} records @returns {Set<string>} the planes that were changed */
function expectChanges(records) {
  // An unsteady window is measured again.
  const changed = records.filter(r => r.trial.arm.conditions.changesPerMinute)
  for (const { changes, reasons } of changed) {
    const effectiveChanges = changes?.filter(({ effectSeconds }) => Number(effectSeconds) > 0)
    // Where the host took the CPU, one may be late, and the next is then left out.
    const isDisturbed = reasons.some(reason => reason.startsWith('neighbour'))
    expect(effectiveChanges?.length, JSON.stringify(changes)).toBeGreaterThanOrEqual(isDisturbed ? 1 : 3)
  }
  return new Set(changed.map(r => r.trial.arm.plane))
}

/**
 * What only this experiment shows, in the records of the real tools.
 * @type {Record<string, (seen: { records: TrialRecord[], summary: Summary, stdout: string }) => void>}
 */
const SHOWN = {
  churn: ({ records }) => {
    const bytesOf = (/** @type {string} */ tls) => {
      const record = records.find(({ trial: { arm } }) => arm.plane === 'envoy' && arm.conditions.tls === tls)
      const { sentBytes = 0, receivedBytes = 0, requests = 0 } = record?.load?.wire ?? {}
      return (sentBytes + receivedBytes) / requests
    }
    // Each request has a handshake with certificates of both ends: a kept connection would carry the 2 KiB and their heads.
    expect(bytesOf('ecdsa-p256')).toBeGreaterThan(3500)
    // ML-KEM-768 has a key of 1184 bytes and a ciphertext of 1088 (FIPS 203): k6 sends the one, Envoy the other.
    const added = bytesOf('ecdsa-p256+x25519mlkem768') - bytesOf('ecdsa-p256')
    expect(added).toBeGreaterThan(1184 + 1088)
    expect(added).toBeLessThan(1184 + 1088 + 100)
  },
  'open-policy': ({ summary }) => {
    for (const plane of ['pipy', 'envoy']) {
      const [few, many] = listArms(summary).filter(arm => arm.plane === plane)
      expect([few, many].map(arm => arm.conditions.configuredServices)).toEqual([10, 1000])
      for (const service of [0, 1]) {
        const [a, b] = [few, many].map(arm => arm.sidecars[service].memory.anonBytes.median)
        expect(b, plane).toBeGreaterThan(1.5 * Number(a))
      }
    }
  },
  rollout: ({ records }) => {
    for (const { rollout, processes } of records) {
      expect(rollout).toMatchObject({ sidecars: 20, first: { converged: 20 }, change: { converged: 20 } })
      expect(processes.filter(p => p.role === 'sidecar').map(p => [p.batchOf, p.workers])).toEqual([[20, 1]])
    }
  },
  shards: ({ records, stdout }) => {
    for (const { rollout, processes } of records) {
      expect(rollout).toMatchObject({ sidecars: 6, first: { converged: 6 }, change: { converged: 6 } })
      const shards = processes.filter(p => p.role === 'control')
      expect(shards.map(p => [p.service, p.cpuLimitCores])).toEqual([1, 2, 3].map(i => [`mesh-${i}`, 0.05]))
      // Each had a part of the work.
      for (const cpuSeconds of rollout?.first.shardCpuSeconds ?? []) expect(cpuSeconds).toBeGreaterThan(0)
      expect(rollout?.first.shardCpuSeconds).toHaveLength(3)
    }
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/the control plane was (not )?the limit/i)
  },
  grow: ({ records, summary }) => {
    for (const { growth, trial } of records) {
      expect(growth, trial.id).toMatchObject({ sidecars: 40, ended: null, hasControl: trial.arm.plane === 'pipy' })
      expect(growth?.steps.map(step => step.backendsSeen)).toEqual([5, 5])
    }
    expect(listArms(summary).map(arm => arm.plane)).toEqual(['pipy', 'envoy'])
  },
  'memory-of-services': ({ records, summary }) => {
    for (const { rollout } of records)
      expect(rollout).toMatchObject({ change: { converged: 4 }, withdrawal: { converged: 4 } })
    for (const { rollout, plane } of listArms(summary).filter(arm => arm.conditions.configuredServices === 1000)) {
      for (const { values } of [rollout?.toldPerServiceBytes, rollout?.anonPerServiceBytes].flatMap(q => q ?? [])) {
        expect(Number(values[0]), plane).toBeGreaterThan(5e3)
        expect(Number(values[0]), plane).toBeLessThan(500e3)
      }
    }
  },
  idle: ({ records }) => {
    for (const { load, processes } of records) {
      expect(load).toBeNull()
      expect(processes.map(p => p.role)).not.toContain('generator')
      expect(processes.map(p => p.service).sort()).toEqual([
        ...['client', 'client-of-2', 'server', 'server', 'server-of-2', 'server-of-2'],
      ])
    }
  },
  soak: ({ records, summary }) => {
    const idsOf = (/** @type {number} */ round) =>
      new Set(
        records
          .filter(r => r.trial.round === round)
          .flatMap(r => r.processes.filter(p => p.role === 'sidecar').flatMap(p => p.threads.map(t => t.id))),
      )
    // The same processes in both rounds.
    expect(idsOf(1)).toEqual(idsOf(2))
    expect(summary.results.flatMap(({ slopes }) => slopes).map(s => s.quantity)).toContain('rss')
  },
  reload: ({ records }) => expect(expectChanges(records)).toEqual(new Set(reloadable)),
  rotation: ({ records }) => {
    expect(expectChanges(records)).toEqual(new Set(['pipy', 'envoy']))
    for (const { load, trial } of records.filter(r => r.trial.arm.plane === 'envoy'))
      expect(load?.failed, trial.id).toBe(0)
  },
  workers: ({ records }) => {
    const workersOf = (/** @type {TrialRecord} */ { trial, processes }) => [
      trial.arm.conditions.workers,
      ...processes.flatMap(p => (p.role === 'sidecar' ? (p.workers ?? []) : [])),
    ]
    for (const [workers, ...actual] of records.map(workersOf)) expect(actual).toEqual([workers, workers])
    expect(new Set(records.map(r => r.trial.arm.conditions.workers))).toEqual(new Set([1, 8]))
  },
}

const PIPY = ['--planes', 'pipy']
/**
 * One plane shows that most of these run; the others, and the tests of bench, run two. All that can be changed are.
 * @type {Record<string, string[]>}
 */
const PLANES = {
  ...{ axes: PIPY, 'feature-ladder': PIPY, 'kept-connections': PIPY, soak: PIPY },
  reload: ['--planes', reloadable.join()],
}

describe('an experiment', { timeout: 300_000 }, () => {
  it('that does not run here is one that there is', () => {
    for (const name of Object.keys(ELSEWHERE)) expect(readdirSync('bench/experiments')).toContain(`${name}.yaml`)
  })

  it.concurrent.for([
    ...HERE,
    'axes',
  ])('%s runs on the real tools, and its numbers can be computed again', async (name, context) => {
    const argv = [fileOf(name), '--profile', 'smoke', ...(PLANES[name] ?? [])]
    await tryExperiment(argv, context, SHOWN[name])
  })

  /** @param {string} name */
  function fileOf(name) {
    if (name !== 'axes') return name
    const file = path.join(folder, 'axes.yaml')
    writeFileSync(file, AXES)
    return file
  }

  it.concurrent.for(['protocol', 'reload'])('%s runs on a Pipy of the other series, too', async (name, context) => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    if (!other) return context.skip('needs PIPY_OTHER, a Pipy 2.0')
    const { records, summary } = await run(['bench', name, '--profile', 'smoke', '--planes', 'pipy'], {
      PIPY: other.path,
    })
    expect(summary.notMeasured).toEqual([])
    for (const { outcome, reasons, trial } of records)
      expect(outcome, `${trial.id}: ${reasons.join()}`).not.toBe('failed')
  })
})

describe('a shard that is removed', { timeout: 240_000 }, () => {
  const options = ['--shards', '3', '--sidecars', '12', '--remove-shard', '--profile', 'smoke']

  it.concurrent.for([
    ['pipy', 'repo', '0.1'],
    ['envoy', 'ads,ads-delta', 'none'],
  ])('leaves its %s sidecars to the others, which go on answering, by %s', async ([plane, control, cap], context) => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    if (plane === 'envoy' && 'missing' in ads) return context.skip(`needs Go: ${ads.missing}`)
    const planeOptions = ['--planes', plane, '--control', control, '--control-cpu', cap]
    const { out, records } = await run(['bench', 'shards', ...options, ...planeOptions])
    expect(records.map(r => r.trial.arm.control).sort()).toEqual(control.split(','))
    for (const { outcome, reasons, rollout, processes, ended } of records) {
      expect(outcome, reasons.join()).not.toBe('failed')
      expect(rollout).toMatchObject({ sidecars: 12, first: { converged: 12 }, change: { converged: 12 } })
      // By rank modulo 3, then 2: 4 of 12 stay.
      expect(rollout?.removal).toMatchObject({ moved: 8, converged: 8, stayed: 4, silent: [] })
      expect(rollout?.removal?.seconds).toBeGreaterThan(0)
      expect(ended).toEqual([])
      const batches = processes.filter(p => p.role === 'sidecar').map(p => [p.service, p.batchOf])
      expect(batches).toEqual([
        ['clients-1', 4],
        ['clients-moved-1', 8],
      ])
      expect(processes.filter(p => p.role === 'control').map(p => p.service)).toEqual(['mesh-1', 'mesh-2'])
    }
    expect((await cli('verify', out)).exitCode).toBe(0)
  })
})

describe('over ADS', { timeout: 60_000 }, () => {
  it('changes one under load', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    if ('missing' in ads) return context.skip(`needs Go: ${ads.missing}`)
    const file = path.join(folder, 'reload.yaml')
    writeFileSync(file, readFileSync('bench/experiments/reload.yaml', 'utf8').replace('[0, 60]', '[60]'))
    const { records } = await run(['bench', file, '--planes', 'envoy', '--control', 'ads', '--profile', 'smoke'])
    expect(records.map(r => r.trial.arm.control)).toContain('ads')
    for (const { outcome, reasons } of records) expect(outcome, reasons.join()).not.toBe('failed')
    expect(expectChanges(records)).toEqual(new Set(['envoy']))
  })
})

describe('simulated Envoys', { timeout: 60_000 }, () => {
  it('have a configuration beside real ones, which alone have times', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    if ('missing' in ads) return context.skip(`needs Go: ${ads.missing}`)
    const options = '--planes envoy --control ads --sidecars 40 --real 30 --profile smoke'.split(' ')
    const { records, summary, stdout } = await run(['bench', 'rollout', ...options])
    const [{ outcome, reasons, rollout }] = records
    expect(outcome, reasons.join()).not.toBe('failed')
    expect(rollout).toMatchObject({ sidecars: 40, simulated: 10, first: { converged: 30, isOfSimulated: true } })
    expect(rollout?.change).toMatchObject({ converged: 30, isOfSimulated: true })
    expect(rollout?.fidelity).toMatchObject({ sidecars: 30 })
    const [{ rollout: quantities }] = listArms(summary)
    expect(quantities?.controlEmptyBytes.median).toBeGreaterThan(0)
    expect(stdout).toContain('envoy@ads (10 of 40 simulated)')
  })
})

describe('bad input', () => {
  it('of an axis that a plane cannot serve is refused before anything starts', async context => {
    need(context, 'pipy')
    const argv = ['bench', 'cap', '--planes', 'pipy', '--cpu', '0.25', '--workers', '64', '--out', `${folder}/refused`]
    const { stderr, exitCode } = await cli(...argv)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/Pipy refuses 64 threads on \d+ CPUs/)
    expect(readdirSync(folder)).not.toContain('refused')
  })

  it('of an unknown node is refused', async () => {
    const { stderr, exitCode } = await cli('size', '--rate', '100', '--p99', '50ms', '--node', '2x4')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('--node 2x4: write cores and GiB, such as 2c4g, or the name of a known node')
  })
})
