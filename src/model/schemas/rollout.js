import { z } from 'zod'
import { count, fraction, hostCpu, nullable, schemaVersion } from './parts.js'

/**
 * What a rollout leaves: raw/<trial>/rollout.json, and what a record says of it.
 */

export const told = z
  .object({
    sinceMs: z.number().describe('when the batch of the sidecar was started, or its change was committed'),
    lastNoMs: nullable.describe('when it was last asked in vain; null: the first answer was a yes'),
    yesMs: nullable.describe('when a new connection was first answered by it; null: not before the deadline'),
    asked: count,
  })
  .describe('epoch milliseconds: the sidecar had it after lastNoMs, up to yesMs')

const phase = z
  .object({
    startMs: z.number(),
    endMs: z.number(),
    host: z.object({ start: hostCpu, end: hostCpu }),
    ownCpuSeconds: z.number().describe('CPU time of what starts, commits and asks'),
  })
  .describe('from its start until every sidecar has answered, or the deadline')

/** raw/<trial>/rollout.json */
export const rolloutSchema = z.object({
  schemaVersion,
  cpus: count,
  members: z.array(z.object({ name: z.string(), first: told, change: told })),
  first: phase,
  change: phase,
  control: z
    .array(z.object({ epochMs: z.number(), cpuSeconds: nullable, anonBytes: nullable, peakBytes: nullable }))
    .nullable()
    .describe('readings of the control plane; null: nothing runs beside the sidecars'),
})

const spread = z.object({ p50: nullable, p99: nullable, max: nullable }).describe('over the sidecars that have it')

export const rolloutPhase = z.object({
  converged: count.describe('sidecars that have it'),
  seconds: nullable.describe('from the first start or commit until the last has it; null: not all have it'),
  toldSeconds: z.number().describe('of that, until the last was started, or its change committed'),
  each: spread.describe('seconds, of each sidecar from its own start or commit'),
  censoredSeconds: nullable.describe('the median time between last no and first yes: what is not known of a time'),
  curve: z
    .array(z.tuple([z.number(), z.number()]))
    .describe('[seconds since the first start or commit, share of the sidecars that have it], at most 100'),
  controlCpuSeconds: nullable,
  hostIdleFraction: fraction,
  ownCores: fraction,
  missing: z.array(z.string()).describe('sidecars that do not have it, the first 20'),
})

/** Of a record. */
export const rollout = z.object({
  sidecars: count.describe('all of them real'),
  cpus: count,
  first: rolloutPhase.describe('the first configuration of each'),
  change: rolloutPhase.describe('one change of the configuration of each'),
  controlAnonBytes: z
    .object({ empty: nullable, stable: nullable, peak: nullable })
    .describe('of the control plane: before it is given anything, when all have their first configuration, at most'),
  controlPeakBytes: nullable.describe('the most that its cgroup was charged for'),
})
