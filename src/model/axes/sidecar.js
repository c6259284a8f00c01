import { z } from 'zod'
import { UsageError } from '../../lib/errors.js'
import { cpuLimitCores, cpuRequestCores, createCountSchema, memoryBytes } from '../bounds.js'
import { ALL, FEATURE_NAMES, featureSet, LEAN, orderFeatures, recordedFeatures } from '../features.js'
import {
  createConditionAxes,
  createListOption,
  OF_CONTROL_PLANE,
  parseCores,
  parsePositiveInteger,
  parseSize,
  renderCount,
  renderMemorySize,
  UNDER_LOAD,
} from './axis.js'

const TLS_KINDS = /** @type {const} */ (['plaintext', 'ecdsa-p256', 'rsa-2048', 'ecdsa-p256+x25519mlkem768'])

/**
 * The axes of a sidecar: its resources, its configuration and its work. Pure.
 * @import { Axis } from './axis.js'
 */

export const SIDECAR_AXES = createConditionAxes(UNDER_LOAD, {
  tls: {
    option: createListOption('--tls', `between sidecars: ${TLS_KINDS.join(', ')}`),
    recorded: z.enum(TLS_KINDS).describe('between sidecars; +x25519mlkem768: that group before X25519'),
    schema: z.enum(TLS_KINDS),
    values: ['ecdsa-p256'],
    render: v => (v === 'plaintext' ? v : `mTLS ${v}`),
    label: 'TLS',
  },
  protocol: {
    option: createListOption(
      '--protocol',
      'that sidecars carry: http/1.1, http/2 between them, grpc (from the client on), or tcp (bytes)',
    ),
    recorded: z
      .enum(['http/1.1', 'http/2', 'grpc', 'tcp'])
      .describe(
        'between sidecars; grpc: HTTP/2 with trailers, from the client to the application; tcp: they carry bytes, whatever the client and the applications speak',
      ),
    schema: z.enum(['http/1.1', 'http/2', 'grpc', 'tcp']),
    values: ['http/1.1'],
    render: v => (v === 'grpc' ? 'gRPC' : v.toUpperCase()),
    label: 'protocol',
  },
  workers: {
    kinds: [...UNDER_LOAD, ...OF_CONTROL_PLANE],
    option: createListOption(
      '--workers',
      'worker threads of each sidecar; default: its CPU limit, rounded up',
      parsePositiveInteger,
    ),
    recorded: z.int().positive().nullable().describe('null: as many as the cap can use'),
    schema: createCountSchema(1024, 'each is a thread, and no machine has as many CPUs'),
    render: v => (v === null ? 'workers by cap' : renderCount(v, 'worker')),
    label: 'workers',
  },
  configuredServices: {
    kinds: [...UNDER_LOAD, ...OF_CONTROL_PLANE],
    recorded: z.int().min(0).describe('that every sidecar has routes to, and nobody calls'),
    schema: z.int().min(0).max(65_536, 'at most 65536: they have the addresses of 198.18.0.0/16'),
    values: [0],
    render: v => `${v} configured services`,
    label: 'configured services',
  },
  cpuRequestCores: {
    kinds: ['capacity'],
    option: createListOption(
      '--cpu-request',
      'CPU request of each sidecar in cores, such as 0.05,0.5: its share where the node is full (--neighbour), and no limit',
      parseCores,
    ),
    recorded: cpuRequestCores.optional().describe('of each sidecar, as the weight of its cgroup; absent: it has none'),
    schema: cpuRequestCores,
    render: v => (v === null ? 'no CPU request' : `CPU request ${v}`),
    label: 'CPU request',
    isUnsaidWhenNull: true,
  },
  podCpuCores: {
    kinds: ['capacity'],
    option: createListOption(
      '--pod-cpu',
      'CPU limit that each sidecar and its application share, such as 1: as of a pod with pod-level resources',
      parseCores,
    ),
    recorded: cpuLimitCores
      .optional()
      .describe('quota of each sidecar and its application together; absent: there is none'),
    schema: cpuLimitCores,
    render: v => (v === null ? 'no CPU limit of pods' : `pods at ${renderCount(v, 'core')}`),
    label: 'CPU limit of pods',
    isUnsaidWhenNull: true,
  },
  memoryLimitBytes: {
    option: createListOption('--memory', 'memory limit of each sidecar, such as 64MiB', parseSize),
    recorded: z.int().positive().nullable().describe('of each sidecar'),
    schema: memoryBytes,
    render: v => (v === null ? 'no memory limit' : renderMemorySize(v)),
    label: 'memory limit',
  },
  changesPerMinute: {
    recorded: z.int().min(0).nullable().describe('of the first sidecar; null: it is configured once'),
    schema: z.int().min(0).max(6000, 'at most 6000: a change takes longer than 10 ms'),
    render: v => (v === null ? 'configured once' : `${v} changes/min`),
    label: 'changes/min',
  },
  changed: {
    recorded: z.enum(['routes', 'certificate']).optional().describe('by each change; absent: routes'),
    schema: z.enum(['routes', 'certificate']),
    render: v => `${v ?? 'routes'} changed`,
    label: 'what changes',
    isUnsaidWhenNull: true,
  },
  features: {
    option: createListOption(
      '--features',
      `of each sidecar: lean, all, or names joined by +, such as lean,access-log+metrics; names: ${FEATURE_NAMES.join(', ')}`,
    ),
    recorded: recordedFeatures
      .optional()
      .describe(
        'what sidecars do beyond routing and mTLS, joined by +; all: those of parity-features; absent, or lean: nothing',
      ),
    schema: featureSet,
    values: [LEAN],
    readValue: arm => orderFeatures(arm.conditions.features ?? LEAN),
    render: renderFeatures,
    label: 'features',
  },
})

/** @param {string} features a value of the axis */
function renderFeatures(features) {
  if (features === LEAN) return 'no features'
  return features === ALL ? 'all features' : features
}

/** The CPU limit of each sidecar. It is a field of the arm, not a condition. @type {Axis} */
export const CPU_LIMIT_AXIS = {
  kinds: UNDER_LOAD,
  option: {
    flags: '--cpu <list>',
    help: 'CPU limit of each sidecar in cores, such as 0.5,1; or none',
    parse: parseCpuLimit,
    all: 'none',
  },
  isOfSidecars: true,
  schema: cpuLimitCores,
  values: [],
  readValue: arm => arm.cpuLimitCores,
  render: v => (v === null ? 'no cap' : renderCount(v, 'core')),
  label: 'cap',
}

/**
 * Parses a CPU limit of a list.
 * @param {string} text such as 0.25
 * @returns {number} cores
 * @throws {UsageError} for `none`, which is no value of a list, and any other text
 */
function parseCpuLimit(text) {
  if (text === 'none') throw new UsageError('none is no value of a list: give it alone')
  return parseCores(text)
}
