import { z } from 'zod'
import { AXIS_NAMES } from '../arms.js'
import { CONTROL_PLANE_AXES } from '../axes/control-plane.js'
import { LOAD_AXES } from '../axes/load.js'
import { SIDECAR_AXES } from '../axes/sidecar.js'
import { METHODS, parseChunks, parseServiceTime } from '../requests.js'
import { SCHEMA_VERSION } from '../versions.js'

/** Schemas of parts that several documents of a run have. */

export const schemaVersion = z.literal(SCHEMA_VERSION)
export const count = z.int().min(0)
export const fraction = z.number().min(0)
export const nullable = z.number().nullable()

// A trial names its folder below raw/: an id is one part of a path, which cannot lead out of it. Control characters are spelled
// out, since validators of JSON Schema in other languages do not know \p{Cc}.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const ID = /^(?!\.{1,2}$)(?!__proto__$)[^/\\\u0000-\u001f\u007f-\u009f]{1,200}$/u
const id = z.string().regex(ID, 'it is no name that a folder can have')

export const requestKind = z.object({
  weight: z.number().positive().describe('how many of these come, beside the others'),
  method: z.enum(METHODS),
  path: z.string().startsWith('/'),
  requestBytes: count.describe('of the body'),
  requestHeaderBytes: count.describe('of headers beside those of the generator, with names and line ends'),
  responseBytes: count.describe('of the body'),
  serviceTime: z
    .string()
    .refine(text => parseServiceTime(text) !== null)
    .optional()
    .describe('that the application waits, such as 30ms, or exp:30ms (drawn, 30 ms on average); absent: none'),
  chunks: z
    .string()
    .refine(text => parseChunks(text) !== null)
    .optional()
    .describe('in which the application writes its answer, such as 10/5ms (ten, 5 ms apart); absent: at once'),
})

export const load = z
  .object({
    kind: z
      .enum(['interleaved', 'closed', 'open', 'idle'])
      .describe(
        'closed: each user waits for its answer and asks again; interleaved: the same, of arms that stand at once and get the users in turn; open: requests start at a rate; idle: none',
      ),
    sliceMs: z
      .number()
      .positive()
      .optional()
      .describe('for so long all requests go to one arm, then to another; absent: the arms are not interleaved'),
    isInterleaved: z
      .literal(true)
      .optional()
      .describe('arms that stand at the same time share this load; absent: an arm stands alone'),
    users: count.describe('closed loop: virtual users; open loop: the most requests under way; idle: 0'),
    ratePerSecond: z.number().positive().optional().describe('of the open loop'),
    loudPerSecond: z
      .number()
      .positive()
      .optional()
      .describe(
        'more requests per second, all to the first pair; the rate goes to the others; absent: to all pairs alike',
      ),
    payloadBytes: z
      .int()
      .positive()
      .optional()
      .describe('of a POST that is echoed; absent: requests say what is sent and answered'),
    requests: z
      .array(requestKind)
      .min(1)
      .optional()
      .describe('kinds of requests, each answered by a body of its own; absent: a POST that is echoed'),
    traffic: z
      .string()
      .optional()
      .describe('the name of the mix that requests are, with the start of its hash; absent: there is one kind'),
    ownRequest: z
      .object({
        method: z.string(),
        path: z.string(),
        requestBytes: count.describe('of the body'),
        status: z.int().describe('of the answers that count'),
        answerBytes: z
          .array(count)
          .optional()
          .describe('of their bodies, each size that a trial had; absent: known once it has run'),
      })
      .optional()
      .describe('that a pipeline.yaml names instead; absent: the load is as the other fields say'),
    connections: z.enum(['kept', 'new']).describe('new: one for every request'),
    idleConnections: count
      .optional()
      .describe('side by side: that each user keeps beside the one that it uses; absent: none'),
    placement: z
      .literal('apart')
      .optional()
      .describe('interleaved: the generator has half of the CPUs, and all arms the others; absent: nothing is pinned'),
    hasCertificate: z.boolean().describe('the client speaks mTLS to the first sidecar'),
    burst: z
      .object({ factor: z.number(), beginsSeconds: z.number(), seconds: z.number() })
      .nullable()
      .describe('of the open loop: times the rate, from the start of the window'),
    warmupSeconds: z.number().positive(),
    windowSeconds: z.number().positive(),
  })
  .describe('What drives the trial')

/** Conditions of an arm: those whose schema an axis has, and `simulated`, which follows from them. */
export const conditions = z
  .object({
    ...pickRecordedSchemas(LOAD_AXES),
    ...pickRecordedSchemas(SIDECAR_AXES),
    ...pickRecordedSchemas(CONTROL_PLANE_AXES),
    simulated: z.int().positive().optional().describe('of these sidecars; absent: all are real'),
  })
  .describe('What the services of an arm are given beside plane, link, cap and load')

/**
 * The schemas of conditions, by the names of the axes that have one.
 * @template Axes
 * @typedef {{ [Name in keyof Axes as Axes[Name] extends { recorded: any } ? Name : never]:
 *   Axes[Name] extends { recorded: infer Schema } ? Schema : never }} Recorded
 */

/**
 * Picks the schemas of conditions from axes. An axis without `recorded` is no condition, and is left out.
 * @template {Record<string, object>} Axes
 * @param {Axes} axes
 */
function pickRecordedSchemas(axes) {
  const schemas = Object.entries(axes).flatMap(([name, axis]) => ('recorded' in axis ? [[name, axis.recorded]] : []))
  return /** @type {Recorded<Axes>} */ (Object.fromEntries(schemas))
}

export const planeChoice = z.object({
  plane: z.string().describe('the name in the registry'),
  variant: z.string().nullable().describe('the folder of its scripts, or null'),
  profile: z.string().nullable().describe('a profile of the plane other than its first, or null'),
  control: z.string().optional().describe('what configures its sidecars; absent: there is no control plane'),
})

export const arm = planeChoice.extend({
  id,
  kind: z.string().describe('of its trials: how it is measured'),
  repeatOf: z.string().nullable().describe('A/A: the arm that this one repeats'),
  calibratedBy: z.string().nullable().describe('the closed loop that finds what rates it can be asked for'),
  hasSidecars: z.boolean(),
  link: z.string(),
  cpuLimitCores: z.number().positive().nullable().describe('null: no cap, or no sidecars'),
  load,
  conditions,
  rounds: z
    .int()
    .positive()
    .optional()
    .describe('in which it is measured, where other arms of the run have more; absent: in all'),
})

export const trial = z.object({
  id,
  kind: z.string().describe('how it measures'),
  round: z.int().positive(),
  arm,
  interleaving: id
    .optional()
    .describe(
      'what it shares with the trials of the arms that it is interleaved with, which stand at the same time; absent: it stands alone',
    ),
  repeats: z.string().nullable().describe('the trial that it runs again'),
  isExclusive: z
    .boolean()
    .optional()
    .describe('all numbers of the round come from it, or all from the trial that it repeats'),
  searchOf: z.string().nullable().describe('the arm whose limit is searched for with it'),
  warmup: z
    .object({ plannedSeconds: z.number(), isLongest: z.boolean() })
    .optional()
    .describe('of a warm-up that was lengthened because users were cold; isLongest: it is lengthened no more'),
})

export const hostCpu = z
  .object({ idle: z.number(), steal: z.number(), busy: z.number(), total: z.number(), cpus: count })
  .describe('clock ticks of all CPUs so far; busy is without interrupts')

const cpuList = z.array(count)
export const placement = z.object({ sidecar: cpuList, application: cpuList, generator: cpuList })
export const boundBy = z.enum([
  'sidecar',
  'worker',
  'application',
  'generator',
  'host',
  'users',
  'drops',
  'rate',
  'pod',
])
export const role = z.enum(['sidecar', 'application', 'generator', 'control', 'neighbour'])
export const use = z.enum(['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory'])
export const axisName = z.enum(AXIS_NAMES)

export const shows = z.object({
  quantities: z.array(z.string()).describe('names of the table of quantities'),
  across: axisName.nullable().describe('the axis whose values are columns'),
  contrasts: z.array(axisName).describe('axes whose values are compared with the first of them, plane by plane'),
  hasCpuLine: z.boolean().describe('CPU is fitted as a line over the rate'),
  plateaus: z
    .array(z.string())
    .optional()
    .describe('quantities of which it is told from which value across on more gains nothing'),
  crossings: z
    .array(z.string())
    .optional()
    .describe('quantities of which it is told from which value across on one plane takes less than another'),
  hasSlopes: z.boolean().describe('memory and latency are fitted over the time of the run'),
})

export const relaxation = z.object({ gate: z.string(), why: z.string() })
export const missing = z.object({
  plane: z.string(),
  reason: z.string(),
  cpuLimitsCores: z.array(z.number()).optional().describe('at which no plane was measured'),
  isRefused: z.literal(true).optional().describe('it is here, and cannot do what was asked of it'),
})

const resumption = z.object({
  at: z.string(),
  id: z.string().describe('of the run that went on'),
  trials: count.describe('that were recorded until then'),
})

export const run = z.object({
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
  library: z.string().optional().describe('the TLS library that it runs with, where the program says so'),
  sha256: z.string().describe('empty: it is in an image'),
  source: z.string().describe("how it was found: its variable, PATH, the kit's cache, fetched now, or in an image"),
  image: z.string().optional().describe('where it is in an image'),
})

export const parityRow = z.object({
  name: z.string(),
  plane: z.string(),
  tls: conditions.shape.tls,
  protocol: conditions.shape.protocol,
  features: conditions.shape.features,
  interception: conditions.shape.interception,
  trafficPolicy: z.enum(['listed', 'open']),
  size: z
    .object({ link: z.string(), cpuLimitCores: nullable, workers: nullable })
    .nullable()
    .describe('of these arms alone; null: of every arm of the configuration'),
  found: z.string().describe('in words that are equal where the behaviour is'),
  expected: z.string().nullable().describe('null: whatever it is, it must be equal'),
  differences: z.array(z.string()),
  links: z.array(z.string()).optional().describe('that do this work; absent: every link does'),
  lacks: z.array(z.string()).optional().describe('why it falls short, where the plane declares all that differs'),
  carriesBytes: z.literal(true).optional().describe('it was tried with bytes, for the plane parses no requests'),
  isDeployed: z.literal(true).optional().describe('the plane is as a mesh deploys it: a difference is a finding'),
  isOwn: z
    .literal(true)
    .optional()
    .describe('the plane runs scripts of the user, which are compared by their answers to the load'),
  triedAt: z
    .string()
    .optional()
    .describe('when an earlier run tried it, with all that it depends on unchanged since; absent: this run tried it'),
})
