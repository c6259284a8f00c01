import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assertWritableFolder, writeAtomically } from '../../src/records/files.js'
import { readRun } from '../../src/records/records.js'
import { appendTrial, createResultsFolder, writeObservation } from '../../src/records/write.js'
import { announceResults, writeDocuments } from '../../src/verbs/documents.js'
import { cli } from '../fakes/cli.js'
import { writeFakeRun } from '../fakes/fake-folder.js'
import { createRecord } from '../fakes/fake-records.js'
import { makeFolder } from '../fakes/scratch.js'

const base = makeFolder('full-disk-test')
const disk = path.join(base, 'disk')
mkdirSync(disk)
const canMount = mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk)
let count = 0
let folder = ''

beforeEach(() => {
  folder = path.join(canMount ? disk : base, `run-${++count}`)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(() => {
  if (canMount) execFileSync('umount', ['--lazy', disk])
})

/** @param {string[]} words */
function mount(...words) {
  try {
    execFileSync('mount', words, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('a results folder', () => {
  it.each(['\n', '"', "'", '\\', '$', '{', ';', '(', ','])('is refused with %j in its path', sign => {
    const out = path.join(base, `a${sign}b`)
    expect(() => assertWritableFolder(out)).toThrow(
      `the results folder ${JSON.stringify(out)} has ${JSON.stringify(sign)} in its path`,
    )
    expect(() => createResultsFolder(out)).toThrow('configurations of data planes')
    expect(existsSync(out)).toBe(false)
  })

  it('may have a blank, and letters of any script', () => {
    expect(() => assertWritableFolder(path.join(base, 'My Runs/größe 計測'))).not.toThrow()
  })
})

/** Leaves a few bytes of the disk. @param {number} [pages] @returns {() => void} makes room again */
function fill(pages = 0) {
  const file = path.join(disk, 'filler')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(file, Buffer.alloc((bavail - pages) * bsize))
  return () => rmSync(file)
}

const report = (/** @type {string[]} */ ...words) => cli('report', ...words)

describe('on a full disk', () => {
  beforeEach(context => {
    if (!canMount) context.skip('mount -t tmpfs is not permitted here')
  })

  it('keeps the document that was there, names the one that is not, and leaves nothing beside it', () => {
    writeAtomically(folder, 'summary.json', 'the old one')
    const makeRoom = fill()
    expect(() => writeAtomically(folder, 'summary.json', 'x'.repeat(100_000))).toThrow(
      `cannot write ${folder}/summary.json: the disk is full; what was recorded before is kept`,
    )
    makeRoom()
    expect(readFileSync(`${folder}/summary.json`, 'utf8')).toBe('the old one')
    expect(readdirSync(folder)).toEqual(['summary.json'])
  })

  it('loses the record that did not fit, and neither those before it nor the next', () => {
    writeFakeRun({ folder, recorded: 1 })
    const [first] = readRun(folder).records
    const record = { ...first, trial: { ...first.trial, round: 2, id: 'r2' } }
    const makeRoom = fill(1)
    expect(() => appendTrial(folder, { ...record, reasons: ['x'.repeat(100_000)] })).toThrow(
      `cannot write ${folder}/trials.jsonl: the disk is full`,
    )
    makeRoom()
    appendTrial(folder, record)
    const { records, warnings } = readRun(folder)
    expect(records.map(r => r.trial.id)).toEqual([first.trial.id, 'r2'])
    expect(warnings).toEqual([])
  })

  it('leaves no half of the samples of a trial', () => {
    const { trial } = createRecord()
    const samples = [{ epochMs: 1, readings: [] }]
    writeObservation(folder, { trial, samples, names: [] })
    const makeRoom = fill()
    const many = Array(10_000).fill(samples[0])
    expect(() => writeObservation(folder, { trial, samples: many, names: [] })).toThrow(
      `cannot write ${folder}/raw/${trial.id}/samples.jsonl: the disk is full`,
    )
    makeRoom()
    expect(readdirSync(`${folder}/raw/${trial.id}`)).toEqual(['samples.jsonl'])
    expect(readFileSync(`${folder}/raw/${trial.id}/samples.jsonl`, 'utf8')).toBe('{"epochMs":1,"processes":{}}\n')
  })

  it('names no page to look at that could not be written', async () => {
    writeFakeRun({ folder })
    const makeRoom = fill(8)
    /** @type {string[]} */
    const said = []
    const context = { say: (/** @type {string} */ line) => void said.push(line), signal: AbortSignal.abort() }
    expect(await writeDocuments(folder, context)).toBe(false)
    announceResults(folder, context)
    makeRoom()
    expect(said[0]).toContain(`no report was written: cannot write ${folder}/report.html: the disk is full`)
    expect(said.slice(1)).toEqual([`results: ${path.relative('', folder)}`])
    expect(readdirSync(folder)).not.toContain('report.html')
  })

  it('ends report with the file, what to do and a status', async () => {
    writeFakeRun({ folder })
    const makeRoom = fill(8)
    const { exitCode, stdout, stderr } = await report(folder, '--format', 'html')
    makeRoom()
    expect(stderr).toBe(
      `error: cannot write ${folder}/report.html: the disk is full; what was recorded before is kept; give --out another folder, or print it: --format text, md, csv, json or junit`,
    )
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  })
})

describe('in a results folder that is read-only', () => {
  it('prints the report, and writes documents elsewhere', async context => {
    if (!canMount) return context.skip('mount -t tmpfs is not permitted here')
    writeFakeRun({ folder })
    mount('-o', 'remount,ro', disk)
    const text = await report(folder)
    const html = await report(folder, '--format', 'html')
    const elsewhere = await report(folder, '--format', 'html', '--out', path.join(base, 'elsewhere'))
    mount('-o', 'remount,rw', disk)
    expect(text.exitCode).toBe(0)
    expect(text.stdout).toContain('pipy uses 58 % less CPU per request')
    expect(text.stdout).toContain(`npm run report -- ${path.relative('', folder)} --format html`)
    expect(text.stdout).not.toContain('report.html')
    expect(html.exitCode).toBe(1)
    expect(html.stderr).toMatch(/^error: cannot write .*report\.html: EROFS: .*; give --out another folder/)
    expect(elsewhere).toMatchObject({ exitCode: 0, stdout: path.join(base, 'elsewhere/report.html') })
  })
})

describe('where no folder can be made', () => {
  it.each(['/proc/none/run', '/dev/null/run'])('says so, and does not try for good: %s', async out => {
    writeFakeRun({ folder })
    const { exitCode, stderr } = await report(folder, '--format', 'html', '--out', out)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`error: cannot write ${out}/report.html: `)
  })
})

describe('with a limit on the size of files', () => {
  it('names the limit, and leaves no part of the page', async () => {
    writeFakeRun({ folder })
    const command = `ulimit -f 64; exec node src/cli.js report ${folder} --format html`
    const { exitCode, stderr } = await execa('sh', ['-c', command], { reject: false })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`cannot write ${folder}/report.html: it is larger than this process may write (ulimit -f)`)
    expect(readdirSync(folder).filter(name => name.includes('report'))).toEqual([])
  })
})
