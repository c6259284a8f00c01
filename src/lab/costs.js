import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { cacheFolder } from '../lib/paths.js'
import { readMachine } from '../node/machine.js'
import { PURPOSES } from './strace.js'

/**
 * Says what a change is worth in CPU time: instructions and system calls, times what each costs on this machine.
 * @import { Costs, Sides } from './comparison.js'
 */

/** Counts of a request that the time follows. @typedef {'instructions' | 'misses' | 'writes' | 'calls' | 'bytes'} Term
 * calls: all but writes of files, which cost many times as much */
const TERMS = /** @type {Term[]} */ (['instructions', 'misses', 'writes', 'calls', 'bytes'])
const ROUNDS = 20_000

/**
 * Costs of this machine. nanos: of each term; requestNanos: CPU time of a request of the link in all sidecars;
 * errorShare: median error of the prediction for a variant that was left out of the fit, as a share of a request.
 * @typedef {{ machine: object, link: string, fittedAt: string, nanos: Record<Term, number>,
 *   requestNanos: number, errorShare: number, correlation: number }} MachineCosts
 */

/** Sums the terms of all sidecars of a link; null: their system calls were not counted. @param {Costs[]} counts of a link */
export function sumTerms(counts) {
  const sums = /** @type {Record<Term, number>} */ (Object.fromEntries(TERMS.map(term => [term, 0])))
  for (const { instructions, misses, bytes, kinds } of counts) {
    if (!instructions || !misses || !bytes || !kinds) return null
    sums.instructions += instructions.value
    sums.misses += misses.value
    sums.bytes += bytes.value
    for (const { name, calls } of kinds) sums[PURPOSES.write.test(name) ? 'writes' : 'calls'] += calls
  }
  return sums
}

/**
 * Fits the cost of each term to the times of variants, by least squares of relative errors; no cost is below 0.
 * @param {{ terms: Record<Term, number>, nanos: number, requestNanos: number }[]} variants terms and nanos: beyond those of the
 *   base; requestNanos: of the variant
 */
export function fitCosts(variants) {
  const rows = variants.map(({ terms, requestNanos }) => TERMS.map(term => terms[term] / requestNanos))
  const wanted = variants.map(({ nanos, requestNanos }) => nanos / requestNanos)
  const norms = TERMS.map((_, j) => rows.reduce((sum, row) => sum + row[j] ** 2, 0))
  const costs = TERMS.map(() => 0)
  const left = [...wanted]
  // Coordinate descent: each cost in turn takes what is left for it.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [j, norm] of norms.entries()) {
      if (norm === 0) continue
      const step = rows.reduce((sum, row, i) => sum + row[j] * left[i], 0) / norm
      const change = Math.max(0, costs[j] + step) - costs[j]
      costs[j] += change
      for (const [i, row] of rows.entries()) left[i] -= change * row[j]
    }
  }
  return /** @type {Record<Term, number>} */ (Object.fromEntries(TERMS.map((term, j) => [term, costs[j]])))
}

/** Multiplies terms by their costs. @param {Record<Term, number>} terms @param {Record<Term, number>} nanos of each */
export function predictNanos(terms, nanos) {
  return TERMS.reduce((sum, term) => sum + terms[term] * nanos[term], 0)
}

/** Subtracts the terms of the old side. @param {Record<Term, number>} next @param {Record<Term, number>} old */
export function subtractTerms(next, old) {
  return /** @type {Record<Term, number>} */ (Object.fromEntries(TERMS.map(term => [term, next[term] - old[term]])))
}

/**
 * Predicts the time of each link, in sentences.
 * @param {Sides} counts @param {MachineCosts | null} costs null: none fit this machine
 * @param {{ isUsual?: boolean }} [how] isUsual: of requests as those that the costs were fitted with
 */
export function tellPrediction(counts, costs, { isUsual = true } = {}) {
  const links = [...new Set(counts.new.map(({ link }) => link))]
  return links
    .flatMap(link => {
      const [old, next] = [counts.old, counts.new].map(side => sumTerms(side.filter(own => own.link === link)))
      if (old === null || next === null) return []
      if (costs === null)
        return [
          'the time is not predicted: npm run bench:self -- lab measures once what instructions and system calls cost here, in about 13 minutes',
        ]
      const change = subtractTerms(next, old)
      const nanos = predictNanos(change, costs.nanos)
      const ofCode = change.instructions * costs.nanos.instructions + change.misses * costs.nanos.misses
      const micros = (/** @type {number} */ value) => `${value < 0 ? '' : '+'}${(value / 1000).toFixed(1)} µs`
      const percent = (/** @type {number} */ value) => `${(100 * value).toFixed(1)} %`
      const share = isUsual && link === costs.link ? `, ${percent(nanos / costs.requestNanos)} of a request` : ''
      return [
        `predicted for a request of ${link}: ${micros(nanos)} of CPU time in all sidecars${share} (instructions ${micros(ofCode)}, the kernel ${micros(nanos - ofCode)}); such predictions were off by ${percent(costs.errorShare)} of a request at the median (${costs.fittedAt.slice(0, 10)}); --time measures it`,
      ]
    })
    .filter((line, i, all) => all.indexOf(line) === i)
}

const fileOf = () => path.join(cacheFolder(), 'lab-costs.json')

/** Names what makes costs those of another machine. */
function identifyMachine() {
  const { kernel, architecture, cpuModel, cpus } = readMachine()
  return { kernel, architecture, cpuModel, cpus }
}

/** Reads the costs of this machine; null: they were not fitted, or on another. @returns {MachineCosts | null} */
export function readCosts() {
  if (!existsSync(fileOf())) return null
  const costs = JSON.parse(readFileSync(fileOf(), 'utf8'))
  return JSON.stringify(costs.machine) === JSON.stringify(identifyMachine()) ? costs : null
}

/** Keeps the costs of this machine. @param {Omit<MachineCosts, 'machine'>} costs @returns {string} the file */
export function writeCosts(costs) {
  mkdirSync(cacheFolder(), { recursive: true })
  writeFileSync(fileOf(), `${JSON.stringify({ machine: identifyMachine(), ...costs }, null, 2)}\n`)
  return fileOf()
}
