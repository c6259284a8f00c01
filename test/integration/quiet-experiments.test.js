import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findResult, listSizes } from '../../src/model/results.js'
import { cli, folder, run, tryExperiment } from './experiment-runs.js'
import { need } from './real-tools.js'

// Runs whose numbers are looked at: nothing runs beside them.
/** @import { Summary, TrialRecord } from '../../src/model/types.ts' */

/**
 * What only this experiment shows, in the records of the real tools.
 * @type {Record<string, (seen: { records: TrialRecord[], summary: Summary, stdout: string }) => void>}
 */
const SHOWN = {
  'rate-ladder': ({ summary, stdout }) => {
    expect(summary.calibrations.map(c => c.ratePerSecond)).toEqual([expect.any(Number), expect.any(Number)])
    expect(stdout).toMatch(/^ +\d+ requests\/s /m)
  },
  burst: ({ records }) => {
    for (const { load, trial } of records) {
      const at = (/** @type {number} */ seconds) => Number(load?.series?.find(p => p.atSeconds === seconds)?.count)
      const each = Number(trial.arm.load.ratePerSecond) / 2
      expect(at(0.5) / each).toBeCloseTo(1, 0)
      expect(at(2.5) / each).toBeGreaterThan(1.5)
    }
  },
  'memory-floor': ({ summary, records }) => {
    const [search] = findResult(summary, 'search')?.searches ?? []
    expect(search.isFound).toBe(true)
    expect(Number(search.failed)).toBeLessThan(Number(search.held))
    expect(records.flatMap(r => r.ended)).toContainEqual(
      expect.objectContaining({ role: 'sidecar', isOutOfMemory: true }),
    )
  },
  drain: ({ records }) => {
    expect(
      new Set(records.map(r => `${r.trial.arm.plane} ${r.trial.arm.conditions.ending}`)).size,
    ).toBeGreaterThanOrEqual(3)
    for (const { ending, load, processes, trial } of records) {
      expect(Number(load?.verified), trial.id).toBeGreaterThan(0)
      expect(Number(ending?.answerSeconds), trial.id).toBeGreaterThan(0)
      // By itself, and it is followed.
      if (trial.arm.conditions.ending === 'graceful') expect(Number(ending?.goneSeconds), trial.id).toBeGreaterThan(0)
      // The sidecar that ended had served.
      expect(processes.filter(p => p.role === 'sidecar' && p.cpuSeconds > 0)).toHaveLength(3)
    }
    const lost = (/** @type {string} */ plane, /** @type {string} */ ending) =>
      Math.max(
        ...records
          .filter(({ trial: { arm } }) => arm.plane === plane && arm.conditions.ending === ending)
          .map(({ load }) => Number(load?.failed)),
      )
    expect(lost('envoy', 'told')).toBeLessThan(lost('envoy', 'sigterm'))
    // Connections of Pipy that stand lead to the copy that ends: it loses as many as by SIGTERM. Untold it loses 130 and more.
    expect(lost('pipy', 'told')).toBeLessThan(65)
  },
  knee: ({ summary, records }) => {
    const [search] = findResult(summary, 'search')?.searches ?? []
    const { looksFor, held, failed, steps } = search
    expect(looksFor).toBe('knee')
    // On a busy machine every step may be spoiled: then no knee is claimed.
    if (search.isFound && held !== null) expect(held).toBeLessThan(Number(failed))
    expect(new Set(records.map(r => r.trial.arm.load.ratePerSecond))).toEqual(new Set(steps.map(s => s.value)))
  },
}

const PIPY = ['--planes', 'pipy']
const SMOKE = ['--profile', 'smoke']
/** The options of each. @type {Record<string, string[]>} */
const OPTIONS = {
  // A smoke run has the ends of an axis; all three ways of an ending are looked at.
  drain: ['--profile', 'quick', '--rounds', '1'],
  'memory-floor': [...SMOKE, ...PIPY],
  knee: [...SMOKE, ...PIPY],
  'rate-ladder': [...SMOKE, '--planes', 'none,pipy'],
  burst: [...SMOKE, ...PIPY],
}

describe('an experiment', { timeout: 300_000 }, () => {
  it.for(Object.keys(OPTIONS))('%s runs on the real tools, and its numbers can be computed again', (name, context) =>
    tryExperiment([name, ...OPTIONS[name]], context, SHOWN[name]))
})

describe('size', { timeout: 900_000 }, () => {
  /** The run whose trials the next one takes. @type {string[]} */
  const sized = []

  it('gives limits with their state, which counts every trial at them', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const options = ['--rate', '400', '--p99', '100ms', '--link', 'ratings', '--planes', 'pipy', '--users', '16']
    const { summary, stdout, out } = await run(['size', ...options, '--node', '2c4g', '--nodes', '300'])
    sized.push('--from', out)
    const [{ answer, trials = [] }] = listSizes(summary)
    const { limits, state, met = 0, missed, notJudged, requestCores } = answer ?? {}
    // In a noisy hour others may spoil every trial: then it is an estimate.
    expect(['confirmed', 'estimated']).toContain(state)
    const atLimits = trials.filter(t => t.cpuCores === limits?.cores && t.memoryBytes === limits?.bytes)
    const counted = ['met', 'missed', 'not judged'].map(name => atLimits.filter(t => t.state === name).length)
    expect([met, missed, notJudged]).toEqual(counted)
    if (state === 'confirmed') expect([met >= 3, missed]).toEqual([true, 0])
    expect(Number(requestCores)).toBeLessThanOrEqual(Number(limits?.cores))
    expect((await cli('verify', out)).exitCode).toBe(0)
    expect(stdout).toMatch(/CPU request +CPU limit +memory limit +(p99 ≤ 100 ms +)?met +pods on 2c4g/)
    expect(stdout).toMatch(/pipy +\d+m +\d+m +\d+Mi /)
    expect(stdout).toContain(state)
    expect(stdout).toMatch(/On 300 nodes, one such pod each: pipy [\d.]+ cores and [\d.]+ GiB/)
    expect((await cli('report', out, '--details')).stdout).toContain(trials[0].trial)
  })

  it('sizes the services of a file, and prints limits to paste', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const file = `${folder}/services.yaml`
    writeFileSync(file, 'services:\n  - { name: orders, requestsPerSecond: 400, p99: 100ms }\n')
    const options = '--link ratings --planes pipy --users 16 --node pi4'.split(' ')
    const argv = ['-f', file, ...options, ...sized.slice(-2)]
    const out = `${folder}/services-of-a-file`
    const { stdout, stderr, exitCode } = await cli('size', ...argv, '--format', 'compose', '--out', out)
    expect([0, 3], stderr).toContain(exitCode)
    // In a noisy hour others may spoil every trial: then it is an estimate, with limits all the same.
    expect(stdout).toMatch(exitCode === 0 ? /ms: confirmed: met in/ : /ms: estimated: met in \d of \d trials/)
    const { limits } = parse(stdout).services['orders-sidecar'].deploy.resources
    expect(Number(limits.cpus)).toBeGreaterThan(0)
    expect(limits.memory).toMatch(/^\d+m$/)
    expect(stderr).toMatch(/pipy: the sidecars of all services together fit \d+ times, by/)
    expect((await cli('verify', out)).exitCode).toBe(0)
  })
})
