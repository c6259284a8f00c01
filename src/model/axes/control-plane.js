import { z } from 'zod'
import { ALGORITHM_NAMES, SIZES } from '../balance.js'
import { cpuLimitCores, createCountSchema, memoryBytes } from '../bounds.js'
import {
  createConditionAxes,
  createListOption,
  createNoneParser,
  OF_CONTROL_PLANE,
  parseCores,
  parsePositiveInteger,
  parseSize,
  renderCount,
  renderMemorySize,
} from './axis.js'

/** The axes of a control plane of many sidecars. An arm lacks the condition of an axis whose value is null. Pure. */
export const CONTROL_PLANE_AXES = createConditionAxes(['rollout'], {
  sidecars: {
    kinds: OF_CONTROL_PLANE,
    option: createListOption(
      '--sidecars',
      'how many sidecars the control plane configures; on Kubernetes, a pod each',
      parsePositiveInteger,
    ),
    recorded: z.int().positive().optional().describe('that one control plane configures; absent: there is none'),
    schema: createCountSchema(5000, 'the kit has not been tried with more of one control plane'),
    render: v => (v === null ? 'no control plane' : renderCount(v, 'sidecar')),
    label: 'sidecars',
  },
  controlCpuLimitCores: {
    kinds: OF_CONTROL_PLANE,
    option: createListOption(
      '--control-cpu',
      'CPU limit of the control plane, such as 0.5,none',
      createNoneParser(parseCores),
    ),
    recorded: z.number().positive().optional().describe('of the control plane; absent: it has no cap'),
    schema: cpuLimitCores.nullable(),
    render: v => (v === null ? 'control plane without a cap' : `control plane at ${renderCount(v, 'core')}`),
    label: 'control plane cap',
    isUnsaidWhenNull: true,
  },
  controlMemoryBytes: {
    kinds: OF_CONTROL_PLANE,
    option: createListOption(
      '--control-memory',
      'memory limit of the control plane, such as 256MiB',
      createNoneParser(parseSize),
    ),
    recorded: z.int().positive().optional().describe('limit of the control plane; absent: it has none'),
    schema: memoryBytes.nullable(),
    render: v => (v === null ? 'control plane without a memory limit' : `control plane with ${renderMemorySize(v)}`),
    label: 'control plane memory limit',
    isUnsaidWhenNull: true,
  },
  shards: {
    option: createListOption('--shards', 'how many control planes share the sidecars', parsePositiveInteger),
    needsRealSidecars: true,
    recorded: z
      .int()
      .positive()
      .optional()
      .describe('control planes that share the sidecars; absent: one has them all'),
    schema: createCountSchema(100, 'balance has no more'),
    render: v => (v === null ? 'not in shards' : renderCount(v, 'shard')),
    label: 'shards',
  },
  assignment: {
    option: createListOption(
      '--assignment',
      `of sidecars to shards: ${ALGORITHM_NAMES.join(', ')}; default: round-robin`,
    ),
    recorded: z.enum(ALGORITHM_NAMES).optional().describe('of sidecars to shards; absent: round-robin'),
    schema: z.enum(ALGORITHM_NAMES),
    render: v => (v === null ? 'assigned by round-robin' : `assigned by ${v}`),
    label: 'assignment',
  },
  sizes: {
    option: createListOption('--sizes', 'services known to each sidecar: equal, random'),
    recorded: z
      .enum(SIZES)
      .optional()
      .describe('each sidecar knows configuredServices, or (random) so many on average; absent: equal'),
    schema: z.enum(SIZES),
    render: v => `${v ?? 'equal'} sizes`,
    label: 'sizes',
  },
  isShardRemoved: {
    option: { flags: '--remove-shard', help: 'end the last of the shards, and move its sidecars to the others' },
    recorded: z
      .literal(true)
      .optional()
      .describe('the last shard is ended after the change, and sidecars move; absent: it is not'),
    schema: z.literal(true).nullable(),
    render: v => (v === null ? 'no shard removed' : 'a shard removed'),
    label: 'shard removed',
  },
  areServicesRemoved: {
    option: {
      flags: '--remove-services',
      help: 'tell sidecars of the services by a change, and take them away again by another',
    },
    needsRealSidecars: true,
    recorded: z
      .literal(true)
      .optional()
      .describe('sidecars are told of configuredServices by the change, and a further one takes them away'),
    schema: z.literal(true).nullable(),
    render: v => (v === null ? 'services from the start' : 'services removed again'),
    label: 'services removed',
  },
  commitsPerSecond: {
    option: createListOption('--commit-rate', 'the most commits of a change a second', parsePositiveInteger),
    needsRealSidecars: true,
    recorded: z.number().positive().optional().describe('the most commits of a change; absent: no limit'),
    schema: z
      .number()
      .min(10, 'at least 10 commits/s: a sidecar is waited for 0.1 s')
      .max(10_000, 'at most 10000 commits/s: a request takes longer'),
    render: v => (v === null ? 'commits at no rate' : `at most ${v} commits/s`),
    label: 'commits/s',
  },
  commitsAtOnce: {
    option: createListOption('--concurrency', 'commits of a change at once; default: 4', parsePositiveInteger),
    needsRealSidecars: true,
    recorded: z.int().positive().optional().describe('commits of a change; absent: 4'),
    schema: createCountSchema(256, 'each is a connection to the control plane'),
    render: v => (v === null ? 'commits at once by default' : `${renderCount(v, 'commit')} at once`),
    label: 'commits at once',
  },
})
