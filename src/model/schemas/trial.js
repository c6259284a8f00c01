import { z } from 'zod'
import { loadResult } from './load-result.js'
import { boundBy, count, fraction, hostCpu, nullable, placement, role, schemaVersion, trial, use } from './parts.js'
import { growth, rollout } from './rollout.js'

/** The schemas of a line of trials.jsonl, and of the observations of a trial: a line of samples.jsonl, and observation.json. */

export const threadCpu = z.object({
  id: count,
  name: z.string(),
  cpuSeconds: z.number(),
  waitSeconds: z.number().optional().describe('in which it could run, and no CPU ran it'),
})

const pod = z.object({
  service: z.string(),
  copyOf: z.string().nullable(),
  passages: count.describe('how often each request passes the proxy in this pod, or in one of its copies'),
})

const processFacts = z.object({
  service: z.string(),
  copyOf: z.string().nullable().describe('the service that this one is a copy of'),
  batchOf: count.optional().describe('so many sidecars, counted together; absent: it is one'),
  role,
  command: z.array(z.string()),
  cpuLimitCores: nullable,
  askedWorkers: count.nullable().describe('sockets an address that it should listen with; null: nobody knows'),
  armId: z
    .string()
    .optional()
    .describe('of the arms that stood at the same time; absent: there is one, or they share it'),
  files: z.array(z.object({ name: z.string(), sha256: z.string() })),
  passages: count
    .optional()
    .describe('how often each request passes this sidecar on its way to the application; absent: nobody knows'),
  pods: z
    .array(pod)
    .optional()
    .describe('network namespaces that this one process serves; absent: it is the sidecar of its service alone'),
})

export const workers = count.nullable().describe('listening sockets an address; null where nobody could count them')
export const connections = count.describe('established connections that it held just after the window')
export const cpuSet = z.string().describe('the CPUs it may run on, as the kernel lists them')

export const processUsage = z
  .object({ pid: count, cpuSeconds: z.number().min(0), childrenSeconds: z.number().min(0) })
  .describe('CPU time as a process counts it, to a clock tick; childrenSeconds: of children that have ended')

const groupCpu = z
  .object({ atSeconds: z.number(), cpuSeconds: z.number() })
  .describe('CPU time of the group until then, and when that was; absent: it was not read')

export const outside = z.array(z.string()).describe('the cgroups that one of its processes is not in')

export const overflows = count
  .nullable()
  .describe('requests a sidecar answered itself because a limit was reached; null: not counted')

export const idleCpuCores = nullable
  .optional()
  .describe(
    'CPU before the load, when nothing was asked of it and the work of its start was over; absent, or null: not measured, or above what an idle one uses',
  )

export const closedConnections = z
  .object({
    accepted: count.describe('from clients'),
    connected: count.describe('to endpoints'),
  })
  .describe(
    'connections that closed over the window, whose bytes nobody counted; in a network namespace of its own also those that the application opened and closed there',
  )

export const processRecord = processFacts.extend({
  cpuLimitReadBackCores: nullable.describe('the quota in force: the least of its own and its ancestors'),
  workers,
  connections: connections.optional(),
  receivedBytes: nullable
    .optional()
    .describe('by open connections, over the window and up to a second; absent, or null: they were not counted'),
  idleCpuCores,
  closedConnections: closedConnections
    .optional()
    .describe('not in receivedBytes: the check `passage` makes no claim then; absent: nobody counted'),
  pods: z
    .array(
      pod.extend({ receivedBytes: count.optional().describe('at sockets in this pod; absent: they were not counted') }),
    )
    .optional()
    .describe('network namespaces that this one process serves; absent: it is the sidecar of its service alone'),
  cpuSet,
  isReplaced: z.boolean().describe('it is another process, or more of them, than was started'),
  overflows,
  cpuSeconds: z.number().min(0),
  cpuCores: z.number().min(0),
  byProcesses: z
    .object({
      leastSeconds: z.number().min(0).describe('without children that ended'),
      mostSeconds: nullable.describe('with children that ended; null: a process ended, and nobody knows'),
      processes: count,
      groupSeconds: z
        .number()
        .min(0)
        .optional()
        .describe('of their group, between the moments at which they were read; absent: it was not read then'),
    })
    .optional()
    .describe('CPU time by the processes themselves, not by their group; absent: it was not read'),
  outside: outside.optional(),
  throttledFraction: fraction.nullable().describe('periods that were throttled'),
  throttledSeconds: fraction.nullable(),
  oomKills: count.nullable(),
  busiestThreadCores: fraction.nullable().describe('null where threads were not read'),
  threads: z.array(threadCpu),
  memory: z.object({
    anonBytes: nullable,
    rssBytes: nullable,
    workingSetBytes: nullable,
    pssBytes: nullable,
    peakBytes: nullable,
    idleRssBytes: nullable.describe('before any load'),
    grownBytes: z
      .number()
      .positive()
      .optional()
      .describe('anonymous memory, over the window; absent: it did not grow in each quarter of it'),
  }),
})

export const window = z.object({ startMs: z.number(), endMs: z.number() }).describe('epoch milliseconds')

export const sampleSource = z
  .enum(['cgroup', 'kubelet'])
  .describe("the kernel's own files at 10 Hz, or the kubelet's counters with their own time stamps")

export const gateFinding = z.object({
  gate: z.string(),
  part: z.string().optional().describe('of the trial, where the gate judges several: a phase, or a resource'),
  spoils: z.array(use),
  reason: z.string(),
})

export const change = z.object({
  atSeconds: z.number().describe('from the start of the window'),
  effectSeconds: nullable.describe('until a new connection was served by it; null: not up to the end of the window'),
})

export const ending = z.object({
  atSeconds: z.number().describe('from the start of the window'),
  goneSeconds: nullable.describe('from then until it was gone; null: it had to be killed'),
  answerSeconds: z.number().describe('from the start of its successor to its first answer'),
})

export const endedProcess = z.object({
  service: z.string(),
  role,
  how: z.string(),
  isOutOfMemory: z.boolean(),
  armId: z.string().optional().describe('of interleaved arms'),
})

const hostUse = z.object({
  cpus: count,
  idleFraction: fraction,
  stealFraction: fraction,
  foreignCores: z.number().min(0),
})

const stream = z.object({
  firstByteMs: z.number().describe('from the request to the first byte of the body'),
  longestGapMs: z.number().describe('between two parts of the body that came'),
  spanMs: z.number().describe('from the first part of the body that came to the last'),
})

/** One line of trials.jsonl. */
export const trialSchema = z.object({
  schemaVersion,
  trial,
  target: z.string(),
  startedAt: z.string(),
  outcome: z.enum(['completed', 'failed', 'invalid']),
  reasons: z.array(z.string()),
  window: window.extend({ seconds: z.number().positive(), startLateMs: z.number(), endLateMs: z.number() }).nullable(),
  load: loadResult.nullable(),
  processes: z.array(processRecord),
  host: hostUse.nullable().describe("shares of the machine's CPU time in the window, and the cores that others used"),
  loadHost: hostUse
    .extend({ clockAheadMs: z.number(), roundTripMs: z.number() })
    .optional()
    .describe('the same of the machine of the load; absent: it was made on no other machine'),
  beside: z
    .array(z.object({ armId: z.string(), name: z.string(), connections: count.nullable() }))
    .optional()
    .describe(
      'the arms that stood at the same time, this one among them, in the order in which they were started, with the connections of their sidecars; absent: it stood alone',
    ),
  placement: placement.nullable().describe('null: all roles share all CPUs'),
  generatorCpus: z.int().positive().describe('that the generator might use'),
  samples: z
    .object({
      count,
      largestGapSeconds: z.number().min(0),
      missing: count.describe('readings with a value that could not be read'),
      source: sampleSource,
      clockOffsetMs: z.number(),
    })
    .nullable(),
  orchestratorCpuSeconds: nullable,
  orchestratorPeakBytes: nullable.optional().describe('the most memory that it had resident in the window'),
  boundBy: boundBy.nullable(),
  isSteady: z.boolean().nullable(),
  gates: z.array(gateFinding),
  answerBytes: count
    .optional()
    .describe('of the body of each answer that counts; absent: the request is not one that a pipeline.yaml names'),
  streams: z
    .array(stream)
    .optional()
    .describe('answers in chunks that the kit itself read in the window; absent: the answers have none'),
  changes: z.array(change).nullable().describe('of configuration, in the window; null: none were asked for'),
  ending: ending.optional().describe('of a sidecar, in the window; absent: none was to end'),
  rollout: rollout
    .optional()
    .describe('of many sidecars by one control plane, before the window; absent: there was none'),
  growth: growth
    .optional()
    .describe('of a control plane that is given more sidecars step by step, without a window; absent: there was none'),
  ended: z.array(endedProcess).describe('processes that ended before they were stopped'),
  takenFrom: z.string().optional().describe('the run and the trial that it was measured as; absent: here'),
  phasesSeconds: z.record(z.string(), z.number()),
})

export const reading = z.object({
  atSeconds: z
    .number()
    .describe("monotonic clock, halfway through the reading; of the kubelet's counters their own stamp"),
  cpuSeconds: z.number(),
  periods: nullable,
  throttledPeriods: nullable,
  throttledSeconds: nullable,
  anonBytes: nullable,
  workingSetBytes: nullable,
  peakBytes: nullable,
  oomKills: nullable,
})

/** A line of samples.jsonl: a reading of every process at one moment. */
export const sampleSchema = z.object({
  epochMs: z.number(),
  edge: z.enum(['start', 'end']).optional().describe('of the window'),
  processes: z
    .record(z.string(), reading.partial())
    .describe('by name; a value that is absent could not be read, and null is one that the kernel does not offer'),
})

export const processMemory = z.object({ rssBytes: z.number(), pssBytes: z.number() })

export const look = z
  .object({
    memory: processMemory.partial().nullable(),
    identity: z.array(z.string()),
    workers,
    connections: connections.optional(),
    cpu: groupCpu.optional(),
    idleCpuCores,
  })
  .describe('what costs too much to read inside of the window')

export const edge = z.object({
  states: z.array(
    z.object({
      threads: z.array(threadCpu),
      cpu: groupCpu.optional(),
      cpuLimitCores: nullable,
      identity: z.array(z.string()),
      usage: z.array(processUsage).optional(),
      outside: outside.optional(),
      cpuSet,
    }),
  ),
  host: hostCpu,
  ownCpuSeconds: z.number().describe('CPU time of what observes'),
  ownPeakBytes: nullable
    .optional()
    .describe('the most memory that what observes had resident since the start of the window'),
})

export const observedProcess = processFacts.extend({ name: z.string().describe('as in samples.jsonl') })

export const loadHostObservation = z
  .object({ start: hostCpu, end: hostCpu, cpus: count, clockAheadMs: z.number(), roundTripMs: z.number() })
  .describe("the machine of the load at the window's edges; its clock was as far ahead, which the window counts out")

/** raw/<trial>/observation.json: all observations of a window but its samples. Lists are in the order of `processes`. */
export const observationSchema = z
  .object({
    schemaVersion,
    processes: z.array(observedProcess),
    window,
    start: edge,
    end: edge,
    before: z.array(look).describe('before any load'),
    after: z.array(look).describe('just after the window, under load still'),
    overflows: z.array(overflows),
    received: z
      .array(nullable)
      .optional()
      .describe('bytes at the sockets of each sidecar over the window; absent: nobody counted'),
    closedConnections: z
      .array(closedConnections.nullable())
      .optional()
      .describe('connections of each sidecar that closed over the window; absent: nobody counted'),
    receivedByPod: z
      .array(z.array(count).nullable())
      .optional()
      .describe('of these, bytes in each pod of a proxy that serves several; absent: there is none, or nobody counted'),
    onHost: z.array(count).nullable().describe('the processes on the host of the edges, by their place; null: all'),
    loadHost: loadHostObservation.optional().describe('absent: the load was made on no other machine'),
    cpus: count,
    sampleSource,
    clockOffsetMs: z.number().describe("how far the clock of what observes is from the generator's"),
  })
  .refine(
    // An absent list counts as one that is long enough.
    ({
      processes,
      start,
      end,
      before,
      after,
      overflows,
      received = overflows,
      closedConnections: closed = overflows,
    }) =>
      [start.states, end.states, before, after, overflows, received, closed].every(
        list => list.length === processes.length,
      ),
    'its lists are not as long as its list of processes',
  )
