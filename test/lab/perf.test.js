import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { classifyStack, findStackFilter, sumCostsBy } from '../../src/lab/groups.js'
import { assertCanSample, parsePerfScript, renderPerfRefusal, samplePids } from '../../src/lab/perf.js'
import { joinStacks } from '../../src/lab/profile.js'
import { joinWindows } from '../../src/lab/sample.js'
import { makeFolder } from '../fakes/scratch.js'

const TEXT = `
    7 cpu-clock:
	ffffffff81a0b2c3 tcp_sendmsg ([kernel.kallsyms])
	ffffffff81200002 __sys_sendto ([kernel.kallsyms])
	ffffffff81200001 __x64_sys_sendto ([kernel.kallsyms])
	ffffffff81000010 do_syscall_64 ([kernel.kallsyms])
	ffffffff81000001 entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])
	    7f0000001000 __send (/usr/lib/libc.so.6 (deleted))
	    5500000010a0 pipy::OutboundTCP::send(pipy::Data const&) (/usr/bin/pipy)

    7 cpu-clock:
	    5500000020a0 pjs::eval(int) (/usr/bin/pipy)
	    5500000020b0 [unknown] ([unknown])
	ffffffffffffffff [unknown] ([unknown])

    8 cpu-clock:
	ffffffff81000099 clear_page ([kernel.kallsyms])
	ffffffff81000098 asm_exc_page_fault ([kernel.kallsyms])

    7 cpu-clock:
	    5500000020a4 pjs::eval(int) (/usr/bin/pipy)
	    5500000020b0 [unknown] ([unknown])

`

describe('samples of perf', () => {
  it('are summed by process and stack, with the system call in place of the kernel below it', () => {
    const { events, profiles } = parsePerfScript(TEXT)
    expect(events).toEqual(['cpu-clock'])
    expect(profiles.get(7)).toEqual({
      total: 3,
      stacks: [
        { frames: ['sendto_[k]', '__send', 'pipy::OutboundTCP::send'], object: '[kernel.kallsyms]', self: 1 },
        { frames: ['pjs::eval', '???'], object: '/usr/bin/pipy', self: 2 },
      ],
    })
    expect(profiles.get(8)?.stacks[0].frames).toEqual(['asm_exc_page_fault_[k]'])
    const [call] = profiles.get(7)?.stacks ?? []
    expect([classifyStack(call), findStackFilter(call)]).toEqual(['kernel', 'connect'])
  })

  it('of a process that the kernel hides itself from say so', () => {
    expect(parsePerfScript(TEXT.replaceAll('cpu-clock:', 'cpu-clock:u:')).events).toEqual(['cpu-clock:u'])
  })

  it('of perf 6.1 and Pipy 1.5.18 belong to the groups and the filters of a count, and to the kernel', () => {
    const { events, profiles } = parsePerfScript(readFileSync('test/fixtures/perf-6.1.187-pipy-1.5.18.txt', 'utf8'))
    expect(events).toEqual(['cpu-clock'])
    const all = joinStacks([...profiles.values()].flatMap(({ stacks }) => stacks))
    expect(all.reduce((sum, { self }) => sum + self, 0)).toBe(20)
    expect(Object.fromEntries(sumCostsBy(all, classifyStack))).toEqual({
      kernel: 9,
      'event loop and sockets': 4,
      'filters and pipelines': 3,
      'copying and comparing': 2,
      'HTTP decode and encode': 1,
      memory: 1,
    })
    expect(sumCostsBy(all, findStackFilter).get('muxHTTP')).toBeGreaterThan(0)
    const calls = all.map(({ frames }) => frames[0]).filter(name => name.endsWith('_[k]'))
    expect(calls).toContain('sendmsg_[k]')
    expect(calls).not.toContain('???_[k]')
  })

  it('are empty if perf printed none', () => {
    expect(parsePerfScript('').profiles.size).toBe(0)
  })

  it('share out the CPU time that the kernel accounted in each window', () => {
    const stack = (/** @type {string} */ name, /** @type {number} */ self) => ({ frames: [name], object: '', self })
    const { cpu, samples, stacks } = joinWindows({ link: 'pair', service: 'client' }, [
      { profile: { total: 100, stacks: [stack('a', 25), stack('b', 75)] }, nanos: 30_000 },
      { profile: { total: 50, stacks: [stack('a', 25), stack('c', 25)] }, nanos: 34_000 },
    ])
    expect(cpu).toEqual({ value: 32_000, counts: [30_000, 34_000] })
    expect(samples).toBe(150)
    expect(Object.fromEntries(stacks.map(({ frames, self }) => [frames[0], self]))).toEqual({
      a: 0.25 * 15_000 + 0.5 * 17_000,
      b: 0.75 * 15_000,
      c: 0.5 * 17_000,
    })
  })

  it('cannot be shared out if there are none', () => {
    expect(() =>
      joinWindows({ link: 'pair', service: 'client' }, [{ profile: { total: 0, stacks: [] }, nanos: 1 }]),
    ).toThrow('perf took no sample of the sidecar of client')
  })
})

it('a kernel that lets perf see nothing is named, with its setting and what can be done', () => {
  const stderr = 'Error:\nNo permission to enable cpu-clock event.\n\nYou may not have permission to collect stats.\n'
  expect(renderPerfRefusal(stderr, '4')).toMatch(
    /^perf cannot sample the sidecars: No permission to enable cpu-clock event \(\/proc\/sys\/kernel\/perf_event_paranoid is 4\); run as root, or sudo sysctl/,
  )
  const progress = '[ perf record: Woken up 3136 times to write data ]\nfailed to mmap file\n'
  expect(renderPerfRefusal(progress, '1', { isRoot: true })).toMatch(
    /^perf cannot sample the sidecars: failed to mmap file \(.*perf_event_paranoid is 1\); a container needs CAP_PERFMON/,
  )
  expect(renderPerfRefusal('', null)).toContain(
    'it does not say why (there is no /proc/sys/kernel/perf_event_paranoid)',
  )
})

describe('a perf', () => {
  const folder = makeFolder('perf-test')
  const file = path.join(folder, 'check.perf')

  /** A perf that begins its file, and then does something else. @param {string} then of the shell */
  function writePerf(then) {
    const program = path.join(folder, 'perf')
    const lines = ['#!/bin/sh', 'for word; do [ "$before" = -o ] && echo begun >"$word"; before=$word; done', then]
    writeFileSync(program, `${lines.join('\n')}\n`, { mode: 0o755 })
    return { name: 'perf', path: program, version: '6.1', sha256: '', source: 'test' }
  }

  it('that the kernel refuses is reported, and leaves no file', async () => {
    const perf = writePerf('echo "No permission to enable cpu-clock event." >&2; exit 255')
    const { signal } = new AbortController()
    await expect(assertCanSample({ perf, folder, signal })).rejects.toThrow(
      'perf cannot sample the sidecars: No permission to enable cpu-clock event',
    )
    expect(existsSync(file)).toBe(false)
  })

  it('that is interrupted leaves no file', async () => {
    const stop = new AbortController()
    const options = { perf: writePerf('exec sleep 60'), pids: [process.pid], seconds: 60, file, signal: stop.signal }
    const sampling = samplePids(options)
    sampling.catch(() => {})
    await expect.poll(() => existsSync(file)).toBe(true)
    stop.abort(new Error('interrupted'))
    await expect(sampling).rejects.toThrow('interrupted')
    expect(existsSync(file)).toBe(false)
  })
})
