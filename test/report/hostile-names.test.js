import { readFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, it } from 'vitest'
import { createArms, writeFakeRun } from '../fakes/fake-folder.js'
import { makeFolder } from '../fakes/scratch.js'

/**
 * Names in a run of other people, which reach every document.
 */

const base = makeFolder('hostile-names-test')
const folder = path.join(base, 'run')
// A title of the terminal, a colour, a line back, a table's border, a command, markup, the end of a script; and a formula
// in front.
const NAME = '=cmd|\x1b]0;owned\x07\x1b[31m\r`x`|<img src=x></script>\u202e'
const FORMATS = ['text', 'md', 'csv', 'json', 'junit', 'html', 'svg']
const VERBS = [
  ['verify', folder],
  ['compare', folder, folder],
  ['claims', folder],
  ['bench', NAME],
  ['report', `${folder}\x1b[2J`],
]
/** What each command wrote, the formats of the report first. @type {{ exitCode: number, stdout: string, stderr: string }[]} */
let results

beforeAll(async () => {
  const change = (/** @type {any} */ record) => ({
    ...record,
    outcome: record.trial.round === 2 ? 'failed' : record.outcome,
    reasons: [NAME, `the end of its log:\n</script>${NAME}`],
    processes: record.processes.map((/** @type {any} */ p) => ({
      ...p,
      service: NAME,
      command: [NAME],
      files: [{ name: NAME, sha256: 'a' }],
    })),
  })
  const arms = [NAME, 'envoy'].map((plane, i) => ({
    ...createArms()[1],
    id: `arm-${i}`,
    plane,
    variant: i === 0 ? null : NAME,
  }))
  writeFakeRun({
    folder,
    arms,
    change,
    manifest: { question: NAME, command: [NAME], notMeasured: [{ plane: NAME, reason: NAME }] },
  })
  const commands = [...FORMATS.map(format => ['report', folder, '--format', format]), ...VERBS]
  const { stdout } = await execa('node', ['test/fakes/cli-in-turn.js', JSON.stringify(commands)])
  results = JSON.parse(stdout)
})

const reportAs = (/** @type {string} */ format) => results[FORMATS.indexOf(format)]
// Line ends and tabs aside.
const CONTROL = /(?!\r?\n|\t)[\p{Cc}\p{Cf}]/u

describe('a name of a run', () => {
  it.each(['text', 'md', 'csv', 'json', 'junit'])('moves no terminal as %s', format => {
    const { exitCode, stdout, stderr } = reportAs(format)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('owned')
    expect(stdout + stderr).not.toMatch(CONTROL)
  })

  it.each(VERBS.map(([verb], i) => [verb, i]))('moves no cursor of a terminal if it is printed by %s', (_, i) => {
    const { stdout, stderr } = results[FORMATS.length + Number(i)]
    expect(`${stdout}${stderr}`).not.toBe('')
    expect(stdout + stderr).not.toMatch(CONTROL)
  })

  it('stays in its cell, and is no markup, in Markdown', () => {
    const { stdout } = reportAs('md')
    expect(stdout).not.toMatch(/<img|(?<!\\)`x/)
    expect(stdout).toContain('\\|&lt;img src=x&gt;')
    const rows = stdout.split('\n').filter(line => line.startsWith('| '))
    expect(rows.filter(row => /(?<!\\)\|[^|]*cmd(?!\\\|)/.test(row))).toEqual([])
  })

  it('is no formula of a spreadsheet, and a number is a number', () => {
    const { stdout } = reportAs('csv')
    const [, first] = stdout.split('\r\n')
    expect(first).toContain("arm-0,'=cmd|\\u001b]0;owned")
    expect(stdout).not.toMatch(/(^|[,"\n])[=+@]/m)
  })

  it('is shown, and is no markup, in the page and the charts', () => {
    const page = readFileSync(`${folder}/report.html`, 'utf8')
    const body = page.slice(0, page.indexOf('<script'))
    expect(body).toContain('\\u001b]0;owned')
    expect(body).not.toMatch(CONTROL)
    expect(body).not.toMatch(/<img|<\/script/)
    expect(page.match(/<\/script>/g)).toHaveLength(3)
    const { stdout } = reportAs('svg')
    for (const file of stdout.trimEnd().split('\n')) expect(readFileSync(file, 'utf8'), file).not.toMatch(CONTROL)
  })
})
