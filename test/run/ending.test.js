import { describe, expect, it } from 'vitest'
import { startEnding } from '../../src/run/ending.js'

/** @import { EndingStep } from '../../src/model/types.ts' */

/**
 * Ends a process that goes at some signal; seen: what was done, in order.
 * @param {EndingStep[]} steps @param {string} goesAt
 */
async function end(steps, goesAt, told = /** @type {object | null} */ (null)) {
  /** @type {string[]} */
  const seen = []
  /** @type {(how: string) => void} */
  let go = () => {}
  const exited = /** @type {Promise<string>} */ (new Promise(resolve => (go = resolve)))
  const exit = (/** @type {string} */ at) => {
    seen.push(at)
    if (at === goesAt) go('status 0')
  }
  const startMs = Date.now()
  const target = {
    call: async (/** @type {string} */ procedure, /** @type {any} */ { actions, host }) => {
      if (procedure === 'perform') return exit(actions[0].path)
      seen.push(`ask ${host}`)
      return 0.25
    },
  }
  const record = await startEnding(
    /** @type {any} */ ({ testbed: { site: { target } }, signal: new AbortController().signal }),
    {
      ending: /** @type {any} */ ({
        process: { exited, signal: exit },
        steps,
        told,
        asked: { host: 'server', endpoint: {}, credentials: null },
        succeed: async () => seen.push('successor'),
      }),
      window: { startMs, endMs: startMs + 60 },
      graceMs: 50,
    },
  )
  return { seen, record }
}
const endpoint = { address: '127.0.0.1', port: 1 }
const post = (/** @type {string} */ path) =>
  /** @type {EndingStep} */ ({ kind: 'request', endpoint, method: 'POST', path, body: '' })

describe('startEnding', () => {
  it('takes the steps in turn, and starts the successor when the sidecar is gone', async () => {
    const { seen, record } = await end([post('/drain'), { kind: 'wait', seconds: 0.05 }, post('/quit')], '/quit')
    expect(seen).toEqual(['/drain', '/quit', 'ask server', 'successor'])
    expect(record?.atSeconds).toBeGreaterThanOrEqual(0.01)
    expect(record?.goneSeconds).toBeGreaterThanOrEqual(0.05)
    expect(record?.answerSeconds).toBe(0.25)
  })

  it('tells the client first, where it is to know', async () => {
    const { seen } = await end([post('/quit')], '/quit', { host: 'version-1.test' })
    expect(seen).toEqual(['ask version-1.test', '/quit', 'ask server', 'successor'])
  })

  it('kills one that does not go, and gives it no time', async () => {
    const { seen, record } = await end([{ kind: 'signal', signal: 'SIGINT' }], 'SIGKILL')
    expect(seen).toEqual(['SIGINT', 'SIGKILL', 'ask server', 'successor'])
    expect(record?.goneSeconds).toBeNull()
  })

  it('does nothing where no sidecar is to end', async () => {
    const course = /** @type {any} */ ({ testbed: { site: {} } })
    expect(await startEnding(course, { ending: null, window: { startMs: 0, endMs: 1 } })).toBeUndefined()
  })
})
