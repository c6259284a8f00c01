import { describe, expect, it } from 'vitest'
import { assertKubeletSummary, assertPod } from '../../../src/targets/kubernetes/answers.js'
import { parseQuantity } from '../../../src/targets/kubernetes/nodes.js'

describe('an answer of a cluster', () => {
  it('is returned unchanged if the kit knows it', () => {
    const pod = { metadata: { name: 'a', extra: 1 }, status: { phase: 'Running' } }
    expect(assertPod(pod)).toBe(pod)
  })

  it.each([
    null,
    [],
    {},
    { metadata: { name: 1 } },
    { metadata: { name: 'a' }, status: { containerStatuses: [null] } },
  ])('is refused with the member if it does not: %j', pod =>
    expect(() => assertPod(pod)).toThrow('the cluster described a pod in a way that the kit does not know: '))

  it('holds numbers, and times', () => {
    const counters = (/** @type {object} */ cpu) => assertKubeletSummary({ node: { cpu } })
    expect(() => counters({ time: 'soon', usageCoreNanoSeconds: 1 })).toThrow('node.cpu.time: it is no time')
    expect(() => counters({ time: '2026-01-01T00:00:00Z', usageCoreNanoSeconds: '1' })).toThrow('usageCoreNanoSeconds')
  })
})

describe('parseQuantity', () => {
  it.each([
    ['24684092Ki', 24684092 * 1024],
    ['16Gi', 16 * 2 ** 30],
    ['129M', 129e6],
    ['4k', 4000],
    ['25276502016', 25276502016],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['129e6', 129e6],
    ['1930m', 1.93],
    ['2', 2],
    ['many', Number.NaN],
  ])('%s', (text, value) => expect(parseQuantity(text)).toBe(value))
})
