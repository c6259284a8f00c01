import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findPodAddress, watchProcessStarts } from '../../src/agent/rollout-prober.js'
import { makeFolder } from '../fakes/scratch.js'

// As of Linux 6.1, of a pod.
const TRIE = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.244.0.0/20 2 0 2
        |-- 10.244.0.0
           /20 link UNICAST
        |-- 10.244.0.17
           /32 host LOCAL
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.1
           /32 host LOCAL
`
const UID = 'a1b2c3d4-0000-4000-8000-000000000001'

let proc = ''
/** @type {ReturnType<typeof watchProcessStarts>} */
let starts
beforeEach(() => {
  proc = makeFolder('proc')
})
afterEach(() => {
  starts.close()
})

/** @param {number} pid @param {{ program?: string, group: string }} options */
function run(pid, { program = 'pipy', group }) {
  mkdirSync(path.join(proc, `${pid}/net`), { recursive: true })
  writeFileSync(path.join(proc, `${pid}/net/fib_trie`), TRIE)
  writeFileSync(path.join(proc, `${pid}/cgroup`), `0::${group}\n`)
  writeFileSync(path.join(proc, `${pid}/cmdline`), `${program}\0--log-level=error\0`)
}

const open = () => watchProcessStarts({ proc, readStart: pid => 1000 * pid })

describe('the start of a process in a pod', () => {
  it.each([
    ['cgroupfs', `/kubepods/burstable/pod${UID}/c0ffee`],
    ['systemd', `/../kubepods-burstable-pod${UID.replaceAll('-', '_')}.slice/cri-containerd-c0ffee.scope`],
  ])('is seen with its time and the address of its pod, under %s', async (_, group) => {
    starts = open()
    const start = starts.awaitStart({ uid: UID, program: 'pipy' })
    run(6, { group: '/kubepods/burstable/podother/c0ffee' })
    run(7, { group, program: '/pause' })
    run(8, { group })
    expect(await start).toEqual({ startedMs: 8000, address: '10.244.0.17' })
  })

  it('is that of the program: before, the process is one of the runtime', async () => {
    starts = open()
    const group = `/kubepods/pod${UID}/c0ffee`
    run(9, { group, program: 'runc' })
    const start = starts.awaitStart({ uid: UID, program: 'pipy' })
    setTimeout(() => run(9, { group }), 100)
    expect(await start).toMatchObject({ startedMs: 9000 })
  })

  it('is not that of a process that ran before, and null if it is given up', async () => {
    run(5, { group: `/kubepods/pod${UID}/c0ffee` })
    starts = open()
    const start = starts.awaitStart({ uid: UID, program: 'pipy' })
    setTimeout(() => starts.giveUp(), 100)
    expect(await start).toBeNull()
  })
})

it('the address of a pod is no loopback address, and null before it has one', () => {
  starts = open()
  expect(findPodAddress(TRIE)).toBe('10.244.0.17')
  expect(findPodAddress(TRIE.replaceAll('10.244.0.17', '127.0.0.2'))).toBeNull()
  expect(findPodAddress('')).toBeNull()
})
