import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRun } from '../../src/records/records.js'
import { describeUnfinished } from '../../src/report/missing.js'
import { findClaims } from '../../src/verbs/read-claims.js'
import { renderText } from '../../src/verbs/report.js'
import { openReport } from '../../src/verbs/write-report.js'
import { NO_PIPY, writeDefaultRun } from '../fakes/default-run.js'
import { makeFolder } from '../fakes/scratch.js'

const base = makeFolder('answer-screen-test')
let count = 0

/** @param {Partial<Parameters<typeof writeDefaultRun>[0]>} [options] */
function show(options = {}) {
  const folder = path.join(base, `run-${++count}`)
  const { summary } = writeDefaultRun({ folder, ...options })
  const { manifest, records } = readRun(folder)
  const warnings = describeUnfinished({ manifest, records, summary })
  const text = renderText(summary, { folder: 'results/RUN', warnings, hasPage: true })
  return { folder, summary, lines: text.split('\n') }
}
const occurrences = (/** @type {string} */ text, /** @type {string} */ words) => text.split(words).length - 1

describe('the answer of a default run', () => {
  it('fits on a screen', async () => {
    const { lines } = show()
    expect(lines.length).toBeLessThanOrEqual(40)
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(100)
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../golden/answer/default.txt')
  })

  it('says once that a plane is missing, in every format', async () => {
    const { folder, summary, lines } = show({ hasPipy: false })
    expect(lines.length).toBeLessThanOrEqual(40)
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../golden/answer/without-pipy.txt')
    const report = openReport({ folder, summary, claims: findClaims() })
    report.write()
    expect(occurrences(lines.join('\n'), NO_PIPY)).toBe(1)
    expect(occurrences(report.markdown(), NO_PIPY)).toBe(1)
    expect(occurrences(JSON.stringify(report.document), NO_PIPY)).toBe(1)
    expect(report.document.untested.rows.filter(([why]) => why === 'not measured: pipy')).toHaveLength(1)
  })

  it('shows what differs where the work is not equal, and says once that verdicts are spoiled by it', () => {
    const { lines } = show({ differs: true })
    const text = lines.join('\n')
    expect(text).toContain('NOT equal work')
    expect(lines.filter(line => /^tls +(pipy|envoy) +TLS of \1$/.test(line))).toHaveLength(2)
    expect(lines.filter(line => /^(answers|refusals|workers|pooling|logging) /.test(line))).toEqual([])
    expect(occurrences(text, 'parity-tls')).toBe(1)
  })

  it('says where a run was cut short', () => {
    const { lines } = show({ recorded: 5 })
    expect(lines[1]).toBe('This run was cut short, or still goes on: 5 of 24 trials are recorded.')
  })
})
