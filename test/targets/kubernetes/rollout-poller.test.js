import { expect, it } from 'vitest'
import { openRolloutPoller } from '../../../src/targets/kubernetes/rollout-poller.js'

/** @import { Handle } from '../../../src/model/types.ts' */

const times = { sinceMs: 1, lastNoMs: 2, yesMs: 3, asked: 4 }
const expected = { name: 'client-1', host: 'version-0.test', endpoint: { address: '0.0.0.0', port: 15001 } }
const handle = /** @type {Handle} */ ({ spec: { program: 'pipy' }, pod: { uid: 'u1', createdMs: 0 } })

/** @param {(procedure: string) => unknown} answer */
async function open(answer) {
  /** @type {[string, unknown][]} */
  const called = []
  const call = async (/** @type {string} */ procedure, /** @type {unknown} */ args) => {
    called.push([procedure, args])
    return answer(procedure)
  }
  const openSession = async (/** @type {string} */ name, /** @type {string | null} */ node) => {
    called.push([name, node])
    return /** @type {any} */ ({ call })
  }
  return { called, poller: await openRolloutPoller({ agents: { openSession }, node: 'n1' }) }
}

it('the reader of the node sees a sidecar start, and later asks it where it then was', async () => {
  const { called, poller } = await open(procedure =>
    procedure === 'expectFirst' ? { address: '10.244.0.17', times } : times,
  )
  const first = poller.expectFirst(handle, expected)
  expect(poller.countWaiting()).toBe(1)
  expect(await first).toEqual(times)
  expect(poller.countWaiting()).toBe(0)
  expect(await poller.expect({ ...expected, host: 'version-1.test' })).toEqual(times)
  expect(called).toEqual([
    ['reader', 'n1'],
    ['openRolloutPoller', null],
    ['expectFirst', { uid: 'u1', program: 'pipy', expected }],
    ['expect', { ...expected, host: 'version-1.test', endpoint: { address: '10.244.0.17', port: 15001 } }],
  ])
})

it('a sidecar whose start was not seen has no times', async () => {
  const { poller } = await open(() => null)
  expect(await poller.expectFirst(handle, expected)).toBeNull()
})

it('a reader that is lost fails those that wait', async () => {
  const { poller } = await open(procedure => {
    if (procedure === 'expectFirst') throw new Error('the connection to the agent was lost')
  })
  await expect(poller.expectFirst(handle, expected)).rejects.toThrow('was lost')
  expect(poller.countWaiting()).toBe(0)
})
