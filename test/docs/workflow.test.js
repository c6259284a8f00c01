import { accessSync, constants, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { makeFolder } from '../fakes/scratch.js'

const action = parse(readFileSync('action.yml', 'utf8'))
/** @type {{ uses?: string, run?: string, env?: Record<string, string> }[]} */
const steps = action.runs.steps
const scripts = readdirSync('ci').filter(name => name.endsWith('.sh'))
const folder = makeFolder('action-test')

/** A step's script in a folder, as a runner starts it. @param {string} name @param {{ cwd: string, env: Record<string, string> }} options */
const run = (name, options) => execa(path.resolve('ci', name), { ...options, reject: false })

/** A clone of an empty repository, with the branch that keeps runs or without. @param {string} name @param {{ hasBranch: boolean }} options */
async function makeClone(name, { hasBranch }) {
  const cwd = path.join(folder, name)
  const git = (/** @type {string[]} */ ...words) =>
    execa('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...words], { cwd })
  await execa('git', ['init', '-q', '--bare', `${cwd}.git`])
  await execa('git', ['clone', '-q', `${cwd}.git`, cwd])
  await git('commit', '-q', '--allow-empty', '-m', 'Begin')
  await git('push', '-q', 'origin', 'HEAD:refs/heads/main')
  if (hasBranch) {
    writeFileSync(path.join(cwd, 'before'), '')
    await git('add', 'before')
    await git('commit', '-q', '-m', 'Run before')
    await git('push', '-q', 'origin', 'HEAD:refs/heads/bench-results')
    await git('reset', '-q', '--hard', 'HEAD~1')
  }
  return { cwd, origin: `${cwd}.git` }
}

/** Puts a program before all others that writes its words into the file `calls`. @param {string} cwd @param {{ name: string, script: string }} program */
function createProgram(cwd, { name, script }) {
  const bin = path.join(cwd, 'bin')
  mkdirSync(bin, { recursive: true })
  const text = `#!/bin/sh\nfor word; do printf '%s\\n' "$word"; done >> "${cwd}/calls"\n${script}\n`
  writeFileSync(path.join(bin, name), text, { mode: 0o755 })
  return { PATH: `${bin}:${process.env.PATH}` }
}

describe('the action', () => {
  it('has steps that use an action of a version, or run a script that there is', async () => {
    const started = steps.flatMap(step => /ci\/(\S+\.sh)/.exec(step.run ?? '')?.[1] ?? [])
    expect(started).toEqual(['measure.sh', 'report.sh', 'keep.sh', 'comment.sh'])
    expect([...started].sort()).toEqual(scripts)
    for (const name of scripts) {
      accessSync(`ci/${name}`, constants.X_OK)
      await execa('bash', ['-n', `ci/${name}`])
    }
    for (const { uses } of steps) if (uses) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/)
  })

  it('gives each script the variables that it reads, and has each input in use', () => {
    const ofRunner = /^(GITHUB_[A-Z_]+|PATH)$/
    for (const name of scripts) {
      const text = readFileSync(`ci/${name}`, 'utf8')
      const read = [...text.matchAll(/\$\{?([A-Z][A-Z_]+)/g)].map(([, variable]) => variable)
      const variables = Object.keys(steps.find(step => step.run?.includes(name))?.env ?? {})
      const missing = new Set(read.filter(variable => !ofRunner.test(variable) && !variables.includes(variable)))
      expect([...missing], name).toEqual([])
    }
    const text = readFileSync('action.yml', 'utf8')
    for (const input of Object.keys(action.inputs)) expect(text).toContain(`inputs.${input}`)
  })
})

describe('a measurement in CI', () => {
  const env = { SCRIPTS: 'my-scripts', AGAINST: '', THRESHOLD: '1.05', PRECISION: '', CPU: '0.25', BRANCH: '' }

  it.each([
    [{}, 'none,pipy,pipy=my-scripts', 'pipy=my-scripts/pipy cpuPerRequest <= 1.05', []],
    [
      { AGAINST: 'old/base', PRECISION: '2%', THRESHOLD: '1.02' },
      'none,pipy=old/base,pipy=my-scripts',
      'pipy=my-scripts/pipy=base cpuPerRequest <= 1.02',
      ['--precision', '2%'],
    ],
  ])('compares both scripts, and ends as the kit ends: %o', async (inputs, planes, threshold, more) => {
    const cwd = path.join(folder, `measure-${more.length}`)
    mkdirSync(path.join(cwd, 'results'), { recursive: true })
    const PATH = createProgram(cwd, { name: 'node', script: 'exit 5' })
    // Where the tests run as a user, sudo is in between.
    createProgram(cwd, { name: 'sudo', script: 'shift 3; exec "$@"' })
    const { exitCode } = await run('measure.sh', { cwd, env: { ...env, ...inputs, ...PATH } })
    expect(exitCode).toBe(5)
    const calls = readFileSync(path.join(cwd, 'calls'), 'utf8').trim().split('\n')
    const words = calls.slice(calls.indexOf('bench')).slice(0, 9 + more.length)
    const common = ['bench', '--planes', planes, '--cpu', '0.25', '--out', 'results/now', '--threshold', threshold]
    expect(words).toEqual([...common, ...more])
  })

  it.each([true, false])('keeps every attempt of a job on its branch, which is there: %s', async hasBranch => {
    const { cwd, origin } = await makeClone(`keep-${hasBranch}`, { hasBranch })
    const PATH = createProgram(cwd, { name: 'node', script: 'mkdir -p results/now' })
    createProgram(cwd, { name: 'sudo', script: 'shift 3; exec "$@"' })
    for (const attempt of ['1', '2']) {
      const jobEnv = { ...env, ...PATH, BRANCH: 'bench-results', GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: attempt }
      expect((await run('measure.sh', { cwd, env: jobEnv })).exitCode).toBe(0)
      for (const name of ['manifest.json', 'trials.jsonl']) writeFileSync(path.join(cwd, 'results/now', name), name)
      const { exitCode, stderr } = await run('keep.sh', { cwd, env: jobEnv })
      expect(exitCode, stderr).toBe(0)
    }
    const { stdout } = await execa('git', ['-C', origin, 'ls-tree', '-r', '--name-only', 'bench-results'])
    const kept = ['7-1', '7-2'].flatMap(name => [`${name}/manifest.json`, `${name}/trials.jsonl`])
    expect(stdout.split('\n')).toEqual([...kept, ...(hasBranch ? ['before'] : [])])
  })

  it.each([
    ['', 'pr comment 7 --body-file comment.md'],
    ['41', 'api --silent -X PATCH repos/o/r/issues/comments/41 -F body=@comment.md'],
  ])('comments, or changes the comment that it made before: "%s"', async (id, last) => {
    const cwd = path.join(folder, `comment-${id}`)
    mkdirSync(cwd)
    for (const name of ['report.md', 'history.md']) writeFileSync(path.join(cwd, name), `# ${name}\n`)
    const PATH = createProgram(cwd, { name: 'gh', script: `case "$*" in *--paginate*) echo '${id}' ;; esac` })
    const { exitCode } = await run('comment.sh', { cwd, env: { GITHUB_REPOSITORY: 'o/r', PULL_REQUEST: '7', ...PATH } })
    expect(exitCode).toBe(0)
    const calls = readFileSync(path.join(cwd, 'calls'), 'utf8').trim().replaceAll('\n', ' ')
    expect(calls.endsWith(last)).toBe(true)
    // Other workflows comment under the same name.
    const [marker] = readFileSync(path.join(cwd, 'comment.md'), 'utf8').split('\n')
    expect(calls).toContain(`startswith("${marker}")`)
  })
})

it('the template for GitLab gives the script what it reads', () => {
  const { variables, 'sidecar-cost': job } = parse(readFileSync('ci/gitlab.yml', 'utf8'))
  const text = readFileSync('ci/measure.sh', 'utf8')
  const read = [...text.matchAll(/\$\{?([A-Z][A-Z_]+)/g)]
    .map(([, variable]) => variable)
    .filter(name => name !== 'PATH')
  expect(Object.keys(variables)).toEqual(expect.arrayContaining(read))
  expect(job.script.join('\n')).toContain('kit/ci/measure.sh')
})
