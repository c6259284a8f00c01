import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitForCondition } from '../../src/lib/wait.js'
import { readLedgers } from '../../src/node/ledger.js'
import { readRun } from '../../src/records/records.js'
import { need } from './real-tools.js'
import { findMissing, openTwoMachines } from './two-machines.js'

const missing = await findMissing()
/** @type {import('./two-machines.js').TwoMachines} */
let machines
beforeAll(async () => {
  if (missing.length === 0) machines = await openTwoMachines()
})
afterAll(() => machines?.close())

/** @param {import('vitest').TestContext} context @param {Parameters<typeof need>[1][]} names */
function needBoth(context, ...names) {
  if (missing.length > 0) context.skip(`needs ${missing.join(', ')}, which cannot be had here`)
  need(context, ...names)
}

const SHORT = 'bench --measure capacity --profile smoke --rounds 1 --planes pipy --link ratings --cpu 0.25'.split(' ')

/** Nothing of a run is on either machine. */
async function expectNothingAnywhere() {
  const list = () => [...machines.listHere(), ...machines.listThere()]
  // sshd's own end of a connection goes last.
  await waitForCondition(() => list().length === 0, { what: 'every process to end', deadlineSeconds: 5 }).catch(
    () => {},
  )
  expect(list()).toEqual([])
  expect(readdirSync(machines.temporary)).toEqual([])
  expect(readLedgers().filter(({ owner }) => owner?.command.join(' ').includes(machines.folder))).toEqual([])
}

/** Waits for a generator on the far machine. @param {RegExp} command */
async function awaitLoad(command) {
  const isThere = () => machines.listThere().some(process => command.test(process.command))
  await waitForCondition(isThere, { what: 'the load', deadlineSeconds: 60, intervalMs: 50 })
}

describe('--load-host', { timeout: 120_000 }, () => {
  it('makes the load on the other machine, and records what it used there', async context => {
    needBoth(context, 'pipy', 'k6', 'caps')
    const out = path.join(machines.folder, 'whole')
    const planes = SHORT.map(word => (word === 'pipy' ? 'none,pipy' : word))
    const { exitCode, stdout, stderr } = await machines.run([...planes, '--load-host', 'there', '--out', out])
    expect([0, 3], stderr).toContain(exitCode)
    expect(stdout).toContain('load from there')
    const { manifest, records } = readRun(out)
    expect(manifest.machine.loadHost).toMatchObject({ host: 'there', address: machines.address })
    expect(manifest.tools.k6.source).toMatch(/there$/)
    // An unsteady window is measured again.
    expect(new Set(records.map(r => r.trial.arm.plane))).toEqual(new Set(['none', 'pipy']))
    for (const record of records) {
      expect(record.outcome, record.reasons.join()).not.toBe('failed')
      expect(record.load?.verified).toBeGreaterThan(100)
      expect(record.load).toMatchObject({ failed: 0, corrupted: 0 })
      expect(record.placement?.generator ?? []).toEqual([])
      const generator = record.processes.find(p => p.role === 'generator')
      expect(generator?.command.join(' ')).toContain(`URLS=http://${machines.address}:`)
      expect(generator?.cpuCores).toBeGreaterThan(0.01)
      expect(generator?.cpuCores).toBeLessThan(record.generatorCpus)
      // Both have one clock: what was found of it is what is not known.
      expect(Math.abs(record.loadHost?.clockAheadMs ?? Number.NaN)).toBeLessThan(10)
      expect(record.samples?.missing).toBe(0)
    }
    expect((await machines.run(['verify', out])).exitCode).toBe(0)
    await expectNothingAnywhere()
  })

  it('ends both sides if the network is lost, fails no trial for it, and says how to go on', async context => {
    needBoth(context, 'pipy', 'k6', 'caps')
    const out = path.join(machines.folder, 'lost')
    const run = machines.run([...SHORT, '--load-host', 'there', '--out', out])
    await awaitLoad(/k6 run .*USERS=(?!1\b)/)
    machines.setWire('down')
    const { exitCode, stderr } = await run
    machines.setWire('up')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/the connection to there was lost.*npm run bench -- --resume goes on/)
    expect(readRun(out).records).toEqual([])
    // TCP tries again ever more rarely: an sshd may hear much later that nobody is there.
    for (const { pid } of machines.listThere().filter(({ command }) => command.startsWith('sshd: ')))
      process.kill(pid, 'SIGKILL')
    await expectNothingAnywhere()
  })
})

describe('doctor --load-host', { timeout: 60_000 }, () => {
  it('has each generator make a moment of load from there', async context => {
    needBoth(context, 'k6', 'wrk')
    const { stdout } = await machines.run(['doctor', '--load-host', 'there'])
    expect(stdout).toMatch(/^ok +there: \d+ CPUs/m)
    expect(stdout).toMatch(/^ok +its clock is \d+\.\d ms (ahead|behind) .*; a round trip takes \d+\.\d ms$/m)
    expect(stdout).toContain(`k6 on there reaches ${machines.address}, at 15003, 15001, 8080\n`)
    expect(stdout).toContain(`wrk on there reaches ${machines.address}, at 15003\n`)
    // It is needed there alone.
    expect(stdout.match(/^\w+ +k6 \d.*$/gm)).toEqual([expect.stringMatching(/there\)$/)])
    await expectNothingAnywhere()
  })

  it('says before a run why the machine or the address is refused, and what to do', async context => {
    needBoth(context, 'k6')
    const refusals = [
      {
        argv: ['there-changed'],
        words: /its host key is another than the one that ssh knows.*ssh-keygen -R/,
      },
      { argv: ['there-unknown'], words: /ssh does not know its host key.*accept it with: ssh there-unknown/ },
      { argv: ['there-without-key'], words: /accepts none of the keys.*ssh-copy-id there-without-key/ },
      {
        argv: ['there', '--address', machines.unreachable],
        words: /there cannot reach 10\.220\.0\.1:15003: .*firewall.*--address/,
      },
    ]
    const runs = await Promise.all(refusals.map(({ argv }) => machines.run(['doctor', '--load-host', ...argv])))
    for (const [i, { words }] of refusals.entries()) {
      expect(runs[i].stdout).toMatch(words)
      expect(runs[i].exitCode).toBe(1)
    }
    await expectNothingAnywhere()
  })

  it('ends both sides on Ctrl-C', async context => {
    needBoth(context, 'k6')
    const run = machines.run(['doctor', '--load-host', 'there'])
    await awaitLoad(/k6 run /)
    run.kill('SIGINT')
    expect((await run).exitCode).toBe(130)
    await expectNothingAnywhere()
  })

  it('ends both sides if sshd ends, and says so', async context => {
    needBoth(context, 'k6')
    const run = machines.run(['doctor', '--load-host', 'there'])
    await awaitLoad(/k6 run /)
    for (const { pid } of machines.listThere().filter(({ command }) => command.startsWith('sshd: ')))
      process.kill(pid, 'SIGKILL')
    const { exitCode, stdout } = await run
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/the connection to there was lost/)
    await expectNothingAnywhere()
  })
})
