import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { samplePids } from '../../src/lab/perf.js'
import { BenchError } from '../../src/lib/errors.js'
import { findTool } from '../../src/tools/find.js'
import { perfTool, straceTool, valgrindTool } from '../../src/tools/profilers.js'
import { makeFolder } from '../fakes/scratch.js'
import { expectNothingLeft } from './leftovers.js'
import { need } from './real-tools.js'

const folder = makeFolder('lab-test')
const valgrind = await findTool(valgrindTool)
const perf = await findTool(perfTool)
const strace = await findTool(straceTool)

/** A copy of the kit's scripts that serialises the headers of each request. */
function writeDearer() {
  const dearer = path.join(folder, 'dearer')
  cpSync('pipy-scripts', dearer, { recursive: true })
  const file = path.join(dearer, 'proxy.js')
  const text = readFileSync(file, 'utf8')
  const filter = '.handleMessageStart(start => (JSON.stringify(start.head.headers), undefined))'
  const changed = text.replace('.to(way)', () => `.to($=>$${filter}.pipe(way))`)
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
  return dearer
}

// Beside two other files they take up to four times as long as alone.
describe('lab, with the real valgrind', { timeout: 480_000 }, () => {
  it('counts what a change costs, names where it goes, and ends with status 5 where it is too much', async context => {
    need(context, 'pipy')
    if ('missing' in valgrind) return context.skip('needs valgrind, which cannot be had here')
    const out = path.join(folder, 'out')
    const argv = ['lab', writeDearer(), '--link', 'pair', '--requests', '100', '--json', '--out', out]
    const threshold = ['--threshold', 'new/old instructions <= 1.01']
    const child = execa('node', ['src/cli.js', ...argv, ...threshold], { reject: false })
    const { exitCode, stdout, stderr } = await child
    expect(exitCode, stderr).toBe(5)
    expect(stderr).not.toContain('Warning')
    expect(stderr).toContain("--threshold 'new/old instructions <= 1.01' is crossed by client of pair")
    /** @type {Pick<import('../../src/lab/text.js').LabResults, 'rows' | 'breakdowns'>} */
    const { rows, breakdowns } = JSON.parse(stdout)
    const ofKernel = ['calls', 'wakeUps', 'bytes']
    const quantities = ['instructions', 'handshake', ...('missing' in strace ? [] : ofKernel)]
    expect(rows.map(({ service, quantity }) => `${service} ${quantity}`)).toEqual(
      ['client', 'server'].flatMap(service => quantities.map(quantity => `${service} ${quantity}`)),
    )
    for (const { service, quantity, old, new: changed, ratio, spread } of rows) {
      // The change makes no system call. Requests that come together or apart change how often the event loop waits.
      if (ofKernel.includes(quantity)) {
        const most = quantity === 'bytes' ? 0.1 * old : 2
        expect(Math.abs(changed - old), `${service} ${quantity}`).toBeLessThan(most)
        continue
      }
      expect(spread, `${service} ${quantity}`).toBeLessThan(0.02)
      if (quantity === 'instructions') expect(ratio).toBeGreaterThan(1.05)
      else expect(Math.abs(ratio - 1)).toBeLessThan(0.02)
    }
    const script = breakdowns[0].groups.find(({ name }) => name === 'script interpreter')
    expect(Number(script?.new)).toBeGreaterThan(1.05 * Number(script?.old))
    expect(readFileSync(path.join(out, 'lab.html'), 'utf8')).toContain('demuxHTTP')
    expectNothingLeft(child.pid)
  })

  it('counts sidecars with features, of which both sides must do the work', async context => {
    need(context, 'pipy')
    if ('missing' in valgrind) return context.skip('needs valgrind, which cannot be had here')
    const silent = path.join(folder, 'silent')
    cpSync('pipy-scripts', silent, { recursive: true })
    writeFileSync(path.join(silent, 'access-log.js'), 'export function wrap(next) {\n  return next\n}\n')
    const argv = ['src/cli.js', 'lab', 'pipy-scripts', '--against', silent, '--features', 'access-log']
    const refused = await execa('node', argv, { reject: false })
    expect(refused.stderr).toMatch(/silent does not do the work of a sidecar/)
    expect(refused.exitCode).toBe(1)
    const short = ['--link', 'pair', '--requests', '100', '--no-parity', '--json']
    const { rows, notes } = JSON.parse((await execa('node', [...argv, ...short])).stdout)
    expect(notes[0]).toBe('sidecars with access-log')
    const counted = rows.filter((/** @type {any} */ { quantity }) => quantity === 'instructions')
    for (const { ratio } of counted) expect(ratio).toBeGreaterThan(1.2)
    expect(counted).toHaveLength(2)
  })
})

describe('lab, of the scripts of a mesh', { timeout: 120_000 }, () => {
  it("counts them beside the kit's, both redirected", async context => {
    need(context, 'pipy')
    if ('missing' in valgrind) return context.skip('needs valgrind, which cannot be had here')
    if (process.getuid?.() !== 0) return context.skip('needs root, to make network namespaces')
    if (!process.env.FSM) return context.skip('needs FSM, which names the scripts of a mesh')
    const argv = ['lab', process.env.FSM, '--no-parity', '--link', 'pair', '--requests', '100', '--json']
    const child = execa('node', ['src/cli.js', ...argv], { reject: false })
    const { exitCode, stdout, stderr } = await child
    expect(exitCode, stderr).toBe(0)
    /** @type {Pick<import('../../src/lab/text.js').LabResults, 'rows' | 'breakdowns'>} */
    const { rows, breakdowns } = JSON.parse(stdout)
    const counted = rows.filter(({ quantity }) => quantity === 'instructions')
    expect(counted.map(({ service }) => service)).toEqual(['client', 'server'])
    for (const { ratio } of counted) expect(ratio).toBeGreaterThan(1.5)
    expect(breakdowns[0].filters.some(({ name, old }) => name === 'replay' && old === 0)).toBe(true)
    expectNothingLeft(child.pid)
  })
})

const SERVES = '.demuxHTTP({ bufferSize }).to(way)'
/** Counts requests in a script, and does something at the 101st. @param {string} what */
const atRequest101 = what => ({
  'proxy.js': (/** @type {string} */ text) =>
    text
      .replace('export function createProxy', 'var requests = 0\nexport function createProxy')
      .replace('.to(way)', `.to($=>$.handleMessageStart(() => { if (++requests > 100) ${what} }).pipe(way))`),
})

/** Changes to the kit's scripts that break them, and what is said of each. @type {[string, Record<string, (text: string) => string>, RegExp[]][]} */
const BROKEN = [
  [
    'a syntax error',
    { 'proxy.js': text => text.replace(SERVES, '.demuxHTTP((') },
    [/did not start: it ended with status 255/, /proxy\.js/],
  ],
  [
    'an identifier that is not there',
    { 'router.js': () => 'export var createRouter = nowhere.there' },
    [/did not start: it ended with status/, /unresolved identifier/],
  ],
  [
    'a port of its own',
    {
      'listen.js': text =>
        text.replace(/pipy\.listen\([^,]+, socketOptions/, "pipy.listen('0.0.0.0:18099', socketOptions"),
    },
    [/-sidecar listens at 0\.0\.0\.0:18099, and not at 127\.\S+:150/],
  ],
  [
    'an answer of 500',
    {
      'proxy.js': text => text.replace('.to(way)', ".to($=>$.replaceMessage(new Message({ status: 500 }, 'broken')))"),
    },
    [/was answered 500 "broken", not by the application/],
  ],
  [
    'an exception at the 101st request',
    atRequest101("throw new Error('more than 100')"),
    [/request \d+ of \d+ to \S+ failed: socket hang up/, /client's sidecar logged:.*more than 100/s],
  ],
  ['an exit at the 101st request', atRequest101('pipy.exit(3)'), [/sidecar died in the window with status 3/]],
  [
    'an endless loop at the 101st request',
    atRequest101('{ for (var i = 0; i < 1; i = 0) { requests++ } }'),
    [
      /request \d+ of \d+ to \S+ failed: no answer within 1 s; client's sidecar still uses \d+ % of a CPU: does it hang in a loop\?/,
    ],
  ],
]

describe('lab, of scripts that are broken', () => {
  it.for(BROKEN)('says within seconds why, without a count: %s', async ([name, changes, reasons], context) => {
    need(context, 'pipy')
    if ('missing' in valgrind) return context.skip('needs valgrind, which cannot be had here')
    const broken = path.join(folder, `broken by ${name}`)
    cpSync('pipy-scripts', broken, { recursive: true })
    for (const [file, change] of Object.entries(changes)) {
      const text = readFileSync(path.join(broken, file), 'utf8')
      const changed = change(text)
      expect(changed).not.toBe(text)
      writeFileSync(path.join(broken, file), changed)
    }
    const argv = ['src/cli.js', 'lab', broken, '--link', 'pair', '--no-parity', '--requests', '200']
    const child = execa('node', argv, { reject: false })
    const { exitCode, stderr } = await child
    expect(exitCode).toBe(1)
    for (const reason of reasons) expect(stderr).toMatch(reason)
    expect(stderr).not.toContain('counting')
    expectNothingLeft(child.pid)
  })
})

describe('samples, with the real perf', () => {
  it('that the kernel refuses are refused before anything starts', async context => {
    need(context, 'pipy', 'k6')
    const program = path.join(folder, 'perf')
    const refuse = '[ "$1" = --version ] && echo "perf version 6.1.0" && exit; echo "No permission" >&2; exit 255'
    writeFileSync(program, `#!/bin/sh\n${refuse}\n`, { mode: 0o755 })
    const child = execa('node', ['src/cli.js', 'lab', '--profile'], { reject: false, env: { PERF: program } })
    const { exitCode, stderr } = await child
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/error: perf cannot sample the sidecars: No permission \(.*perf_event_paranoid/)
    expectNothingLeft(child.pid)
  })

  it('are as many of a busy process as it used of the time', async context => {
    if ('missing' in perf) return context.skip('needs perf, which cannot be had here')
    const busy = execa('node', ['-e', 'for (;;) JSON.stringify({})'], { reject: false })
    try {
      const { signal } = context
      const options = { perf, pids: [Number(busy.pid)], seconds: 2, file: path.join(folder, 'perf.data'), signal }
      const { profiles } = await samplePids(options)
      const { total, stacks } = /** @type {import('../../src/lab/profile.js').Profile} */ (
        profiles.get(Number(busy.pid))
      )
      // Other work takes some of two seconds at 499 a second, and other threads of Node may take a little more.
      expect(total).toBeGreaterThan(100)
      expect(total).toBeLessThan(1500)
      expect(stacks.reduce((sum, { self }) => sum + self, 0)).toBe(total)
      expect(stacks.every(({ frames }) => frames.length > 0)).toBe(true)
    } catch (error) {
      if (!(error instanceof BenchError) || !error.message.startsWith('perf cannot sample')) throw error
      context.skip(error.message)
    } finally {
      busy.kill('SIGKILL')
      await busy
    }
  })
})
