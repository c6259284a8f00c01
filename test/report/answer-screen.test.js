import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRun } from '../../src/records/records.js'
import { renderRunText } from '../../src/verbs/answer.js'
import { readKitClaims } from '../../src/verbs/read-claims.js'
import { openReport } from '../../src/verbs/write-report.js'
import { NO_PIPY, writeDefaultRun } from '../fakes/default-run.js'
import { makeFolder } from '../fakes/scratch.js'

const base = makeFolder('answer-screen-test')
let count = 0

/** @param {Partial<Parameters<typeof writeDefaultRun>[0]>} [options] */
function renderDefaultRun(options = {}) {
  const folder = path.join(base, `run-${++count}`)
  const { summary } = writeDefaultRun({ folder, ...options })
  const printed = { run: readRun(folder), summary, folder: 'results/RUN', hasPage: true }
  const [answer, details] = [false, true].map(is => renderRunText({ ...printed, details: is }))
  return { folder, summary, answer, details }
}
const occurrences = (/** @type {string} */ text, /** @type {string} */ words) => text.split(words).length - 1

describe('what a default run prints', () => {
  it('is an answer, and with --details everything', async () => {
    const { answer, details } = renderDefaultRun()
    await expect(`${answer}\n`).toMatchFileSnapshot('../golden/answer/default.txt')
    await expect(`${details}\n`).toMatchFileSnapshot('../golden/answer/default-details.txt')
    for (const line of details.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  })

  it('says once that a plane is missing, in every format', async () => {
    const { folder, summary, answer } = renderDefaultRun({ hasPipy: false })
    await expect(`${answer}\n`).toMatchFileSnapshot('../golden/answer/without-pipy.txt')
    const report = openReport({ folder, summary, claims: readKitClaims() })
    report.write()
    expect(occurrences(answer.replaceAll('\n', ' '), NO_PIPY)).toBe(1)
    expect(occurrences(report.markdown(), NO_PIPY)).toBe(1)
    const claims = report.document.sections.find(({ id }) => id === 'claims')?.blocks ?? []
    const rows = claims.flatMap(block => (block.type === 'table' ? block.table.rows : []))
    expect(rows.filter(([why]) => why === 'not measured: pipy')).toHaveLength(1)
  })

  it('shows what differs if the work is not equal, and says once that verdicts are excluded by it', () => {
    const { answer, details } = renderDefaultRun({ differs: true })
    expect(occurrences(answer, 'UNEQUAL WORK (tls)')).toBe(1)
    expect(answer).toContain('No verdict on CPU per request of pipy and envoy')
    expect(details).toContain('Equal-work check: NOT passed')
    const lines = details.split('\n')
    expect(lines.filter(line => /^tls +(pipy|envoy) +TLS of \1$/.test(line))).toHaveLength(2)
    expect(lines.filter(line => /^(answers|refusals|workers|pooling|logging) /.test(line))).toEqual([])
    expect(occurrences(details, 'unequal work (tls): ')).toBe(1)
  })

  it('ends with the command that gives an interval, or the other repeats, but for a run that cannot be typed again', () => {
    const render = (/** @type {string[]} */ command, manifest = {}) =>
      renderDefaultRun({ rounds: 3, recorded: 12, manifest: { command, ...manifest } }).answer
    const command = ['bench', '--cpu', '1', '--rounds', '3', '--out', '/tmp/run', '--max-minutes', '2', '--users=200']
    expect(render(command)).toMatch(/an interval[^!]*\n {2}npm run bench -- --cpu 1 --users=200 --rounds 6/)
    expect(render(['bench', '--rounds=3'])).toMatch(/npm run bench -- --rounds 6/)
    expect(render(command, { ended: 'interrupted' })).toMatch(/npm run bench -- --resume results\/RUN/)
    const watching = { ended: 'interrupted', settings: { keepsServices: true } }
    expect(render(command, watching)).not.toContain('--resume')
    for (const other of [
      ['size'],
      ['bench', '--', 'cap'],
      ['bench', 'my experiment.yaml'],
      ['bench', '--resume', 'results/RUN'],
    ])
      expect(render(other)).not.toContain('an interval')
    expect(renderDefaultRun({ manifest: { command } }).answer).not.toContain('an interval')
  })

  it('says where a run was cut short', () => {
    const { answer, details } = renderDefaultRun({ recorded: 5 })
    const words = 'This run was cut short, or still goes on: 5 of 24 trials are recorded.'
    expect(answer).toContain(`  ! ${words}`)
    expect(details.split('\n')[1]).toBe(words)
  })
})
