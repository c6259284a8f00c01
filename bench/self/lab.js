// How well instructions, which `lab` counts, predict the CPU time that `bench` measures: over variants of the kit's Pipy
// sidecar, each with another change.
import { median, sampleCorrelation, sampleRankCorrelation } from 'simple-statistics'
import { cpuPerRequestMicros, sidecarsOf, splitRounds, valueOfRound } from '../../src/judge/measures.js'
import { findSide } from '../../src/lab/sides.js'
import { openLab } from '../../src/prepare/open-lab.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { openLocalSite } from '../../src/targets/local/index.js'
import { findTool } from '../../src/tools/find.js'
import { bench, declareTurns, finding, writeVariant } from './kit.js'

const REQUESTS = 400
// Beside the base: so many stand side by side.
const ARMS = 5
const ROUNDS = 12
let started = 0

const turns = (/** @type {number} */ count) => ({
  before: declareTurns(count),
  filter: '.handleMessageStart(() => turns.forEach(multiply))',
})
const onStart = (/** @type {string} */ code) => ({ filter: `.handleMessageStart(start => ${code})` })

/** @type {Record<string, { before?: string, filter: string }>} */
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
  'add-header': onStart("(start.head.headers['x-seen'] = 'yes', undefined)"),
  'copy-headers': onStart('(start.head.headers = Object.assign({}, start.head.headers), undefined)'),
  'serialise-headers': onStart('(JSON.stringify(start.head.headers), undefined)'),
  'parse-headers': onStart('(JSON.parse(JSON.stringify(start.head.headers)), undefined)'),
  'join-headers': onStart(
    "(Object.entries(start.head.headers).map(e => e.join(': ')).join('; ').split(';'), undefined)",
  ),
  'hash-path': onStart("(new crypto.Hash('sha256').update(start.head.path), undefined)"),
}

/** A cost of each variant, over that of the base. @typedef {Record<string, number>} Ratios */

/**
 * @param {{ count?: typeof countInstructions, time?: typeof timeVariants }} [how]
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function predictByLab({ count = countInstructions, time = timeVariants } = {}) {
  // The kit's own scripts with the pipe that each variant has, and no change: a difference is that of the change alone.
  const base = writeVariant('base', { filter: '' })
  const own = await count(base)
  const variants = Object.entries(CHANGES).map(([name, change]) => ({ name, folder: writeVariant(name, change) }))
  /** @type {Ratios} */
  const counted = {}
  for (const { name, folder } of variants) {
    counted[name] = (await count(folder)) / own
    console.log(`          ${name}: instructions x ${counted[name].toFixed(4)}`)
  }
  /** @type {Ratios} */
  const timed = {}
  for (let at = 0; at < variants.length; at += ARMS)
    Object.assign(timed, await time({ base, variants: variants.slice(at, at + ARMS) }))
  return describePrediction(counted, timed)
}

/**
 * @param {Ratios} counted
 * @param {Ratios} timed
 */
export function describePrediction(counted, timed) {
  // A variant without a round that counts has no ratio.
  const names = Object.keys(timed).filter(name => Number.isFinite(timed[name]))
  for (const name of names)
    console.log(`          ${name}: instructions x ${counted[name].toFixed(3)}, CPU x ${timed[name].toFixed(3)}`)
  const [x, y] = [counted, timed].map(ratios => names.map(name => ratios[name]))
  // One variant that changes much can carry the correlation alone.
  const largest = x.indexOf(Math.max(...x))
  const without = (/** @type {number[]} */ values) => values.filter((_, i) => i !== largest)
  const of = `instructions and CPU a request over ${names.length} variants`
  const isKept = (/** @type {number} */ r) => r >= 0.9
  return [
    finding('variants whose CPU time was measured, at least 12', names.length, [], count => count >= 12),
    finding(`${of}, correlation at least 0.9`, sampleCorrelation(x, y), [], isKept),
    finding(`${of}, rank correlation at least 0.9`, sampleRankCorrelation(x, y), [], isKept),
    finding(
      ...[`${of}, correlation without ${names[largest]}, the largest, at least 0.9`],
      ...[sampleCorrelation(without(x), without(y)), [], isKept],
    ),
  ]
}

/**
 * Instructions a request of both sides of the link `pair`.
 * @param {string} scripts a folder
 */
async function countInstructions(scripts) {
  const { signal } = new AbortController()
  const runId = `lab-${process.pid}-${++started}`
  const site = await openLocalSite({ runId, way: await findCapWay(), findTool })
  try {
    const side = findSide(scripts)
    const asked = { site, side, against: scripts, link: ['pair'], pipy: [], requests: REQUESTS, hasHandshakes: false }
    const lab = await openLab(asked)
    try {
      const counts = await lab.count('new', signal)
      return counts.reduce((sum, { instructions }) => sum + instructions.value, 0)
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
 * @returns {Promise<Ratios>} NaN: no round has both
 */
async function timeVariants({ base, variants }) {
  const planes = [base, ...variants.map(({ folder }) => folder)].map(folder => `pipy=${folder}`).join(',')
  const { records } = await bench(['cost', '--planes', planes, '--link', 'pair', '--rounds', `${ROUNDS}`])
  const costsOf = (/** @type {string} */ variant) =>
    splitRounds(
      records.filter(({ trial: { arm } }) => arm.variant === variant && arm.repeatOf === null),
      ROUNDS,
    ).map(trials => valueOfRound(trials, 'cpuPerRequest', record => cpuPerRequestMicros(record, sidecarsOf(record))))
  const own = costsOf(base)
  return Object.fromEntries(variants.map(({ name, folder }) => [name, medianRatio(costsOf(folder), own)]))
}

/**
 * @param {(number | null)[]} a of each round; null: none that counts
 * @param {(number | null)[]} b
 */
export function medianRatio(a, b) {
  const ratios = a.flatMap((value, i) => (value !== null && b[i] !== null ? value / b[i] : []))
  return ratios.length > 0 ? median(ratios) : Number.NaN
}
