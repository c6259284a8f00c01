import { z } from 'zod'
import { AXIS_NAMES } from './axes.js'

/**
 * The shape of what a run leaves on disk, for `verify`, for readers of another language (`schema/*.json`), and to
 * refuse a record with a number missing. Pure.
 * @import { AxisName, Summary, TrialRecord } from './types.ts'
 */

const count = z.int().min(0)
const fraction = z.number().min(0)
const nullable = z.number().nullable()

const load = z
  .object({
    kind: z.enum(['closed', 'open', 'idle']),
    users: count.describe('closed loop: virtual users; open loop: the most requests under way; idle: 0'),
    ratePerSecond: z.number().positive().optional(),
    payloadBytes: z.int().positive(),
    connections: z.enum(['kept', 'new']),
    hasCertificate: z.boolean().describe('the client speaks mTLS to the first sidecar'),
    burst: z.object({ factor: z.number(), beginsSeconds: z.number(), seconds: z.number() }).nullable(),
    warmupSeconds: z.number().positive(),
    windowSeconds: z.number().positive(),
  })
  .describe('What drives the trial')

const conditions = z
  .object({
    services: z.int().positive().describe('copies of the last service of the link'),
    tls: z.enum(['plaintext', 'ecdsa-p256', 'rsa-2048']).describe('between sidecars'),
    protocol: z.enum(['http/1.1', 'http/2']).describe('between sidecars'),
    workers: z.int().positive().nullable().describe('null: as many as the cap can use'),
    configuredServices: count.describe('that every sidecar has routes to, and nobody calls'),
    memoryLimitBytes: z.int().positive().nullable(),
    changesPerMinute: count.nullable().describe('of the first sidecar; null: it is configured once'),
  })
  .describe('What the services of an arm are given beside plane, link, cap and load')

const arm = z.object({
  id: z.string(),
  plane: z.string().describe('the name in the registry'),
  variant: z.string().nullable().describe('the folder of its scripts, or null'),
  profile: z.string().nullable().describe('a profile of the plane other than its first, or null'),
  repeatOf: z.string().nullable().describe('A/A: the arm that this one repeats'),
  calibratedBy: z.string().nullable().describe('the closed loop that finds what rates it can be asked for'),
  hasSidecars: z.boolean(),
  link: z.string(),
  capCores: z.number().positive().nullable(),
  load,
  conditions,
})

const boundBy = z.enum(['sidecar', 'worker', 'application', 'generator', 'host', 'users', 'rate'])
const role = z.enum(['sidecar', 'application', 'generator', 'control'])
const use = z.enum(['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory'])
const axisName = z.enum(/** @type {[AxisName, ...AxisName[]]} */ (AXIS_NAMES))
const shows = z.object({
  quantities: z.array(z.string()),
  across: axisName.nullable().describe('the axis whose values are columns'),
  contrasts: z.array(axisName),
  hasCpuLine: z.boolean(),
  hasSlopes: z.boolean(),
})
const relaxation = z.object({ gate: z.string(), why: z.string() })
const missing = z.object({ plane: z.string(), reason: z.string() })
const run = z.object({ id: z.string(), startedAt: z.string(), experiment: z.string(), seed: count })
const tool = z.object({ version: z.string(), path: z.string(), sha256: z.string() }).loose()

const parityRow = z.object({
  name: z.string(),
  plane: z.string(),
  link: z.string(),
  capCores: nullable,
  workers: nullable,
  found: z.string(),
  expected: z.string().nullable(),
  differences: z.array(z.string()),
})

const processRecord = z.object({
  service: z.string(),
  copyOf: z.string().nullable().describe('the service that this one is a copy of'),
  role,
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
  series: z
    .array(z.object({ atSeconds: z.number(), seconds: z.number(), count, p50Ms: nullable, p99Ms: nullable }))
    .nullable()
    .describe('of bursts: requests by when they started, from the start of the window'),
  failures: z.array(z.string()),
})

/** One line of trials.jsonl. @type {z.ZodType<TrialRecord>} */
export const trialSchema = z.object({
  schemaVersion: z.literal(2),
  trial: z.object({
    id: z.string(),
    round: z.int().positive(),
    arm,
    repeats: z.string().nullable().describe('the trial that it runs again'),
    searchOf: z.string().nullable().describe('the arm whose limit is searched for with it'),
    warmup: z
      .object({ plannedSeconds: z.number(), isLongest: z.boolean() })
      .optional()
      .describe(
        "of a warm-up that was lengthened because the arm's users were cold; isLongest: it is lengthened no more",
      ),
  }),
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
  placement: z
    .object({ sidecar: z.array(count), application: z.array(count), generator: z.array(count) })
    .nullable()
    .optional()
    .describe('the CPUs of each role; null: all roles share all CPUs'),
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
  changes: z
    .array(z.object({ atSeconds: z.number(), effectSeconds: nullable }))
    .nullable()
    .describe('of configuration, in the window; effectSeconds null: not up to its end'),
  ended: z.array(z.object({ service: z.string(), role, how: z.string(), isOutOfMemory: z.boolean() })),
  takenFrom: z.string().optional(),
  phasesSeconds: z.record(z.string(), z.number()),
})

/** manifest.json: what a summary needs of it; there is more. */
export const manifestSchema = z.looseObject({
  schemaVersion: z.literal(2),
  methodVersion: z.int().optional().describe('runs of different ones are not compared'),
  run,
  target: z.string(),
  machine: z.record(z.string(), z.unknown()),
  tools: z.record(z.string(), tool),
  settings: z.looseObject({ relaxes: z.array(relaxation), shows }),
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

const choice = { plane: z.string(), variant: z.string().nullable(), profile: z.string().nullable() }
const trialIds = z.array(z.string())
const searchResult = z.object({
  ...choice,
  looksFor: z.enum(['knee', 'cpu', 'memory']),
  unit: z.enum(['requests/s', 'cores', 'bytes']),
  link: z.string(),
  failed: nullable.describe('the last that failed'),
  held: nullable.describe('the first that held: the answer lies between'),
  why: z.string(),
  isFound: z.boolean(),
  steps: z.array(z.object({ value: z.number(), held: z.boolean().nullable(), why: z.string(), trials: trialIds })),
  unchargedBytes: nullable.describe('resident file pages that were not charged to the sidecar'),
})
const linePoints = z.array(
  z.object({ ratePerSecond: z.number(), millicores: z.number(), residualMillicores: z.number() }),
)
const sizeResult = z.object({
  ...choice,
  cpu: searchResult,
  memory: searchResult.nullable(),
  checks: z.array(
    z.object({
      what: z.string(),
      mustHold: z.boolean(),
      held: z.boolean().nullable(),
      why: z.string(),
      trials: trialIds,
    }),
  ),
  isChecked: z.boolean(),
  extrapolated: z
    .object({
      cores: z.number(),
      baseMillicores: z.number(),
      slopeMillicoresPerRequestPerSecond: z.number(),
      points: linePoints,
    })
    .nullable()
    .describe('not measured: from a line through lower rates'),
})
const cpuLine = z.object({
  ...choice,
  link: z.string(),
  service: z.string().nullable(),
  services: count,
  baseMillicores: z.number(),
  slopeMillicoresPerRequestPerSecond: z.number(),
  points: linePoints,
})
const slope = z.object({
  ...choice,
  armId: z.string(),
  quantity: z.string(),
  perHour: z.number().describe('bytes or milliseconds an hour'),
  low: nullable,
  high: nullable,
  rounds: count,
})
const calibration = z.object({
  armId: z.string(),
  ratePerSecond: nullable,
  boundBy: boundBy.nullable(),
  trialId: z.string(),
})

/** summary.json @type {z.ZodType<Summary>} */
export const summarySchema = z.object({
  schemaVersion: z.literal(2),
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
      startSeconds: quantity,
      recoverySeconds: quantity,
      changes: z
        .object({
          effectSeconds: quantity,
          effectMostSeconds: quantity,
          failedPerChange: quantity,
          cpuMillisPerChange: quantity,
        })
        .nullable(),
      sidecars: z.array(
        z.object({
          service: z.string(),
          copyOf: z.string().nullable(),
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
      conditions,
      contrast: axisName.nullable().describe('the axis in which the two differ; null: the plane'),
      isControl: z.boolean().describe('A/A: b is a once more'),
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
      conditions,
      value: nullable,
      held: z.boolean().nullable(),
    }),
  ),
  shows,
  lines: z.array(cpuLine),
  slopes: z.array(slope),
  calibrations: z.array(calibration),
  searches: z.array(searchResult),
  sizes: z.array(sizeResult),
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
