import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { capWay, need, tools } from '../integration/real-tools.js'
import { cleanUp, folder, PHASES, readRecords, runWithFault } from './faulty-run.js'
import { count, printTable } from './table.js'

/**
 * Faults at every phase of a run, with the real tools. FAULTS=all injects each signal in each phase, and each fault of a
 * process in each role; else each phase, signal and fault are met once.
 * @import { Fate, Phase, Running } from './faulty-run.js'
 */

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGKILL: 137, SIGQUIT: 131, SIGUSR2: 140 }
const SIGNALS = /** @type {(keyof typeof STATUS)[]} */ (Object.keys(STATUS))
const isWhole = process.env.FAULTS === 'all'
// After the last trial a run is short: it may have ended before the signal came.
const LATE = ['summarise', 'report', 'teardown']
const pause = (/** @type {number} */ ms) => new Promise(resolve => setTimeout(resolve, ms))

beforeEach(context => need(context, 'pipy', 'k6', 'caps'))
afterAll(() => {
  printTable()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * Removes a folder at once, while a run writes to it: rmSync fails where a file comes after it has listed the folder.
 * @param {string} dir
 */
function removeAtOnce(dir) {
  renameSync(dir, `${dir}.removed`)
  rmSync(`${dir}.removed`, { recursive: true })
}

let pipys = 0

/** A Pipy that does something else first. @param {string} name @param {string} first a command of bash */
function createPipy(name, first) {
  // bash reads a script while it runs it: another test does not write to the same.
  const file = path.join(folder, `${name}-${++pipys}`)
  writeFileSync(file, `#!/bin/bash\n${first}\nexec ${tools.pipy?.path} "$@"\n`, { mode: 0o755 })
  return { PIPY: file }
}

/** It takes its time to say its version, ignores SIGTERM, and has a child. */
const createSlowPipy = () => createPipy('slow-pipy', `trap '' TERM\n[ "$1" = --version ] && sleep 8`)

/** The kit gets a signal. @param {NodeJS.Signals} signal */
function send(signal) {
  return (/** @type {Running} */ { ownerPid }) => process.kill(ownerPid(), signal)
}

/** The kit is started from bash. @param {string} script that runs "$@" */
function inBash(script) {
  return (/** @type {string[]} */ command) => ['bash', '-c', script, 'bash', ...command]
}

/** @param {Fate} fate @param {{ fault: string, phase: string, statuses: number[], isKilled?: boolean, losesAll?: boolean }} expected */
async function judge(fate, { fault, phase, statuses, isKilled = false, losesAll = false }) {
  const stay = isKilled ? await cleanUp(fate.leftovers) : fate.leftovers
  const isReadable = fate.verified === undefined || fate.verified === 0
  const hasSurvived = statuses.includes(/** @type {number} */ (fate.exitCode)) && isReadable
  count({ fault, phase, hasSurvived, lost: fate.lost, leftovers: stay.length })
  // What a person removes is lost; nothing else is.
  if (!losesAll) expect(fate.lost, 'recorded trials').toBe(0)
  expect(statuses, `${fate.stdout}\n${fate.stderr}`).toContain(fate.exitCode)
  expect(fate.stderr).not.toMatch(/\n {4}at /)
  if (fate.verified !== undefined) expect(fate.verified, 'of verify').toBe(0)
  expect(stay).toEqual([])
}

const CHOSEN = PHASES.flatMap((phase, i) =>
  SIGNALS.filter((_, j) => isWhole || i % SIGNALS.length === j).map(signal => ({ phase, signal })),
)

/** @param {typeof CHOSEN[number]} chosen */
async function trySignal({ phase, signal }) {
  const fate = await runWithFault({
    phase,
    env: phase === 'tools' ? createSlowPipy() : {},
    async inject(run) {
      if (phase === 'tools') await pause(1500)
      send(signal)(run)
    },
  })
  const statuses = [STATUS[signal], ...(LATE.includes(phase) ? [0] : [])]
  await judge(fate, { fault: signal, phase, statuses, isKilled: signal === 'SIGKILL' })
}

describe.concurrent('a signal to the kit', { timeout: 150_000 }, () => {
  it.each(CHOSEN.filter(({ signal }) => signal !== 'SIGKILL'))('$signal in the phase $phase', trySignal)

  it('SIGHUP while the report is written', async () => {
    const fate = await runWithFault({ phase: 'report', inject: send('SIGHUP') })
    expect(fate.stderr.match(/^results: /gm)).toHaveLength(1)
    await judge(fate, { fault: 'SIGHUP', phase: 'report', statuses: [129] })
  })

  it('a Ctrl-C at the terminal, which its whole process group gets', async () => {
    const fate = await runWithFault({
      phase: 'tools',
      env: createSlowPipy(),
      async inject({ pid }) {
        await pause(1500)
        process.kill(-pid, 'SIGINT')
      },
    })
    await judge(fate, { fault: 'SIGINT to the group', phase: 'tools', statuses: [130] })
  })
})

/** What is done to the processes of a role in the window of the first trial, and what its record then says. */
const PROCESS_FAULTS = /** @type {const} */ ([
  ['sidecar', 'SIGKILL', /ratings's sidecar died .*SIGKILL/, false],
  ['application', 'SIGKILL', /ratings's application died .*SIGKILL/, false],
  ['generator', 'SIGKILL', /k6's generator died .*SIGKILL/, true],
  ['sidecar', 'SIGSTOP', /ratings's sidecar came to a stop/, true],
  ['application', 'SIGSTOP', /ratings's application came to a stop/, false],
  ['generator', 'SIGSTOP', /k6's generator came to a stop/, false],
  ['sidecar', 'out of memory', /ratings's sidecar died .*memory/, true],
  ['application', 'out of memory', /ratings's application died .*memory/, false],
  ['generator', 'out of memory', /k6's generator died .*memory/, false],
])

describe.concurrent('a process of the run', { timeout: 150_000 }, () => {
  it.each(PROCESS_FAULTS.filter(([, , , isChosen]) => isWhole || isChosen))('%s: %s', async (role, fault, reason) => {
    const fate = await runWithFault({
      phase: 'window',
      inject({ processes, runId }) {
        if (fault === 'out of memory') return takeMemory(`${runId()}`, role)
        for (const pid of processes(new RegExp(`-${role}$`))) process.kill(pid, fault)
      },
    })
    const [first, second] = fate.records
    expect(first.outcome).not.toBe('completed')
    expect(first.reasons.join('; ')).toMatch(reason)
    expect(second.outcome).toBe('completed')
    await judge(fate, { fault: `${fault} of the ${role}`, phase: 'window', statuses: [0, 3] })
  })
})

describe.concurrent('a sidecar of the check for equal work', { timeout: 150_000 }, () => {
  it('that is killed: the headline says so', async () => {
    const fate = await runWithFault({
      phase: 'parity',
      async inject({ processes, child }) {
        const client = /^client-sidecar$/
        while (processes(client).length === 0 && child.exitCode === null) await pause(2)
        for (const pid of processes(client)) process.kill(pid, 'SIGKILL')
      },
    })
    expect(fate.stdout).toContain('UNEQUAL WORK')
    await judge(fate, { fault: 'SIGKILL of the client of parity', phase: 'parity', statuses: [0, 3] })
  })
})

describe.concurrent('a sidecar that floods its log', { timeout: 150_000 }, () => {
  it('has its log cut, and the run prints so', async () => {
    const flood = `while :; do head -c 2M /dev/zero | tr '\\0' x; sleep 0.05; done >&2 &`
    const env = createPipy('flooding-pipy', `[ "$1" = --version ] || ${flood}`)
    const fate = await runWithFault({ phase: 'tools', env })
    expect(fate.stderr).toMatch(/the log of \S+ sidecar is over 32\.0 MiB: only its end is kept/)
    const files = readdirSync(fate.out, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    const sizes = files.map(({ parentPath, name }) => statSync(path.join(parentPath, name)).size)
    expect(Math.max(...sizes)).toBeLessThan(40 * 2 ** 20)
    await judge(fate, { fault: 'a flooded log', phase: 'all', statuses: [0, 3] })
  })
})

/**
 * Has the kernel kill a role for memory: the limit of its cgroup leaves room for less than what another process, which
 * the kernel must not kill, then takes in it.
 * @param {string} runId @param {string} role
 */
function takeMemory(runId, role) {
  if (capWay.how !== 'v1' && capWay.how !== 'v2') throw new Error('no cgroups')
  const base = path.join(capWay.parents.memory, `sidecar-bench.${runId}`)
  const [name] = readdirSync(base).filter(entry => entry.endsWith(`-${role}`))
  const [limit, usage] =
    capWay.how === 'v1' ? ['memory.limit_in_bytes', 'memory.usage_in_bytes'] : ['memory.max', 'memory.current']
  const group = path.join(base, name)
  const used = Number(readFileSync(path.join(group, usage), 'utf8'))
  writeFileSync(path.join(group, limit), `${used + 4 * 1024 ** 2}`)
  // tail keeps a line in memory until it ends.
  const hog = `echo -1000 >/proc/self/oom_score_adj; echo $$ >${group}/cgroup.procs; head -c 12M /dev/zero | tail`
  execa('bash', ['-c', hog], { reject: false, timeout: 5000 })
}

describe.concurrent('what the run stands on', { timeout: 150_000 }, () => {
  it.each([
    ['raw', 'window'],
    ['', 'between rounds'],
  ])('its folder %s removed under it', async (name, phase) => {
    const fate = await runWithFault({
      phase: /** @type {Phase} */ (phase),
      inject: ({ out }) => removeAtOnce(path.join(out, name)),
    })
    await judge(fate, { fault: `results/${name} removed`, phase, statuses: [0, 1, 3], losesAll: name === '' })
  })

  it.each([
    ['few file descriptors', 'ulimit -n 256', /256 open files are too few, the kit needs 512: ulimit -n 1024/],
    ['a small file-size limit', 'ulimit -f 8', /cannot write .*: it is larger than this process may write/],
  ])('%s', async (fault, limit, words) => {
    const fate = await runWithFault({ phase: 'tools', wrap: inBash(`${limit}; exec "$@"`) })
    expect(fate.stderr).toMatch(words)
    await judge(fate, { fault, phase: 'all', statuses: [1] })
  })

  it('600 connections to its page, and 512 file descriptors', async () => {
    const port = 20_000 + (process.pid % 10_000)
    /** @type {net.Socket[]} */
    const sockets = []
    const fate = await runWithFault({
      phase: 'warm-up',
      argv: ['--live', `:${port}`],
      wrap: inBash('ulimit -n 512; exec "$@"'),
      async inject() {
        for (let i = 0; i < 600; i++) sockets.push(net.connect(port, '127.0.0.1').on('error', () => {}))
        for (const socket of sockets) socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
      },
    })
    for (const socket of sockets) socket.destroy()
    expect(fate.stderr).not.toContain('EMFILE')
    expect(fate.records.map(({ outcome }) => outcome)).toEqual(['completed', 'completed'])
    await judge(fate, { fault: '600 connections to the page', phase: 'warm-up', statuses: [0, 3] })
  })

  it('a stdout on a full disk', async () => {
    const fate = await runWithFault({ phase: 'tools', wrap: inBash('exec "$@" >/dev/full') })
    expect(fate.stderr).toContain('the output cannot be written')
    expect(fate.records).toHaveLength(2)
    await judge(fate, { fault: 'stdout on a full disk', phase: 'all', statuses: [1] })
  })

  it.each([
    ['back', -3600],
    ['forward', 3600],
  ])('a clock that is set %s by an hour, and right again', async (way, seconds) => {
    const isSet = path.join(folder, `clock-${way}`)
    const source = `import { existsSync } from 'node:fs'
      const now = Date.now
      Date.now = () => now() + (existsSync(${JSON.stringify(isSet)}) ? ${Number(seconds) * 1000} : 0)`
    const fate = await runWithFault({
      phase: 'window',
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` },
      async inject() {
        writeFileSync(isSet, '')
        await pause(500)
        rmSync(isSet)
      },
    })
    const [first, second] = fate.records
    expect(first.outcome).toBe('failed')
    expect(first.reasons[0]).toContain(`the clock of this machine was set ${way} by 3600`)
    expect(second.outcome).toBe('completed')
    await judge(fate, { fault: `clock set ${way}`, phase: 'window', statuses: [0, 3] })
  })

  it('a machine that is suspended for 5 s', async () => {
    const fate = await runWithFault({
      phase: 'window',
      async inject({ ownerPid, processes }) {
        const pids = [ownerPid(), ...processes(/./)]
        for (const pid of pids) process.kill(pid, 'SIGSTOP')
        await pause(5000)
        for (const pid of pids.reverse()) process.kill(pid, 'SIGCONT')
      },
    })
    const [first, second] = fate.records
    expect(first.outcome).not.toBe('completed')
    expect(second.outcome).toBe('completed')
    await judge(fate, { fault: 'suspended for 5 s', phase: 'window', statuses: [0, 3] })
  })
})

// These touch the whole machine, or leave what any other run would clean up: nothing runs beside them.
describe('a kit that is killed', { timeout: 150_000 }, () => {
  it.each(CHOSEN.filter(({ signal }) => signal === 'SIGKILL'))('$signal in the phase $phase', trySignal)

  it('a second Ctrl-C ends it at once', async () => {
    const fate = await runWithFault({
      phase: 'window',
      async inject({ ownerPid, processes }) {
        const pid = ownerPid()
        // What does not end keeps the teardown waiting.
        for (const k6 of processes(/k6/)) process.kill(k6, 'SIGSTOP')
        process.kill(pid, 'SIGINT')
        await pause(1100)
        try {
          process.kill(pid, 'SIGINT')
        } catch {
          // The teardown was quicker.
        }
      },
    })
    await judge(fate, { fault: 'SIGINT twice', phase: 'window', statuses: [130], isKilled: true })
  })

  it('a run that follows cleans up after one that was killed', async () => {
    const killed = await runWithFault({ phase: 'window', inject: send('SIGKILL') })
    expect(killed.leftovers.length).toBeGreaterThan(2)
    const next = await runWithFault({ phase: 'tools' })
    expect(next.stderr).toMatch(/removed what a killed run left: process \d+/)
    expect(next.exitCode).toBe(0)
    expect(await cleanUp(killed.leftovers)).toEqual([])
    count({ fault: 'SIGKILL, then another run', phase: 'window', hasSurvived: true, lost: killed.lost, leftovers: 0 })
  })

  it('a run that was killed is resumed', async () => {
    const killed = await runWithFault({ phase: 'between rounds', inject: send('SIGKILL') })
    await cleanUp(killed.leftovers)
    appendFileSync(path.join(killed.out, 'trials.jsonl'), '{"schemaVersion":4,"tri')
    const { exitCode, stderr } = await execa('node', ['src/cli.js', 'bench', '--resume', killed.out], { reject: false })
    expect(exitCode, stderr).toBe(0)
    expect(stderr).toContain('1 trials are recorded in')
    expect(readRecords(killed.out).filter(({ trial }) => trial.repeats === null)).toHaveLength(2)
    expect((await execa('node', ['src/cli.js', 'verify', killed.out], { reject: false })).exitCode).toBe(0)
    const outcome = { hasSurvived: true, lost: killed.lost, leftovers: 0 }
    count({ fault: 'SIGKILL, then --resume', phase: 'between rounds', ...outcome })
  })
})

describe('a disk or a port', { timeout: 150_000 }, () => {
  /** @param {import('vitest').TestContext} context @param {string} size */
  async function mountDisk(context, size) {
    if (process.getuid?.() !== 0) context.skip('needs root, to mount a small disk')
    // A second try has another.
    const disk = mkdtempSync(path.join(folder, `disk-${size}-`))
    await execa('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk])
    return disk
  }

  it('a disk that is full', async context => {
    const disk = await mountDisk(context, '2m')
    try {
      const fate = await runWithFault({
        phase: 'between rounds',
        out: path.join(disk, 'run'),
        inject: () => execa('dd', ['if=/dev/zero', `of=${disk}/filler`, 'bs=4k'], { reject: false }),
      })
      expect(fate.stderr).toMatch(/cannot write .*: the disk is full; what was recorded before is kept/)
      expect(fate.records.length).toBeGreaterThanOrEqual(1)
      await judge(fate, { fault: 'full disk', phase: 'between rounds', statuses: [1] })
    } finally {
      await execa('umount', [disk])
    }
  })

  it('results that become read-only', async context => {
    const disk = await mountDisk(context, '20m')
    const view = `${disk}-read-only`
    try {
      const fate = await runWithFault({
        phase: 'between rounds',
        out: path.join(disk, 'run'),
        // The kernel lets no mount become read-only while a file on it is open: one that is read-only is mounted over it.
        async inject() {
          mkdirSync(view)
          await execa('mount', ['--bind', disk, view])
          await execa('mount', ['-o', 'remount,bind,ro', view])
          await execa('mount', ['--bind', view, disk])
          await execa('umount', [view])
        },
      })
      expect(fate.stderr).toMatch(/cannot write .*|read-only/)
      await judge(fate, { fault: 'read-only results', phase: 'between rounds', statuses: [1] })
    } finally {
      for (let i = 0; i < 2; i++) await execa('umount', ['-l', disk], { reject: false })
      expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(disk)
    }
  })

  it('a port that another process takes', async () => {
    const server = net.createServer()
    const fate = await runWithFault({
      phase: 'between rounds',
      inject: () =>
        new Promise((resolve, reject) => server.listen(15003, '0.0.0.0', () => resolve(null)).on('error', reject)),
    })
    server.close()
    expect(fate.stderr + fate.records.map(r => r.reasons.join()).join()).toMatch(/15003/)
    await judge(fate, { fault: 'a port taken', phase: 'between rounds', statuses: [0, 1, 3] })
  })
})
