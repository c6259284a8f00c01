import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { endSidecar } from '../../src/run/ending.js'

/** @import { EndingStep } from '../../src/model/types.ts' */

/**
 * death: before its time; successorEnds: how.
 * @typedef {{ notice?: object | null, answers?: number | null, death?: string | null, signal?: AbortSignal,
 *   successorEnds?: string | null, diesOnNotice?: boolean, goes?: string, refuses?: boolean }} EndOptions
 */

/**
 * Ends a process that goes at some signal; calls: what was done, in order.
 * @param {EndingStep[]} steps @param {string} goesAt @param {EndOptions} [options]
 */
async function end(steps, goesAt, { notice = null, answers = 0.1, death = null, signal, ...options } = {}) {
  const { successorEnds = null, diesOnNotice = false, goes = 'status 0', refuses = false } = options
  /** @type {string[]} */
  const calls = []
  let dead = death
  /** @type {(how: string) => void} */
  let go = () => {}
  /** @type {string | null} */
  let gone = null
  const exited = /** @type {Promise<string>} */ (new Promise(resolve => (go = resolve)))
  const exit = (/** @type {string} */ at) => {
    calls.push(at)
    if (at !== goesAt) return
    gone = goes
    go(goes)
  }
  const startMs = Date.now()
  const renderFailure = async (/** @type {string} */ what) => `${what}: its log`
  const target = {
    call: async (/** @type {string} */ procedure, /** @type {any} */ { actions, host }) => {
      if (procedure === 'perform') {
        exit(actions[0].path)
        if (refuses) throw new Error('read ECONNRESET')
        return
      }
      calls.push(`ask ${host}`)
      if (notice && diesOnNotice) dead = 'signal SIGSEGV'
      if (host === 'server') await delay(1000 * Number(answers))
      return answers
    },
  }
  const record = await endSidecar(
    /** @type {any} */ ({ testbed: { site: { target } }, signal: signal ?? new AbortController().signal }),
    {
      ending: /** @type {any} */ ({
        process: { spec: { service: 'server' }, exited, signal: exit, ending: () => dead ?? gone, renderFailure },
        steps,
        notice,
        request: { host: 'server', endpoint: {}, credentials: null },
        deploySuccessor: async () => {
          calls.push('successor')
          const spec = { service: 'server-next', role: 'sidecar' }
          const startedMs = performance.timeOrigin + performance.now()
          return { spec, startedMs, ending: () => successorEnds, isStopped: () => false, renderFailure }
        },
      }),
      window: { startMs, endMs: startMs + 400 },
      graceMs: 50,
    },
  )
  return { calls, record }
}
const endpoint = { address: '127.0.0.1', port: 1 }
const post = (/** @type {string} */ path) =>
  /** @type {EndingStep} */ ({ kind: 'request', endpoint, method: 'POST', path, body: '' })

describe('endSidecar', () => {
  it('takes the steps in turn, and starts the successor when the sidecar is gone', async () => {
    const { calls, record } = await end([post('/drain'), { kind: 'wait', seconds: 0.05 }, post('/quit')], '/quit')
    expect(calls).toEqual(['/drain', '/quit', 'ask server', 'successor'])
    expect(record?.atSeconds).toBeGreaterThanOrEqual(0.01)
    expect(record?.goneSeconds).toBeGreaterThanOrEqual(0.05)
    expect(record?.answerSeconds).toBeGreaterThanOrEqual(0.09)
  })

  it('notifies the client first, if it is to know', async () => {
    const { calls } = await end([post('/quit')], '/quit', { notice: { host: 'version-1.test' } })
    expect(calls).toEqual(['ask version-1.test', '/quit', 'ask server', 'successor'])
  })

  it('kills one that does not go, and gives it no time', async () => {
    const { calls, record } = await end([{ kind: 'signal', signal: 'SIGINT' }], 'SIGKILL')
    expect(calls).toEqual(['SIGINT', 'SIGKILL', 'ask server', 'successor'])
    expect(record?.goneSeconds).toBeNull()
  })

  it('fails where the sidecar had died before, and where the change took no effect', async () => {
    await expect(end([post('/quit')], '/quit', { death: 'signal SIGSEGV' })).rejects.toThrow(
      "server's sidecar died before it was ended, with signal SIGSEGV: its log",
    )
    await expect(end([post('/quit')], '/quit', { notice: { host: 'v' }, diesOnNotice: true })).rejects.toThrow(
      'died before it was ended',
    )
    await expect(end([post('/quit')], '/quit', { notice: { host: 'v' }, answers: null })).rejects.toThrow(
      'took no effect',
    )
  })

  it('fails where it died of itself while it was ended, and where it was gone after the window only', async () => {
    await expect(end([post('/quit')], '/quit', { goes: 'signal SIGSEGV' })).rejects.toThrow(
      "server's sidecar died while it was ended, with signal SIGSEGV: its log",
    )
    await expect(end([{ kind: 'wait', seconds: 0.4 }, post('/quit')], '/quit')).rejects.toThrow('only after the window')
  })

  it('says which sidecar did not take its end, and whether it died', async () => {
    await expect(end([post('/drain')], '/quit', { refuses: true })).rejects.toThrow(
      "server's sidecar did not take its end: read ECONNRESET: its log",
    )
    await expect(end([post('/quit')], '/quit', { refuses: true, goes: 'signal SIGSEGV' })).rejects.toThrow(
      "server's sidecar ended before it had answered, with signal SIGSEGV: read ECONNRESET: its log",
    )
  })

  it('fails if the successor never answers, or dies', async () => {
    await expect(end([post('/quit')], '/quit', { answers: null })).rejects.toThrow('never answered: its log')
    await expect(end([post('/quit')], '/quit', { successorEnds: 'status 1' })).rejects.toThrow(
      "server-next's sidecar died in the window with status 1: its log",
    )
  })

  it('starts no successor where the trial was aborted', async () => {
    const aborting = new AbortController()
    const aborted = end([{ kind: 'wait', seconds: 5 }, post('/quit')], '/quit', { signal: aborting.signal })
    setTimeout(() => aborting.abort(new Error('stopped')), 30)
    await expect(aborted).rejects.toThrow()
  })

  it('does nothing if no sidecar is to end', async () => {
    const course = /** @type {any} */ ({ testbed: { site: {} } })
    expect(await endSidecar(course, { ending: null, window: { startMs: 0, endMs: 1 } })).toBeUndefined()
  })
})
