import { z } from 'zod'
import { count, hostCpu, nullable, schemaVersion } from './parts.js'
import { connections, cpuSet, overflows, processFacts, sampleSource, threadCpu, window, workers } from './trial.js'

/** The observations of a trial: a line of samples.jsonl, and observation.json. */

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

/** A line of samples.jsonl. */
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
  })
  .describe('what costs too much to read inside of the window')

export const edge = z.object({
  states: z.array(z.object({ threads: z.array(threadCpu), capCores: nullable, identity: z.array(z.string()), cpuSet })),
  host: hostCpu,
  ownCpuSeconds: z.number().describe('CPU time of what observes'),
  ownPeakBytes: nullable
    .optional()
    .describe('the most memory that what observes had resident since the start of the window'),
})

export const observedProcess = processFacts.extend({ name: z.string().describe('as in samples.jsonl') })

export const loadHostSeen = z
  .object({ start: hostCpu, end: hostCpu, cpus: count, clockAheadMs: z.number(), roundTripMs: z.number() })
  .describe("the machine of the load at the window's edges; its clock was as far ahead, which the window counts out")

/** raw/<trial>/observation.json: what was observed of a window, but its samples. Lists are in the order of `processes`. */
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
    onHost: z.array(count).nullable().describe('the processes on the host of the edges, by their place; null: all'),
    loadHost: loadHostSeen.optional().describe('absent: the load was made on no other machine'),
    cpus: count,
    sampleSource,
    clockOffsetMs: z.number().describe("how far the clock of what observes is from the generator's"),
  })
  .refine(
    ({ processes, start, end, before, after, overflows, received = overflows }) =>
      [start.states, end.states, before, after, overflows, received].every(list => list.length === processes.length),
    'its lists are not as long as its list of processes',
  )
