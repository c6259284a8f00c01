import { describe, expect, it } from 'vitest'
import { listGateFindings } from '../../../src/judge/gates.js'
import { mergeObservations } from '../../../src/targets/kubernetes/observations.js'
import { createRecord } from '../../fakes/fake-records.js'

const host = (/** @type {number} */ idle) => ({ idle, steal: 0, busy: 1, total: 10, cpus: 2 })

/** @param {{ values: number[], at?: number, idle?: number }} options the CPU seconds of its processes */
function see({ values, at = 1000, idle = 5 }) {
  const sample = (/** @type {number} */ epochMs, /** @type {'start' | 'end' | undefined} */ edge) => ({
    ...{ epochMs, readings: values.map(cpuSeconds => /** @type {any} */ ({ cpuSeconds })) },
    ...(edge ? { edge } : {}),
  })
  const edge = (/** @type {'start' | 'end'} */ name, /** @type {number} */ epochMs) => ({
    ...{ sample: sample(epochMs, name), host: host(idle), ownCpuSeconds: 0 },
    states: values.map(v => ({ threads: [], cpuLimitCores: v, identity: [`${v}`], cpuSet: '' })),
  })
  const [start, end] = [edge('start', at + 150), edge('end', at + 350)]
  return {
    ...{ start, end, after: values.map(v => ({ memory: null, identity: [`${v}`], workers: v })) },
    samples: [sample(at, undefined), start.sample, sample(at + 200, undefined), end.sample],
  }
}
const processes = /** @type {any[]} */ ([
  { spec: { role: 'sidecar' } },
  { spec: { role: 'generator' } },
  { spec: { role: 'application' } },
])

describe('mergeObservations', () => {
  it('is that of the one node, with no offset to itself', () => {
    const observation = see({ values: [1, 2, 3] })
    expect(mergeObservations([{ indexes: [0, 1, 2], offsetMs: 700, observation }], { processes })).toEqual({
      ...observation,
      clockOffsetMs: 0,
    })
  })

  it('puts the processes of two nodes in order, takes the host of the services, and has the offset between their clocks', () => {
    const services = { indexes: [0, 2], offsetMs: 3, observation: see({ values: [1, 3], idle: 5 }) }
    const load = { indexes: [1], offsetMs: -30, observation: see({ values: [2], at: 1002, idle: 9 }) }
    const merged = mergeObservations([load, services], { processes })
    expect(merged.samples.map(s => s.readings.map(r => r.cpuSeconds))).toEqual(Array(4).fill([1, 2, 3]))
    expect(merged.start?.states.map(s => s.cpuLimitCores)).toEqual([1, 2, 3])
    expect(merged.end?.host.idle).toBe(5)
    expect(merged.after?.map(l => l.workers)).toEqual([1, 2, 3])
    expect(merged).toMatchObject({ clockOffsetMs: 33, onHost: [0, 2] })
  })

  it('leaves out samples that one node lacks, and edges that one did not reach', () => {
    const whole = see({ values: [1, 3] })
    const cut = { ...see({ values: [2] }), end: null, after: null }
    cut.samples = cut.samples.slice(0, 2)
    const merged = mergeObservations(
      [
        { indexes: [0, 2], offsetMs: 0, observation: whole },
        { indexes: [1], offsetMs: 0, observation: cut },
      ],
      { processes },
    )
    expect(merged.samples).toHaveLength(2)
    expect([merged.end, merged.after]).toEqual([null, null])
  })
})

describe('clocks that differ', () => {
  it('spoil everything above 20 ms', () => {
    const record = createRecord({})
    const at = (/** @type {number} */ clockOffsetMs) =>
      listGateFindings({ ...record, samples: { .../** @type {any} */ (record.samples), clockOffsetMs } }).filter(
        g => g.gate === 'clock',
      )
    expect(at(20)).toEqual([])
    expect(at(-33)).toEqual([
      expect.objectContaining({
        reason: 'the clocks of load and services are 33 ms apart (at most 20): synchronise them',
      }),
    ])
  })
})
