import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { moderniseDocument } from '../../src/model/old-words.js'
import { cli } from '../fakes/cli.js'

// Runs of version 0.1.0 on a machine of two CPUs, one of each kind of trial, with what that version made of them. It called
// the kinds cost and capacity turns and load.
const RUNS = 'test/fixtures/runs'
const KINDS = ['turns', 'load', 'search', 'rollout', 'growth', 'balance']
// Names of columns, and values in them, that version 0.1.0 had.
const RENAMED = { controlCapCores: 'controlCpuLimitCores', capCores: 'cpuLimitCores', ',turns,': ',interleaved,' }

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
    const written = JSON.parse(read('summary.json'))
    const summary = JSON.parse(stdout)
    // A newer version may say more.
    const known = Object.fromEntries(Object.keys(moderniseDocument(written)).map(name => [name, summary[name]]))
    expect(known).toMatchObject(moderniseDocument(written))
    // They stand in another order since a summary is a list of results.
    const sort = (/** @type {number[]} */ numbers) => numbers.toSorted((a, b) => a - b)
    expect(sort(listNumbers(known))).toEqual(sort(listNumbers(written)))
  })

  it('is reported with the same table', async () => {
    const { stdout } = await cli('report', folder, '--format', 'csv')
    const written = Object.entries(RENAMED).reduce((text, [old, now]) => text.replaceAll(old, now), read('report.csv'))
    const now = readColumns(stdout)
    for (const [name, values] of readColumns(written)) expect(now.get(name), name).toEqual(values)
  })
})

/** @param {any} document of any version @returns {number[]} its numbers, in their order */
function listNumbers({ schemaVersion, ...document }) {
  const text = JSON.stringify(document, (_, value) => (typeof value === 'string' ? '' : value))
  return (text.match(/-?\d[\d.e+-]*/g) ?? []).map(Number)
}

/** @param {string} csv @returns {Map<string, string[]>} values by the name of their column */
function readColumns(csv) {
  const [names, ...rows] = csv
    .trimEnd()
    .split('\n')
    .map(line => line.split(','))
  return new Map(names.map((name, i) => [name, rows.map(row => row[i])]))
}
