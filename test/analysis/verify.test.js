import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyRun } from '../../src/analysis/verify.js'
import { findFault, renderSchemas, summarySchema } from '../../src/model/schemas.js'
import { readRun } from '../../src/records/records.js'
import { writeSummary } from '../../src/run/run.js'
import { createFakeLoad, createFakeTarget } from '../fakes/fake-bench.js'
import { runFake } from '../fakes/fake-run.js'

const base = mkdtempSync(path.join(os.tmpdir(), 'verify-test-'))
const load = createFakeLoad()
let copies = 0

beforeAll(async () => {
  await runFake({ folder: path.join(base, 'run'), target: await createFakeTarget() })
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** A copy of the run, to be spoiled. */
function copyRun() {
  const folder = path.join(base, `copy-${++copies}`)
  cpSync(path.join(base, 'run'), folder, { recursive: true })
  return folder
}

/**
 * @param {string} folder
 * @param {(text: string) => string} change
 */
function edit(folder, change, name = 'trials.jsonl') {
  const file = path.join(folder, name)
  const before = readFileSync(file, 'utf8')
  expect(change(before)).not.toBe(before)
  writeFileSync(file, change(before))
}

describe('verifyRun', () => {
  it('agrees with a run that nobody touched', () => {
    const { agrees, lines } = verifyRun({ folder: copyRun(), load })
    expect(lines.at(-1)).toBe('every number of summary.json agrees with the records')
    expect(agrees).toBe(true)
  })

  it('names the number of a summary that was edited by hand', () => {
    const folder = copyRun()
    const summary = JSON.parse(readFileSync(`${folder}/summary.json`, 'utf8'))
    const median = summary.arms[1].cpuPerRequestMicros.median
    summary.arms[1].cpuPerRequestMicros.median = 1.5
    writeFileSync(`${folder}/summary.json`, JSON.stringify(summary))
    const { agrees, lines } = verifyRun({ folder, load })
    expect(agrees).toBe(false)
    expect(lines).toContain(
      `differs: summary.json.arms[1].cpuPerRequestMicros.median is 1.5, and the records say ${median}`,
    )
    expect(lines.at(-1)).toBe('1 numbers do not agree')
  })

  it('names the number of a record that was edited by hand, from the samples', () => {
    const folder = copyRun()
    edit(folder, text => text.replace(/"cpuSeconds":0\.1\d*/, '"cpuSeconds":0.05'))
    expect(verifyRun({ folder, load }).lines.join('\n')).toMatch(
      /differs: r1-\S+\.processes\[0\]\.cpuSeconds is 0\.05, and the records say 0\.1/,
    )
  })

  it('names a gate that was taken out of a record', () => {
    const folder = copyRun()
    edit(folder, text => text.replace('"corrupted":0', '"corrupted":3'))
    expect(verifyRun({ folder, load }).lines.join('\n')).toMatch(
      /differs: r1-\S+\.outcome is "completed", and the records say "invalid"/,
    )
  })

  it('says what is no summary', () => {
    const folder = copyRun()
    edit(folder, text => text.replace('"verdict": "', '"verdict": "much-'), 'summary.json')
    expect(verifyRun({ folder, load }).lines.join('\n')).toContain(
      'differs: summary.json: comparisons.0.verdict: Invalid option',
    )
  })
})

describe('a run that is not whole', () => {
  it('is used as far as its lines are whole; the cut one is named', () => {
    const folder = copyRun()
    edit(folder, text => text.slice(0, -40))
    const { records, warnings } = readRun(folder)
    expect(records).toHaveLength(23)
    expect(warnings).toEqual([`${folder}/trials.jsonl:24: the line is cut off and left out`])
    expect(
      writeSummary(folder)
        .arms.map(a => a.trials.completed)
        .toSorted(),
    ).toEqual([5, 6, 6, 6])
  })

  it('never takes a number that is missing for 0', () => {
    const folder = copyRun()
    edit(folder, text => text.replace(/"cpuCores":0\.1\d*/, '"cpuCores":null'))
    const { records, warnings } = readRun(folder)
    expect(records).toHaveLength(23)
    expect(warnings).toEqual([
      `${folder}/trials.jsonl:1: the record is left out: processes.0.cpuCores: Invalid input: expected number, received null`,
    ])
  })

  it('of another schema version is refused by name, and so is a manifest that is none', () => {
    const folder = copyRun()
    edit(folder, text => text.replace('"schemaVersion": 2', '"schemaVersion": 7'), 'manifest.json')
    expect(() => verifyRun({ folder, load })).toThrow(
      'manifest.json has schema version 7, and this kit reads version 2',
    )
    const other = copyRun()
    edit(other, text => text.replace('"rounds": 6', '"rounds": "six"'), 'manifest.json')
    expect(() => readRun(other)).toThrow('is not a manifest of this kit: rounds: Invalid input')
  })

  it('leaves out a record of another version', () => {
    const folder = copyRun()
    appendFileSync(`${folder}/trials.jsonl`, '{"schemaVersion":1}\n')
    expect(readRun(folder).warnings[0]).toContain('trials.jsonl:25: the record is left out: schemaVersion')
  })
})

describe('the published schemas', () => {
  it.each(renderSchemas().map(s => [s.file, s.content]))('%s is what the code checks', (file, content) => {
    expect(readFileSync(file, 'utf8')).toBe(content)
  })

  it('hold for a run', () => {
    expect(
      findFault(summarySchema, JSON.parse(readFileSync(path.join(base, 'run', 'summary.json'), 'utf8'))),
    ).toBeNull()
  })
})
