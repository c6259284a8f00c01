import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { CHANGES, describePrediction, medianRatio, predictByLab } from '../../bench/self/lab.js'
import { judgeFeatures, judgePipeline } from '../../bench/self/pipeline.js'
import { makeOwnFolder } from '../fakes/scratch.js'

const isKept = (/** @type {{ isKept: boolean | null }[]} */ findings) => findings.map(one => one.isKept)

const NONE = { instructions: 0, misses: 0, writes: 0, calls: 0, bytes: 0 }
const REQUEST_NANOS = 100_000

/** A variant of so many instructions and calls, and its time where one costs 0.2 ns and 1 µs. @param {number} i @param {number} [error] */
function variantOf(i, error = 0) {
  const terms = { ...NONE, instructions: 10_000 * (i % 5), calls: 2 * i }
  return { name: `v${i}`, terms, ratio: 1 + (0.2 * terms.instructions + 1000 * terms.calls) / REQUEST_NANOS + error }
}
const variants = Array.from({ length: 22 }, (_, i) => variantOf(i))
const describe = (/** @type {ReturnType<typeof variantOf>[]} */ given) => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const keep = vi.fn(() => 'a file')
  return { findings: describePrediction(given, REQUEST_NANOS, keep), kept: keep.mock.calls[0] }
}

it('a variant is predicted by costs that were fitted without it', () => {
  const { findings, kept } = describe(variants)
  expect(isKept(findings)).toEqual([true, true, true, true, true, null])
  const [{ nanos, errorShare, requestNanos }] = /** @type {any} */ (kept)
  expect(nanos.instructions).toBeCloseTo(0.2)
  expect(nanos.calls).toBeCloseTo(1000, 0)
  expect([Math.round(1000 * errorShare), requestNanos]).toEqual([0, REQUEST_NANOS])
  // What one variant alone has is not known without it.
  const alone = { name: 'alone', terms: { ...NONE, writes: 4 }, ratio: 2 }
  expect(describe([...variants, alone]).findings[1].isKept).toBe(false)
})

it('one variant that changes much does not carry the prediction', () => {
  const errors = [0.2, -0.1, 0.15, -0.2, 0.1]
  const alike = Array.from({ length: 22 }, (_, i) => variantOf(1, errors[i % 5]))
  const { terms } = variantOf(1)
  const large = { name: 'large', terms: { ...terms, instructions: 1_000_000, calls: 200 }, ratio: 5 }
  const { findings } = describe([...alike, large])
  expect(findings[1].isKept).toBe(true)
  expect(findings[3].promise).toContain('without large')
  expect(isKept(findings.slice(3, 5))).toEqual([false, false])
})

it('variants without a round that counts are left out, and fewer than twenty are too few', () => {
  const lost = variants.map((own, i) => (i < 3 ? { ...own, ratio: Number.NaN } : own))
  const { findings, kept } = describe(lost)
  expect(isKept(findings).slice(0, 2)).toEqual([false, true])
  // Nothing is predicted by such costs.
  expect(kept).toBeUndefined()
})

it('the ratio of a variant is the median of those within a round, of rounds that have both', () => {
  expect(medianRatio([12, 10, 30, null], [10, 10, null, 10])).toBeCloseTo(1.1)
  expect(medianRatio([null, 1], [1, null])).toBeNaN()
})

it('a variant differs from what it is held against by its own change alone', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.stubEnv('SIDECAR_BENCH_CACHE', makeOwnFolder('prediction-test'))
  const read = (/** @type {string} */ folder) =>
    ['proxy.js', 'upstream.js'].map(file => readFileSync(path.join(folder, file), 'utf8')).join('')
  /** @type {string[]} */
  const counted = []
  /** @type {Record<string, string>} */
  const timed = {}
  const bases = new Set()
  const findings = await predictByLab({
    count: async folder => ({ ...NONE, instructions: counted.push(read(folder)) }),
    time: async ({ base, variants: own }) => {
      bases.add(read(base))
      for (const { name, folder } of own) timed[name] = read(folder)
      return { ratios: Object.fromEntries(own.map(({ name }, i) => [name, 1 + i / 10])), baseNanos: [1000] }
    },
  })
  const [base, ...others] = counted
  expect(bases).toEqual(new Set([base]))
  expect(new Set(Object.values(timed))).toEqual(new Set(others))
  expect(findings[0].measured).toBe('23.0000')
  for (const [name, { before = '', filter, edit }] of Object.entries(CHANGES)) {
    expect(timed[name], name).not.toBe(base)
    const undone = timed[name].replace(filter, '').replace(before, '')
    expect(edit ? undone.replace(edit.to, edit.from) : undone, name).toBe(base)
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

it('a goal of a feature is kept, missed or undecided by its interval', () => {
  const cost = (/** @type {object} */ own) =>
    /** @type {any} */ ({ quantity: 'cpuPerRequest', service: null, isControl: false, contrast: 'features', ...own })
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
