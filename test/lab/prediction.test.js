import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { CHANGES, describePrediction, medianRatio, predictByLab } from '../../bench/self/lab.js'
import { judgePipeline } from '../../bench/self/pipeline.js'

const isKept = (/** @type {{ isKept: boolean | null }[]} */ findings) => findings.map(one => one.isKept)

it('one variant that changes much does not carry the prediction of CPU time by instructions', () => {
  const counted = { a: 1.01, b: 1.02, c: 1.03, d: 1.04, large: 3 }
  const timed = { a: 1.05, b: 1.02, c: 1.04, d: 1.01, large: 3 }
  const findings = describePrediction(counted, timed)
  expect(isKept(findings.slice(1))).toEqual([true, false, false])
  expect(findings[3].promise).toContain('without large')
  expect(isKept(describePrediction(counted, counted).slice(1))).toEqual([true, true, true])
})

it('variants without a round that counts are left out, and fewer than twelve are too few', () => {
  const counted = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`v${i}`, 1 + i / 100]))
  expect(isKept(describePrediction(counted, { ...counted, v0: Number.NaN }))).toEqual([true, true, true, true])
  expect(isKept(describePrediction(counted, { ...counted, v0: Number.NaN, v1: Number.NaN }))[0]).toBe(false)
})

it('the ratio of a variant is the median of those within a round, of rounds that have both', () => {
  expect(medianRatio([12, 10, 30, null], [10, 10, null, 10])).toBeCloseTo(1.1)
  expect(medianRatio([null, 1], [1, null])).toBeNaN()
})

it('a variant differs from what it is held against by its own change alone', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const read = (/** @type {string} */ folder) => readFileSync(path.join(folder, 'proxy.js'), 'utf8')
  /** @type {string[]} */
  const counted = []
  /** @type {Record<string, string>} */
  const timed = {}
  const bases = new Set()
  const findings = await predictByLab({
    count: async folder => counted.push(read(folder)),
    time: async ({ base, variants }) => {
      bases.add(read(base))
      for (const { name, folder } of variants) timed[name] = read(folder)
      return Object.fromEntries(variants.map(({ name }, i) => [name, i]))
    },
  })
  const [base, ...others] = counted
  expect(bases).toEqual(new Set([base]))
  expect(Object.values(timed)).toEqual(others)
  expect(findings[0].measured).toBe('12.0000')
  for (const [name, { before = '', filter }] of Object.entries(CHANGES)) {
    expect(timed[name], name).not.toBe(base)
    expect(timed[name].replace(filter, '').replace(before, ''), name).toBe(base)
  }
})

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

it('the pipeline keeps its goal, or does not, where no start and no count of it says otherwise', () => {
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
