import { z } from 'zod'
import { count, fraction, hostCpu, nullable, schemaVersion } from './parts.js'

/**
 * What a rollout leaves: raw/<trial>/rollout.json, and what a record says of it.
 */

export const told = z
  .object({
    sinceMs: z.number().describe('when the batch of the sidecar was started, or its change was committed'),
    lastNoMs: nullable.describe('when it was last asked and said no itself; null: it never did'),
    yesMs: nullable.describe('when a new connection was first answered by it; null: not before the deadline'),
    asked: count,
  })
  .describe('epoch milliseconds: the sidecar had it after lastNoMs, up to yesMs')

const reading = z.object({ epochMs: z.number(), cpuSeconds: nullable, anonBytes: nullable, peakBytes: nullable })

const phase = z
  .object({
    startMs: z.number(),
    endMs: z.number(),
    host: z.object({ start: hostCpu, end: hostCpu }),
    control: z
      .object({ start: reading.nullable(), end: reading.nullable() })
      .describe('the control plane at its edges; null: nothing runs beside the sidecars'),
    ownCpuSeconds: z.number().describe('CPU time of what starts, commits and asks'),
  })
  .describe('from its start until every sidecar has answered, or the deadline')

/** raw/<trial>/rollout.json */
export const rolloutSchema = z.object({
  schemaVersion,
  cpus: count,
  askedPerSecondMost: count.describe('the budget of requests to all sidecars together'),
  members: z.array(
    z.object({
      name: z.string(),
      first: told.optional().describe('absent: it was not started, since others had not answered by the deadline'),
      change: told.optional(),
    }),
  ),
  first: phase,
  change: phase.optional().describe('absent: not all sidecars had their first configuration'),
  control: z
    .array(reading)
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
  lastCensoredSeconds: nullable.describe('the same of the sidecar that had it last: what is not known of seconds'),
  askedPerSecond: z.number().describe('requests to all sidecars together'),
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
  askedPerSecondMost: count,
  first: rolloutPhase.describe('the first configuration of each'),
  change: rolloutPhase.optional().describe('one change of the configuration of each; absent: not all had their first'),
  controlAnonBytes: z
    .object({ empty: nullable, stable: nullable, peak: nullable })
    .describe('of the control plane: before it is given anything, when all have their first configuration, at most'),
  controlPeakBytes: nullable.describe('the most that its cgroup was charged for'),
})
