import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { waitForCondition } from '../../src/lib/wait.js'
import { listArms } from '../../src/model/results.js'
import { readProcFile } from '../../src/node/kernel/proc-files.js'
import { readRun } from '../../src/records/records.js'
import { listMarkedProcesses } from '../../src/targets/local/marks.js'
import { makeFolder } from '../fakes/scratch.js'
import { awaitPids, endChild, expectNothingLeft, pidsOf } from './leftovers.js'
import { need } from './real-tools.js'

const folder = makeFolder('bench-test')
// The shortest run that has a sidecar.
const ONE_SIDECAR = ['--cpu', '0.5', '--link', 'ratings', '--users', '5']
let count = 0

/**
 * Starts the command line with a results folder of its own, until the test ends.
 * @param {import('vitest').TestContext} context @param {string[]} argv
 */
function start({ onTestFinished }, argv) {
  const out = path.join(folder, `run-${++count}`)
  const common = ['--measure', 'capacity', '--profile', 'smoke', '--out', out]
  const child = execa('node', ['src/cli.js', 'bench', ...common, ...argv], {
    reject: false,
    // Stopping in order may take longer than a busy machine's five seconds.
    forceKillAfterDelay: 30_000,
  })
  onTestFinished(() => endChild(child))
  return { out, child }
}

/** @param {string} out */
const recordsOf = out => readRun(out).records

describe('a capped run', { timeout: 180_000 }, () => {
  it('measures latency at an equal rate, and holds thresholds to their exit status', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const conditions = ['pipy/envoy rss <= 0.9', 'envoy/pipy cpuPerRequest@ratings <= 0.01']
    const thresholds = conditions.flatMap(condition => ['--threshold', condition])
    const argv = ['--cpu', '0.5', '--rate', '100', '--link', 'ratings', '--users', '10', ...thresholds]
    const { out, child } = start(context, argv)
    const { stdout, stderr, exitCode } = await child
    const summary = JSON.parse(readFileSync(`${out}/summary.json`, 'utf8'))
    for (const arm of listArms(summary)) {
      expect(arm.load).toMatchObject({ kind: 'open', users: 10, ratePerSecond: 100 })
    }
    for (const { load, window } of recordsOf(out)) {
      expect(Number(load?.verified) / Number(window?.seconds)).toBeGreaterThan(98)
      expect(Number(load?.verified) / Number(window?.seconds)).toBeLessThan(102)
    }
    expect(summary.thresholds).toMatchObject([{ held: true }, { held: false }])
    expect(stdout).toContain('Threshold pipy/envoy rss <= 0.9: met, ')
    expect(stderr).toContain('the threshold envoy/pipy cpuPerRequest@ratings <= 0.01 was crossed')
    expect(exitCode).toBe(5)
  })

  it.concurrent('runs every link, with an application on Node too', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { out, child } = start(
      context,
      '--cpu 0.5 --planes none,pipy --link ratings,pair --users 5 --app node'.split(' '),
    )
    const { stdout, exitCode } = await child
    expect(exitCode).toBe(0)
    expect(new Set(recordsOf(out).map(r => r.trial.arm.id))).toEqual(
      new Set(['ratings-none', 'ratings-pipy-0.5', 'pair-none', 'pair-pipy-0.5']),
    )
    expect(stdout).toContain('ratings and pair: 1 to 2 sidecars, plaintext, mTLS')
  })

  it.concurrent('runs without a cap, with workers for every CPU', async context => {
    need(context, 'pipy', 'envoy', 'k6')
    const { out, child } = start(context, [
      '--cpu',
      'none',
      '--planes',
      'pipy,envoy',
      '--link',
      'ratings',
      '--users',
      '5',
    ])
    expect((await child).exitCode).toBe(0)
    for (const { processes } of recordsOf(out)) {
      expect(processes.find(p => p.role === 'sidecar')).toMatchObject({
        cpuLimitCores: null,
        workers: os.availableParallelism(),
      })
    }
  })

  it.concurrent('carries calls of gRPC at a rate, through an application that forwards them', async context => {
    need(context, 'nginx', 'k6')
    // nginx refuses a call with a host beside another authority.
    const { out, child } = start(context, '--cpu none --rate 50 --protocol grpc --planes nginx'.split(' '))
    const { stderr } = await child
    const records = recordsOf(out)
    expect(records, stderr).toMatchObject([{ outcome: 'completed', load: { failed: 0 } }])
    expect(Number(records[0].load?.verified)).toBeGreaterThan(0)
  })

  it.concurrent('runs Envoy as OSM 1.1 did', async context => {
    need(context, 'envoy', 'k6', 'caps')
    const { out, child } = start(context, ['--cpu', '0.5', '--planes', 'envoy:osm-1.1', '--users', '5'])
    expect((await child).exitCode).toBe(0)
    expect(recordsOf(out)[0].processes.find(p => p.role === 'sidecar')?.workers).toBe(os.availableParallelism())
  })

  it.concurrent('runs a variant of the Pipy sidecar beside the kit’s own', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const variant = path.join(folder, 'variant')
    cpSync('pipy-scripts', variant, { recursive: true })
    const { out, child } = start(context, [...ONE_SIDECAR, '--planes', `pipy,pipy=${variant}`, '--json'])
    expect(listArms(JSON.parse((await child).stdout)).map(arm => arm.variant)).toEqual([null, variant])
    expect(
      recordsOf(out)
        .find(r => r.trial.arm.variant)
        ?.processes.find(p => p.role === 'sidecar')
        ?.command.join(' '),
    ).toContain(`${variant}/main.js`)
  })
})

describe('when things go wrong', { timeout: 180_000 }, () => {
  it.concurrent('shows what Pipy says of a script that it refuses, with status 1', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const variant = path.join(folder, 'refused')
    mkdirSync(variant, { recursive: true })
    writeFileSync(path.join(variant, 'main.js'), 'var x = = 1\n')
    const { child } = start(context, ['--cpu', '0.5', '--planes', `pipy=${variant}`, '--link', 'ratings'])
    const { exitCode, stderr } = await child
    expect(stderr).toContain('did not start')
    expect(stderr).toContain('var x = = 1')
    expect(exitCode).toBe(1)
    expectNothingLeft()
  })

  it.concurrent('records a sidecar that dies under load as a failed trial, and goes on', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { out, child } = start(context, [...ONE_SIDECAR, '--planes', 'none,pipy', '--rounds', '2', '--seed', '1'])
    await awaitPids('k6-generator', out)
    const isLoaded = () => ['ratings-sidecar', 'k6-generator'].every(name => pidsOf(name, out).length > 0)
    await waitForCondition(isLoaded, { what: 'a sidecar under load', deadlineSeconds: 90 })
    const [pid] = pidsOf('ratings-sidecar', out)
    await delay(500)
    process.kill(pid, 'SIGSEGV')
    expect((await child).exitCode).toBe(0)
    const outcomes = recordsOf(out).map(r => r.outcome)
    expect(outcomes.filter(o => o === 'failed')).toHaveLength(1)
    expect(outcomes.filter(o => o === 'completed').length).toBeGreaterThanOrEqual(3)
    expect(recordsOf(out).find(r => r.outcome === 'failed')?.reasons[0]).toMatch(
      /ratings's sidecar died (in the warm-up|in the window) with signal SIG(SEGV|ABRT)/,
    )
    expectNothingLeft()
  })

  it.concurrent.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('stops in order on %s, keeps what was measured, and leaves nothing behind', async ([signal, status], context) => {
    need(context, 'pipy', 'k6', 'caps')
    const { out, child } = start(context, [...ONE_SIDECAR, '--planes', 'none,pipy', '--rounds', '3'])
    const isRecorded = () => readProcFile(`${out}/trials.jsonl`).includes('\n')
    await waitForCondition(isRecorded, { what: 'a trial', deadlineSeconds: 90 })
    child.kill(/** @type {NodeJS.Signals} */ (signal))
    const { exitCode, stdout, stderr } = await child
    expect(exitCode, stderr).toBe(status)
    expect(recordsOf(out).length).toBeGreaterThanOrEqual(1)
    expect(readdirSync(out)).toContain('summary.json')
    expect(stdout).toMatch(/Interrupted after \d of 3 repeats/)
    expect(readRun(out).manifest.ended).toBe('interrupted')
    expectNothingLeft()
  })

  it.concurrent('runs to its end after the reader of its output has gone', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const out = path.join(folder, 'unread')
    const argv = [
      'bench',
      '--measure',
      'capacity',
      '--profile',
      'smoke',
      '--out',
      out,
      '--planes',
      'pipy',
      ...ONE_SIDECAR,
    ]
    await execa(`node src/cli.js ${argv.join(' ')} 2>&1 | head -1`, { shell: true })
    expect(recordsOf(out)[0].outcome).toBe('completed')
    expectNothingLeft()
  })

  it('leaves a killed run to cleanup, which leaves a running one alone', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { out, child } = start(context, [...ONE_SIDECAR, '--planes', 'pipy'])
    await awaitPids('k6-generator', out)
    const spared = await execa('node', ['src/cli.js', 'cleanup'], { env: { TMPDIR: folder } })
    expect(spared.stdout).toMatch(
      new RegExp(`^left {4}run \\S+: it goes on in process ${child.pid}: kill ${child.pid} ends it$`, 'm'),
    )
    expect(pidsOf('k6-generator', out)).toHaveLength(1)
    child.kill('SIGKILL')
    await child
    expect(listMarkedProcesses().filter(({ runId }) => runId.includes(`-${child.pid}-`))).not.toEqual([])
    const { stdout } = await execa('node', ['src/cli.js', 'cleanup'])
    expect(stdout).toMatch(/removed process \d+ of run/)
    expect(stdout).toMatch(/removed folder/)
    expectNothingLeft()
  })

  it('retains the last trial, says what, and cleanup removes it', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { out, child } = start(context, [...ONE_SIDECAR, '--planes', 'pipy', '--retain'])
    const { stderr } = await child
    expect(stderr).toMatch(/retained: ratings's application, ratings's sidecar.*remove them with: npm run cleanup/)
    expect(pidsOf('ratings-sidecar', out)).toHaveLength(1)
    const kept = await execa('node', ['src/cli.js', 'cleanup'])
    const { id } = readRun(out).manifest.run
    expect(kept.stdout).toMatch(
      new RegExp(`^left {4}run ${id}: it was retained: npm run cleanup -- ${id} removes it`, 'm'),
    )
    expect(pidsOf('ratings-sidecar', out)).toHaveLength(1)
    await execa('node', ['src/cli.js', 'cleanup', out])
    expectNothingLeft()
  })

  it('names who holds a port that is taken, with status 1', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const holder = execa(
      'python3',
      [
        '-c',
        'import socket,time\ns=socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("0.0.0.0",15003)); s.listen(); print("up",flush=True); time.sleep(30)',
      ],
      { reject: false },
    )
    await Promise.race([holder, new Promise(resolve => holder.stdout?.once('data', resolve))])
    const { exitCode, stderr } = await start(context, [
      '--cpu',
      '0.5',
      '--planes',
      'pipy',
      '--link',
      'ratings',
      '--recheck',
    ]).child
    holder.kill('SIGKILL')
    expect(stderr).toMatch(/port 15003 is already taken: python3.* \(pid \d+\) listens on \*:15003/)
    expect(exitCode).toBe(1)
    expectNothingLeft()
  })

  it('says that the disk is full, and keeps what was recorded', async context => {
    need(context, 'pipy', 'k6', 'caps')
    if (process.getuid?.() !== 0) context.skip('needs root, to mount a small disk')
    const disk = path.join(folder, 'disk')
    mkdirSync(disk, { recursive: true })
    await execa('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', disk])
    try {
      const argv = [
        ...'src/cli.js bench --measure capacity --profile smoke --rounds 9'.split(' '),
        ...'--cpu 0.5 --planes pipy --link ratings --users 5'.split(' '),
      ]
      const { exitCode, stderr } = await execa('node', [...argv, '--out', path.join(disk, 'run')], { reject: false })
      expect(stderr).toContain('the disk is full; what was recorded before is kept')
      expect(exitCode).toBe(1)
      expect(recordsOf(path.join(disk, 'run')).length).toBeGreaterThanOrEqual(1)
      expectNothingLeft()
    } finally {
      await execa('umount', [disk])
    }
  })
})
