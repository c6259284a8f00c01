import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { findDistrust, openLedger } from '../../../src/node/ledger.js'
import { cleanUpLocal, runCleanupSteps } from '../../../src/targets/local/cleanup.js'
import { renderMarks } from '../../../src/targets/local/marks.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @type {import('../../../src/targets/local/cgroups.js').CapWay} */
const way = { how: 'none', version: null, reason: 'a test' }
const RUN = `cleanup-test-${process.pid}`
let root = ''
beforeEach(() => {
  root = makeFolder('cleanup-test')
})

function startChild(marks = {}) {
  const child = spawn('sleep', ['60'], { env: { ...process.env, ...marks } })
  // The next test looks for processes of the same run.
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const end = ended(child)
    child.kill('SIGKILL')
    await end
  })
  return child
}

/** @param {{ isOwnerGone?: boolean, retain?: boolean }} [options] */
function leaveRun({ isOwnerGone = true, retain = false } = {}) {
  const ledger = openLedger({ runId: RUN, root })
  const child = startChild(renderMarks({ runId: RUN, start: '0', name: 'n' }))
  const keys = path.join(ledger.folder, 'certificates')
  mkdirSync(keys)
  if (retain) ledger.close({ retain })
  if (isOwnerGone) {
    const file = path.join(ledger.folder, 'owner.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), startTicks: 1 }))
  }
  return { ledger, child, keys }
}
const ended = (/** @type {import('node:child_process').ChildProcess} */ child) =>
  new Promise(resolve => child.once('exit', (_, signal) => resolve(signal)))
// Other runs of this machine have traces, too.
const ofThisRun = (/** @type {string[]} */ lines) => lines.filter(line => line.includes(RUN) || line.includes(root))

describe('cleanUpLocal', () => {
  it('removes the processes and keys of a run whose owner has gone', async () => {
    const { child, keys } = leaveRun()
    const end = ended(child)
    const { removed, failed } = await cleanUpLocal({ way, root, run: RUN })
    expect(removed).toEqual([`process ${child.pid} of run ${RUN}`, `folder ${path.dirname(keys)}`])
    expect(failed).toEqual([])
    expect(await end).toBe('SIGKILL')
    expect(existsSync(keys)).toBe(false)
  })

  it('says that others can read the keys of a killed run, what is there and how to go on, and touches nothing', async () => {
    const { keys } = leaveRun()
    writeFileSync(path.join(keys, 'key.pem'), 'key')
    chmodSync(root, 0o755)
    const { removed, failed } = await cleanUpLocal({ way, root })
    expect(ofThisRun(removed)).toEqual([])
    expect(failed).toEqual([
      `${root} has the mode 755, so other users can read it, and it is not trusted; it holds ${RUN} (2 files), with private keys: if nobody else has written in it, chmod 700 ${root}, and then npm run cleanup`,
    ])
    expect(() => openLedger({ runId: 'next', root })).toThrow(`chmod 700 ${root}`)
    chmodSync(root, 0o700)
    expect(ofThisRun((await cleanUpLocal({ way, root, run: RUN })).removed)).toHaveLength(2)
    expect(findDistrust(root)).toBe(null)
  })

  it('leaves a run whose owner lives, also when it is named', async () => {
    const { child } = leaveRun({ isOwnerGone: false })
    for (const run of [RUN, null]) {
      const { removed, left } = await cleanUpLocal({ way, root, run })
      expect(ofThisRun(removed)).toEqual([])
      expect(ofThisRun(left)).toEqual([`run ${RUN}: it goes on in process ${process.pid}: kill ${process.pid} ends it`])
    }
    expect(child.exitCode ?? child.signalCode).toBeNull()
  })

  it('leaves a run without a ledger until it is named', async () => {
    const { ledger, child } = leaveRun()
    rmSync(ledger.folder, { recursive: true })
    const { removed, left } = await cleanUpLocal({ way, root })
    expect(ofThisRun(removed)).toEqual([])
    expect(ofThisRun(left)[0]).toContain('this user has no ledger of it')
    const named = await cleanUpLocal({ way, root, run: RUN })
    expect(named.removed).toEqual([`process ${child.pid} of run ${RUN}`])
  })

  it('leaves what was retained until it is named, or all of it is requested', async () => {
    leaveRun({ retain: true })
    const { removed, left } = await cleanUpLocal({ way, root })
    expect(ofThisRun(removed)).toEqual([])
    expect(ofThisRun(left)[0]).toContain('it was retained')
    expect(ofThisRun((await cleanUpLocal({ way, root, includesRetained: true })).removed)).toHaveLength(2)
  })

  it('keeps the ledger of a run on a cluster until its namespace is gone', async () => {
    const { ledger } = leaveRun()
    ledger.hold('namespace', 'sidecar-bench-x')
    const { left } = await cleanUpLocal({ way, root, run: RUN })
    expect(left).toEqual([
      `namespace sidecar-bench-x of run ${RUN}: npm run cleanup -- --target kubernetes removes it (--context names the cluster); where that cluster is gone: npm run cleanup -- ${RUN} --cluster-gone`,
    ])
    expect(existsSync(ledger.folder)).toBe(true)
    await cleanUpLocal({ way, root, run: RUN, checkNamespaceGone: async () => true })
    expect(existsSync(ledger.folder)).toBe(false)
  })

  it('touches nothing that a ledger calls a cgroup and is none', async () => {
    const { ledger } = leaveRun()
    const bystander = startChild()
    const folder = path.join(root, 'tree', `sidecar-bench.${RUN}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'cgroup.procs'), `${bystander.pid}`)
    ledger.hold('cgroup', folder)
    await cleanUpLocal({ way, root, run: RUN })
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull()
    expect(existsSync(folder)).toBe(true)
  })

  it('believes no ledger that somebody else could have written', async () => {
    const { child } = leaveRun()
    chmodSync(root, 0o777)
    const { removed } = await cleanUpLocal({ way, root })
    expect(ofThisRun(removed)).toEqual([])
    expect(child.exitCode ?? child.signalCode).toBeNull()
  })
})

describe('runCleanupSteps', () => {
  it('goes on after a step that failed, and says which', async () => {
    const cleaned = { removed: [], left: [], failed: [] }
    const fail = () => {
      throw new Error('busy')
    }
    const steps = [
      { noun: 'a', remove: fail },
      { noun: 'b', remove: () => {} },
    ]
    expect(await runCleanupSteps(steps, cleaned)).toBe(true)
    expect(cleaned).toEqual({ removed: ['b'], left: [], failed: ['a: busy'] })
  })
})
