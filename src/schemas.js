import { z } from 'zod'

/**
 * The shape of what a run leaves on disk, for `verify`, for readers of another language (`schema/*.json`), and to
 * refuse a record with a number missing. Pure.
 * @import { Summary, TrialRecord } from './types.ts'
 */

const count = z.int().min(0)
const fraction = z.number().min(0)
const nullable = z.number().nullable()

const load = z
  .object({
    kind: z.enum(['closed', 'open']),
    users: z.int().positive().describe('closed loop: virtual users; open loop: the most requests under way'),
    ratePerSecond: z.number().positive().optional(),
    payloadBytes: z.int().positive(),
    warmupSeconds: z.number().positive(),
    windowSeconds: z.number().positive(),
  })
  .describe('What drives the trial')

const arm = z.object({
  id: z.string(),
  plane: z.string().describe('the name in the registry'),
  variant: z.string().nullable().describe('the folder of its scripts, or null'),
  repeatOf: z.string().nullable().describe('A/A: the arm that this one repeats'),
  link: z.string(),
  capCores: z.number().positive().nullable(),
  load,
})

const boundBy = z.enum(['sidecar', 'worker', 'application', 'generator', 'host', 'users', 'rate'])
const use = z.enum(['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory'])
const relaxation = z.object({ gate: z.string(), why: z.string() })
const missing = z.object({ plane: z.string(), reason: z.string() })
const run = z.object({ id: z.string(), startedAt: z.string(), experiment: z.string(), seed: count })
const tool = z.object({ version: z.string(), path: z.string(), sha256: z.string() }).loose()

const parityRow = z.object({
  name: z.string(),
  plane: z.string(),
  link: z.string(),
  capCores: nullable,
  found: z.string(),
  expected: z.string().nullable(),
  differences: z.array(z.string()),
})

const processRecord = z.object({
  service: z.string(),
  role: z.enum(['sidecar', 'application', 'generator']),
  command: z.array(z.string()),
  capCores: nullable,
  capReadBackCores: nullable,
  askedWorkers: count,
  workers: count.nullable(),
  cpuSet: z.string(),
  isReplaced: z.boolean(),
  overflows: count.nullable(),
  files: z.array(z.object({ name: z.string(), sha256: z.string() })),
  cpuSeconds: z.number().min(0),
  cpuCores: z.number().min(0),
  throttledFraction: fraction.nullable(),
  throttledSeconds: fraction.nullable(),
  oomKills: count.nullable(),
  busiestThreadCores: fraction.nullable(),
  threads: z.array(z.object({ id: count, name: z.string(), cpuSeconds: z.number() })),
  memory: z.object({
    anonBytes: nullable,
    rssBytes: nullable,
    workingSetBytes: nullable,
    pssBytes: nullable,
    peakBytes: nullable,
    idleRssBytes: nullable,
  }),
})

const loadResult = z.object({
  verified: count.describe('requests that started in the window and were answered rightly'),
  failed: count,
  corrupted: count,
  verifiedInSecondHalf: z.int(),
  coldUsers: count,
  reportedUsers: count.nullable(),
  dropped: count,
  lagP99Ms: nullable,
  distribution: z
    .object({ count, meanMs: z.number(), grid: z.array(z.tuple([z.number(), z.number()])) })
    .nullable()
    .describe('[quantile, milliseconds], rising'),
  failures: z.array(z.string()),
})

/** One line of trials.jsonl. @type {z.ZodType<TrialRecord>} */
export const trialSchema = z.object({
  schemaVersion: z.literal(1),
  trial: z.object({ id: z.string(), round: z.int().positive(), arm, repeats: z.string().nullable() }),
  target: z.string(),
  startedAt: z.string(),
  outcome: z.enum(['completed', 'failed', 'invalid']),
  reasons: z.array(z.string()),
  window: z
    .object({
      startMs: z.number(),
      endMs: z.number(),
      seconds: z.number().positive(),
      startLateMs: z.number(),
      endLateMs: z.number(),
    })
    .nullable(),
  load: loadResult.nullable(),
  processes: z.array(processRecord),
  host: z
    .object({ cpus: count, idleFraction: fraction, stealFraction: fraction, foreignCores: z.number().min(0) })
    .nullable(),
  generatorCpus: z.int().positive(),
  samples: z
    .object({
      count,
      largestGapSeconds: z.number().min(0),
      missing: count,
      source: z.enum(['cgroup', 'kubelet']),
      clockOffsetMs: z.number(),
    })
    .nullable(),
  orchestratorCpuSeconds: nullable,
  boundBy: boundBy.nullable(),
  isSteady: z.boolean().nullable(),
  gates: z.array(z.object({ gate: z.string(), spoils: z.array(use), reason: z.string() })),
  phasesSeconds: z.record(z.string(), z.number()),
})

/** manifest.json: what a summary needs of it; there is more. */
export const manifestSchema = z.looseObject({
  schemaVersion: z.literal(1),
  run,
  target: z.string(),
  machine: z.record(z.string(), z.unknown()),
  tools: z.record(z.string(), tool),
  settings: z.looseObject({ relaxes: z.array(relaxation) }),
  thresholds: z.array(z.string()),
  rounds: z.int().positive(),
  arms: z.array(arm).min(1),
  notMeasured: z.array(missing),
  parity: z.array(parityRow),
})

const quantity = z
  .object({ median: nullable, low: nullable, high: nullable, values: z.array(nullable) })
  .describe('over the rounds; low and high are the 95 % interval, null below six; a value that a gate spoiled is null')
const quantiles = z.object({ p50: quantity, p90: quantity, p95: quantity, p99: quantity, p999: quantity }).nullable()

/** summary.json @type {z.ZodType<Summary>} */
export const summarySchema = z.object({
  schemaVersion: z.literal(1),
  run,
  machine: z.record(z.string(), z.unknown()),
  tools: z.record(z.string(), tool),
  notMeasured: z.array(missing),
  relaxes: z.array(relaxation),
  arms: z.array(
    arm.extend({
      target: z.string(),
      trials: z.object({ completed: count, failed: count, invalid: count }),
      spoiled: z.array(z.object({ gate: z.string(), trials: count, reason: z.string() })),
      throughputPerSecond: quantity,
      cpuPerRequestMicros: quantity,
      capacityPerSecond: quantity,
      responseTimeMs: quantiles,
      latencyMs: quantiles,
      addedLatencyMs: quantiles,
      boundBy: boundBy.nullable(),
      sidecars: z.array(
        z.object({
          service: z.string(),
          cpuCores: quantity,
          cpuOfCap: quantity,
          cpuPerRequestMicros: quantity,
          throttledFraction: quantity,
          memory: z.object({
            anonBytes: quantity,
            rssBytes: quantity,
            workingSetBytes: quantity,
            pssBytes: quantity,
            peakBytes: quantity,
          }),
        }),
      ),
    }),
  ),
  parity: z.array(parityRow),
  comparisons: z.array(
    z.object({
      a: z.string(),
      b: z.string(),
      link: z.string(),
      capCores: nullable,
      load,
      quantity: z.string(),
      service: z.string().nullable(),
      ratio: quantity.describe('a over b, round by round'),
      aaSpread: nullable,
      verdict: z.enum(['lower', 'higher', 'no-difference-shown', 'indicative', 'invalid']),
      reasons: z.array(z.string()),
    }),
  ),
  thresholds: z.array(
    z.object({
      expression: z.string(),
      link: z.string(),
      capCores: nullable,
      load,
      value: nullable,
      held: z.boolean().nullable(),
    }),
  ),
})

/** What is published under `schema/`, by file name. */
export const SCHEMAS = { manifest: manifestSchema, trial: trialSchema, summary: summarySchema }

/**
 * The JSON Schemas (draft 2020-12) of what a run leaves on disk, as the files of `schema/`.
 * @returns {{ file: string, content: string }[]}
 */
export function renderSchemas() {
  return Object.entries(SCHEMAS).map(([name, schema]) => ({
    file: `schema/${name}.schema.json`,
    content: `${JSON.stringify(z.toJSONSchema(schema, { reused: 'ref', io: 'input' }), null, 2)}\n`,
  }))
}

/**
 * What is wrong with a value by a schema, as `path: words`; null when nothing is.
 * @param {import('zod').ZodType} schema
 * @param {unknown} value
 */
export function findFault(schema, value) {
  const result = schema.safeParse(value)
  if (result.success) return null
  const [{ path, message }] = result.error.issues
  return `${path.join('.') || 'it'}: ${message}`
}
