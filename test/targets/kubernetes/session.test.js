import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { decodeMessage, encodeMessage } from '../../../src/agent/messages.js'
import { AgentError, BenchError } from '../../../src/lib/errors.js'
import { startSession } from '../../../src/targets/agent-session.js'
import { readAgentCode } from '../../../src/targets/kubernetes/files.js'
import { measureClockOffset } from '../../../src/targets/kubernetes/observations.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { Sample } from '../../../src/model/types.ts' */

/** What is shipped into pods, and nothing else. */
const shipped = makeFolder('agent-code')
beforeAll(() => {
  for (const [file, text] of Object.entries(readAgentCode())) {
    mkdirSync(path.dirname(path.join(shipped, file)), { recursive: true })
    writeFileSync(path.join(shipped, file), text)
  }
})

/** The real agent, from the files that pods get. @param {{ aheadMs?: number }} [options] how far its clock is ahead */
function startAgent({ aheadMs = 0 } = {}) {
  const shift = `const now = Date.now; Date.now = () => now() + ${aheadMs}`
  const argv = ['--import', `data:text/javascript,${shift}`, path.join(shipped, 'src/agent/main.js')]
  const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise(resolve => child.on('exit', () => resolve('it was killed')))
  return { child, session: startSession({ ...child, ended, end: () => child.kill(), place: 'a pod' }) }
}

describe('a conversation with the agent', () => {
  it('calls procedures, several at once, and hears their errors', async () => {
    const { session } = startAgent()
    const [now, failed] = await Promise.allSettled([
      session.call('now', null),
      session.call('probeAnswers', { requestSeconds: 4 }),
    ])
    expect(now).toMatchObject({ status: 'fulfilled', value: expect.any(Number) })
    expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'the rig is not open' } })
    await expect(session.call('nonsense', null)).rejects.toThrow()
  })

  it('distinguishes a fault of its own from what a sidecar did', async () => {
    const { session } = startAgent()
    await expect(session.call('probeAnswers', { requestSeconds: 4 })).rejects.toBeInstanceOf(AgentError)
    const endpoint = { address: '127.0.0.1', port: 1 }
    const refused = await session.call('send', { endpoint, request: { host: 'a' } }).catch(error => error)
    expect(refused).toBeInstanceOf(BenchError)
    expect(refused).not.toBeInstanceOf(AgentError)
    expect(refused.message).toContain('ECONNREFUSED')
  })

  it('observes a window from before its start to its end', async () => {
    const { session } = startAgent()
    // The agent has started once it answers: its start takes nothing of the window.
    await session.call('now', null)
    const startMs = Date.now() + 300
    const { samples, start, end, after } = await session.call('observe', {
      containers: [],
      window: { startMs, endMs: startMs + 1000 },
    })
    expect(after).toEqual([])
    expect(samples.filter((/** @type {Sample} */ s) => s.edge)).toEqual([start.sample, end.sample])
    const moments = samples.map((/** @type {Sample} */ s) => s.epochMs)
    expect(moments).toEqual([...moments].sort((a, b) => a - b))
    expect(moments[0]).toBeLessThan(startMs)
    expect(start.sample.epochMs).toBeGreaterThanOrEqual(startMs - 1)
    expect(moments.indexOf(end.sample.epochMs)).toBeGreaterThan(moments.indexOf(start.sample.epochMs) + 1)
    expect(moments.at(-1)).toBeGreaterThanOrEqual(startMs + 999)
  })

  it('gives what it has of a window that is stopped early', async () => {
    const { session } = startAgent()
    const stop = new AbortController()
    const window = { startMs: 0, endMs: Date.now() + 60_000 }
    const pending = session.call('observe', { containers: [], window }, { signal: stop.signal })
    // Lines are taken in order: what is answered later has let the window begin.
    await session.call('now', null)
    stop.abort()
    expect(await pending).toMatchObject({ start: { sample: { edge: 'start' } }, end: null, after: null })
  })

  it('says that a container has no cgroup where it looks', async () => {
    const { session } = startAgent()
    await expect(session.call('look', { containers: [{ id: 'f'.repeat(64), listens: [] }] })).rejects.toThrow(
      /no cgroup of the container f+ is under \/host\/cgroup: is this its node\?/,
    )
  })

  it('fails what was asked when the agent is lost', async () => {
    const { child, session } = startAgent()
    await session.call('now', null)
    const pending = session.call('observe', {
      containers: [],
      window: { startMs: Date.now(), endMs: Date.now() + 60_000 },
    })
    child.kill('SIGKILL')
    await expect(pending).rejects.toThrow('the connection to the agent in a pod was lost: it was killed')
    await expect(session.call('now', null)).rejects.toThrow('the agent in a pod is no longer there')
    expect(session.isOpen()).toBe(false)
  })

  it('takes answers however they are cut', async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const session = startSession({ stdin, stdout, ended: new Promise(() => {}), end() {}, place: 'a pod' })
    const answers = [session.call('a', null), session.call('b', null)]
    const text = `${encodeMessage({ id: 1, result: 'β' })}\n${encodeMessage({ id: 0, result: Number.NaN })}\n`
    for (const byte of Buffer.from(text)) stdout.write(Buffer.from([byte]))
    expect(await Promise.all(answers)).toEqual([Number.NaN, 'β'])
  })

  it.each(['null', '{"id":0', '7', ''])('ends with an error if an answer is invalid: %j', async line => {
    const stdout = new PassThrough()
    const ended = new Promise(() => {})
    let ends = 0
    const end = () => void ends++
    const session = startSession({ stdin: new PassThrough(), stdout, ended, end, place: 'a pod' })
    const answer = session.call('a', null)
    // The agent is ended once: nobody holds a lost session to close it.
    stdout.write(`${line}\n${line}\n`)
    await expect(answer).rejects.toThrow('the connection to the agent in a pod was lost: it sent what is no message')
    expect([session.isOpen(), ends]).toEqual([false, 1])
  })
})

describe('measureClockOffset', () => {
  it.each([0, 500, -60_000])('finds how far a clock is ahead: %i ms', async aheadMs => {
    const { session } = startAgent({ aheadMs })
    await session.call('now', null)
    expect(Math.abs((await measureClockOffset(session)) - aheadMs)).toBeLessThan(10)
  })
})

describe('messages', () => {
  it('keep a number that is missing apart from one that is not known', () => {
    expect(decodeMessage(encodeMessage({ a: Number.NaN, b: null, c: 1 }))).toEqual({ a: Number.NaN, b: null, c: 1 })
  })
})

describe('readAgentCode', () => {
  it('fits into a ConfigMap', () => {
    const files = readAgentCode()
    // 1 MiB (kubernetes.io/docs/concepts/configuration/configmap).
    expect(JSON.stringify(files).length).toBeLessThan(2 ** 19)
  })
})
