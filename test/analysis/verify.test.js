import { appendFileSync, cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { renderSchemas } from '../../schema/render.js'
import { verifyRun } from '../../src/analysis/verify.js'
import { listArms } from '../../src/model/results.js'
import { findFault, SCHEMAS } from '../../src/model/schemas.js'
import { writeSummary } from '../../src/prepare/write-summary.js'
import { readRun } from '../../src/records/records.js'
import { createResultsFolder } from '../../src/records/write.js'
import { createFakeLoad, createFakeTarget } from '../fakes/fake-bench.js'
import { runFake } from '../fakes/fake-run.js'
import { createCopier, makeFolder } from '../fakes/scratch.js'

const base = makeFolder('verify-test')
const load = createFakeLoad()
const IDLE = `name: idle
question: q
axes: { plane: [none, cheap, dear], link: [gateway-ratings], cpuLimitCores: [0.25] }
load: { kind: idle }
profiles: { standard: { warmupSeconds: 0.01, windowSeconds: 0.01 } }
`
const copyRun = createCopier(path.join(base, 'run'))

beforeAll(async () => {
  await runFake({ folder: path.join(base, 'run'), target: await createFakeTarget() })
})

/** @param {string} folder */
const verify = folder => verifyRun({ folder, findLoad: () => load })

/** @param {string} folder @param {(text: string) => string} change */
function edit(folder, change, name = 'trials.jsonl') {
  const file = path.join(folder, name)
  const before = readFileSync(file, 'utf8')
  expect(change(before)).not.toBe(before)
  writeFileSync(file, change(before))
}

/** @param {string} folder */
function linkToNothing(folder) {
  rmSync(`${folder}/raw`, { recursive: true })
  symlinkSync('/nonexistent', `${folder}/raw`)
}

describe('verifyRun', () => {
  it('agrees with an unchanged run', () => {
    const { agrees, lines } = verify(copyRun())
    expect(lines).toEqual([
      '24 of 24 records were computed again from their raw files',
      'not computed again, for there are no raw files of them: the times of phases (time to the first answer), changes of configuration, placement, parity',
      'all of them agree: the records with their raw files, summary.json with the records',
    ])
    expect(agrees).toBe(true)
  })

  it('compares what a summary of another version of the kit has, and says so', () => {
    const folder = copyRun()
    edit(folder, text => text.replace('"calibrations":', '"formerly":'), 'summary.json')
    edit(folder, text => text.replace(/("kit": \{[^}]*"sha256": ")\w+/, '$10000'), 'manifest.json')
    const verifyBy = (/** @type {string} */ kitSha256) => verifyRun({ folder, findLoad: () => load, kitSha256 })
    expect(verifyBy('1111')).toMatchObject({
      agrees: true,
      lines: [expect.stringMatching(/^another version of the kit/), ...Array(3).fill(expect.anything())],
    })
    expect(verifyBy('0000').agrees).toBe(false)
    edit(folder, text => text.replace(/"median": (\d)/, '"median": 9$1'), 'summary.json')
    expect(verifyBy('1111').agrees).toBe(false)
  })

  it('computes idle trials again too', async () => {
    const folder = path.join(base, 'idle')
    await runFake({ folder, target: await createFakeTarget(), text: IDLE })
    expect(verify(folder).lines[0]).toBe('24 of 24 records were computed again from their raw files')
    edit(folder, text => text.replace('"rssBytes":4000000', '"rssBytes":3000000'))
    expect(verify(folder).lines.join('\n')).toMatch(
      /differs: r1-\S+\.processes\[0\]\.memory\.rssBytes is 3000000, and the records say 4000000/,
    )
  })

  it.each([
    ['of a process', /"busiestThreadCores":0\.1\d*/, '"busiestThreadCores":0.9', 'processes[0].busiestThreadCores'],
    ['of the machine', /"idleFraction":0\.6/, '"idleFraction":0.9', 'host.idleFraction'],
    ['of the samples', /"missing":0/, '"missing":1', 'samples.missing'],
    ['of the window', /"startLateMs":/, '"startLateMs":9', 'window.startLateMs'],
    ['of the kit itself', /"orchestratorCpuSeconds":/, '"orchestratorCpuSeconds":9', 'orchestratorCpuSeconds'],
    ['of the load', '"verified":1000', '"verified":1001', 'load.verified'],
    ['from the samples', /"cpuSeconds":0\.2\d*/, '"cpuSeconds":0.05', 'processes[0].cpuSeconds'],
  ])('names a number %s that was edited by hand', (_, from, to, name) => {
    const folder = copyRun()
    edit(folder, text => text.replace(from, to))
    expect(verify(folder).lines.join('\n')).toContain(`.${name} is `)
  })

  it('does not agree if raw files are missing or damaged, and names them', () => {
    const folder = copyRun()
    const [first, second, third] = readRun(folder).records.map(r => r.trial.id)
    rmSync(`${folder}/raw/${first}`, { recursive: true })
    rmSync(`${folder}/raw/${second}/fake-generator.log`)
    edit(folder, text => text.replaceAll('"edge":"end"', '"edge":"other"'), `raw/${third}/samples.jsonl`)
    const { agrees, lines } = verify(folder)
    expect(lines).toEqual([
      '21 of 24 records were computed again from their raw files',
      `not computed again: ${first}: observation.json is missing or damaged`,
      `not computed again: ${second}: the load generator's log has no result`,
      `not computed again: ${third}: samples.jsonl has no sample of an edge of the window`,
      'not computed again, for there are no raw files of them: the times of phases (time to the first answer), changes of configuration, placement, parity',
      'summary.json agrees with the records; 3 of them are not verified: their raw files are missing or damaged',
    ])
    expect(agrees).toBe(false)
  })

  /** @type {[string, (folder: string) => void][]} */
  const spoiled = [
    ['are all removed', folder => rmSync(`${folder}/raw`, { recursive: true })],
    ['are a link to nothing', linkToNothing],
  ]

  it.for(spoiled)('does not agree if raw files %s', ([, spoil]) => {
    const folder = copyRun()
    spoil(folder)
    expect(verify(folder).agrees).toBe(false)
  })

  it('agrees if a trial failed, which may have left no raw files', () => {
    const folder = copyRun()
    const [{ trial }] = readRun(folder).records
    const failed = { outcome: 'failed', reasons: ['it ended'], window: null, load: null, processes: [], host: null }
    const blank = { ...failed, samples: null, orchestratorCpuSeconds: null, boundBy: null, isSteady: null, gates: [] }
    const change = (/** @type {string} */ line) => JSON.stringify({ ...JSON.parse(line), ...blank })
    edit(folder, text => text.replace(/^.*$/m, change))
    rmSync(`${folder}/raw/${trial.id}`, { recursive: true })
    writeSummary(folder)
    const { agrees, lines } = verify(folder)
    expect(lines.at(-1)).toBe('summary.json agrees with the records; 1 of them could not be compared with raw files')
    expect(agrees).toBe(true)
  })

  it('comes to the same if a value could not be read', async () => {
    const folder = path.join(base, 'unread')
    const target = await createFakeTarget()
    const { observe } = target
    target.observe = async (...args) => {
      const observation = await observe(...args)
      for (const { readings } of observation.samples)
        Object.assign(readings[0], { anonBytes: Number.NaN, periods: Number.NaN })
      return observation
    }
    await runFake({ folder, target })
    const [{ processes, samples }] = readRun(folder).records
    expect(processes[0]).toMatchObject({ throttledFraction: null, memory: { anonBytes: null } })
    // One reading of each sample, of which a busy machine may take none between the edges.
    expect(samples?.missing).toBe(samples?.count)
    expect(verify(folder).lines.at(-1)).toMatch(/^all of them agree/)
  })

  it('names the number of a summary that was edited by hand', () => {
    const folder = copyRun()
    const summary = JSON.parse(readFileSync(`${folder}/summary.json`, 'utf8'))
    const median = listArms(summary)[1].cpuPerRequestMicros.median
    listArms(summary)[1].cpuPerRequestMicros.median = 1.5
    writeFileSync(`${folder}/summary.json`, JSON.stringify(summary))
    const { agrees, lines } = verify(folder)
    expect(agrees).toBe(false)
    expect(lines).toContain(
      `differs: summary.json.results[0].arms[1].cpuPerRequestMicros.median is 1.5, and the records say ${median}`,
    )
    expect(lines.at(-1)).toBe('1 numbers do not agree')
  })

  it('names a gate that was taken out of a record', async () => {
    const folder = path.join(base, 'gated')
    const corrupting = createFakeLoad({ results: () => ({ corrupted: 3 }) })
    await runFake({ folder, target: await createFakeTarget(), load: corrupting })
    edit(folder, text => text.replace('"outcome":"invalid"', '"outcome":"completed"'))
    expect(verifyRun({ folder, findLoad: () => corrupting }).lines.join('\n')).toMatch(
      /differs: r1-\S+\.outcome is "completed", and the records say "invalid"/,
    )
  })

  it('says what is no summary', () => {
    const folder = copyRun()
    edit(folder, text => text.replace('"verdict": "', '"verdict": "much-'), 'summary.json')
    expect(verify(folder).lines.join('\n')).toContain(
      'differs: summary.json: results.0.comparisons.0.verdict: Invalid option',
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
    const completed = listArms(writeSummary(folder)).map(arm => arm.trials.completed)
    expect(completed.toSorted()).toEqual([5, 6, 6, 6])
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
    edit(folder, text => text.replace('"schemaVersion": 5', '"schemaVersion": 7'), 'manifest.json')
    expect(() => verify(folder)).toThrow('manifest.json has schema version 7, and this kit reads versions 3, 4 and 5')
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

describe('records that do not belong to a run', () => {
  /** @type {[string, (record: any) => object[], RegExp][]} */
  const strange = [
    ['recorded thrice', record => [record, record, record], /^the trial r1-\S+ is recorded before$/],
    [
      'of an arm that the manifest does not have',
      ({ trial, ...record }) => [{ ...record, trial: { ...trial, id: 'r1-x', arm: { ...trial.arm, id: 'x' } } }],
      /^the trial r1-x is of the arm x, which the manifest does not have$/,
    ],
    [
      'of a round beyond the plan',
      ({ trial, ...record }) => [{ ...record, trial: { ...trial, id: 'r7-x', round: 7 } }],
      /^the trial r7-x is of round 7, and the manifest has 6$/,
    ],
  ]

  it.each(strange)('are left out by name, and fail verify: %s', (_, change, words) => {
    const folder = copyRun()
    const [first] = readRun(folder).records
    for (const record of change(first)) appendFileSync(`${folder}/trials.jsonl`, `${JSON.stringify(record)}\n`)
    const { records, warnings } = readRun(folder)
    expect(records).toHaveLength(24)
    expect(warnings.length).toBe(change(first).length)
    for (const warning of warnings) expect(warning.split('the record is left out: ')[1]).toMatch(words)
    const { agrees, lines } = verify(folder)
    expect(agrees).toBe(false)
    expect(lines.at(-1)).toBe(
      `${warnings.length} lines of trials.jsonl were left out; summary.json agrees with the others`,
    )
  })
})

describe('trials that are not there', () => {
  it('are refused by name, and the summary stays as it was', () => {
    const folder = copyRun()
    const before = readFileSync(`${folder}/summary.json`, 'utf8')
    rmSync(`${folder}/trials.jsonl`)
    expect(() => readRun(folder)).toThrow(`${folder}/trials.jsonl is missing: ${folder} has lost its trials`)
    expect(() => writeSummary(folder)).toThrow('has lost its trials')
    expect(readFileSync(`${folder}/summary.json`, 'utf8')).toBe(before)
  })

  it('are none in a run that has only begun', () => {
    const folder = path.join(base, 'begun')
    createResultsFolder(folder)
    cpSync(path.join(base, 'run/manifest.json'), `${folder}/manifest.json`)
    expect(readRun(folder)).toMatchObject({ records: [], warnings: [] })
  })
})

describe('the published schemas', () => {
  const schemas = Object.fromEntries(renderSchemas().map(({ file, content }) => [file, JSON.parse(content)]))
  const read = (/** @type {string} */ name) => readFileSync(path.join(base, 'run', name), 'utf8')
  const raw = () => `raw/${JSON.parse(read('trials.jsonl').split('\n')[0]).trial.id}`

  it.each([
    ['summary', () => read('summary.json')],
    ['manifest', () => read('manifest.json')],
    ['trial', () => read('trials.jsonl').split('\n')[0]],
    ['observation', () => read(`${raw()}/observation.json`)],
    ['sample', () => read(`${raw()}/samples.jsonl`).split('\n')[0]],
  ])('of %s accepts what a run writes, as the code does, and refuses it without a field', (name, readText) => {
    const document = JSON.parse(readText())
    const schema = schemas[`schema/${name}.schema.json`]
    const published = z.fromJSONSchema(schema)
    expect(published.safeParse(document).error).toBeUndefined()
    expect(findFault(SCHEMAS[/** @type {'trial'} */ (name)], document)).toBeNull()
    const [field] = schema.required
    expect(published.safeParse({ ...document, [field]: undefined }).success).toBe(false)
  })
})
