import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli } from '../fakes/cli.js'

// Runs of version 0.1.0 on a machine of two CPUs, one of each kind of trial, with what that version made of them.
const RUNS = 'test/fixtures/runs'
const KINDS = ['load', 'search', 'rollout', 'growth', 'balance']

describe.each(KINDS)('a recorded run of the kind %s', kind => {
  const folder = path.join(RUNS, kind)
  const read = (/** @type {string} */ name) => readFileSync(path.join(folder, name), 'utf8')

  it('is verified: every number comes out of its raw files again', async () => {
    const { exitCode, stdout } = await cli('verify', folder)
    expect(stdout).toMatch(/(all of them agree|summary\.json agrees with the records)/)
    expect(stdout).not.toMatch(/differs:/)
    expect(exitCode).toBe(0)
  })

  it('is summarised to the numbers that were written', async () => {
    const { stdout } = await cli('report', folder, '--json')
    expect(JSON.parse(stdout)).toEqual(JSON.parse(read('summary.json')))
  })

  it('is reported with the same table', async () => {
    const { stdout } = await cli('report', folder, '--format', 'csv')
    expect(stdout.trimEnd()).toBe(read('report.csv').trimEnd())
  })
})
