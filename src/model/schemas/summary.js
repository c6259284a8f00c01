import { z } from 'zod'
import { calibration, deployedProfile, machine, precisionTarget } from './manifest.js'
import * as parts from './parts.js'
import { failureReason } from './rollout.js'

/** The schema of summary.json, which is computed from the manifest and the trials. */

const { arm, axisName, boundBy, conditions, count, load, missing, nullable, parityRow, planeChoice } = parts
const { relaxation, run, schemaVersion, shows, tool } = parts

export const quantity = z
  .object({ median: nullable, low: nullable, high: nullable, values: z.array(nullable) })
  .describe('over the rounds; low and high are the 95 % interval, null below six; a value that a gate spoiled is null')

export const quantiles = z.object(createQuantityFields('p50', 'p90', 'p95', 'p99', 'p999'))
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

const sidecarMemory = z
  .object({
    peakBytes: nullable,
    workingSetBytes: nullable,
    rssBytes: nullable,
    anonBytes: nullable,
    pssBytes: nullable,
  })
  .describe('of the largest sidecar, by each count')

export const sizeResult = planeChoice.extend({
  ratePerSecond: z.number(),
  p99LimitMs: z.number().describe('the highest that counts as held'),
  p99Ms: nullable.describe('at the answer: the highest of the trials that checked it'),
  services: z.array(z.string()).describe('of a file of services: those that it is for'),
  line: z
    .object({ baseMillicores: z.number(), slopeMillicoresPerRequestPerSecond: z.number() })
    .nullable()
    .describe('of a file of services: CPU of the busiest sidecar over the rate, from its lowest and its highest'),
  neighbourCores: z
    .number()
    .optional()
    .describe(
      'CPUs that a neighbour burnt beside each trial: cores are a CPU request without a limit; absent: they are a CPU limit',
    ),
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
  isOver: z.boolean().optional().describe('false: the search was cut short, and this is what its trials show'),
  answer: z
    .object({
      state: z.enum(['confirmed', 'estimated', 'none']),
      why: z.string(),
      limits: z.object({ cores: z.number(), bytes: z.number() }).nullable().describe('of each sidecar'),
      requestCores: nullable.describe(
        'CPU request: what the busiest sidecar used on average, and 15 % more; beside a neighbour the smallest that met the p99',
      ),
      need: z
        .object({ cores: z.number(), bytes: z.number(), memory: sidecarMemory.optional() })
        .nullable()
        .describe('CPU of the busiest sidecar at the rate, and memory of the largest'),
      met: count.describe('trials at these limits that met the p99'),
      besideOthers: count.optional().describe('of these, while other programs used the CPUs; absent: none'),
      missed: count,
      notJudged: count.describe('something else than the sidecar spoiled them'),
      p99Ms: nullable.describe('the highest of the judged trials at these limits'),
      p99BoundMs: nullable.describe('95 % prediction bound of the next trial'),
      trials: trialIds,
    })
    .optional()
    .describe('absent: of an older search'),
  trials: z
    .array(
      z.object({
        trial: z.string(),
        ratePerSecond: z.number(),
        cpuCores: nullable,
        memoryBytes: nullable.describe('null: no limit'),
        state: z.enum(['met', 'missed', 'not judged']),
        p99Ms: nullable,
        why: z.string(),
      }),
    )
    .optional()
    .describe('all trials of the load, in their order'),
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

const memoryQuantities = z.object(
  createQuantityFields('anonBytes', 'rssBytes', 'workingSetBytes', 'pssBytes', 'peakBytes'),
)

const summarySidecar = z.object({
  service: z.string(),
  copyOf: z.string().nullable(),
  pods: count.optional().describe('that this one proxy serves; absent: it is the sidecar of its service alone'),
  ...createQuantityFields('cpuCores', 'cpuOfCap', 'cpuPerRequestMicros', 'throttledFraction'),
  memory: memoryQuantities,
})

const summaryChanges = z.object({
  effectMs: quantity.optional().describe('the median until a change took effect'),
  effectMostMs: quantity.optional(),
  failedPerChange: quantity.optional(),
  cpuMillisPerChange: quantity.optional().describe('CPU of all sidecars more than without changes'),
})

const memoryOverSidecars = z
  .object({
    baseBytes: z.number(),
    bytesPerSidecar: z.number(),
    low: nullable.describe('with high: the 95 % interval of bytesPerSidecar; null below six points'),
    high: nullable,
    points: z.array(z.object({ sidecars: count, bytes: z.number(), residualBytes: z.number() })),
  })
  .nullable()

/** The rounds of an arm whose control plane got more sidecars step by step. */
export const growthFit = planeChoice.extend({
  armId: z.string(),
  hasControl: z.boolean(),
  sidecarsMost: count,
  rounds: z.array(
    z.object({
      round: count,
      sidecars: count.describe('up to which every step held'),
      failedAt: count.nullable().describe('null: nothing failed'),
      reason: failureReason.nullable(),
      why: z.string().nullable(),
    }),
  ),
  steps: z
    .array(z.object({ sidecars: count, seconds: quantity }))
    .describe('from the begin of a step until all of it serve, where it held'),
  memory: memoryOverSidecars.describe(
    'after each step that held: the median of the rounds; null: too few, or it has none',
  ),
})

const cpuOverSidecars = z
  .object({
    baseSeconds: z.number(),
    secondsPerSidecar: z.number(),
    low: nullable,
    high: nullable,
    points: z.array(z.object({ sidecars: count, seconds: z.number(), residualSeconds: z.number() })),
  })
  .nullable()
  .describe("a robust line through the control plane's CPU time over the number of sidecars")

/** An answer of `size --sidecars`. */
export const controlNeed = planeChoice.extend({
  sidecars: count.describe('that were asked for'),
  measuredMost: count.describe('with fewer than asked for, the need is extrapolated'),
  memory: memoryOverSidecars.describe('the most that the cgroup of the control plane was charged for'),
  rolloutCpu: cpuOverSidecars,
  changeCpu: cpuOverSidecars,
  coresMost: nullable.describe('CPU time over wall time in the busiest phase'),
  limits: z.object({ cores: z.number(), bytes: z.number() }).nullable().describe('with room; null: not known'),
})

const summaryRollout = z
  .record(z.string(), quantity)
  .describe('of many sidecars by one control plane; by the names of quantities')

export const summaryArm = arm.extend({
  target: z.string(),
  trials: z.object({ completed: count, failed: count, invalid: count }),
  spoiled: z
    .array(z.object({ gate: z.string(), part: z.string().optional(), trials: count, reason: z.string() }))
    .describe('what spoiled something, and in how many trials'),
  growing: z
    .array(z.object({ service: z.string(), bytesPerRequest: z.number(), windows: count, ofWindows: count }))
    .optional()
    .describe('sidecars whose memory grew in each quarter of so many windows, by the median of these; absent: none'),
  throughputPerSecond: quantity,
  cpuPerRequestMicros: quantity.describe('the sum over its sidecars'),
  servicesCpuPerRequestMicros: quantity
    .optional()
    .describe('the sum over its sidecars and applications; absent: services had no network namespaces'),
  serviceTimeMs: quantity.optional().describe('of the application; absent: it answers at once'),
  firstByteMs: quantity.optional().describe('of an answer in chunks; absent: there are none'),
  longestGapMs: quantity.optional().describe('between its chunks'),
  cpuPerConnectionMicros: quantity
    .optional()
    .describe('beyond the arm whose connections are kept; absent: there is none, or they are kept'),
  bytesPerConnection: quantity.optional().describe('as cpuPerConnectionMicros, of bytes that the load counted'),
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
  burst: z.record(z.string(), quantity).optional().describe('of the requests due in a burst'),
  changes: summaryChanges.nullable(),
  pairs: z.record(z.string(), quantity).optional().describe('of a pair of sidecars without a load'),
  loud: z.record(z.string(), quantity).optional().describe('of the requests to the loud pair'),
  ending: z.record(z.string(), quantity).optional().describe('of a sidecar that ended in the window'),
  rollout: summaryRollout.optional(),
  growth: z.record(z.string(), quantity).optional().describe('of steps of sidecars; by the names of quantities'),
  sidecars: z.array(summarySidecar),
})

export const verdict = z.enum(['lower', 'higher', 'no-difference-shown', 'indicative', 'invalid'])

export const comparison = z.object({
  a: z.string(),
  b: z.string().describe('another plane, or the same once more (A/A)'),
  kind: z.string().describe('of the trials'),
  link: z.string(),
  cpuLimitCores: nullable,
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
  gapLeast: z.number().optional().describe('with a precision: a smaller gap is no difference; else it is 0.03'),
})

export const band = comparison.pick({ a: true, b: true, link: true, conditions: true }).extend({
  low: z.number().describe('the lowest median over the loads, limits and placements of the run'),
  high: z.number(),
  measured: z.array(
    comparison
      .pick({ load: true, cpuLimitCores: true })
      .extend({ ratio: z.number(), low: z.number(), high: z.number() }),
  ),
  isContradicted: z
    .boolean()
    .nullable()
    .describe('intervals of interleaved arms and of windows exclude each other; null: the run measured one of the two'),
})

export const summaryPrecision = precisionTarget.extend({
  rounds: count,
  isReached: z.boolean(),
  pairs: z.array(
    comparison
      .pick({ a: true, b: true, link: true, cpuLimitCores: true, load: true, conditions: true, contrast: true })
      .extend({
        width: nullable.describe('of the interval, as a share of its low end; null: there are too few rounds'),
        isNarrow: z.boolean().describe('as asked for, and at most one round in ten was excluded'),
        roundsMore: nullable.describe('that it would still take, by the spread so far; null: not known, or over 10000'),
      }),
  ),
})

/** The fields that results of every kind have. */
const commonFields = {
  arms: z.array(summaryArm),
  comparisons: z.array(comparison),
  lines: z.array(cpuLine).describe('of an experiment that asks for lines of CPU over the rate'),
  slopes: z.array(slope).describe('of an experiment that asks for slopes over the time of a run'),
}

const costResult = z.object({
  kind: z.literal('cost'),
  ...commonFields,
  cpus: z
    .object({ generator: count, arms: count })
    .nullable()
    .describe('that the generator has for itself, and that all arms share; null: all share all'),
  connections: z
    .array(z.object({ armId: z.string(), count: nullable }))
    .describe("of all sidecars of an arm at the end of the window: the rounds' median"),
})

const capacityResult = z.object({ kind: z.literal('capacity'), ...commonFields })

const searchResults = z.object({
  kind: z.literal('search'),
  ...commonFields,
  searches: z.array(searchResult),
  sizes: z.array(sizeResult),
})

const rolloutResult = z.object({
  kind: z.literal('rollout'),
  ...commonFields,
  controlNeeds: z.array(controlNeed).describe('of size --sidecars; else there are none'),
})

const growthResult = z.object({ kind: z.literal('growth'), ...commonFields, growths: z.array(growthFit) })

/** The result of the trials of one kind. A run of several kinds has one for each, since their numbers must not be merged. */
export const result = z.discriminatedUnion('kind', [
  costResult,
  capacityResult,
  searchResults,
  rolloutResult,
  growthResult,
])

export const thresholdResult = z.object({
  expression: z.string(),
  link: z.string(),
  cpuLimitCores: nullable,
  load,
  conditions,
  value: nullable.describe('null: spoiled, or not measured'),
  held: z.boolean().nullable(),
})

export const summarySchema = z.object({
  schemaVersion,
  run,
  machine,
  tools: z.record(z.string(), tool),
  notMeasured: z.array(missing),
  relaxes: z.array(relaxation),
  parity: z.array(parityRow),
  deployed: z.array(deployedProfile).optional(),
  isCutShort: z
    .literal(true)
    .optional()
    .describe('the run ended before its plan: intervals are those of a confidence sequence'),
  carries: z
    .array(band)
    .optional()
    .describe('how far the ratio of each pair of planes in CPU per request carries; absent: written by an older kit'),
  thresholds: z.array(thresholdResult),
  precision: summaryPrecision.optional(),
  shows,
  calibrations: z.array(calibration),
  results: z.array(result).describe('of each kind of trials, in the order of its first arm'),
})

/**
 * Creates the fields of an object whose members are quantities.
 * @template {string} Name
 * @param {Name[]} names
 */
function createQuantityFields(...names) {
  return /** @type {Record<Name, typeof quantity>} */ (Object.fromEntries(names.map(name => [name, quantity])))
}
