import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readRun } from '../../src/records/records.js'
import { makeFolder } from '../fakes/scratch.js'
import { awaitPids, endChild, expectNothingLeft, pidsOf } from './leftovers.js'
import { need } from './real-tools.js'

const folder = makeFolder('grow-test')
let count = 0

/**
 * A growth of Pipy's repository up to 200 sidecars, with something done to it while it goes on.
 * @param {string[]} argv @param {(out: string) => Promise<void>} [beside] @param {string} [experiment]
 */
async function grow(argv, beside, experiment = 'grow') {
  const out = path.join(folder, `run-${++count}`)
  const common = ['src/cli.js', 'bench', experiment, '--planes', 'pipy', '--profile', 'smoke', '--sidecars', '200']
  const child = execa('node', [...common, '--out', out, ...argv], { reject: false })
  onTestFinished(() => endChild(child))
  await beside?.(out)
  const { exitCode, stdout, stderr } = await child
  expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
  expectNothingLeft(child.pid)
  const [record] = readRun(out).records
  return { record, stdout: stdout.replace(/\s+/g, ' ') }
}

describe('a control plane that is given more and more sidecars', { timeout: 60_000 }, () => {
  it('ends out of memory under a limit that it cannot live with', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { record, stdout } = await grow(['--control-memory', '16MiB', '--control-cpu', '1'])
    expect(record).toMatchObject({ outcome: 'completed', growth: { ended: { reason: 'oom' } } })
    expect(record.growth?.sidecars).toBeGreaterThan(0)
    expect(record.ended).toMatchObject([{ service: 'mesh', role: 'control', isOutOfMemory: true }])
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/failed at \d+ sidecars: oom/)
  })

  it('ends by the machine when the control plane may open no more files', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const hurried = path.join(folder, 'hurried.yaml')
    const written = readFileSync('bench/experiments/grow.yaml', 'utf8')
    writeFileSync(hurried, written.replace('deadlineSeconds: 150', 'deadlineSeconds: 8'))
    const closeFiles = async (/** @type {string} */ out) => {
      await awaitPids('step-2-sidecar', out)
      for (const pid of pidsOf('mesh-control', out)) {
        const open = readdirSync(`/proc/${pid}/fd`).length
        await execa('prlimit', ['--pid', `${pid}`, `--nofile=${open}`])
      }
    }
    const { record, stdout } = await grow([], closeFiles, hurried)
    expect(record).toMatchObject({ outcome: 'completed', growth: { ended: { reason: 'host-limit' } } })
    expect(record.growth?.ended?.why).toMatch(/process \d+ has \d+ files open, and may have \d+ \(ulimit -n\)/)
    expect(stdout.replace(/\s+/g, ' ')).toMatch('where the machine ended it (host-limit)')
  })

  it('ends as stopped when it is frozen, long before its deadline', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const begun = Date.now()
    const { record } = await grow([], async out => {
      await awaitPids('step-1-sidecar', out)
      for (const pid of pidsOf('mesh-control', out)) process.kill(pid, 'SIGSTOP')
    })
    expect(record).toMatchObject({ outcome: 'completed', growth: { ended: { reason: 'stopped' } } })
    expect(Date.now() - begun).toBeLessThan(60_000)
  })
})
