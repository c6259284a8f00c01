import { z } from 'zod'
import { sayIssue } from '../lib/say-issue.js'
import { AXIS_NAMES } from './axes.js'
import * as bounds from './bounds.js'
import { SCHEMA_VERSION } from './versions.js'

/**
 * The documents of a run on disk. The types of the code are inferred from here (types.ts), readers in another language
 * have `schema/*.json`, and a record with a number missing is refused. Pure.
 * @import { AxisName } from './types.ts'
 */

const schemaVersion = z.literal(SCHEMA_VERSION)

const count = z.int().min(0)
const fraction = z.number().min(0)
const nullable = z.number().nullable()
// A folder below raw/ has the name of its trial: a part of a path, and none that leads elsewhere.
const id = z.string().regex(/^(?!\.{1,2}$)(?!__proto__$)[^/\\\p{Cc}]{1,200}$/u, 'it is no name that a folder can have')

export const load = z
  .object({
    kind: z
      .enum(['closed', 'open', 'idle'])
      .describe('closed: each user waits for its answer and asks again; open: requests start at a rate; idle: none'),
    users: count.describe('closed loop: virtual users; open loop: the most requests under way; idle: 0'),
    ratePerSecond: z.number().positive().optional().describe('of the open loop'),
    payloadBytes: z.int().positive(),
    connections: z.enum(['kept', 'new']).describe('new: one for every request'),
    hasCertificate: z.boolean().describe('the client speaks mTLS to the first sidecar'),
    burst: z
      .object({ factor: z.number(), beginsSeconds: z.number(), seconds: z.number() })
      .nullable()
      .describe('of the open loop: times the rate, from the start of the window'),
    warmupSeconds: z.number().positive(),
    windowSeconds: z.number().positive(),
  })
  .describe('What drives the trial')

export const tls = z.enum(['plaintext', 'ecdsa-p256', 'rsa-2048']).describe('between sidecars')
export const protocol = z.enum(['http/1.1', 'http/2']).describe('between sidecars')
export const conditions = z
  .object({
    services: z.int().positive().describe('copies of the last service of the link'),
    tls,
    protocol,
    workers: z.int().positive().nullable().describe('null: as many as the cap can use'),
    configuredServices: count.describe('that every sidecar has routes to, and nobody calls'),
    memoryLimitBytes: z.int().positive().nullable().describe('of each sidecar'),
    changesPerMinute: count.nullable().describe('of the first sidecar; null: it is configured once'),
  })
  .describe('What the services of an arm are given beside plane, link, cap and load')

export const planeChoice = z.object({
  plane: z.string().describe('the name in the registry'),
  variant: z.string().nullable().describe('the folder of its scripts, or null'),
  profile: z.string().nullable().describe('a profile of the plane other than its first, or null'),
})
export const arm = planeChoice.extend({
  id,
  repeatOf: z.string().nullable().describe('A/A: the arm that this one repeats'),
  calibratedBy: z.string().nullable().describe('the closed loop that finds what rates it can be asked for'),
  hasSidecars: z.boolean(),
  link: z.string(),
  capCores: z.number().positive().nullable().describe('null: no cap, or no sidecars'),
  load,
  conditions,
})
export const trial = z.object({
  id,
  round: z.int().positive(),
  arm,
  repeats: z.string().nullable().describe('the trial that it runs again'),
  searchOf: z.string().nullable().describe('the arm whose limit is searched for with it'),
  warmup: z
    .object({ plannedSeconds: z.number(), isLongest: z.boolean() })
    .optional()
    .describe('of a warm-up that was lengthened because users were cold; isLongest: it is lengthened no more'),
})

const cpuList = z.array(count)
export const placement = z.object({ sidecar: cpuList, application: cpuList, generator: cpuList })
export const boundBy = z.enum(['sidecar', 'worker', 'application', 'generator', 'host', 'users', 'rate'])
export const role = z.enum(['sidecar', 'application', 'generator', 'control'])
export const use = z.enum(['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory'])
const axisName = z.enum(/** @type {[AxisName, ...AxisName[]]} */ (AXIS_NAMES))
export const shows = z.object({
  quantities: z.array(z.string()).describe('names of the table of quantities'),
  across: axisName.nullable().describe('the axis whose values are columns'),
  contrasts: z.array(axisName).describe('axes whose values are compared with the first of them, plane by plane'),
  hasCpuLine: z.boolean().describe('CPU is fitted as a line over the rate'),
  hasSlopes: z.boolean().describe('memory and latency are fitted over the time of the run'),
})
export const relaxation = z.object({ gate: z.string(), why: z.string() })
const missing = z.object({ plane: z.string(), reason: z.string() })
const resumption = z.object({
  at: z.string(),
  id: z.string().describe('of the run that went on'),
  trials: count.describe('that were recorded until then'),
})
const run = z.object({
  id: z.string(),
  startedAt: z.string(),
  experiment: z.string(),
  seed: count,
  resumed: z.array(resumption).optional().describe('when it went on after it was cut short'),
})
export const tool = z.object({
  name: z.string(),
  path: z.string(),
  version: z.string(),
  sha256: z.string().describe('empty: it is in an image'),
  source: z.string().describe("how it was found: its variable, PATH, the kit's cache, fetched now, or in an image"),
  image: z.string().optional().describe('where it is in an image'),
})

export const parityRow = z.object({
  name: z.string(),
  plane: z.string(),
  tls: conditions.shape.tls,
  protocol: conditions.shape.protocol,
  trafficPolicy: z.enum(['listed', 'open']),
  size: z
    .object({ link: z.string(), capCores: nullable, workers: nullable })
    .nullable()
    .describe('of these arms alone; null: of every arm of the configuration'),
  found: z.string().describe('in words that are equal where the behaviour is'),
  expected: z.string().nullable().describe('null: whatever it is, it must be equal'),
  differences: z.array(z.string()),
})

export const threadCpu = z.object({ id: count, name: z.string(), cpuSeconds: z.number() })
const processFacts = z.object({
  service: z.string(),
  copyOf: z.string().nullable().describe('the service that this one is a copy of'),
  role,
  command: z.array(z.string()),
  capCores: nullable,
  askedWorkers: count,
  files: z.array(z.object({ name: z.string(), sha256: z.string() })),
})
const workers = count.nullable().describe('listening sockets an address; null where nobody could count them')
const cpuSet = z.string().describe('the CPUs it may run on, as the kernel lists them')
const overflows = count
  .nullable()
  .describe('requests a sidecar answered itself because a limit was reached; null: not counted')

export const processRecord = processFacts.extend({
  capReadBackCores: nullable.describe('the quota in force: the least of its own and its ancestors'),
  workers,
  cpuSet,
  isReplaced: z.boolean().describe('it is another process, or more of them, than was started'),
  overflows,
  cpuSeconds: z.number().min(0),
  cpuCores: z.number().min(0),
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
  }),
})

export const distribution = z
  .object({ count, meanMs: z.number(), grid: z.array(z.tuple([z.number(), z.number()])) })
  .describe('[quantile, milliseconds], rising')
export const loadPoint = z.object({
  atSeconds: z.number(),
  seconds: z.number(),
  count,
  p50Ms: nullable,
  p99Ms: nullable,
})
export const loadResult = z.object({
  verified: count.describe('requests that started in the window and were answered rightly'),
  failed: count.describe('requests that started in the window and were not'),
  corrupted: count.describe('bodies or nonces that came back wrong, in the whole trial'),
  verifiedInSecondHalf: z.int(),
  coldUsers: count.describe('users that had not done three requests when the window opened'),
  reportedUsers: count.nullable().describe('users that went through the whole window; null in the open loop'),
  dropped: count.describe('requests of the open loop that found no free user, in the whole trial'),
  lagP99Ms: nullable.describe('how late requests of the open loop started'),
  distribution: distribution.nullable(),
  series: z
    .array(loadPoint)
    .nullable()
    .describe('of bursts: requests by when they started, from the start of the window'),
  failures: z.array(z.string()),
})

export const window = z.object({ startMs: z.number(), endMs: z.number() }).describe('epoch milliseconds')
export const sampleSource = z
  .enum(['cgroup', 'kubelet'])
  .describe("the kernel's own files at 10 Hz, or the kubelet's counters with their own time stamps")
export const gateFinding = z.object({ gate: z.string(), spoils: z.array(use), reason: z.string() })
export const change = z.object({
  atSeconds: z.number().describe('from the start of the window'),
  effectSeconds: nullable.describe('until a new connection was served by it; null: not up to the end of the window'),
})
export const endedProcess = z.object({ service: z.string(), role, how: z.string(), isOutOfMemory: z.boolean() })

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
  host: z
    .object({ cpus: count, idleFraction: fraction, stealFraction: fraction, foreignCores: z.number().min(0) })
    .nullable()
    .describe("shares of the machine's CPU time in the window, and the cores that others used"),
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
  boundBy: boundBy.nullable(),
  isSteady: z.boolean().nullable(),
  gates: z.array(gateFinding),
  changes: z.array(change).nullable().describe('of configuration, in the window; null: none were asked for'),
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
  })
  .describe('what costs too much to read inside of the window')
export const hostCpu = z
  .object({ idle: z.number(), steal: z.number(), busy: z.number(), total: z.number(), cpus: count })
  .describe('clock ticks of all CPUs so far; busy is without interrupts')
export const edge = z.object({
  states: z.array(z.object({ threads: z.array(threadCpu), capCores: nullable, identity: z.array(z.string()), cpuSet })),
  host: hostCpu,
  ownCpuSeconds: z.number().describe('CPU time of what observes'),
})
export const observedProcess = processFacts.extend({ name: z.string().describe('as in samples.jsonl') })
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
    onHost: z.array(count).nullable().describe('the processes on the host of the edges, by their place; null: all'),
    cpus: count,
    sampleSource,
    clockOffsetMs: z.number().describe("how far the clock of what observes is from the generator's"),
  })
  .refine(
    ({ processes, start, end, before, after, overflows }) =>
      [start.states, end.states, before, after, overflows].every(list => list.length === processes.length),
    'its lists are not as long as its list of processes',
  )

export const trafficPolicy = z.enum(['listed', 'open'])
export const settings = z.object({
  profile: z.string(),
  trafficPolicy,
  app: z.enum(['pipy', 'node']).describe('what serves the applications'),
  isPinned: z.boolean().describe('generator, applications and sidecars get CPUs of their own where there are enough'),
  relaxes: z.array(relaxation),
  keepsServices: z.boolean().describe('the services of an arm are started once and stay through all rounds'),
  shows,
})
export const service = z.object({
  name: z.string(),
  application: z.enum(['echo', 'forward']).nullable(),
  calls: z.array(z.string()),
  copyOf: z.string().optional().describe('the service that it is a copy of'),
})
export const topology = z.object({
  name: z.string(),
  services: z.array(service),
  entry: z.object({ service: z.string(), listener: z.enum(['inbound', 'outbound']) }),
})
const precision = z.number().describe('by how much what failed and what held may differ')
export const searchSpec = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('knee'), precision, p99Ms: z.number(), startPerSecond: z.number() }),
  z.object({ kind: z.literal('memory-floor'), precision, p99Ms: nullable }),
  z.object({ kind: z.literal('size'), precision, p99Ms: z.number(), isExtrapolated: z.boolean() }),
])
export const scriptFolder = z
  .object({
    role: z.enum(['sidecar', 'application', 'generator']),
    plane: z.string().nullable().describe('of sidecars'),
    variant: z.string().nullable(),
    sha256: z.string(),
  })
  .describe('a folder of scripts that the run used, by what is in it')
export const kit = z.object({
  version: z.string(),
  git: z.string().nullable(),
  sha256: z.string().describe('of src/'),
})
const machine = z.looseObject({
  before: z
    .object({ seconds: z.number(), idleFraction: z.number(), stealFraction: z.number() })
    .nullable()
    .optional()
    .describe('how idle it was before anything of the run'),
})
export const calibration = z.object({
  armId: z.string(),
  ratePerSecond: nullable,
  boundBy: boundBy.nullable(),
  trialId: z.string(),
})

/** manifest.json */
export const manifestSchema = z.object({
  schemaVersion,
  methodVersion: z.int().describe('runs of different ones are not compared'),
  run,
  question: z.string(),
  claims: z.array(z.string()),
  command: z.array(z.string()),
  kit,
  target: z.string(),
  machine,
  tools: z.record(z.string(), tool),
  scripts: z.array(scriptFolder),
  settings,
  thresholds: z.array(z.string()),
  rounds: bounds.rounds,
  arms: z.array(arm).min(1).describe('of a search: what it starts from'),
  search: searchSpec.nullable(),
  calibrations: z.array(calibration),
  placements: z.record(z.string(), placement.nullable()).describe("by the arm's id"),
  notMeasured: z.array(missing),
  topologies: z.record(z.string(), topology),
  parity: z.array(parityRow),
})

export const quantity = z
  .object({ median: nullable, low: nullable, high: nullable, values: z.array(nullable) })
  .describe('over the rounds; low and high are the 95 % interval, null below six; a value that a gate spoiled is null')
export const quantiles = z.object({ p50: quantity, p90: quantity, p95: quantity, p99: quantity, p999: quantity })

const trialIds = z.array(z.string())
export const searchStep = z.object({
  value: z.number(),
  held: z.boolean().nullable().describe("null: what happened was not the sidecar's doing, or the search was cut short"),
  why: z.string(),
  trials: trialIds,
})
export const searchResult = planeChoice.extend({
  looksFor: z.enum(['knee', 'cpu', 'memory']),
  unit: z.enum(['requests/s', 'cores', 'bytes']),
  link: z.string(),
  failed: nullable.describe('the last that failed'),
  held: nullable.describe('the first that held: the answer lies between'),
  why: z.string(),
  isFound: z.boolean(),
  steps: z.array(searchStep),
  unchargedBytes: nullable.describe('resident file pages that were not charged to the sidecar'),
})
const linePoints = z.array(
  z.object({ ratePerSecond: z.number(), millicores: z.number(), residualMillicores: z.number() }),
)
export const sizeResult = planeChoice.extend({
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
export const cpuLine = planeChoice.extend({
  link: z.string(),
  service: z.string().nullable(),
  services: count,
  baseMillicores: z.number(),
  slopeMillicoresPerRequestPerSecond: z.number(),
  points: linePoints,
})
export const slope = planeChoice.extend({
  armId: z.string(),
  quantity: z.string(),
  perHour: z.number().describe('bytes or milliseconds an hour'),
  low: nullable,
  high: nullable,
  rounds: count,
})
const memoryQuantities = z.object({
  anonBytes: quantity,
  rssBytes: quantity,
  workingSetBytes: quantity,
  pssBytes: quantity,
  peakBytes: quantity,
})
export const summarySidecar = z.object({
  service: z.string(),
  copyOf: z.string().nullable(),
  cpuCores: quantity,
  cpuOfCap: quantity,
  cpuPerRequestMicros: quantity,
  throttledFraction: quantity,
  memory: memoryQuantities,
})
const summaryChanges = z.object({
  effectMs: quantity.optional().describe('the median until a change took effect'),
  effectMostMs: quantity.optional(),
  failedPerChange: quantity.optional(),
  cpuMillisPerChange: quantity.optional().describe('CPU of all sidecars more than without changes'),
})
export const summaryArm = arm.extend({
  target: z.string(),
  trials: z.object({ completed: count, failed: count, invalid: count }),
  spoiled: z
    .array(z.object({ gate: z.string(), trials: count, reason: z.string() }))
    .describe('what spoiled something, and in how many trials'),
  throughputPerSecond: quantity,
  cpuPerRequestMicros: quantity.describe('the sum over its sidecars'),
  capacityPerSecond: quantity.describe('where the sidecar bound the run'),
  responseTimeMs: quantiles.nullable().describe('of a closed loop: at saturation, no latency'),
  latencyMs: quantiles.nullable().describe('of an open loop'),
  addedLatencyMs: quantiles
    .partial()
    .nullable()
    .describe('of an open loop: more than without sidecars at the same rate, round by round'),
  boundBy: boundBy.nullable(),
  startSeconds: quantity.describe('from the start of the first process to the first answer'),
  recoverySeconds: quantity.describe('after a burst, until requests are answered as before'),
  changes: summaryChanges.nullable(),
  sidecars: z.array(summarySidecar),
})
export const verdict = z.enum(['lower', 'higher', 'no-difference-shown', 'indicative', 'invalid'])
export const comparison = z.object({
  a: z.string(),
  b: z.string().describe('another plane, or the same once more (A/A)'),
  link: z.string(),
  capCores: nullable,
  load,
  conditions,
  contrast: axisName.nullable().describe('the axis in which the two differ; null: the plane'),
  isControl: z.boolean().describe('A/A: b is a once more'),
  quantity: z.string(),
  service: z.string().nullable().describe('null: over all sidecars'),
  ratio: quantity.describe('a over b, round by round'),
  aaSpread: nullable.describe('how far an arm was from itself in the same run; null without an A/A pair'),
  verdict,
  reasons: z.array(z.string()),
})
export const thresholdResult = z.object({
  expression: z.string(),
  link: z.string(),
  capCores: nullable,
  load,
  conditions,
  value: nullable.describe('null: spoiled, or not measured'),
  held: z.boolean().nullable(),
})

/** summary.json */
export const summarySchema = z.object({
  schemaVersion,
  run,
  machine,
  tools: z.record(z.string(), tool),
  notMeasured: z.array(missing),
  relaxes: z.array(relaxation),
  arms: z.array(summaryArm),
  parity: z.array(parityRow),
  comparisons: z.array(comparison),
  thresholds: z.array(thresholdResult),
  shows,
  lines: z.array(cpuLine),
  slopes: z.array(slope),
  calibrations: z.array(calibration),
  searches: z.array(searchResult),
  sizes: z.array(sizeResult),
})

/** What is published under `schema/`, by file name. */
export const SCHEMAS = {
  manifest: manifestSchema,
  trial: trialSchema,
  observation: observationSchema,
  sample: sampleSchema,
  summary: summarySchema,
}

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
  const [issue] = result.error.issues
  return `${issue.path.join('.') || 'it'}: ${sayIssue(issue)}`
}
