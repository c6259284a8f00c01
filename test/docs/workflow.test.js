import { readFileSync } from 'node:fs'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readCommands } from './read-commands.js'

const PAGE = 'docs/ci.md'
const [, text] = /** @type {RegExpExecArray} */ (/```yaml\n(.*?)```/s.exec(readFileSync(PAGE, 'utf8')))
const workflow = parse(text)
/** @type {{ uses?: string, run?: string, name?: string, if?: string, with?: Record<string, string> }[]} */
const steps = Object.values(workflow.jobs).flatMap(job => job.steps)
const scripts = steps.flatMap(({ run }) => run ?? [])

describe('the workflow of docs/ci.md', () => {
  it('has steps that either use an action of a version or run a script', () => {
    expect(Object.keys(workflow)).toEqual(['name', 'on', 'permissions', 'concurrency', 'jobs'])
    expect(steps.length).toBeGreaterThan(8)
    for (const step of steps) expect([step.uses, step.run].filter(Boolean), JSON.stringify(step)).toHaveLength(1)
    for (const { uses } of steps) if (uses) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/)
  })

  it.each(scripts)('has a script that bash can parse: %s', async script => {
    await execa('bash', ['-n', '-c', script])
  })

  it('runs no command of the kit that the tests of the documentation do not see', () => {
    const seen = readCommands().filter(({ where, isInBlock }) => where.startsWith(PAGE) && isInBlock)
    const verbs = seen.map(({ argv }) => argv[2])
    const written = scripts.flatMap(script => [...script.matchAll(/npm run (?:-s )?([a-z:]+)/g)].map(match => match[1]))
    expect(written).toEqual(['bench', 'report', 'report', 'report', 'report'])
    for (const verb of new Set(written))
      expect(verbs.filter(name => name === verb).length).toBeGreaterThanOrEqual(
        written.filter(name => name === verb).length,
      )
  })

  it('names in later steps the files that earlier ones write', () => {
    const all = scripts.join('\n')
    const written = [...all.matchAll(/> ([a-z.]+)$|--out (\S+)/gm)].map(([, file, folder]) => file ?? folder)
    expect(written).toEqual([
      ...['results/now', 'report.md', 'junit.xml', 'history.md', 'results/history', 'comment.md'],
    ])
    expect(steps.at(-1)?.with?.path.trim().split('\n')).toEqual(['results/now', 'results/history', 'junit.xml'])
    expect(steps.find(step => step.with?.ref)?.with).toEqual({ ref: 'bench-results', path: 'results/kept' })
  })
})
