import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createHistoryDocument } from '../../src/report/history.js'
import { cli } from '../fakes/cli.js'
import { writeFakeRun } from '../fakes/fake-folder.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { History } from '../../src/analysis/history.js' */

const root = makeFolder('history-test')

/** @param {string[]} argv */
const report = async (...argv) => (await cli('report', '--history', ...argv)).stdout
/** @param {string[]} argv */
const refuse = async (...argv) => (await cli('report', '--history', ...argv)).stderr

/** Fourteen runs; from the ninth on the sidecars take a quarter more, with another build of the kit. */
beforeAll(() => {
  for (let i = 0; i < 14; i++) {
    const { run: own, kit } = createManifest()
    const isDear = i >= 8
    writeFakeRun({
      folder: path.join(root, `run-${i}`),
      rounds: 2,
      manifest: {
        run: { ...own, startedAt: `2026-01-0${1 + Math.floor(i / 10)}T1${i % 10}:00:00.000Z` },
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
  it('says in words where a step is, how large, what changed there, and whose it is', async () => {
    const text = (await report(root)).replace(/\s+/g, ' ')
    expect(text).toContain(
      'History of 14 comparable runs 2 steps in 14 runs: pipy at 0.25 cores uses 25 % more CPU per request;',
    )
    expect(text).toMatch(
      /- pipy at 0.25 cores uses 25 % more CPU per request from 2026-01-01 18:00 on \(run 9 of 14\): 99.2 \[99.0, 99.4\] to 124.0 \[123.8, 124.3\] µs, medians of 8 and 6 runs, p = 0.0\d+\./,
    )
    expect(text).toContain('Nothing was measured without sidecars to tell whether it is the machine.')
    expect(text).toContain('Changed there: kit, 0.1.0 commit-7 cccccccccccc → 0.1.0 commit-8 dddddddddddd.')
    expect(text).not.toContain('commit-6')
    expect(text).toMatch(/Not comparable with \S+run-13; of the two, the earlier is "old": (\S+torn) \1 holds no run/)
  })

  it('is one page without a single address of elsewhere, in light and dark, with the numbers behind each chart', async () => {
    const file = await report(root, '--format', 'html')
    expect(file).toBe(path.join(root, 'history.html'))
    const page = readFileSync(file, 'utf8')
    const own = page.slice(0, page.indexOf('<script>'))
    expect(own).not.toMatch(/(src|href)="(?!#|data:)/)
    expect(own).toContain('prefers-color-scheme: dark')
    expect([...own.matchAll(/data-chart="([^"]+)"/g)].map(match => match[1])).toEqual([
      ...['over-runs-1', 'over-runs-2', 'over-runs-3'],
    ])
    expect(own).toContain('<summary>CPU per request, µs (14 rows)</summary>')
    // Escaped where it is shown.
    expect(own).not.toContain('undefined')
  })

  it('is Markdown and JSON as well, on stdout', async () => {
    const markdown = await report(root, '--format', 'md')
    expect(markdown).toContain('## History of 14 comparable runs')
    expect(markdown).toContain('<details><summary>CPU per request, µs</summary>')
    const history = JSON.parse(await report(root, '--format', 'json'))
    expect(history.steps.map((/** @type {{ run: number, line: string }} */ s) => [s.run, s.line])).toEqual([
      [8, 'pipy at 0.25 cores'],
      [8, 'envoy at 0.25 cores'],
    ])
  })

  it('holds the other runs against the one that is named', async () => {
    const history = JSON.parse(await report(path.join(root, 'run-3'), '--format', 'json'))
    expect(path.basename(history.reference)).toBe('run-3')
    expect(history.runs).toHaveLength(14)
  })

  it('names the nearest change where noise moved a step', () => {
    expect(tellSteps({ changed: 2 })).toContain('the nearest change is that of run 3: kernel, 6.1 → 6.2.')
  })

  it.each([
    [4, 'Changed one run before: kernel'],
    [2, 'Changed 3 runs before: kernel'],
    [6, 'Changed one run behind: kernel'],
  ])('says how many runs a change of run index %i is from a step at 5: %s', (changed, words) => {
    expect(tellSteps({ changed, isNear: true })).toContain(words)
  })

  it('names the reference that has not an arm of other runs', () => {
    const { notes } = tellHistory({ unmatched: [{ arm: 'envoy at 1 cores', runs: 2 }] })
    expect(notes).toContain('Not drawn: envoy at 1 cores, of 2 runs: run-8 does not have it.')
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
      '--format junit is of one run; --history has text, html, md, json',
    )
    expect(await refuse(path.join(root, 'nowhere'))).toContain('there are no runs in')
  })
})

/** @param {Partial<History>} changes */
function tellHistory(changes) {
  const runs = Array.from({ length: 9 }, (_, i) => ({
    ...{ folder: `run-${i}`, startedAt: '2026-01-01T10:00', experiment: 'cap', changes: [] },
  }))
  return createHistoryDocument({
    ...{ reference: 'run-8', runs, lines: [], left: [], unmatched: [], nodes: [], steps: [] },
    test: { falseAlarms: 0.02, lines: 1, runsNeeded: 9 },
    ...changes,
  })
}

/**
 * A step at run 6 of 9 in words.
 * @param {{ changed: number, isNear?: boolean }} options changed: the run whose kernel is another; isNear: it is of the step
 */
function tellSteps({ changed, isNear = false }) {
  const change = { label: 'kernel', old: '6.1', next: '6.2' }
  const runs = Array.from({ length: 9 }, (_, i) => ({
    ...{ folder: `run-${i}`, startedAt: '2026-01-01T10:00', experiment: 'cap' },
    changes: i === changed ? [change] : [],
  }))
  const quantity = { median: 1, low: null, high: null, values: [] }
  const step = {
    ...{ line: 'pipy', quantity: 'rss', group: '', isControl: false, run: 5, before: quantity, after: quantity },
    ...{ ratio: 1.1, p: 0.001, cause: null, control: null, changes: isNear ? [{ ...change, run: changed }] : [] },
    runs: /** @type {[number, number]} */ ([5, 4]),
  }
  return tellHistory({ runs, steps: [step] }).steps[0]
}
