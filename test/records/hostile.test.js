import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, it } from 'vitest'
import { verifyRun } from '../../src/analysis/verify.js'
import { k6 } from '../../src/loads/k6/index.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { listRuns } from '../../src/verbs/list-runs.js'
import { openReport } from '../../src/verbs/write-report.js'
import { cli } from '../fakes/cli.js'
import { createFakeLoad, createFakeTarget } from '../fakes/fake-bench.js'
import { runFake } from '../fakes/fake-run.js'
import { createCopier, makeFolder } from '../fakes/scratch.js'

const base = makeFolder('hostile-test')
const load = createFakeLoad()
const copyRun = createCopier(path.join(base, 'run'))

beforeAll(async () => {
  await runFake({ folder: path.join(base, 'run'), target: await createFakeTarget() })
})

/** Puts something else in the place of a file. @param {string} file @param {'pipe' | 'directory' | 'device'} kind */
function replace(file, kind) {
  rmSync(file)
  if (kind === 'pipe') execFileSync('mkfifo', [file])
  else if (kind === 'directory') mkdirSync(file)
  else execFileSync('ln', ['-s', '/dev/zero', file])
}
const KINDS = /** @type {const} */ (['pipe', 'directory', 'device'])

describe('a document that is none', () => {
  const texts = ['null', '[]', '"a"', '1', '{}', '{"schemaVersion":"4"}', '{"schemaVersion":4}', '', '{']
  it.each(texts)('is refused with its name: %s', text => {
    const folder = copyRun()
    writeFileSync(`${folder}/manifest.json`, text)
    expect(() => readRun(folder)).toThrow(new RegExp(`^${folder}/manifest.json (is not|has schema version)`))
  })

  it('does not end verify if it is the summary', () => {
    const folder = copyRun()
    for (const text of ['null', '[]', '{"sche']) {
      writeFileSync(`${folder}/summary.json`, text)
      const { lines, agrees } = verifyRun({ folder, findLoad: () => load })
      expect(agrees).toBe(false)
      expect(lines[0]).toBe('24 of 24 records were computed again from their raw files')
      expect(lines.join('\n')).toContain(`differs: ${folder}/summary.json is not`)
    }
  })

  it('does not end verify if it is nested deeper than the stack, and a record so deep is left out', () => {
    const folder = copyRun()
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    writeFileSync(`${folder}/summary.json`, `{"schemaVersion":3,"x":${deep}}`)
    const { lines, agrees } = verifyRun({ folder, findLoad: () => load })
    expect(agrees).toBe(false)
    expect(lines.join('\n')).toContain(
      `differs: ${folder}/summary.json is not a document of this kit: it is nested more than 64 levels deep`,
    )
    appendFileSync(`${folder}/trials.jsonl`, `${deep}\n`)
    expect(readRun(folder).warnings.join()).toMatch(
      /trials\.jsonl:25: the line is nested more than 64 levels deep and left out$/,
    )
  })

  it('claims nothing if all records are damaged, and report ends with 3', async () => {
    const folder = copyRun()
    writeFileSync(`${folder}/trials.jsonl`, '{"a":1}\n'.repeat(3))
    const { exitCode, stdout, stderr } = await execa('node', ['src/cli.js', 'report', folder], { reject: false })
    expect(stdout).toContain('Nothing was measured.')
    expect(stdout).not.toMatch(/No sidecar was the limit|is the capacity|Medians|NaN|Infinity/)
    expect(stderr.match(/the record is left out/g)).toHaveLength(3)
    expect(exitCode).toBe(3)
  })

  it('leaves the other runs in the list', () => {
    const root = path.join(base, 'list')
    for (const [name, text] of Object.entries({ none: 'null', empty: '{"schemaVersion":4}' })) {
      cpSync(path.join(base, 'run'), path.join(root, name), { recursive: true })
      writeFileSync(path.join(root, name, 'summary.json'), text)
    }
    cpSync(path.join(base, 'run'), path.join(root, 'whole'), { recursive: true })
    const says = Object.fromEntries(listRuns(root).map(run => [path.basename(run.folder), run.says]))
    expect(says.none).toContain('summary.json is not a document of this kit')
    expect(says.empty).toContain('summary.json is damaged: run: ')
    expect(says.whole).toContain('CPU per request')
  })

  it('leaves the other runs to claims, with a status', async () => {
    const folder = copyRun()
    writeFileSync(`${folder}/manifest.json`, 'null')
    const { exitCode, stdout, stderr } = await cli('claims', folder, path.join(base, 'run'))
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `left out: ${folder}/manifest.json is not a document of this kit: it holds no object`,
    })
    expect(stdout).toContain('published claims that could be tested')
  })
})

describe('a line of trials.jsonl', () => {
  it.each(['null', '[]', '1', '"a"', '{"trial":null}', '{"__proto__":{"trial":1}}'])('is left out: %s', text => {
    const folder = copyRun()
    appendFileSync(`${folder}/trials.jsonl`, `${text}\n`)
    const { records, warnings } = readRun(folder)
    expect(records).toHaveLength(24)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(`${folder}/trials.jsonl:25: the record is left out: `)
  })

  const ids = ['__proto__', '../../out', 'a/b', 'a\\b', '..', '.', '', 'a\0b', 'a\x1b[2J', 'a'.repeat(300)]
  it.each(ids)('is left out if its id is no name of a folder: %j', id => {
    const folder = copyRun()
    const [first] = readFileSync(`${folder}/trials.jsonl`, 'utf8').split('\n')
    const record = JSON.parse(first)
    appendFileSync(`${folder}/trials.jsonl`, `${JSON.stringify({ ...record, trial: { ...record.trial, id } })}\n`)
    expect(readRun(folder).warnings.join()).toContain('trial.id: it is no name that a folder can have')
  })

  it('may have an id that every object has a member of', () => {
    const folder = copyRun()
    const text = readFileSync(`${folder}/trials.jsonl`, 'utf8')
    const [first] = readRun(folder).records
    writeFileSync(`${folder}/trials.jsonl`, text.replace(`"id":"${first.trial.id}"`, '"id":"constructor"'))
    const { document } = openReport({ folder, summary: readSummary(folder), claims: [] })
    expect(document.missing.join()).toContain('Without samples, so not drawn over time: constructor')
  })

  it('may name a gate that this kit does not have, or every object', () => {
    const folder = copyRun()
    const text = readFileSync(`${folder}/trials.jsonl`, 'utf8')
    const gate = { gate: 'constructor', spoils: ['cpuPerRequest'], reason: 'made up' }
    writeFileSync(`${folder}/trials.jsonl`, text.replaceAll('"gates":[]', `"gates":${JSON.stringify([gate])}`))
    const { lines } = verifyRun({ folder, findLoad: () => load })
    expect(lines.join('\n')).toContain('.gates[0] is {"gate":"constructor"')
  })
})

describe('a quantity that the kit does not have', () => {
  it.each(['constructor', 'speed'])('is refused: %s', name => {
    const folder = copyRun()
    const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, 'utf8'))
    manifest.settings.shows.quantities = [name]
    writeFileSync(`${folder}/manifest.json`, JSON.stringify(manifest))
    expect(() => readRun(folder)).toThrow(`settings.shows.quantities: unknown quantity "${name}"`)
  })
})

describe('a raw file that is damaged', () => {
  it('is named by verify with its line, and the other trials are computed', () => {
    const folder = copyRun()
    const { trial } = readRun(folder).records[1]
    const [name] = readdirSync(`${folder}/raw/${trial.id}`).filter(entry => entry.endsWith('-generator.log'))
    const log = `${folder}/raw/${trial.id}/${name}`
    writeFileSync(log, 'level=info\n{"metrics":{"http_re')
    const parseResult = (/** @type {string} */ text) =>
      text.includes('{"metrics"') ? k6.parseResult(text) : load.parseResult(text)
    const { lines } = verifyRun({ folder, findLoad: () => ({ parseResult }) })
    expect(lines[0]).toBe('23 of 24 records were computed again from their raw files')
    expect(lines[1]).toContain(`not computed again: ${trial.id}: ${log}: line 2: the result of the load is damaged: `)
  })

  const texts = ['null', '[]', '{"schemaVersion":4}', '{"sche', '{"schemaVersion":NaN}', 'short lists']
  it.each(texts)('is reported as damaged: %s', text => {
    const folder = copyRun()
    const { trial } = readRun(folder).records[0]
    const file = `${folder}/raw/${trial.id}/observation.json`
    const observation = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, text === 'short lists' ? JSON.stringify({ ...observation, before: [] }) : text)
    const { agrees, lines } = verifyRun({ folder, findLoad: () => load })
    expect(lines[1]).toBe(`not computed again: ${trial.id}: observation.json is missing or damaged`)
    expect(agrees).toBe(false)
  })
})

describe.each(KINDS)('a %s', kind => {
  it.each(['manifest.json', 'trials.jsonl'])('in the place of %s is refused, and not waited for', name => {
    const folder = copyRun()
    replace(`${folder}/${name}`, kind)
    expect(() => readRun(folder)).toThrow(`cannot read ${folder}/${name}: it is a directory, a pipe or a device`)
  })

  it('in the place of a raw file is named, and the other trials are computed and drawn', () => {
    const folder = copyRun()
    const [a, b, c] = readRun(folder).records.map(({ trial }) => `${folder}/raw/${trial.id}`)
    const log = `${c}/${readdirSync(c).find(name => name.endsWith('-generator.log'))}`
    const files = [`${a}/observation.json`, `${b}/samples.jsonl`, log]
    for (const file of files) replace(file, kind)
    const { lines } = verifyRun({ folder, findLoad: () => load })
    expect(lines[0]).toBe('21 of 24 records were computed again from their raw files')
    for (const [i, file] of files.entries()) expect(lines[1 + i]).toContain(`: cannot read ${file}: it is a directory`)
    const { document } = openReport({ folder, summary: readSummary(folder), claims: [] })
    expect(document.missing[0]).toContain(`cannot read ${files[1]}`)
  })
})

describe('a format', () => {
  it.each(['constructor', 'toString', '__proto__'])('that every object has a member of is unknown: %s', async name => {
    const { exitCode, stderr } = await cli('report', path.join(base, 'run'), '--format', name)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`"${name}" is none of text, html`)
  })
})
