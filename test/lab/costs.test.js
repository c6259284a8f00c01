import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import {
  fitCosts,
  predictNanos,
  readCosts,
  subtractTerms,
  sumTerms,
  tellPrediction,
  writeCosts,
} from '../../src/lab/costs.js'
import { createRandom } from '../../src/lib/random.js'
import { makeOwnFolder } from '../fakes/scratch.js'

const TERMS = /** @type {const} */ (['instructions', 'misses', 'writes', 'calls', 'bytes'])
const NANOS = { instructions: 0.1, misses: 4, writes: 9000, calls: 1500, bytes: 0.5 }
const KEPT = {
  link: 'pair',
  fittedAt: '2026-11-25T03:00:00Z',
  nanos: NANOS,
  requestNanos: 130_000,
  errorShare: 0.013,
  correlation: 0.95,
}
const costOf = (/** @type {number} */ value) => ({ value, counts: [value, value] })

/** @param {number} instructions @param {number} writes */
const countOf = (instructions, writes) => ({
  ...{ link: 'pair', service: 'client', stacks: [] },
  ...{ instructions: costOf(instructions), misses: costOf(instructions / 100), bytes: costOf(2000) },
  kinds: [
    { name: 'recvmsg', calls: 2 },
    { name: 'write', calls: writes },
    { name: 'openat', calls: 1 },
  ],
})

it('the costs of which times are made are found again, and none is below 0', () => {
  const random = createRandom(1)
  const scale = { instructions: 1e5, misses: 2000, writes: 3, calls: 5, bytes: 4000 }
  const variants = Array.from({ length: 24 }, () => {
    const terms = /** @type {typeof NANOS} */ (Object.fromEntries(TERMS.map(term => [term, random() * scale[term]])))
    const nanos = predictNanos(terms, NANOS)
    return { terms, nanos, requestNanos: 130_000 + nanos }
  })
  const found = fitCosts(variants)
  for (const term of TERMS)
    expect(found[term], term).toBeCloseTo(NANOS[term], ['instructions', 'bytes'].includes(term) ? 2 : 0)
  const wrong = variants.map(own => ({ ...own, nanos: own.nanos - 9900 * own.terms.writes }))
  expect(fitCosts(wrong).writes).toBe(0)
})

it('a change is told in time, by instructions and by the kernel', () => {
  const counts = { old: [countOf(100_000, 1)], new: [countOf(110_000, 2)] }
  const [line] = tellPrediction(counts, { machine: {}, ...KEPT })
  expect(line).toContain('pair: +10.4 µs of CPU time in all sidecars, 8.0 % of a request')
  expect(line).toContain('(instructions +1.4 µs, the kernel +9.0 µs); such predictions were off by 1.3 %')
  expect(tellPrediction(counts, null)).toEqual([expect.stringContaining('npm run bench:self -- lab')])
  expect(tellPrediction({ ...counts, old: [{ ...countOf(1, 1), kinds: undefined }] }, null)).toEqual([])
})

it('writes of files are told from other calls', () => {
  const terms = sumTerms([countOf(1000, 3), countOf(1000, 4)])
  expect(terms).toEqual({ instructions: 2000, misses: 20, writes: 7, calls: 6, bytes: 4000 })
  expect(terms && subtractTerms(terms, { ...terms, writes: 5 }).writes).toBe(2)
})

it('costs are kept for the machine on which they were fitted', () => {
  vi.stubEnv('SIDECAR_BENCH_CACHE', makeOwnFolder('costs-test'))
  expect(readCosts()).toBeNull()
  const file = writeCosts(KEPT)
  expect(readCosts()).toMatchObject(KEPT)
  const other = { ...JSON.parse(readFileSync(file, 'utf8')), machine: { kernel: 'Linux 1.0' } }
  writeFileSync(file, JSON.stringify(other))
  expect(readCosts()).toBeNull()
})
