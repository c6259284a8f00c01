// The cost of an instruction and of a system call of a sidecar on this machine, and how well `lab` predicts CPU time by them:
// variants of the kit's Pipy sidecar, each with another change, are counted, and measured side by side.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { median, sampleCorrelation, sampleRankCorrelation } from 'simple-statistics'
import { cpuPerRequestMicros, sidecarsOf, splitRounds, valueOfRound } from '../../src/judge/measures.js'
import { fitCosts, predictNanos, subtractTerms, sumTerms, writeCosts } from '../../src/lab/costs.js'
import { findSide } from '../../src/lab/sides.js'
import { openLab } from '../../src/prepare/open-lab.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { openLocalSite } from '../../src/targets/local/index.js'
import { findTool } from '../../src/tools/find.js'
import { benchAlternately } from './alternating.js'
import { declareTurns, finding, scratch, writeVariant } from './kit.js'

/** @import { Term } from '../../src/lab/costs.js' @import { Finding } from './kit.js' */

const LINK = 'pair'
const VARIANTS_LEAST = 20
const REQUESTS = 200
// Beside the base: so many stand side by side.
const ARMS = 5
const ROUNDS = 12
const WINDOW_SECONDS = 7
// A count takes one CPU.
const COUNTS_AT_ONCE = 2
let started = 0

const turns = (/** @type {number} */ count) => ({
  before: declareTurns(count),
  filter: '.handleMessageStart(() => turns.forEach(multiply))',
})
const onStart = (/** @type {string} */ code, before = '') => ({
  before,
  filter: `.handleMessageStart(start => (${code}, undefined))`,
})
const pad = (/** @type {number} */ bytes) =>
  onStart("start.head.headers['x-pad'] = pad", `var pad = new Array(${bytes}).fill('x').join('')`)
const LOGGER = "var log = new logging.BinaryLogger('costs').toStdout().log"
const inUpstream = (/** @type {string} */ from, /** @type {string} */ to) => ({
  filter: '',
  edit: { file: 'upstream.js', from, to },
})

/** @type {Record<string, Parameters<typeof writeVariant>[1]>} */
export const CHANGES = {
  empty: onStart('undefined'),
  'three-handlers': {
    filter:
      '.handleMessageStart(() => undefined).handleMessageStart(() => undefined).handleMessageEnd(() => undefined)',
  },
  'whole-message': { filter: '.replaceMessage(message => message)' },
  'turns-20': turns(20),
  'turns-60': turns(60),
  'turns-120': turns(120),
  'copy-headers': onStart('start.head.headers = Object.assign({}, start.head.headers)'),
  'serialise-headers': onStart('JSON.stringify(start.head.headers)'),
  'parse-headers': onStart('JSON.parse(JSON.stringify(start.head.headers))'),
  'join-headers': onStart("Object.entries(start.head.headers).map(e => e.join(': ')).join('; ').split(';')"),
  'hash-path': onStart("new crypto.Hash('sha256').update(start.head.path)"),
  'header-1k': pad(1024),
  'header-4k': pad(4096),
  'log-line': onStart('log(start.head.path)', LOGGER),
  'log-3-lines': onStart("['1', '2', '3'].forEach(line => log(line))", LOGGER),
  'ask-file': onStart("os.stat('/dev/null')"),
  'ask-file-5': onStart('names.forEach(name => os.stat(name))', "var names = new Array(5).fill('/dev/null')"),
  'read-file': onStart("os.read('/dev/null')"),
  'read-file-3': onStart('names.forEach(name => os.read(name))', "var names = new Array(3).fill('/dev/null')"),
  wait: { filter: '.wait(() => new Timeout(0.001).wait())' },
  'buffer-0': inUpstream("'http/1.1': { bufferSize: 16384", "'http/1.1': { bufferSize: 0"),
  'buffer-256': inUpstream("'http/1.1': { bufferSize: 16384", "'http/1.1': { bufferSize: 256"),
  'queue-4': inUpstream('maxQueue: 1,', 'maxQueue: 4,'),
}

/**
 * Terms of a request of all sidecars, and the ratio of its CPU time to that of the base.
 * @typedef {{ name: string, terms: Record<Term, number>, ratio: number }} Variant terms: beyond those of the base
 * @typedef {{ ratios: Record<string, number>, baseNanos: number[] }} Timed baseNanos: CPU time of a request of the base
 */

/**
 * @param {{ count?: typeof countTerms, time?: typeof timeVariants }} [how]
 * @returns {Promise<Finding[]>}
 */
export async function predictByLab({ count = countTerms, time = timeVariants } = {}) {
  // The kit's own scripts with the pipe that each variant has, and no change: a difference is that of the change alone.
  const base = { name: 'base', folder: writeVariant('base', { filter: '' }) }
  const variants = Object.entries(CHANGES).map(([name, change]) => ({ name, folder: writeVariant(name, change) }))
  /** @type {Record<string, Record<Term, number>>} */
  const counted = {}
  const left = [base, ...variants]
  const countLeft = async () => {
    for (let own = left.shift(); own; own = left.shift()) counted[own.name] = await count(own.folder)
  }
  await Promise.all(Array.from({ length: COUNTS_AT_ONCE }, countLeft))
  /** @type {Timed} */
  const timed = { ratios: {}, baseNanos: [] }
  for (let at = 0; at < variants.length; at += ARMS) {
    const { ratios, baseNanos } = await time({ base: base.folder, variants: variants.slice(at, at + ARMS) })
    Object.assign(timed.ratios, ratios)
    timed.baseNanos.push(...baseNanos)
  }
  const measured = variants.map(({ name }) => ({
    name,
    terms: subtractTerms(counted[name], counted.base),
    ratio: timed.ratios[name],
  }))
  return describePrediction(measured, median(timed.baseNanos))
}

/**
 * Fits the costs to all variants and keeps them, and predicts each variant by costs that were fitted without it.
 * @param {Variant[]} measured @param {number} requestNanos of the base @param {typeof writeCosts} [keep]
 */
export function describePrediction(measured, requestNanos, keep = writeCosts) {
  // A variant without a round that counts has no ratio.
  const variants = measured
    .filter(({ ratio }) => Number.isFinite(ratio))
    .map(own => ({ ...own, nanos: (own.ratio - 1) * requestNanos, requestNanos: own.ratio * requestNanos }))
  const predicted = variants.map(
    own => 1 + predictNanos(own.terms, fitCosts(variants.filter(other => other !== own))) / requestNanos,
  )
  for (const [i, { name, terms, ratio }] of variants.entries())
    console.log(
      `          ${name}: ${Object.entries(terms)
        .map(([term, change]) => `${term} ${change.toFixed(term === 'writes' || term === 'calls' ? 2 : 0)}`)
        .join(', ')}: predicted x ${predicted[i].toFixed(4)}, measured x ${ratio.toFixed(4)}`,
    )
  const y = variants.map(({ ratio }) => ratio)
  const code = variants.map(({ terms }) => terms.instructions)
  const errors = y.map((ratio, i) => Math.abs(predicted[i] - ratio))
  // One variant that changes much can carry the correlation alone.
  const largest = y.indexOf(Math.max(...y))
  const without = (/** @type {number[]} */ values) => values.filter((_, i) => i !== largest)
  const correlation = sampleCorrelation(predicted, y)
  const nanos = fitCosts(variants)
  const isPredicting = (/** @type {number} */ r) => r >= 0.9
  const isKept = variants.length >= VARIANTS_LEAST && isPredicting(correlation)
  const fit = { link: LINK, fittedAt: new Date().toISOString(), nanos, requestNanos }
  const where = isKept
    ? `kept in ${keep({ ...fit, errorShare: median(errors), correlation })}`
    : 'not kept: they predict too little'
  const each = Object.entries(nanos).map(([term, cost]) => `${term} ${cost.toFixed(term === 'instructions' ? 3 : 1)}`)
  console.log(`          nanoseconds of each: ${each.join(', ')}; of a request: ${requestNanos.toFixed(0)}; ${where}`)
  const of = `predicted and measured CPU time over ${variants.length} variants`
  return [
    finding('variants whose CPU time was measured, at least 20', variants.length, [], n => n >= VARIANTS_LEAST),
    finding(`${of}, correlation at least 0.9`, correlation, [], isPredicting),
    finding(`${of}, rank correlation at least 0.9`, sampleRankCorrelation(predicted, y), [], isPredicting),
    finding(
      `${of}, correlation without ${variants[largest].name}, the largest, at least 0.9`,
      sampleCorrelation(without(predicted), without(y)),
      [],
      isPredicting,
    ),
    finding(`${of}, median error as a share of a request, at most 0.02`, median(errors), [], error => error <= 0.02),
    {
      promise: `the same by instructions alone, correlation`,
      measured: sampleCorrelation(code, y).toFixed(4),
      isKept: null,
    },
  ]
}

/**
 * Terms of a request of both sides of the link.
 * @param {string} scripts a folder
 */
async function countTerms(scripts) {
  const { signal } = new AbortController()
  const runId = `lab-${process.pid}-${++started}`
  const site = await openLocalSite({ runId, way: await findCapWay(), findTool })
  try {
    const side = findSide(scripts)
    const asked = { site, side, against: scripts, link: [LINK], pipy: [], requests: REQUESTS }
    const lab = await openLab({ ...asked, hasHandshakes: false, hasCalls: true })
    try {
      const terms = sumTerms(await lab.count('new', signal))
      if (terms === null) throw new Error(lab.notes.join())
      return terms
    } finally {
      lab.close()
    }
  } finally {
    await site.target.close()
  }
}

/**
 * CPU a request of both sidecars, over that of the base: the median over deployments, in which all stand side by side.
 * @param {{ base: string, variants: { name: string, folder: string }[] }} options base: a folder
 * @returns {Promise<Timed>} ratios: NaN: no round has both
 */
async function timeVariants({ base, variants }) {
  const experiment = path.join(scratch, `costs-${++started}.yaml`)
  const planes = [base, ...variants.map(({ folder }) => folder)].map(folder => `pipy=${folder}`)
  writeFileSync(
    experiment,
    `name: costs
question: What does a change cost?
axes: { plane: ${JSON.stringify(planes)}, link: [${LINK}], capCores: [1] }
measure: [turns]
trafficPolicy: open
profiles: { standard: { rounds: ${ROUNDS}, windowSeconds: ${WINDOW_SECONDS}, hasControl: false } }
`,
  )
  // Some variants do other work on purpose.
  const [{ records }] = await benchAlternately([{ experiment, gate: async () => [] }])
  const costsOf = (/** @type {string} */ variant) =>
    splitRounds(
      records.filter(({ trial: { arm } }) => arm.variant === variant),
      ROUNDS,
    ).map(trials => valueOfRound(trials, 'cpuPerRequest', record => cpuPerRequestMicros(record, sidecarsOf(record))))
  const own = costsOf(base)
  return {
    ratios: Object.fromEntries(variants.map(({ name, folder }) => [name, medianRatio(costsOf(folder), own)])),
    baseNanos: own.flatMap(micros => (micros === null ? [] : 1000 * micros)),
  }
}

/**
 * @param {(number | null)[]} a of each round; null: none that counts
 * @param {(number | null)[]} b
 */
export function medianRatio(a, b) {
  const ratios = a.flatMap((value, i) => (value !== null && b[i] !== null ? value / b[i] : []))
  return ratios.length > 0 ? median(ratios) : Number.NaN
}
