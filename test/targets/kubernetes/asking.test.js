import { expect, it } from 'vitest'
import { openAsking } from '../../../src/targets/kubernetes/agents.js'

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
  const session = async (/** @type {string} */ name, /** @type {string | null} */ node) => {
    called.push([name, node])
    return /** @type {any} */ ({ call })
  }
  return { called, asking: await openAsking({ agents: { session }, node: 'n1' }) }
}

it('the reader of the node sees a sidecar start, and later asks it where it then was', async () => {
  const { called, asking } = await open(procedure =>
    procedure === 'expectFirst' ? { address: '10.244.0.17', times } : times,
  )
  const first = asking.expectFirst(handle, expected)
  expect(asking.countWaiting()).toBe(1)
  expect(await first).toEqual(times)
  expect(asking.countWaiting()).toBe(0)
  expect(await asking.expect({ ...expected, host: 'version-1.test' })).toEqual(times)
  expect(called).toEqual([
    ['reader', 'n1'],
    ['openAsking', null],
    ['expectFirst', { uid: 'u1', program: 'pipy', expected }],
    ['expect', { ...expected, host: 'version-1.test', endpoint: { address: '10.244.0.17', port: 15001 } }],
  ])
})

it('a sidecar whose start was not seen has no times', async () => {
  const { asking } = await open(() => null)
  expect(await asking.expectFirst(handle, expected)).toBeNull()
})

it('a reader that is lost fails those that wait', async () => {
  const { asking } = await open(procedure => {
    if (procedure === 'expectFirst') throw new Error('the connection to the agent was lost')
  })
  await expect(asking.expectFirst(handle, expected)).rejects.toThrow('was lost')
  expect(asking.countWaiting()).toBe(0)
})
