import { listComparedQuantities, PRIMARY } from '../judge/quantities.js'
import { UsageError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { renderSuggestion } from '../lib/nearest.js'
import { createGroupKey, parsePlaneChoice, renderArmName } from '../model/arms.js'

/** Parses and tests conditions on the median ratio of two planes, or of two runs, for CI. Pure. */
/** @import { Arm, Comparison, Manifest, ThresholdResult } from '../model/types.ts' */

/** The most characters of an expression: the names of two planes may have a path each. */
const CHARACTERS_MOST = 1000

/** Each operator tests a value against the limit. @type {Record<string, (value: number, limit: number) => boolean>} */
const OPERATORS = {
  '<=': (value, limit) => value <= limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '>': (value, limit) => value > limit,
}

/**
 * The sides that thresholds compare, and the words for them in errors.
 * @typedef {object} Sides
 * @property {string[]} names that a side may have
 * @property {string} one side, with its article
 * @property {string} many sides
 * @property {string} example of an expression
 * @property {string} wantsOpen how to get a quantity that needs the open loop
 * @property {string} wantsClosed how to get one that needs the closed loop
 */
/** The words for the planes of one run, whose names are the sides. @type {Omit<Sides, 'names'>} */
const PLANES = {
  one: 'a plane',
  many: 'planes of this run',
  example: 'pipy/envoy cpuPerRequest <= 0.6',
  wantsOpen: 'give --rate',
  wantsClosed: 'leave --rate away',
}
/** @type {Sides} */
const RUNS = {
  names: ['new', 'old'],
  one: 'a run',
  many: 'runs',
  example: 'new/old cpuPerRequest <= 1.05',
  wantsOpen: 'give runs that were made with --rate',
  wantsClosed: 'give runs that were made without --rate',
}

/**
 * A condition on the ratio a/b of a quantity.
 * @typedef {object} Threshold
 * @property {string} expression as it was written
 * @property {string} a the name of a plane, or `new` or `old`
 * @property {string} b likewise
 * @property {string} quantity
 * @property {string | null} service whose sidecar is compared; null: all sidecars together
 * @property {string} operator a key of OPERATORS
 * @property {number} limit of the ratio, above 0
 */

/**
 * Parses `a/b quantity[@service] <= number`, with a variant by its folder: `pipy=my-scripts`.
 * @param {string} expression
 * @param {Pick<Arm, 'plane' | 'variant' | 'profile' | 'repeatOf' | 'hasSidecars' | 'load'>[]} arms of the run
 * @param {string[]} [services] absent: the service is not checked
 * @returns {Threshold}
 * @throws {UsageError} if it has another form, or names a plane, a quantity or a service that is not in the run, a quantity
 *   that no arm's load measures, or one plane twice
 */
export function parseThreshold(expression, arms, services) {
  const planes = arms.filter(arm => arm.hasSidecars && !arm.repeatOf).map(renderArmName)
  return parseExpression(expression, { sides: { ...PLANES, names: [...new Set(planes)] }, arms, services })
}

/**
 * Parses `new/old quantity[@service] <= number`, or `old/new`, for the same arm of two runs.
 * @param {string} expression
 * @param {Pick<Arm, 'load'>[]} arms of both runs
 * @param {string[]} [services] absent: the service is not checked
 * @returns {Threshold}
 * @throws {UsageError} if it has another form, or names a quantity or a service that is not in the runs, a quantity that no
 *   arm's load measures, or one run twice
 */
export function parseRunThreshold(expression, arms, services) {
  return parseExpression(expression, { sides: RUNS, arms, services })
}

/**
 * Tests a threshold at every place of a run: link, limit, load and conditions.
 * @param {string} expression
 * @param {{ arms: Arm[], triedArms: Arm[], notMeasured: Manifest['notMeasured'], comparisons: Comparison[] }} run triedArms: arms
 *   with records, including those whose rates cannot be reached
 * @returns {ThresholdResult[]} one for each place; value, held: null if the quantity was spoiled or not measured, or one of the
 *   planes was left out after the run began; []: no comparison or arm has the quantity
 * @throws {UsageError} if the expression has another form, or names a plane or a quantity that is not in the run, or one plane twice
 */
export function testThreshold(expression, { arms, triedArms, notMeasured, comparisons }) {
  const isPlane = (/** @type {Arm} */ arm) => arm.hasSidecars && arm.repeatOf === null
  const planeArms = arms.filter(isPlane)
  const measuredPlanes = new Set(planeArms.map(renderArmName))
  const begunPlanes = [...notMeasured.map(({ plane }) => plane), ...triedArms.filter(isPlane).map(renderArmName)]
  const leftOutPlanes = new Set(begunPlanes.filter(plane => !measuredPlanes.has(plane)))
  const sides = { ...PLANES, names: [...measuredPlanes, ...leftOutPlanes] }
  const threshold = parseExpression(expression, { sides, arms })
  const isOfLeftOut = leftOutPlanes.has(threshold.a) || leftOutPlanes.has(threshold.b)
  if (!isOfLeftOut) return evaluateThreshold(threshold, comparisons)
  const kinds = listComparedQuantities().find(({ name }) => name === threshold.quantity)?.compared.kinds ?? []
  const armsWithQuantity = planeArms.filter(arm => kinds.includes(arm.load.kind))
  const groups = [...groupBy(armsWithQuantity, arm => createGroupKey(arm)).values()]
  return groups.map(([arm]) => createThresholdResult({ expression, place: arm, value: null, held: null }))
}

/**
 * Creates the result of a threshold at a place.
 * @param {{ expression: string, place: Pick<ThresholdResult, 'link' | 'cpuLimitCores' | 'load' | 'conditions'>,
 *   value: number | null, held: boolean | null }} options place: an arm or a comparison there
 * @returns {ThresholdResult}
 */
function createThresholdResult({ expression, place: { link, cpuLimitCores, load, conditions }, value, held }) {
  return { expression, link, cpuLimitCores, load, conditions, value, held }
}

/**
 * Parses an expression about two of some sides.
 * @param {string} expression
 * @param {{ sides: Sides, arms: Pick<Arm, 'load'>[], services?: string[] }} options
 * @returns {Threshold}
 * @throws {UsageError} for an expression that does not fit; its message says how to write it
 */
function parseExpression(expression, { sides, arms, services }) {
  const { names, one, many } = sides
  const example = `write it as '${sides.example}'`
  const createError = (/** @type {string} */ why) =>
    new UsageError(`--threshold '${expression.slice(0, CHARACTERS_MOST)}': ${why}`)
  // It may stand in a manifest that somebody else wrote.
  if (expression.length > CHARACTERS_MOST)
    throw createError(`it has more than ${CHARACTERS_MOST} characters; ${example}`)
  const match = /^\s*(\S+)\s+([a-zA-Z0-9]+)(?:@([a-z0-9-]+))?\s*(<=|>=|<|>)\s*(\S+)\s*$/.exec(expression)
  if (!match) throw createError(example)
  const [, pair, quantity, service = null, operator, number] = match
  const limit = Number(number)
  if (!(limit > 0) || !Number.isFinite(limit)) throw createError(`"${number}" is no ratio above 0; ${example}`)
  const fault = findQuantityFault({ quantity, service, sides, arms, services })
  if (fault !== null) throw createError(fault)
  const [a, b] = splitPair(pair, names)
  if (!a || !b) throw createError(`"${pair}" is not two ${many} (${names.join(', ')}); ${example}`)
  if (a === b) throw createError(`${one} cannot be compared with itself`)
  return { expression, a, b, quantity, service, operator, limit }
}

/**
 * Finds why a quantity of a service cannot be compared in a run.
 * @param {{ quantity: string, service: string | null, sides: Sides, arms: Pick<Arm, 'load'>[], services?: string[] }} options
 *   service: null: all sidecars together; services: absent: the service is not checked
 * @returns {string | null} null: it can be compared
 */
function findQuantityFault({ quantity, service, sides, arms, services }) {
  const quantities = listComparedQuantities()
  const row = quantities.find(({ name }) => name === quantity)
  if (!row) {
    const knownNames = quantities.map(({ name }) => name)
    return `unknown quantity "${quantity}"${renderSuggestion(quantity, knownNames)}; write it as '${sides.example}'`
  }
  if (service !== null && !row.sidecars) return `${quantity} is no quantity of a single sidecar`
  if (service !== null && services && !services.includes(service))
    return `unknown service "${service}"${renderSuggestion(service, services)}`
  const { kinds } = row.compared
  if (arms.some(arm => kinds.includes(arm.load.kind))) return null
  return kinds.includes('open')
    ? `${quantity} needs the open loop: ${sides.wantsOpen}`
    : `${quantity} needs the closed loop: ${sides.wantsClosed}`
}

/**
 * Tests a threshold on each comparison of its two sides. CPU per request is measured best side by side: if there are comparisons of
 * interleaved arms, only these count.
 * @param {Threshold} threshold
 * @param {Comparison[]} comparisons
 * @returns {ThresholdResult[]} value: the ratio a/b; value, held: null if the quantity was spoiled or not measured; []: no
 *   comparison of the quantity has these sides
 */
export function evaluateThreshold({ expression, a, b, quantity, service, operator, limit }, comparisons) {
  const isPair = (/** @type {Comparison} */ c) => (c.a === a && c.b === b) || (c.a === b && c.b === a)
  const pairComparisons = comparisons.filter(c => c.contrast === null && c.quantity === quantity && isPair(c))
  const interleavedComparisons = quantity === PRIMARY.name ? pairComparisons.filter(c => c.load.isInterleaved) : []
  const countedComparisons = interleavedComparisons.length > 0 ? interleavedComparisons : pairComparisons
  const serviceComparisons = countedComparisons.filter(c => c.service === service)
  // A sidecar whose trials failed is in no comparison: the sums of all sidecars then give the places, untested.
  if (serviceComparisons.length === 0) {
    const sums = countedComparisons.filter(c => c.service === null)
    return sums.map(place => createThresholdResult({ expression, place, value: null, held: null }))
  }
  return serviceComparisons.map(comparison => {
    const median = comparison.verdict === 'invalid' ? null : comparison.ratio.median
    const value = median === null || comparison.a === a ? median : 1 / median
    const held = value === null ? null : OPERATORS[operator](value, limit)
    return createThresholdResult({ expression, place: comparison, value, held })
  })
}

/**
 * Splits a pair at the `/` between two planes, and not at one in a variant's path.
 * @param {string} pair
 * @param {string[]} names of planes, or `new` and `old`
 * @returns {string[]} the two names, of a variant with the last part of its path only; []: no split gives two known names
 */
function splitPair(pair, names) {
  const parts = pair.split('/')
  for (let i = 1; i < parts.length; i++) {
    const sides = [parts.slice(0, i), parts.slice(i)].map(side => renderArmName(parsePlaneChoice(side.join('/'))))
    if (sides.every(side => names.includes(side))) return sides
  }
  return []
}
