import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { balanceManifestSchema, balanceSummarySchema, balanceTrialSchema, findFault } from '../../src/model/schemas.js'
import { listRuns } from '../../src/verbs/list-runs.js'
import { cli } from '../fakes/cli.js'
import { makeFolder } from '../fakes/scratch.js'

const base = makeFolder('balance-test')
const folder = path.join(base, 'run')
// Of fewer seeds than the kit's, which is as much as claims need.
const small = path.join(base, 'small.yaml')
writeFileSync(small, readFileSync('bench/experiments/balance.yaml', 'utf8').replace('seeds: 100', 'seeds: 8'))
const read = (/** @type {string} */ name, from = folder) => readFileSync(path.join(from, name), 'utf8')

let printed = ''
beforeAll(async () => {
  printed = (await cli('bench', small, '--out', folder)).stdout
}, 60_000)

describe('bench balance', () => {
  it('leaves a record of every seed, algorithm and kind of sizes, by the published schemas', () => {
    const lines = read('trials.jsonl').trimEnd().split('\n')
    expect(lines).toHaveLength(8 * 5 * 2)
    expect(lines.map(line => findFault(balanceTrialSchema, JSON.parse(line))).filter(Boolean)).toEqual([])
    expect(findFault(balanceManifestSchema, JSON.parse(read('manifest.json')))).toBeNull()
    expect(findFault(balanceSummarySchema, JSON.parse(read('summary.json')))).toBeNull()
  })

  it('prints the answer, and with --details a table a kind of sizes and the count of claims, in 100 columns', async () => {
    const { stdout: details } = await cli('report', folder, '--details')
    expect(printed).toContain('Fewest items move with bounded loads')
    expect(printed).toMatch(/^ +round-robin +72 +█/m)
    expect(details).toMatch(/^round-robin +72 \(72 to 72\)/m)
    expect(details).toMatch(/^Of \d+ published claims: /m)
    for (const line of [...printed.split('\n'), ...details.split('\n')]) expect(line.length).toBeLessThanOrEqual(100)
  })

  it('draws moves and spread first, and shows the claims', () => {
    const page = read('report.html')
    expect(page.match(/<figcaption>[^<]+/g)?.slice(0, 2)).toEqual([
      '<figcaption>Moves, shard removed, items of random sizes',
      '<figcaption>Spread of load, items of random sizes',
    ])
    for (const words of ['A dot is a seed', 'Published claims', 'Assignment algorithms']) expect(page).toContain(words)
    expect(page).not.toContain('Checks')
    expect(read('report.md')).toContain('| bounded loads |')
  })

  it('gives the same numbers again, and others from another seed', async () => {
    const at = (/** @type {string} */ name) => path.join(base, name)
    await cli('bench', small, '--out', at('again'))
    await cli('bench', small, '--out', at('other'), '--seed', '2')
    expect(read('trials.jsonl', at('again'))).toBe(read('trials.jsonl'))
    expect(read('trials.jsonl', at('other'))).not.toBe(read('trials.jsonl'))
  })

  it('refuses the options of a measurement', async () => {
    const result = await cli('bench', 'balance', '--cpu', '1', '--rounds', '3', '--out', path.join(base, 'refused'))
    expect(result.stderr).toContain(
      '--cpu, --rounds: balance measures nothing, and takes --seed, --out, --json, --details alone',
    )
    expect(readdirSync(base)).not.toContain('refused')
  })
})

describe('a run of balance', () => {
  it('is verified by computing every record again', async () => {
    expect(await cli('verify', folder)).toMatchObject({
      stdout: expect.stringContaining('all of them agree'),
      exitCode: 0,
    })
    const changed = path.join(base, 'changed')
    await cli('bench', small, '--out', changed)
    const [first, ...rest] = read('trials.jsonl').split('\n')
    const trial = JSON.parse(first)
    const lie = { ...trial, removed: { ...trial.removed, moves: trial.removed.moves + 1 } }
    writeFileSync(path.join(changed, 'trials.jsonl'), [JSON.stringify(lie), ...rest].join('\n'))
    const { stdout, exitCode } = await cli('verify', changed)
    expect(stdout).toContain(`differs: the record of ${trial.algorithm}, ${trial.sizes} sizes, seed 1`)
    expect(stdout).toContain('differs: summary.json')
    expect(exitCode).toBe(1)
  })

  it.each([
    ['a line that is cut off', (/** @type {string} */ text) => text.slice(0, -20), /trials\.jsonl:80 is damaged/],
    ['a record that is missing', (/** @type {string} */ text) => text.replace(/^.*\n/, ''), /79 of 80 records/],
  ])('is refused with %s', async (_, change, message) => {
    const damaged = path.join(base, 'damaged')
    rmSync(damaged, { recursive: true, force: true })
    await cli('bench', small, '--out', damaged)
    writeFileSync(path.join(damaged, 'trials.jsonl'), change(read('trials.jsonl')))
    const { stderr } = await cli('report', damaged)
    expect(stderr).toMatch(message)
    expect(stderr).toContain('compute it again: npm run bench -- balance')
    expect(listRuns(base).find(({ folder }) => folder === damaged)?.says).toMatch(message)
  })

  it('is reported in every format, and says which it does not have', async () => {
    expect((await cli('report', folder)).stdout).toBe(printed)
    expect((await cli('report', folder, '--json')).stdout).toBe(read('summary.json').trimEnd())
    expect((await cli('report', folder, '--format', 'csv')).stdout.split('\r\n')).toHaveLength(11)
    expect((await cli('report', folder, '--format', 'md')).stdout).toBe(read('report.md').trimEnd())
    const out = path.join(base, 'charts')
    expect((await cli('report', folder, '--format', 'svg', '--out', out)).stdout.split('\n')).toHaveLength(8)
    expect((await cli('report', folder, '--format', 'junit')).stderr).toContain('a run of balance has text, html')
  })

  it('is held against the published claims', async () => {
    const { stdout } = await cli('claims', folder, '--details')
    expect(stdout).toMatch(/reproduced +shards-moves-bounded-loads: /)
    expect(stdout).toContain('7 claims: ')
  })

  it('is listed with its answer, and no run for what compares measurements', async () => {
    const [{ experiment, says }] = listRuns(base).filter(listed => listed.folder === folder)
    expect([experiment, says]).toEqual(['balance', expect.stringContaining('Fewest items move with')])
    expect((await cli('compare', folder, folder)).stderr).toContain('is a run of balance, which measured nothing')
  })
})
