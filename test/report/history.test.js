import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createHistoryDocument } from '../../src/report/history.js'
import { renderOtava } from '../../src/report/history-exports.js'
import { cli } from '../fakes/cli.js'
import { writeFakeRun } from '../fakes/fake-folder.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm } from '../fakes/fake-records.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { History } from '../../src/analysis/history.js' */

const root = makeFolder('history-test')
/** @type {History} */
const EMPTY = { reference: null, runs: [], lines: [], left: [], unmatched: [], nodes: [] }

/** @param {string[]} argv */
const report = async (...argv) => (await cli('report', '--history', ...argv)).stdout
/** @param {string[]} argv */
const refuse = async (...argv) => (await cli('report', '--history', ...argv)).stderr

/** Fourteen runs; from the ninth on the sidecars take a quarter more, with another build of the kit. */
beforeAll(() => {
  for (let i = 0; i < 14; i++) {
    const { run: defaultRun, kit } = createManifest()
    const isDear = i >= 8
    writeFakeRun({
      folder: path.join(root, `run-${i}`),
      rounds: 2,
      manifest: {
        run: { ...defaultRun, startedAt: `2026-01-0${1 + Math.floor(i / 10)}T1${i % 10}:00:00.000Z` },
        // A commit of the repository around the kit each.
        kit: { ...kit, git: `commit-${i}`, sha256: (isDear ? 'd' : 'c').repeat(64) },
      },
      change: record => ({
        ...record,
        processes: record.processes.map(p => ({
          ...p,
          cpuCores: p.cpuCores * (isDear ? 1.25 : 1) * (1 + (i % 3) / 500),
        })),
      }),
    })
  }
  mkdirSync(path.join(root, 'torn', 'raw'), { recursive: true })
})

describe('report --history', () => {
  it('has every run of each quantity, what changed, and which runs are not comparable', async () => {
    const text = (await report(root)).replace(/[ \n]+/g, ' ')
    expect(text).toContain(
      'History of 14 comparable runs 14 runs, first and last: pipy at 0.25 cores 99.0 and 124.0 µs; envoy',
    )
    expect(text).toMatch(/CPU per request, µs \(the last 12 of 14 runs\): .*run-8 2026-01-01T18:00:00.000Z 124.3/)
    expect(text).toContain('Nothing was measured without sidecars: a change may be that of the machine.')
    expect(text).toContain('kit, 0.1.0 commit-7 cccccccccccc → 0.1.0 commit-8 dddddddddddd')
    expect(text).not.toContain('commit-6')
    expect(text).toMatch(/Not comparable with \S+run-13; of the two, the earlier is "old": (\S+torn) \1 holds no run/)
  })

  it('is one page without a single address of elsewhere, in light and dark, with the numbers behind each chart', async () => {
    const file = await report(root, '--format', 'html')
    expect(file).toBe(path.join(root, 'history.html'))
    const page = readFileSync(file, 'utf8')
    const html = page.slice(0, page.indexOf('<script>'))
    expect(html).not.toMatch(/(src|href)="(?!#|data:)/)
    expect(html).toContain('prefers-color-scheme: dark')
    expect([...html.matchAll(/data-chart="([^"]+)"/g)].map(match => match[1])).toEqual([
      ...['over-runs-1', 'over-runs-2', 'over-runs-3'],
    ])
    expect(html).toContain('<summary>CPU per request, µs (14 rows)</summary>')
    // Escaped where it is shown.
    expect(html).not.toContain('undefined')
  })

  it('is Markdown and JSON as well, on stdout', async () => {
    const markdown = await report(root, '--format', 'md')
    expect(markdown).toContain('## History of 14 comparable runs')
    expect(markdown).toContain('<details><summary>CPU per request, µs</summary>')
    const history = JSON.parse(await report(root, '--format', 'json'))
    expect(history.runs.map((/** @type {{ changes: unknown[] }} */ { changes }) => changes.length)).toEqual(
      Array.from({ length: 14 }, (_, i) => (i === 8 ? 1 : 0)),
    )
  })

  it('is what benchstat reads: a line for each round, below its run', async () => {
    const text = await report(root, '--format', 'benchfmt')
    const [units, first] = text.split('\n\n')
    expect(units.split('\n')).toContain('Unit capacity-req/s better=higher')
    expect(first.split('\n')).toEqual([
      `run: ${path.relative('', path.join(root, 'run-0'))}`,
      '# started 2026-01-01T10:00:00.000Z, kit 0.1.0 commit-0',
      ...['pipy', 'pipy', 'envoy', 'envoy'].map(plane =>
        expect.stringMatching(`^BenchmarkSidecar/arm=${plane}_at_0.25_cores 1 [\\d.e-]+ sec/req .*rss-B$`),
      ),
    ])
  })

  it('is what Otava reads: its configuration, and a CSV for each line, without runs that have no value', async () => {
    const files = (await report(root, '--format', 'otava')).split('\n')
    expect(files[0]).toBe(path.join(root, 'otava', 'otava.yaml'))
    const { tests } = parse(readFileSync(files[0], 'utf8'))
    const { file, metrics } = tests['pipy_at_0.25_cores.cpuPerRequest']
    expect(metrics).toEqual({ cpuPerRequest: { direction: -1 } })
    const rows = readFileSync(path.join(root, 'otava', file), 'utf8')
      .trimEnd()
      .split('\n')
    expect(rows).toHaveLength(15)
    expect(rows.slice(0, 2)).toEqual([
      'time,run,kit,cpuPerRequest',
      expect.stringMatching(/^2026-01-01T10:00:00.000Z,\S+run-0,0.1.0 commit-0,99\.\d+$/),
    ])
    const line = { label: 'pipy', quantity: 'rss', group: '', isControl: false, arm: createArm({ plane: 'pipy' }) }
    const values = [2, null].map(median => ({ median, low: null, high: null, values: [median], rounds: 1 }))
    const runs = ['a', 'b "c", d'].map(folder => ({ folder, startedAt: 't', experiment: '', kit: '1', changes: [] }))
    const history = {
      ...EMPTY,
      runs,
      lines: [
        { ...line, values },
        { ...line, label: 'nginx', values: values.toReversed() },
      ],
    }
    expect(renderOtava(history).slice(1)).toEqual([
      { name: 'pipy.rss.csv', content: 'time,run,kit,rss\nt,a,1,2\n' },
      { name: 'nginx.rss.csv', content: 'time,run,kit,rss\nt,"b ""c"", d",1,2\n' },
    ])
    const alike = ['a b', 'a/b'].map(label => ({
      ...line,
      label,
      values,
      arm: createArm({ plane: 'pipy', id: label }),
    }))
    const names = renderOtava({ ...history, lines: alike }).map(({ name }) => name)
    expect(names).toEqual(['otava.yaml', 'a_b.rss.csv', 'a_b_2.rss.csv'])
  })

  it('holds the other runs against the one that is named', async () => {
    const history = JSON.parse(await report(path.join(root, 'run-3'), '--format', 'json'))
    expect(path.basename(history.reference)).toBe('run-3')
    expect(history.runs).toHaveLength(14)
  })

  it('names the reference that has not an arm of other runs', () => {
    const unmatched = [{ arm: 'envoy at 1 core', runs: 2 }]
    const { sections } = createHistoryDocument({ ...EMPTY, reference: 'run-8', unmatched })
    const notes = sections.find(({ id }) => id === 'method')?.blocks[0]
    expect(notes && 'lines' in notes && notes.lines).toContain(
      'Not drawn: envoy at 1 core, of 2 runs: run-8 does not have it.',
    )
  })

  it('refuses the history of a run that cannot be read, with the reason', async () => {
    const torn = path.join(root, 'half')
    mkdirSync(torn)
    writeFileSync(path.join(torn, 'manifest.json'), '{')
    expect(await refuse(torn)).toMatch(/^error: cannot draw the history of \S+half: .*manifest\.json/)
    rmSync(torn, { recursive: true })
  })

  it('refuses a format that is of one run, and a folder that is not there', async () => {
    expect(await refuse(root, '--format', 'junit')).toContain(
      '--format junit is of one run; --history has text, html, md, json, benchfmt, otava',
    )
    expect(await refuse(path.join(root, 'nowhere'))).toContain('there are no runs in')
    const { stderr } = await cli('report', path.join(root, 'run-3'), '--format', 'otava')
    expect(stderr).toContain('--format otava is of many runs: add --history')
  })
})
