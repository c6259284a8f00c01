import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { readProcessStartTicks } from '../../src/lib/process-start.js'
import { openLedger, readLedgers } from '../../src/node/ledger.js'
import { makeFolder } from '../fakes/scratch.js'

let root = ''
beforeEach(() => {
  root = makeFolder('ledger-test')
})

/** @param {string} folder @param {object} change */
function changeOwner(folder, change) {
  const file = path.join(folder, 'owner.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }))
}

describe('a ledger', () => {
  it('says what a run holds, and that its owner lives', () => {
    const ledger = openLedger({ runId: 'a', root })
    ledger.hold('cgroup', '/sys/fs/cgroup/sidecar-bench.a')
    ledger.hold('addresses', '127.7')
    ledger.release('cgroup', '/sys/fs/cgroup/sidecar-bench.a')
    const [entry] = readLedgers(root)
    expect(entry).toMatchObject({ runId: 'a', state: 'alive', isRetained: false })
    expect(entry.owner?.pid).toBe(process.pid)
    expect(entry.holdings).toEqual([{ kind: 'addresses', name: '127.7' }])
  })

  it('can be read by its user only', () => {
    const { folder } = openLedger({ runId: 'a', root })
    expect(statSync(folder).mode & 0o077).toBe(0)
  })

  it('goes when the run holds nothing, and stays while it holds something or was retained', () => {
    for (const runId of ['empty', 'holding', 'retained']) {
      const ledger = openLedger({ runId, root })
      if (runId === 'holding') ledger.hold('namespace', 'n')
      ledger.close({ retain: runId === 'retained' })
    }
    expect(readLedgers(root).map(({ runId, isRetained }) => [runId, isRetained])).toEqual([
      ['holding', false],
      ['retained', true],
    ])
  })

  it('recognises an owner that has exited by its start and by the boot, but not one of another container', () => {
    const { folder } = openLedger({ runId: 'a', root })
    const stateNow = () => readLedgers(root)[0].state
    changeOwner(folder, { pidNamespace: 'pid:[1]' })
    expect(stateNow()).toBe('unknown')
    changeOwner(folder, { bootId: 'an earlier boot' })
    expect(stateNow()).toBe('gone')
    writeFileSync(path.join(folder, 'owner.json'), '{"pid": "x"')
    expect(stateNow()).toBe('unknown')
  })

  it('recognises a reused pid', () => {
    const { folder } = openLedger({ runId: 'a', root })
    changeOwner(folder, { startTicks: 1 })
    expect(readLedgers(root)[0].state).toBe('gone')
  })

  it('reads on if the last line was cut off', () => {
    const ledger = openLedger({ runId: 'a', root })
    ledger.hold('cgroup', '/c')
    appendFileSync(path.join(ledger.folder, 'holdings.jsonl'), '["+","cgr')
    expect(readLedgers(root)[0].holdings).toEqual([{ kind: 'cgroup', name: '/c' }])
  })

  it('is not written into a folder that others may read', () => {
    chmodSync(root, 0o755)
    expect(() => openLedger({ runId: 'a', root })).toThrow(
      /has the mode 755, so other users can read it, and it is not trusted/,
    )
    expect(existsSync(path.join(root, 'a'))).toBe(false)
  })

  it('recognises an owner that has exited and was not reaped', async () => {
    const { folder } = openLedger({ runId: 'a', root })
    // The shell's child ends, and what becomes of the shell does not ask.
    const shell = spawn('/bin/sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 5'], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [printed] = await once(shell.stdout, 'data')
    const pid = Number(printed)
    changeOwner(folder, { pid, startTicks: readProcessStartTicks(pid) })
    expect(readLedgers(root)[0].state).toBe('alive')
    await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '), { timeout: 5000 })
    expect(readLedgers(root)[0].state).toBe('gone')
    shell.kill()
  })
})
