import { readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { listArms } from '../../src/model/results.js'
import { readRun } from '../../src/records/records.js'
import { makeFolder } from '../fakes/scratch.js'
import { expectNothingLeft } from './leftovers.js'
import { need } from './real-tools.js'

// The one run with the real tools that `npm test` makes; test:all makes the others.
const cli = (/** @type {string[]} */ ...argv) => execa('node', ['src/cli.js', ...argv], { reject: false })

it('a smoke run measures none, Pipy and Envoy, holds the cap, and leaves nothing behind', async context => {
  need(context, 'pipy', 'envoy', 'k6', 'caps')
  // Each try has its own.
  const folder = makeFolder('smoke-test')
  const out = path.join(folder, 'run')
  const running = cli('bench', '--profile', 'smoke', '--cpu', '0.25', '--json', '--out', out)
  const { stdout, stderr, exitCode } = await running
  expect(exitCode, stderr).toBe(0)
  const summary = JSON.parse(stdout)
  expect(summary).toEqual(JSON.parse(readFileSync(`${out}/summary.json`, 'utf8')))
  expect(listArms(summary).map((/** @type {any} */ a) => a.plane)).toEqual(['pipy', 'envoy', 'none', 'pipy', 'envoy'])
  const { manifest, records } = readRun(out)
  const completed = records.filter(r => r.outcome === 'completed')
  expect(new Set(completed.map(r => r.trial.arm.plane))).toEqual(new Set(['none', 'pipy', 'envoy']))
  for (const record of completed) {
    const sidecars = record.processes.filter(p => p.role === 'sidecar')
    expect(sidecars.length > 0).toBe(record.trial.arm.hasSidecars)
    if (record.trial.kind === 'cost') {
      expect(record.boundBy).toBeNull()
      expect(sidecars.map(p => p.cpuLimitReadBackCores)).toEqual([null, null])
      expect(record.load?.interleaved?.perTenth).toHaveLength(30)
      continue
    }
    for (const sidecar of sidecars) {
      expect(sidecar.cpuLimitReadBackCores).toBe(0.25)
      expect(sidecar.cpuCores).toBeLessThan(0.25 * 1.05)
    }
    // docs/sizing.md, "On a small machine"
    expect(Number(record.orchestratorPeakBytes) / 2 ** 20).toBeLessThan(100)
    const used = sidecars.map(p => p.cpuCores)
    if (record.trial.arm.hasSidecars) expect(Math.max(...used)).toBeGreaterThan(0.25 * 0.7)
    if (record.trial.arm.plane === 'pipy') expect(record.boundBy).toBe('sidecar')
  }
  const { tools, machine } = manifest
  expect(machine).toMatchObject({
    kernel: expect.stringContaining('Linux'),
    cpus: os.availableParallelism(),
    before: { seconds: 1 },
  })
  expect(machine.before?.idleFraction).toBeGreaterThan(0)
  for (const name of ['pipy', 'envoy', 'k6']) expect(tools[name].sha256).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(records.map(r => r.trial.kind))).toEqual(new Set(['cost', 'capacity']))
  const first = /** @type {typeof records[number]} */ (records.find(r => r.trial.kind === 'capacity'))
  const samples = readFileSync(`${out}/raw/${first.trial.id}/samples.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(samples.length).toBeGreaterThan(20)
  expect(Object.keys(samples[0].processes)).toContain('k6-generator')
  expect(stderr.trim().split('\n').at(-1)).toContain('results: ')
  expectNothingLeft(running.pid)

  const verified = await cli('verify', out)
  expect(verified.stdout).toMatch(/(\d+) of \1 records were computed again from their raw files/)
  const raw = `${out}/raw/${first.trial.id}/k6-generator.log`
  writeFileSync(raw, readFileSync(raw, 'utf8').replace(/("window_second_half":\{.*?"count":)\d+/, '$11'))
  const spoiled = await cli('verify', out)
  expect(spoiled.stdout).toMatch(/differs: r1-\S+\.load\.verifiedInSecondHalf is \d+, and the records say 1/)
  expect(spoiled.exitCode).toBe(1)
})
