import { z } from 'zod'
import { count, fraction, hostCpu, nullable, schemaVersion } from './parts.js'

/** The schemas of rollouts and growths: rollout.json and growth.json of raw/<trial>/, and what a record has of them. */

export const configurationTimes = z
  .object({
    sinceMs: z
      .number()
      .describe('when the batch of the sidecar, or its process in a pod, was started, or its change was committed'),
    lastNoMs: nullable.describe('when it was last asked and said no itself; null: it never did'),
    yesMs: nullable.describe('when a new connection was first answered by it; null: not before the deadline'),
    asked: count,
    backends: count.optional().describe('that answered, where more than one must'),
    unsent: z.string().optional().describe('why this machine could not ask, the last time that it could not'),
  })
  .describe('epoch milliseconds: the sidecar had it after lastNoMs, up to yesMs')

const controlReading = z.object({
  epochMs: z.number(),
  cpuSeconds: nullable,
  anonBytes: nullable,
  peakBytes: nullable,
})

const edge = controlReading.extend({
  each: z
    .array(
      z.object({
        cpuSeconds: nullable,
        throttledPeriods: nullable,
        workers: count,
        throttledSeconds: nullable.optional().describe('of all CPUs together; absent in older records'),
      }),
    )
    .optional()
    .describe('of its shards'),
})

export const phase = z
  .object({
    startMs: z.number(),
    endMs: z.number(),
    host: z.object({ start: hostCpu, end: hostCpu }),
    control: z
      .object({ start: edge.nullable(), end: edge.nullable() })
      .describe('the control plane at its edges, all shards together; null: nothing runs beside the sidecars'),
    ownCpuSeconds: z.number().describe('CPU time of what starts, commits and asks'),
    sample: z
      .array(z.string())
      .optional()
      .describe('names of the sidecars that were asked meanwhile, the others afterwards; absent: all were'),
  })
  .describe('from its start until every sidecar has answered, or the deadline')

const memoryOfServices = z
  .object({ before: nullable, told: nullable, toldAgain: nullable })
  .describe('two seconds after a phase: before the services, with them, and with them again')

const rolloutObservations = z.object({
  schemaVersion,
  cpus: count,
  askedPerSecondMost: count.describe('the budget of requests to all sidecars together'),
  members: z.array(
    z.object({
      name: z.string(),
      shard: count.optional().describe('the place of its control plane among them'),
      first: configurationTimes.optional().describe('absent: it was not started by the deadline'),
      pod: z
        .object({
          createdMs: z.number().describe('when it was asked for'),
          readyMs: nullable.describe('when the API server told that it is Ready; null: not before asking ended'),
        })
        .optional()
        .describe('on a cluster, by the clock of the kit, which is not that of the other times'),
      change: configurationTimes.optional(),
      withdrawn: configurationTimes.optional().describe('the configuration without the services that the change had'),
      movedTo: count.optional().describe('its shard after the last was removed, where that is another'),
      moved: configurationTimes
        .optional()
        .describe('the configuration of that shard, by the sidecar as it was started anew'),
      stayed: z
        .object({ asked: count, answered: count })
        .optional()
        .describe('requests for its change to a sidecar that did not move, until all that did had their configuration'),
    }),
  ),
  simulated: z
    .object({ count, first: configurationTimes.optional(), change: configurationTimes.optional() })
    .optional()
    .describe('sidecars beside the members; they have a configuration when all of them have it'),
  first: phase,
  change: phase.optional().describe('absent: not all sidecars had their first configuration'),
  withdrawal: phase
    .extend({
      sidecarBytes: memoryOfServices.describe('anonymous memory of all sidecars'),
      controlBytes: memoryOfServices.describe('anonymous memory of the control plane'),
    })
    .optional()
    .describe(
      'sidecars are told of services and lose them, twice: the last of these changes, or the first that not all had; absent: the services stay',
    ),
  removal: phase
    .extend({ endedMs: z.number().describe('when the process of the last shard had ended') })
    .optional()
    .describe('the last shard is ended, and sidecars move; control: of the shards that are left; absent: it was not'),
  control: z
    .array(controlReading)
    .nullable()
    .describe('readings of the control plane; null: nothing runs beside the sidecars'),
})

/** raw/<trial>/rollout.json: when each sidecar had its configuration, and what that cost. */
export const rolloutSchema = rolloutObservations.extend({
  fidelity: z
    .object({ real: rolloutObservations, simulated: rolloutObservations })
    .optional()
    .describe(
      'where sidecars are simulated: rollouts before, of as many as are real; all real, and all but one simulated',
    ),
})

const spread = z.object({ p50: nullable, p99: nullable, max: nullable }).describe('over the sidecars that have it')

const rolloutPhase = z.object({
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
  shardCpuSeconds: z.array(nullable).optional().describe('of each shard'),
  controlAtLimit: nullable
    .optional()
    .describe('share of its time in which the busiest shard was at its limit: its cap, or its own threads'),
  hostIdleFraction: fraction,
  ownCores: fraction,
  sampled: count.optional().describe('sidecars of a sample, whose times these are; absent: all'),
  late: count.optional().describe('others that still said no when the sample had it'),
  missing: z.array(z.string()).describe('sidecars that do not have it, the first 20'),
  isOfSimulated: z.boolean().optional().describe('whether all simulated sidecars have it; absent: there are none'),
})

const both = z.object({ real: nullable, simulated: nullable })

/** The rollout in a line of trials.jsonl: numbers computed from rollout.json. */
export const rollout = z.object({
  pods: z
    .object({ ready: count, readySeconds: spread })
    .optional()
    .describe('on a cluster, of the pods: how many became Ready, and how long after they were asked for'),
  sidecars: count,
  simulated: count.optional().describe('of them; absent: all are real. They feed no quantity of sidecars'),
  fidelity: z
    .object({ sidecars: count, rolloutCpuSeconds: both, changeCpuSeconds: both, anonBytes: both })
    .optional()
    .describe(
      'what the control plane took for as many sidecars, real and simulated: CPU time of each phase, and at most',
    ),
  cpus: count,
  askedPerSecondMost: count,
  first: rolloutPhase.describe('the first configuration of each'),
  change: rolloutPhase.optional().describe('one change of the configuration of each; absent: not all had their first'),
  withdrawal: rolloutPhase
    .extend({
      sidecarBytes: memoryOfServices,
      controlBytes: memoryOfServices,
    })
    .optional()
    .describe('the services that the change told of are taken away; absent: they stay'),
  removal: rolloutPhase
    .extend({
      moved: count.describe('sidecars that have another shard'),
      stayed: count.describe('sidecars that have the same'),
      silent: z.array(z.string()).describe('of those, the ones that did not answer each time that they were asked'),
    })
    .optional()
    .describe(
      'the configuration of its new shard of each sidecar that moved, when the last was removed; its times begin when that had ended',
    ),
  controlAnonBytes: z
    .object({ empty: nullable, stable: nullable, peak: nullable })
    .describe('of the control plane: before it is given anything, when all have their first configuration, at most'),
  controlPeakBytes: nullable.describe('the most that its cgroup was charged for'),
})

export const failureReason = z
  .enum(['oom', 'ended', 'stopped', 'nack', 'deadline', 'host-memory', 'host-cpu', 'host-limit'])
  .describe(
    'the control plane was killed for memory, ended otherwise, or is stopped; it refused a configuration; not every client saw every backend by the deadline; of the machine: its memory, its CPU at the deadline, or a limit such as that of open files',
  )

const ending = z.object({ sidecars: count.describe('of the step that failed'), reason: failureReason, why: z.string() })

/** raw/<trial>/growth.json: the steps of sidecars, and the step that failed. */
export const growthSchema = z.object({
  schemaVersion,
  cpus: count,
  stepSidecars: count,
  sidecarsMost: count.describe('that were asked for'),
  backends: count.describe('that each client must see'),
  deadlineSeconds: z.number(),
  steps: z.array(
    phase.extend({
      sidecars: count.describe('of all steps up to it'),
      members: z.array(
        z.object({ name: z.string(), told: configurationTimes.nullable().describe('null: it was not started') }),
      ),
      availableFraction: fraction.describe("of the machine's memory, after it"),
    }),
  ),
  ended: ending.nullable().describe('null: no step failed'),
  control: z
    .array(controlReading)
    .nullable()
    .describe('readings of the control plane; null: nothing runs beside the sidecars'),
})

const growthStep = z.object({
  sidecars: count,
  converged: count.describe('sidecars of the step that serve'),
  backendsSeen: count.nullable().describe('by the client of the step that saw the fewest; null: none was started'),
  seconds: nullable.describe('from its begin until every sidecar of it serves; null: not all do'),
  controlAnonBytes: nullable,
  controlCpuSeconds: nullable,
  hostIdleFraction: fraction,
  ownCores: fraction,
})

/** The growth in a line of trials.jsonl: numbers computed from growth.json. */
export const growth = z.object({
  cpus: count,
  sidecarsMost: count,
  backends: count,
  hasControl: z.boolean().describe('false: nothing ran beside the sidecars'),
  sidecars: count.describe('up to which every step held'),
  ended: ending.nullable(),
  steps: z.array(growthStep),
  controlAnonBytes: z.object({ empty: nullable, peak: nullable }).describe('of the control plane'),
  controlPeakCores: nullable.describe('its most CPU in a second'),
  bytesPerSidecar: nullable.describe('the slope of its memory over the number of sidecars'),
})
