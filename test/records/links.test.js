import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readRun } from '../../src/records/records.js'
import { appendTrial, copyTrial } from '../../src/records/write.js'
import { openReport } from '../../src/verbs/write-report.js'
import { writeFakeRun } from '../fakes/fake-folder.js'
import { makeFolder } from '../fakes/scratch.js'

const base = makeFolder('links-test')
const outside = path.join(base, 'outside')
let folder = ''
let count = 0

beforeEach(() => {
  folder = path.join(base, `run-${++count}`)
  writeFileSync(outside, 'mine')
})

function open() {
  const { summary } = writeFakeRun({ folder })
  return openReport({ folder, summary, claims: [] })
}

describe('a link in a results folder', () => {
  it('is not written through by a report, which says why', () => {
    const report = open()
    symlinkSync(outside, `${folder}/report.html`)
    expect(() => report.write()).toThrow(
      `cannot write ${folder}/report.html: ${folder}/report.html is a link to ${outside}, and nothing is written through links: remove it`,
    )
    expect(readFileSync(outside, 'utf8')).toBe('mine')
  })

  it('is refused if it leads nowhere yet', () => {
    const report = open()
    symlinkSync(`${base}/new`, `${folder}/report.md`)
    expect(() => report.write()).toThrow(`${folder}/report.md is a link to ${base}/new`)
    expect(existsSync(`${base}/new`)).toBe(false)
  })

  it('is refused as the folder of the charts', () => {
    const report = open()
    mkdirSync(`${base}/charts-${count}`)
    symlinkSync(`${base}/charts-${count}`, `${folder}/charts`)
    expect(() => report.writeSvgs()).toThrow(`${folder}/charts is a link to ${base}/charts-${count}`)
  })

  it('is refused as the file of the trials', () => {
    open()
    const [record] = readRun(folder).records
    rmSync(`${folder}/trials.jsonl`)
    symlinkSync(outside, `${folder}/trials.jsonl`)
    expect(() => appendTrial(folder, record)).toThrow(`${folder}/trials.jsonl is a link to ${outside}`)
    expect(readFileSync(outside, 'utf8')).toBe('mine')
  })

  it('is not taken into another run', () => {
    open()
    const [record] = readRun(folder).records
    symlinkSync(outside, `${folder}/raw/${record.trial.id}/k6.log`)
    const to = path.join(base, `run-${++count}`)
    writeFakeRun({ folder: to, recorded: 0 })
    copyTrial({ from: folder, to, record, trial: record.trial })
    expect(existsSync(`${to}/raw/${record.trial.id}/samples.jsonl`)).toBe(true)
    expect(existsSync(`${to}/raw/${record.trial.id}/k6.log`)).toBe(false)
  })

  it('may be the results folder itself', () => {
    const { summary } = writeFakeRun({ folder })
    const link = path.join(base, `link-${count}`)
    symlinkSync(folder, link)
    openReport({ folder: link, summary, claims: [] }).write()
    expect(existsSync(`${folder}/report.html`)).toBe(true)
  })
})
