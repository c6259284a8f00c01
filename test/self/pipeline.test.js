import { expect, it } from 'vitest'
import { judgeFeatures, judgePipeline } from '../../bench/self/pipeline.js'

const isKept = (/** @type {{ isKept: boolean | null }[]} */ findings) => findings.map(one => one.isKept)

/** @param {number[]} ratios of the client's side, a start each */
function startsOf(...ratios) {
  const of = { link: 'pair', quantity: /** @type {const} */ ('instructions'), old: 100, new: 100, spread: 0.002 }
  return ratios.map(ratio => ({
    rows: [
      { ...of, service: 'client', ratio },
      { ...of, service: 'server', ratio: 1.01 },
      { ...of, service: 'server', quantity: /** @type {const} */ ('handshake'), ratio: 2 },
    ],
  }))
}

it('the pipeline keeps its goal, or does not, if no start and no count of it says otherwise', () => {
  expect(isKept(judgePipeline(startsOf(1.044, 1.045, 1.047)))).toEqual([true, true])
  expect(isKept(judgePipeline(startsOf(1.053, 1.056, 1.054)))).toEqual([false, true])
  // Two starts are further apart than two counts of one.
  expect(isKept(judgePipeline(startsOf(1.045, 1.055)))).toEqual([null, true])
  expect(isKept(judgePipeline(startsOf(1.049, 1.049)))).toEqual([null, true])
  const [client] = judgePipeline(startsOf(1.049, 1.051))
  expect(client.promise).toContain("client's side, at most 1.05")
  expect(client.measured).toBe('1.0500 [1.0469, 1.0531] in 2 starts')
})

it('a side of the pipeline that was not counted is undecided', () => {
  expect(isKept(judgePipeline([{ rows: [] }]))).toEqual([null, null])
})

it('a goal of a feature is kept, missed or undecided by its interval', () => {
  const cost = (/** @type {object} */ fields) =>
    /** @type {any} */ ({ quantity: 'cpuPerRequest', service: null, isControl: false, contrast: 'features', ...fields })
  const at = (/** @type {string} */ features, /** @type {number} */ median, a = 'pipy with it') =>
    cost({ a, b: '', conditions: { features }, ratio: { median, low: median - 0.02, high: median + 0.02, values: [] } })
  const findings = judgeFeatures([
    ...[at('access-log', 1.1), at('metrics', 1.3), at('trace-headers', 1.09), at('metrics', 1, 'envoy with it')],
    { ...at('access-log', 9), service: 'client' },
    { ...at('access-log', 9), contrast: null },
    { ...at('all', 0.7, 'pipy'), contrast: null },
  ])
  expect(isKept(findings)).toEqual([true, false, null, null, true])
  expect(findings[3].measured).toBe('it was not measured')
})
