import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { makeFolder } from '../fakes/scratch.js'
import { readCommands } from './read-commands.js'

const PAGE = 'docs/ci.md'
const [, text] = /** @type {RegExpExecArray} */ (/```yaml\n(.*?)```/s.exec(readFileSync(PAGE, 'utf8')))
const workflow = parse(text)
/** @type {{ uses?: string, run?: string, name?: string, if?: string, with?: Record<string, string> }[]} */
const steps = Object.values(workflow.jobs).flatMap(job => job.steps)
const folder = makeFolder('workflow-test')
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

  it('keeps every attempt of a job that is run again', async () => {
    const cwd = path.join(folder, 'keep')
    mkdirSync(path.join(cwd, 'results/now'), { recursive: true })
    for (const name of ['manifest.json', 'trials.jsonl']) writeFileSync(path.join(cwd, 'results/now', name), name)
    await execa('git', ['init', '-q', '--bare', 'origin'], { cwd })
    await execa('git', ['clone', '-q', 'origin', 'results/kept'], { cwd })
    for (const attempt of ['1', '2'])
      await runStep('Keep the run', { cwd, env: { GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: attempt } })
    const { stdout } = await execa('git', ['-C', 'origin', 'ls-tree', '--name-only', 'bench-results'], { cwd })
    expect(stdout.split('\n')).toEqual(['7-1', '7-2'])
    expect(readdirSync(path.join(cwd, 'results/kept/7-2'))).toEqual(['manifest.json', 'trials.jsonl'])
  })

  it.each([
    ['', 'pr comment 7 --body-file comment.md'],
    ['41', 'api --silent -X PATCH repos/o/r/issues/comments/41 -F body=@comment.md'],
  ])('comments, or changes the comment that it made before: "%s"', async (id, last) => {
    const cwd = path.join(folder, `comment-${id}`)
    mkdirSync(cwd)
    for (const name of ['report.md', 'history.md']) writeFileSync(path.join(cwd, name), `# ${name}\n`)
    const gh = `#!/bin/sh\necho "$*" >> calls\ncase "$*" in *--paginate*) echo '${id}' ;; esac\n`
    writeFileSync(path.join(cwd, 'gh'), gh, { mode: 0o755 })
    const env = { GITHUB_REPOSITORY: 'o/r', PULL_REQUEST: '7', PATH: `${cwd}:${process.env.PATH}` }
    await runStep('Comment', { cwd, env })
    const calls = readFileSync(path.join(cwd, 'calls'), 'utf8').trim().split('\n')
    expect(calls.at(-1)).toBe(last)
    // Other workflows comment under the same name.
    const [marker] = readFileSync(path.join(cwd, 'comment.md'), 'utf8').split('\n')
    expect(calls[0]).toContain(`startswith("${marker}")`)
  })
})

/** As a runner does. @param {string} name @param {{ cwd: string, env: Record<string, string> }} options */
function runStep(name, options) {
  const script = `${steps.find(step => step.name === name)?.run}`
  return execa('bash', ['-e', '-c', script], options)
}
