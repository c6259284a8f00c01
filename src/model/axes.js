import { z } from 'zod'
import { ALGORITHM_NAMES, SIZES } from './balance.js'
import { ON_AXES } from './bounds.js'
import { ALL, featureSet, LEAN, orderFeatures } from './features.js'

/**
 * What experiments vary beside the plane. Each axis: which values it takes, what is taken where an experiment
 * names none, where an arm has it, and how it is said. Pure.
 * @import { Arm, AxisName } from './types.ts'
 */

/**
 * @typedef {object} Axis
 * @property {import('zod').ZodType} schema of one value
 * @property {any[]} values where nothing else is asked
 * @property {(arm: Pick<Arm, 'link' | 'capCores' | 'load' | 'conditions'>) => any} of
 * @property {(value: any) => string} show as words that stand alone
 * @property {string} label of a column or row
 * @property {true} [isOfSidecars] arms without sidecars cannot differ in it
 */

/** In the order in which arms are made of them. @type {Record<AxisName, Axis>} */
export const AXES = {
  link: { schema: z.string(), values: [], of: arm => arm.link, show: v => `link ${v}`, label: 'link' },
  services: {
    schema: ON_AXES.services,
    values: [1],
    of: arm => arm.conditions.services,
    show: v => `${v} ${v === 1 ? 'service' : 'services'}`,
    label: 'services',
  },
  ratePerSecond: {
    schema: ON_AXES.ratePerSecond,
    values: [null],
    of: arm => arm.load.ratePerSecond ?? null,
    show: v => `${v} requests/s`,
    label: 'requests/s',
  },
  users: {
    schema: ON_AXES.users,
    values: [null],
    of: arm => arm.load.users,
    show: v => `${v} users`,
    label: 'users',
  },
  payloadBytes: {
    schema: ON_AXES.payloadBytes,
    values: [1024],
    of: arm => arm.load.payloadBytes,
    show: v => `${v} bytes`,
    label: 'bytes',
  },
  connections: {
    schema: z.enum(['kept', 'new']),
    values: ['kept'],
    of: arm => arm.load.connections,
    show: v => `connections ${v}`,
    label: 'connections',
  },
  burstSeconds: {
    schema: ON_AXES.burstSeconds,
    values: [null],
    of: arm => arm.load.burst?.seconds ?? null,
    show: v => `burst of ${v} s`,
    label: 'burst s',
  },
  tls: {
    isOfSidecars: true,
    schema: z.enum(['plaintext', 'ecdsa-p256', 'rsa-2048']),
    values: ['ecdsa-p256'],
    of: arm => arm.conditions.tls,
    show: v => (v === 'plaintext' ? v : `mTLS ${v}`),
    label: 'TLS',
  },
  protocol: {
    isOfSidecars: true,
    schema: z.enum(['http/1.1', 'http/2']),
    values: ['http/1.1'],
    of: arm => arm.conditions.protocol,
    show: v => v.toUpperCase(),
    label: 'protocol',
  },
  workers: {
    isOfSidecars: true,
    schema: ON_AXES.workers,
    values: [null],
    of: arm => arm.conditions.workers,
    show: v => (v === null ? 'workers by cap' : `${v} ${v === 1 ? 'worker' : 'workers'}`),
    label: 'workers',
  },
  configuredServices: {
    isOfSidecars: true,
    schema: ON_AXES.configuredServices,
    values: [0],
    of: arm => arm.conditions.configuredServices,
    show: v => `${v} configured services`,
    label: 'configured services',
  },
  memoryLimitBytes: {
    isOfSidecars: true,
    schema: ON_AXES.memoryLimitBytes,
    values: [null],
    of: arm => arm.conditions.memoryLimitBytes,
    show: v => (v === null ? 'no memory limit' : showMebibytes(v)),
    label: 'memory limit',
  },
  changesPerMinute: {
    isOfSidecars: true,
    schema: ON_AXES.changesPerMinute,
    values: [null],
    of: arm => arm.conditions.changesPerMinute,
    show: v => (v === null ? 'configured once' : `${v} changes/min`),
    label: 'changes/min',
  },
  features: {
    isOfSidecars: true,
    schema: featureSet,
    values: [LEAN],
    of: arm => orderFeatures(arm.conditions.features ?? LEAN),
    show: v => (v === LEAN ? 'no features' : v === ALL ? 'all features' : v),
    label: 'features',
  },
  sidecars: {
    isOfSidecars: true,
    schema: ON_AXES.sidecars,
    values: [null],
    of: arm => arm.conditions.sidecars ?? null,
    show: v => (v === null ? 'no control plane' : `${v} ${v === 1 ? 'sidecar' : 'sidecars'}`),
    label: 'sidecars',
  },
  controlCapCores: {
    isOfSidecars: true,
    schema: ON_AXES.capCores.nullable(),
    values: [null],
    of: arm => arm.conditions.controlCapCores ?? null,
    show: v => (v === null ? 'control plane without a cap' : `control plane at ${v} cores`),
    label: 'control plane cap',
  },
  controlMemoryBytes: {
    isOfSidecars: true,
    schema: ON_AXES.memoryLimitBytes.nullable(),
    values: [null],
    of: arm => arm.conditions.controlMemoryBytes ?? null,
    show: v => (v === null ? 'control plane without a memory limit' : `control plane with ${showMebibytes(v)}`),
    label: 'control plane memory limit',
  },
  shards: {
    isOfSidecars: true,
    schema: ON_AXES.shards,
    values: [null],
    of: arm => arm.conditions.shards ?? null,
    show: v => (v === null ? 'not in shards' : `${v} ${v === 1 ? 'shard' : 'shards'}`),
    label: 'shards',
  },
  assignment: {
    isOfSidecars: true,
    schema: z.enum(ALGORITHM_NAMES),
    values: [null],
    of: arm => arm.conditions.assignment ?? null,
    show: v => (v === null ? 'assigned by round-robin' : `assigned by ${v}`),
    label: 'assignment',
  },
  sizes: {
    isOfSidecars: true,
    schema: z.enum(SIZES),
    values: [null],
    of: arm => arm.conditions.sizes ?? null,
    show: v => `${v ?? 'equal'} sizes`,
    label: 'sizes',
  },
  isShardRemoved: {
    isOfSidecars: true,
    schema: z.literal(true).nullable(),
    values: [null],
    of: arm => arm.conditions.isShardRemoved ?? null,
    show: v => (v === null ? 'no shard removed' : 'a shard removed'),
    label: 'shard removed',
  },
  commitsPerSecond: {
    isOfSidecars: true,
    schema: ON_AXES.commitsPerSecond,
    values: [null],
    of: arm => arm.conditions.commitsPerSecond ?? null,
    show: v => (v === null ? 'commits at no rate' : `at most ${v} commits/s`),
    label: 'commits/s',
  },
  commitsAtOnce: {
    isOfSidecars: true,
    schema: ON_AXES.commitsAtOnce,
    values: [null],
    of: arm => arm.conditions.commitsAtOnce ?? null,
    show: v => (v === null ? 'commits at once by default' : `${v} ${v === 1 ? 'commit' : 'commits'} at once`),
    label: 'commits at once',
  },
  capCores: {
    isOfSidecars: true,
    schema: ON_AXES.capCores,
    values: [],
    of: arm => arm.capCores,
    show: v => (v === null ? 'no cap' : `${v} cores`),
    label: 'cap',
  },
}

/** @param {number} bytes */
function showMebibytes(bytes) {
  return `${Number((bytes / 2 ** 20).toFixed(2))} MiB`
}

/** @type {AxisName[]} */
export const AXIS_NAMES = /** @type {AxisName[]} */ (Object.keys(AXES))

/**
 * The axes in which arms without sidecars can differ: what they share with the arms that they are the baseline of.
 * @type {AxisName[]}
 */
export const BASELINE_AXES = AXIS_NAMES.filter(name => !AXES[name].isOfSidecars)

/**
 * The axes in which arms with sidecars differ, or any arms where none has.
 * @param {Parameters<Axis['of']>[0][]} arms
 * @returns {AxisName[]}
 */
export function findVaried(arms) {
  const capped = arms.filter(arm => arm.capCores !== null)
  const judged = capped.length > 0 ? capped : arms
  return AXIS_NAMES.filter(name => new Set(judged.map(AXES[name].of)).size > 1)
}

/**
 * What an arm has on some axes, as words.
 * @param {Parameters<Axis['of']>[0]} arm
 * @param {AxisName[]} names
 */
export function describeAxes(arm, names) {
  return names.map(name => AXES[name].show(AXES[name].of(arm))).join(', ')
}

/**
 * Whether an arm is what another is without sidecars: under the same load, and equal in all that it can have.
 * @param {Parameters<Axis['of']>[0] & { hasSidecars: boolean }} none
 * @param {Parameters<Axis['of']>[0]} arm
 */
export function isBaselineOf(none, arm) {
  return none !== arm && !none.hasSidecars && isAlike(none, arm, BASELINE_AXES)
}

/**
 * Whether two arms have the same kind of load and the same on some axes.
 * @param {Parameters<Axis['of']>[0]} a
 * @param {Parameters<Axis['of']>[0]} b
 * @param {AxisName[]} names
 */
export function isAlike(a, b, names) {
  return a.load.kind === b.load.kind && describeAxes(a, names) === describeAxes(b, names)
}

/**
 * What arms must share to be compared, but for an axis.
 * @param {Parameters<Axis['of']>[0] & { load: Arm['load'] }} arm
 * @param {AxisName | null} [except]
 */
export function groupOf(arm, except = null) {
  const names = AXIS_NAMES.filter(name => name !== except)
  return JSON.stringify([arm.load.kind, ...names.map(name => AXES[name].of(arm))])
}
