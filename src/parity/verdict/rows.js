import { nameOfContender } from '../../model/arms.js'
import { groupOf } from '../../model/axes.js'
import { LEAN } from '../../model/features.js'

/** Whether planes do equal work, row by row. Pure. @import { Arm, ParityRow, Summary } from '../../model/types.ts' */

/** The rows that are held equal before load; each can be an experiment's axis instead. */
export const PARITY_NAMES = [
  'parity-answers',
  'parity-connect-timeout',
  'parity-refusals',
  'parity-permissive',
  'parity-upstreams',
  'parity-tls',
  'parity-protocol',
  'parity-workers',
  'parity-pooling',
  'parity-logging',
  'parity-features',
]

/** The parts of an arm that change its sidecars' work; the traffic policy is the run's. @param {Arm} arm */
export function configurationOf(arm) {
  const { tls, protocol, features = LEAN, interception } = arm.conditions
  const plane = nameOfContender({ ...arm, repeatOf: null, control: undefined })
  return { plane, tls, protocol, features, ...(interception && { interception }) }
}

/** The parts of an arm that decide its number of workers, beside its configuration. @param {Arm} arm */
export function sizeOf({ link, capCores, conditions: { workers } }) {
  return { link, capCores, workers }
}

/**
 * Whether a row shows other work than is expected; null: planes may differ.
 * @param {{ found: string, expected: string | null }} row
 */
export function isWrong({ found, expected }) {
  return expected !== null && found !== expected
}

/** @typedef {{ arm: Arm, rows: ParityRow[], name?: string }} Judged an arm, and what was found in its run; name: what it is called, else by its plane */

/** @typedef {{ a: Judged, b: Judged, relaxed: string[] }} JudgedPair relaxed: what the experiment sets aside */

/** Why two arms did not do equal work, where neither is as a mesh deploys it. @param {JudgedPair} pair */
export function findDisparities(pair) {
  return listPairs(pair).flatMap(({ rows: [x, y], check }) => {
    if (x.isDeployed || y.isDeployed || areAlike([x, y])) return []
    const wrong = [x, y].filter(isWrong)
    if (wrong.length > 0) return wrong.map(tellWrong)
    return x.found === y.found ? [] : [`${check}: ${x.plane}: ${x.found}; ${y.plane}: ${y.found}`]
  })
}

/** The rows in which an arm that is as a mesh deploys it does other work than another, in one line. @param {JudgedPair} pair */
export function findUnequal(pair) {
  const names = listPairs(pair).flatMap(({ rows: [x, y], check }) =>
    (x.isDeployed || y.isDeployed) && x.found !== y.found ? [check.replace('parity-', '')] : [],
  )
  return names.length > 0 ? [`unequal work: ${names.join(', ')}`] : []
}

/** @param {JudgedPair} pair */
function listPairs({ a, b, relaxed }) {
  return PARITY_NAMES.filter(name => !relaxed.includes(name)).flatMap(check => {
    const [x, y] = [a, b].map(judged => findRow(judged, check))
    return x && y ? [{ check, rows: [x, y] }] : []
  })
}

/**
 * Lists what arms of two configurations do wrong, each for itself: no more can be held equal.
 * @param {{ judged: Judged[], relaxed: string[] }} options
 */
export function findWrong({ judged, relaxed }) {
  const names = PARITY_NAMES.filter(name => !relaxed.includes(name))
  const rows = names.flatMap(check => {
    const own = judged.flatMap(one => findRow(one, check) ?? [])
    return areAlike(own) ? [] : own
  })
  return [...new Set(rows.filter(row => isWrong(row) && !row.isDeployed).map(tellWrong))]
}

/**
 * Names the rows in which arms of a run did other work than each other, or than was asked; wrong: without those that the
 * experiment sets aside. @param {Pick<Summary, 'parity' | 'arms' | 'relaxes'>} summary
 */
export function findDiffering({ parity, arms, relaxes }) {
  const judged = arms.filter(arm => arm.repeatOf === null).map(arm => ({ arm, rows: parity }))
  // Arms of other features, TLS or protocol have other rows by design.
  const pairs = judged.flatMap((a, i) => judged.slice(i + 1).map(b => ({ a, b })))
  const like = pairs.filter(({ a, b }) => groupOf(a.arm) === groupOf(b.arm))
  const differences = like.flatMap(pair => findDisparities({ ...pair, relaxed: [] }))
  const disparities = [...findWrong({ judged, relaxed: [] }), ...differences]
  const names = [...new Set(parity.map(row => row.name))]
  const differing = names.filter(name => disparities.some(line => line.startsWith(`${name}:`)))
  return { differing, wrong: differing.filter(name => !relaxes.some(({ gate }) => gate === name)) }
}

/** @param {Judged} judged @param {string} check */
function findRow({ arm, rows, name }, check) {
  const row = rows.find(r => r.name === check && isOf(r, arm))
  return row && { ...row, plane: name ?? row.plane }
}

/** Whether planes fall short in the same things, and each declares so: their work is equal. @param {ParityRow[]} rows */
function areAlike(rows) {
  const shortfalls = new Set(rows.map(({ found, differences }) => JSON.stringify([found, differences])))
  return rows.length > 1 && shortfalls.size === 1 && rows.every(({ lacks = [] }) => lacks.length > 0)
}

/** @param {ParityRow} row */
function tellWrong({ name, plane, found, expected, lacks = [] }) {
  return `${name}: ${plane}: ${lacks.length > 0 ? lacks.join('; ') : `${found}, ${expected} is expected`}`
}

/** @param {ParityRow} row @param {Arm} arm */
function isOf({ plane, tls, protocol, features = LEAN, interception, size, links }, arm) {
  const own = configurationOf(arm)
  if (links && !links.includes(arm.link)) return false
  if (plane !== own.plane || tls !== own.tls || protocol !== own.protocol || features !== own.features) return false
  // Older versions tried one form for all.
  if (interception !== undefined && interception !== own.interception) return false
  const { link, capCores, workers } = sizeOf(arm)
  return size === null || (size.link === link && size.capCores === capCores && size.workers === workers)
}
