import { existsSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { groupBy } from '../../../src/lib/group-by.js'
import { listArms, listComparisons } from '../../../src/model/results.js'
import { createAnswer } from '../../../src/report/answer/answer.js'
import { renderDetailsText } from '../../../src/report/details.js'
import { createFakeLoad, createFakeTarget } from '../../fakes/fake-bench.js'
import { runFake } from '../../fakes/fake-run.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { ProcessSpec } from '../../../src/model/types.ts' */

// A dear sidecar uses twice the CPU of a cheap one.
const cores = (/** @type {ProcessSpec} */ { role, armId }) =>
  role !== 'sidecar' ? 0.05 : armId?.includes('dear') ? 0.2 : 0.1

describe('arms side by side', () => {
  let folder = ''
  beforeEach(() => {
    folder = path.join(makeFolder('turns-test'), 'run')
  })

  it('stand at once without a cap, share one load, and give one ratio a deployment', async () => {
    const target = await createFakeTarget({ cores })
    const { records, summary } = await runFake({ folder, target, more: 'measure: [cost]' })
    const deployments = groupBy(records, r => r.trial.interleaving)
    expect([...deployments.keys()]).toEqual(Array.from({ length: 12 }, (_, i) => `r${i + 1}-interleaved`))
    for (const group of deployments.values()) {
      expect(group.map(r => r.trial.arm.plane).sort()).toEqual(['cheap', 'cheap', 'dear'])
      expect(group[0].beside).toHaveLength(3)
      expect(
        group.every(r =>
          r.processes.every((/** @type {any} */ p) => p.armId === r.trial.arm.id || p.role === 'generator'),
        ),
      ).toBe(true)
    }
    const sidecars = target.deployed.filter(({ role, armId }) => role === 'sidecar' && armId)
    expect(sidecars).toHaveLength(12 * 3 * 2)
    expect(sidecars.every(({ cpuLimitCores }) => cpuLimitCores === null)).toBe(true)
    expect(target.deployed.filter(({ role }) => role === 'generator')).toHaveLength(12)
    const [cost] = listComparisons(summary).filter(
      c => c.quantity === 'cpuPerRequest' && c.service === null && !c.isControl,
    )
    expect(cost).toMatchObject({ a: 'cheap', b: 'dear', verdict: 'lower', gapLeast: 0.01, aaSpread: 0 })
    expect(cost.ratio.values).toEqual(Array(12).fill(0.5))
    expect(existsSync(path.join(folder, 'raw/r1-interleaved/observation.json'))).toBe(true)
    expect(target.running.size).toBe(0)
  })

  it('start in another order from deployment to deployment', async () => {
    const { records } = await runFake({ folder, target: await createFakeTarget({ cores }), more: 'measure: [cost]' })
    const firsts = records.filter((_, i) => i % 3 === 0).map(r => r.trial.arm.id)
    const counts = [...new Set(firsts)].map(id => firsts.filter(first => first === id).length)
    expect(counts).toEqual([4, 4, 4])
  })

  it('are all measured again if one of them fails', async () => {
    let deployed = 0
    const target = await createFakeTarget({
      cores,
      ending: ({ role, armId }, isObserved) =>
        isObserved && role === 'sidecar' && armId?.includes('dear') && deployed === 2 ? 'status 1' : null,
    })
    const { deploy } = target
    target.deploy = (specs, at) => {
      if (specs.some(({ role }) => role === 'generator')) deployed++
      return deploy(specs, at)
    }
    const { records, summary } = await runFake({ folder, target, more: 'measure: [cost]' })
    const again = records.filter(r => r.trial.repeats)
    expect(again.map(r => r.trial.interleaving)).toEqual(Array(3).fill('r2-interleaved-again'))
    expect(records.filter(r => r.outcome === 'failed').map(r => r.trial.interleaving)).toEqual(
      Array(3).fill('r2-interleaved'),
    )
    const [cost] = listComparisons(summary).filter(c => c.quantity === 'cpuPerRequest' && c.service === null)
    expect(cost.ratio.values).toEqual(Array(12).fill(0.5))
    expect(target.running.size).toBe(0)
  })

  it('are followed by windows at the cap, of which the answer says the capacity', async () => {
    const load = createFakeLoad()
    const { records, summary } = await runFake({
      ...{ folder, load, more: 'measure: [cost, capacity]' },
      target: await createFakeTarget({
        cores: spec => (spec.role === 'sidecar' && spec.cpuLimitCores ? 0.25 : cores(spec)),
      }),
    })
    expect(records.filter(r => r.trial.kind === 'cost')).toHaveLength(12 * 3)
    expect(records.filter(r => r.trial.kind === 'capacity')).toHaveLength(6 * 3)
    expect(listArms(summary).filter(({ rounds }) => rounds === 6)).toHaveLength(3)
    const { verdicts, pictures, basis } = createAnswer(summary)
    expect(verdicts[0]).toMatch(
      /^cheap uses 50\.0 % less CPU per request than dear \(95 % CI 50\.0 to 50\.0\) and as much memory\.$/,
    )
    expect(basis).toContain('12 interleaved repeats.')
    expect(pictures).toHaveLength(1)
    expect(pictures[0].columns.map(({ heading }) => heading)).toEqual([
      ...['CPU per request', 'memory of both', 'capacity at 0.25 CPU each'],
    ])
    expect(pictures[0].rows.map(({ label }) => label)).toEqual(['cheap', 'dear', 'none'])
    const details = renderDetailsText(summary)
    expect(details).toMatch(
      /Interleaved, without a CPU limit: 10 users in slices of 500 ms; .*and all proxies unpinned/,
    )
    expect(details).toContain('\nCost of a request, interleaved:\n')
    expect(details).toContain('\nAt a CPU limit of 0.25:\n')
  })
})
