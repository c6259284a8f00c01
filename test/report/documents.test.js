import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listArms } from '../../src/model/results.js'
import { renderArmsCsv } from '../../src/report/csv.js'
import { computeRunSeconds } from '../../src/report/document.js'
import { renderJunit } from '../../src/report/junit.js'
import { listCharts } from '../../src/report/section.js'
import { openReport } from '../../src/verbs/write-report.js'
import { writeFakeRun } from '../fakes/fake-folder.js'
import { createArm } from '../fakes/fake-records.js'
import { createResult } from '../fakes/fake-summary.js'
import { makeFolder } from '../fakes/scratch.js'

const base = makeFolder('documents-test')
let count = 0

/** @param {import('../../src/report/document.js').Document} document */
const listNotes = ({ sections }) =>
  sections
    .filter(({ id }) => id === 'notes')
    .flatMap(({ blocks }) => blocks.flatMap(b => ('lines' in b ? b.lines : [])))

/** @param {Partial<Parameters<typeof writeFakeRun>[0]>} [options] */
function open(options = {}) {
  const folder = path.join(base, `run-${++count}`)
  const { summary } = writeFakeRun({ folder, ...options })
  return { folder, summary, report: openReport({ folder, summary, claims: [] }) }
}

describe('a report', () => {
  it('answers in one sentence, with the interval and what bound the run', () => {
    const { report } = open()
    expect(report.document.answer.verdicts).toEqual([
      'pipy uses 58 % less CPU per request than envoy (95 % CI 57 to 58) and as much memory.',
      'At 0.25 CPU each: pipy has 97 % more capacity than envoy (95 % CI 94 to 99).',
    ])
  })

  it('says what the load generator adds if it shares the CPUs of the sidecars', () => {
    const findNote = (/** @type {object} */ manifest) =>
      listNotes(open({ manifest: { target: 'local', ...manifest } }).report.document).find(note =>
        note.startsWith('The load generator shares the CPUs of the sidecars'),
      )
    const shares = (/** @type {object} */ manifest) => findNote(manifest) !== undefined
    const placement = { sidecar: [0], application: [1], generator: [2] }
    // No figure of another machine.
    expect(findNote({ placements: { none: null, pipy: null } })).toMatch(/bench:self -- generator(?!.* %)/)
    expect(shares({ placements: { none: placement, pipy: placement } })).toBe(false)
    const loadHost = { host: 'load', cpuModel: 'x', cpus: 2 }
    expect(shares({ placements: { pipy: null }, machine: { cpus: 2, loadHost } })).toBe(false)
    expect(shares({ placements: { pipy: null }, target: 'kubernetes' })).toBe(false)
  })

  it('draws every arm in every chart, and puts the numbers behind it into a table', () => {
    const charts = listCharts(open().report.document.sections)
    expect(charts.map(chart => chart.id)).toEqual([
      ...['rounds-cpuPerRequest', 'rounds-throughput', 'distribution-1', 'over-time-2', 'over-time-3'],
    ])
    expect(charts[1].title).toBe('Capacity at the cap (without sidecars: throughput)')
    expect(charts[1].table.rows).toEqual([
      ['none', '3035', '[3010, 3060]', '3030 3010 3060 3020 3050 3040'],
      ['pipy', '2035', '[2010, 2060]', '2030 2010 2060 2020 2050 2040'],
      ['envoy', '1035', '[1010, 1060]', '1030 1010 1060 1020 1050 1040'],
    ])
    expect(charts[2].table.rows.map(([name]) => name)).toEqual(['none', 'pipy', 'envoy'])
    expect(charts[2].description).toContain('p99 2.025 ms, p99.9 2.034 ms; pipy: p50')
    expect(charts[3].description).toContain('gateway: at most 0.2 cores, cap 0.25, in 1 s its quota was used up')
  })

  it('draws CPU over the rate if arms differ in it', () => {
    const arms = [100, 200].flatMap(ratePerSecond =>
      ['pipy', 'envoy'].map(plane =>
        createArm({ id: `${plane}-${ratePerSecond}`, plane, load: { kind: 'open', ratePerSecond } }),
      ),
    )
    const charts = listCharts(open({ arms }).report.document.sections)
    expect(charts.filter(({ id }) => id.startsWith('over-rate')).map(chart => chart.table.rows)).toEqual([
      [
        ['100', '200', '240'],
        ['200', '200', '240'],
      ],
    ])
    expect(charts.map(chart => chart.id)).toContain('rounds-p99')
  })

  it('writes one page without a single address of elsewhere, and a Markdown file', () => {
    const { folder, report } = open()
    report.write()
    const page = readFileSync(`${folder}/report.html`, 'utf8')
    expect(page).toContain(`<h1 class="answer">${report.document.answer.verdicts[0]}</h1>`)
    expect(page).toContain("default-src 'none'")
    const html = page.slice(0, page.indexOf('<script>'))
    expect(html).not.toMatch(/(?:src|href)="(?!#|data:)/)
    expect(readFileSync(`${folder}/report.md`, 'utf8')).toContain('| pipy | 0.25 |')
  })

  it('writes each chart as a file, with its title and what it shows in words', () => {
    const { folder, report } = open()
    const written = report.writeSvgs().map(file => path.basename(file))
    const groups = ['rounds-c', 'rounds-t', 'distribution-1', 'over-time-2', 'over-time-3']
    const order = (/** @type {string} */ file) => groups.findIndex(name => file.startsWith(name))
    expect(written).toEqual(readdirSync(`${folder}/charts`).sort((a, b) => order(a) - order(b)))
    const svg = readFileSync(`${folder}/charts/rounds-throughput.svg`, 'utf8')
    expect(svg).toMatch(/^<svg [^>]*><title>(Capacity at the cap .*)<\/title><desc>\1\. none: 3035 requests\/s/)
  })

  it('shows what there is of a run that was cut short, and says that it is not whole', () => {
    const { folder, report } = open({ recorded: 4 })
    report.write()
    expect(report.document.missing).toEqual(['This run was cut short, or still goes on: 4 of 18 trials are recorded.'])
    expect(listCharts(report.document.sections)[1].table.rows).toHaveLength(3)
    expect(existsSync(`${folder}/report.html`)).toBe(true)
  })

  it('is made of a run that has not recorded anything', () => {
    const { folder, report } = open({ recorded: 0 })
    report.write()
    expect(report.document.answer.verdicts).toEqual(['Nothing was measured.'])
    expect(readFileSync(`${folder}/report.md`, 'utf8')).toContain('0 of 18 trials are recorded')
  })

  it('names the trials whose samples are gone', () => {
    const { folder, summary } = open()
    rmSync(`${folder}/raw/r2-link-pipy-0.25`, { recursive: true })
    const { document } = openReport({ folder, summary, claims: [] })
    expect(document.missing).toEqual(['Without samples, so not drawn over time: r2-link-pipy-0.25'])
  })
})

describe('the duration of a run', () => {
  const DAY_MS = 86_400_000
  const startMs = Date.parse('2026-11-20T10:00:00Z')
  const recordAt = (/** @type {number} */ ms) => ({
    startedAt: new Date(ms).toISOString(),
    window: { startMs: ms, endMs: ms + 10_000 },
    phasesSeconds: {},
  })
  const secondsOf = (/** @type {any} */ run, /** @type {number[]} */ starts) =>
    computeRunSeconds(/** @type {any} */ ({ manifest: { run }, records: starts.map(recordAt) }))
  const startedAt = new Date(startMs).toISOString()
  const resumed = [{ at: new Date(startMs + DAY_MS).toISOString() }]

  it('is without the pause before it was resumed', () => {
    expect(secondsOf({ startedAt }, [startMs + 50_000])).toBe(60)
    expect(secondsOf({ startedAt, resumed }, [startMs + 50_000, startMs + DAY_MS + 20_000])).toBe(90)
    expect(secondsOf({ startedAt, resumed }, [startMs + DAY_MS + 20_000])).toBe(30)
    expect(secondsOf({ startedAt }, [])).toBeNull()
    expect(secondsOf({ startedAt: 'yesterday' }, [startMs])).toBeNull()
  })
})

describe('CSV', () => {
  const parse = (/** @type {string} */ text) =>
    text
      .trimEnd()
      .split('\r\n')
      .map(line => line.split(','))

  it('has a row an arm, medians and intervals, with units in the headers', () => {
    const [head, ...rows] = parse(renderArmsCsv(open().summary))
    const at = (/** @type {string} */ name) => rows.map(row => row[head.indexOf(name)])
    expect(at('plane')).toEqual(['none', 'pipy', 'envoy'])
    expect(at('throughputPerSecond')).toEqual(['3035', '2035', '1035'])
    expect(at('throughputPerSecondLow')).toEqual(['3010', '2010', '1010'])
    expect(at('cpuPerRequestMicros').map(Number)[1]).toBeCloseTo(98.28, 1)
    expect(at('cpuPerRequestMicros')[0]).toBe('')
    expect(rows.every(row => row.length === head.length)).toBe(true)
  })

  it('quotes what holds a comma, a quote or the end of a line', () => {
    const { summary } = open()
    const arms = [{ ...listArms(summary)[1], id: 'a,"b"\nc' }]
    expect(renderArmsCsv({ ...summary, results: [createResult({ arms })] })).toContain('\r\n"a,""b""\nc",pipy,')
  })
})

describe('JUnit', () => {
  it('fails a crossed threshold, and skips what was not tested or was spoiled', () => {
    const { summary } = open({
      manifest: {
        thresholds: ['pipy/envoy cpuPerRequest <= 0.1', 'pipy/envoy cpuPerRequest <= 0.9', 'pipy/envoy rss < 2'],
      },
    })
    Object.assign(summary.thresholds[2], { value: null, held: null })
    listArms(summary)[2].spoiled = [{ gate: 'steady', trials: 2, reason: `<b> & "x" \u0007` }]
    const xml = renderJunit(summary)
    expect(xml).toContain('<testsuite name="cap.thresholds" tests="3" failures="1" errors="0" skipped="1">')
    expect(xml).toContain('<failure message="crossed: the median ratio is 0.424">')
    expect(xml).toContain('<testsuite name="cap.gates" tests="3" failures="0" errors="0" skipped="1">')
    expect(xml).toContain('<skipped message="steady in 2 of 6 trials: &lt;b&gt; &amp; &quot;x&quot; "/>')
    expect(xml).not.toContain('\u0007')
  })
})
