import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { summarise } from '../../../src/analysis/summarise.js'
import { ztunnel } from '../../../src/dataplanes/ztunnel/index.js'
import { findComputedKind } from '../../../src/kinds/computed.js'
import { readRun } from '../../../src/records/records.js'
import { createAnswer } from '../../../src/report/answer/answer.js'
import { COLUMNS_MOST } from '../../../src/report/answer/clip.js'
import { drawPanel } from '../../../src/report/answer/html.js'
import { LINES_MOST, renderAnswerText, renderCutPictures } from '../../../src/report/answer/text.js'
import { renderUnfinishedRun } from '../../../src/report/missing.js'
import { parseExperiment } from '../../../src/request/experiment.js'
import { findTool } from '../../../src/tools/find.js'
import { createFakeRun } from '../../fakes/fake-folder.js'
import { createFakePlan } from '../../fakes/fake-plan.js'

/** @import { ToolSpec } from '../../../src/model/types.ts' */

const EXPERIMENTS = 'bench/experiments'
const FIXTURES = 'test/fixtures/runs'
const more = ['Report: results/20261126-000000-of-a-long-name/report.html', 'More numbers: npm run report -- --details']

/** @param {string} text */
function expectToFit(text) {
  const lines = text.split('\n')
  expect(lines.length, text).toBeLessThanOrEqual(LINES_MOST)
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(COLUMNS_MOST)
  // Every answer has a sentence that ends.
  expect(text).toMatch(/\.$/m)
  expect(text).not.toMatch(/undefined|NaN|null|\binvalid\b|users bound/)
}

/** @param {string} name of an experiment */
function planOf(name) {
  const file = path.join(EXPERIMENTS, name)
  return createFakePlan(parseExperiment(readFileSync(file, 'utf8'), file), { overrides: { axes: {} } })
}
const measured = readdirSync(EXPERIMENTS).filter(
  name => !/^(kind|search|grows):/m.test(readFileSync(path.join(EXPERIMENTS, name), 'utf8')),
)

describe('the answer on a screen', () => {
  it('has the shortest bars if nothing took anything', () => {
    const cell = { text: '0 µs', value: 0 }
    const columns = [{ heading: 'CPU', isBar: /** @type {const} */ (true) }]
    /** @type {ReturnType<typeof createAnswer>} */
    const answer = {
      conditions: ['cost'],
      pictures: [{ columns, rows: ['a', 'b'].map(label => ({ label, cells: [cell] })) }],
      ...{ verdicts: [], basis: [], warnings: [], notMeasured: [] },
    }
    expect(renderAnswerText(answer, { more: [] })).toMatch(/a +0 µs +▏\n +b +0 µs +▏/)
    expect(drawPanel({ title: 'CPU', bars: [{ label: 'a', colour: 0, cell }] })).not.toMatch(/NaN|Infinity/)
  })

  it('leaves to the details the pictures of which it has not every row, with the lines at its end counted', () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({ label: `proxy-${i}`, cells: [{ text: '1 µs' }] }))
    const createAnswerOfRows = (/** @type {number} */ count) => ({
      conditions: ['cost'],
      pictures: [{ columns: [{ heading: 'CPU' }], rows: rows.slice(0, count) }],
      verdicts: ['pipy needs less.'],
      basis: ['Equal work: passed.'],
      warnings: [],
      notMeasured: [],
    })
    expect(renderCutPictures(createAnswerOfRows(2), { more })).toEqual([])
    const [lines] = renderCutPictures(createAnswerOfRows(20), { more })
    expect(lines.filter(line => line.includes('proxy-'))).toHaveLength(20)
    // The screen has room for the rows of each number only without these lines.
    const counts = rows.map((_, i) => i + 1)
    const most = Math.max(
      ...counts.filter(count => renderCutPictures(createAnswerOfRows(count), { more: [] }).length === 0),
    )
    expect(renderAnswerText(createAnswerOfRows(most), { more: [] })).not.toContain('more rows')
    expect(renderAnswerText(createAnswerOfRows(most), { more })).toContain('more rows')
    expect(renderCutPictures(createAnswerOfRows(most), { more })).toHaveLength(1)
  })

  it('has its picture, however long what the numbers rest on is', () => {
    const rows = ['pipy', 'envoy', 'nginx', 'caddy'].map(label => ({ label, cells: [{ text: '1 µs' }] }))
    const long = {
      conditions: ['size'],
      pictures: [{ columns: [{ heading: 'CPU' }], rows }],
      verdicts: ['pipy needs less.'],
      basis: Array(30).fill('It was measured like this.'),
      warnings: ['This machine was busy.', 'It still was.'],
      notMeasured: [],
    }
    const text = renderAnswerText(long, { more })
    expectToFit(text)
    expect(text).toMatch(/^ {2}pipy {3}1 µs\n {2}envoy {2}1 µs$/m)
    expect(text).toContain('pipy needs less.')
    expect(text).toContain('It was measured like this.')
    expect(text).toContain('! This machine was busy.')
    const alone = renderAnswerText(
      { ...long, pictures: [{ columns: [{ heading: 'CPU' }], rows: rows.slice(0, 1) }] },
      { more },
    )
    expectToFit(alone)
    expect(alone).toMatch(/^ {2}pipy {2}1 µs$/m)
  })

  it('has a row for each of many proxies: what the picture repeats gives way, and then empty lines', () => {
    const proxies = Array.from({ length: 7 }, (_, i) => `proxy-${i}`)
    const crowded = {
      conditions: ['as-deployed', 'gateway-ratings', 'x'.repeat(70), '2 CPUs'],
      pictures: [{ columns: [{ heading: 'CPU' }], rows: proxies.map(label => ({ label, cells: [{ text: '1 µs' }] })) }],
      verdicts: ['proxy-0 uses the least CPU per request; proxy-6 the most, 2.8 × proxy-0 (95 % CI 2.6 to 3.0).'],
      basis: ['Noise floor (A/A): 2.2 %.', '12 interleaved repeats, 6 min 14 s.'],
      notes: ['Quote the verdict.'],
      warnings: ['The first warning.', 'The second warning.'],
      notMeasured: [],
    }
    const text = renderAnswerText(crowded, { more })
    expectToFit(text)
    for (const name of proxies) expect(text).toMatch(new RegExp(`^  ${name}  1 µs$`, 'm'))
    expect(text).not.toContain('more rows')
    expect(text.replace(/\n */g, ' ')).toContain(
      '(95 % CI 2.6 to 3.0). Noise floor (A/A): 2.2 %. 12 interleaved repeats',
    )
    expect(text).not.toContain('Quote the verdict')
    expect(text).toContain('! The first warning.')
    const few = { ...crowded, pictures: [{ ...crowded.pictures[0], rows: crowded.pictures[0].rows.slice(0, 3) }] }
    expect(renderAnswerText(few, { more })).toMatch(/Quote the verdict\.$/m)
  })

  it('marks conditions that have no line, of which the machine is the last', () => {
    const answer = {
      conditions: [
        'as-deployed',
        'a link '.repeat(12).trim(),
        'a load '.repeat(12).trim(),
        'a third line of conditions',
      ],
      pictures: [],
      verdicts: ['pipy uses less.'],
      basis: [],
      warnings: [],
      notMeasured: [],
    }
    const [first, second, third] = renderAnswerText(answer).split('\n')
    expect(first).toBe(`as-deployed · ${answer.conditions[1]}`)
    expect(second).toBe(`  ${answer.conditions[2]} …`)
    expect(third).toBe('')
    const [title] = renderAnswerText({ ...answer, conditions: answer.conditions.slice(0, 2) }).split('\n')
    expect(title).not.toContain('…')
    const summary = summarise(readRun(path.join(FIXTURES, 'load')))
    const remote = { ...summary.machine, cpus: 2, cpuModel: 'A', loadHost: { host: 'far', cpus: 2, cpuModel: 'A' } }
    expect(createAnswer({ ...summary, machine: remote }).conditions.slice(-2)).toEqual(['load from far', '2 CPUs A'])
  })

  it('has its picture, however many lines its conditions, verdicts and ends take', () => {
    const text = renderAnswerText(
      {
        conditions: ['size', 'a link '.repeat(12), '2 CPUs'],
        pictures: [
          {
            columns: [{ heading: 'CPU' }],
            rows: ['pipy', 'envoy'].map(label => ({ label, cells: [{ text: '23m' }] })),
          },
        ],
        verdicts: ['pipy needs less than envoy, '.repeat(5), 'It takes 2.7 cores.', 'It takes 3 GiB.'],
        basis: Array(30).fill('It was measured like this.'),
        warnings: ['This run was cut short.', 'This machine was busy.'],
        notMeasured: [],
      },
      { more: ['Paste: --format yaml', ...more, 'results: results/RUN'] },
    )
    expectToFit(text)
    expect(text).toMatch(/^ {2}pipy {3}23m\n {2}envoy {2}23m$/m)
    expect(text).toContain('pipy needs less than envoy')
    expect(text).toContain('It was measured like this.')
    expect(text).toContain('! This run was cut short.')
  })

  it.each(measured)('fits for %s, whole, without an interval, cut short and with unequal work', name => {
    const plan = planOf(name)
    const { arms } = plan
    // Fake records have no times to fit a slope through.
    const settings = { ...plan.settings, shows: { ...plan.settings.shows, hasSlopes: false } }
    for (const options of [{ rounds: 6 }, { rounds: 2 }, { rounds: 6, recorded: arms.length + 1 }]) {
      const manifest = { run: { id: name, startedAt: '2026-01-02T03:04:05.000Z', experiment: name, seed: 1 } }
      const run = createFakeRun({ ...{ arms, settings, manifest }, ...options })
      const summary = summarise(run)
      const answer = createAnswer(summary, { seconds: 187, unfinished: renderUnfinishedRun({ ...run, summary }) })
      const text = renderAnswerText(answer, { more })
      expectToFit(text)
      if (name === 'as-deployed.yaml') expect(text).not.toContain('more rows')
      const crowded = {
        ...answer,
        warnings: ['of one', 'of another', 'of a third', 'of a fourth'].map(
          what => `${'A warning '.repeat(20)}${what}.`,
        ),
        notMeasured: [
          { what: 'pipy', why: 'a reason '.repeat(40), commands: [{ command: 'npm run doctor', gives: 'what lacks' }] },
          ...answer.notMeasured,
        ],
      }
      expectToFit(renderAnswerText(crowded, { more }))
    }
  })

  it('names one command for each thing that was not measured, and none for limits that the machine is too small for', () => {
    const summary = summarise(createFakeRun())
    const reason = 'no sidecar reaches such a CPU limit on 2 CPUs'
    const notMeasured = [{ plane: 'every plane at 4 CPU each', reason, cpuLimitsCores: [4] }]
    const absent = createAnswer({ ...summary, notMeasured }).notMeasured[0]
    expect(absent).toEqual({ what: 'every plane at 4 CPU each', why: reason, commands: [] })
    const commands = ['first', 'second'].map(command => ({ command, gives: 'a capacity' }))
    const text = renderAnswerText({
      ...createAnswer(summary),
      notMeasured: [absent, { what: 'capacity', why: '', commands }],
    })
    expect(text).toContain('# a capacity')
    expect(text).toMatch(/first/)
    expect(text).not.toMatch(/second/)
  })

  it('has the reason and the remedy of a program that does not run, also at a long path', async () => {
    const program = '/home/somebody/src/istio/ztunnel/out/rust/release/ztunnel'
    const search = findTool(/** @type {ToolSpec} */ (ztunnel.tool), { environment: { ZTUNNEL: program } })
    const reason = await search.catch(({ message }) => message)
    const summary = summarise(createFakeRun())
    const text = renderAnswerText(createAnswer({ ...summary, notMeasured: [{ plane: 'ztunnel', reason }] }), { more })
    expectToFit(text)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      `Not measured: ztunnel (ZTUNNEL=${program} does not run: there is no such file; wanted ztunnel of Istio 1.24 or newer: set ZTUNNEL`,
    )
  })

  it.each(readdirSync(FIXTURES))('fits for the recorded run of %s', name => {
    const folder = path.join(FIXTURES, name)
    const computed = findComputedKind(folder)
    const answer = computed
      ? computed.answer(computed.summarise(computed.read(folder)))
      : createAnswer(summarise(readRun(folder)), { seconds: 60 })
    expectToFit(renderAnswerText(answer, { more }))
  })
})
