import { z } from 'zod'
import * as bounds from '../bounds.js'
import * as parts from './parts.js'

/** The schema of manifest.json: the plan of a run, its machine and tools, and how it ended. */

const { arm, boundBy, missing, nullable, parityRow, placement, relaxation, run, schemaVersion, shows, tool } = parts

export const trafficPolicy = z.enum(['listed', 'open'])

export const settings = z.object({
  profile: z.string(),
  trafficPolicy,
  app: z.enum(['pipy', 'node']).describe('what serves the applications'),
  isPinned: z.boolean().describe('generator, applications and sidecars get CPUs of their own where there are enough'),
  relaxes: z.array(relaxation),
  keepsServices: z.boolean().describe('the services of an arm are started once and stay through all rounds'),
  shows,
  grows: z
    .object({ deadlineSeconds: z.number().positive().describe('of a step') })
    .optional()
    .describe('sidecars are added step by step, until a step fails; absent: an arm has all of them at once'),
  sizesControlOf: z.int().positive().optional().describe('sidecars for whose control plane limits were asked'),
})

export const service = z.object({
  name: z.string(),
  application: z.enum(['echo', 'forward']).nullable(),
  calls: z.array(z.string()),
  copyOf: z.string().optional().describe('the service that it is a copy of'),
  pairOf: z.string().optional().describe('the service of the first copy of the link that it stands for'),
})

export const topology = z.object({
  name: z.string(),
  services: z.array(service),
  entry: z.object({ service: z.string(), listener: z.enum(['inbound', 'outbound']) }),
})

const precision = z.number().describe('by how much what failed and what held may differ')

const trialsToConfirm = z.int().optional().describe('that met the p99, at the answer; absent: an older search')

export const searchSpec = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('knee'), precision, p99Ms: z.number(), startPerSecond: z.number() }),
  z.object({ kind: z.literal('memory-floor'), precision, p99Ms: nullable }),
  z.object({ kind: z.literal('size'), precision, p99Ms: z.number(), isExtrapolated: z.boolean(), trialsToConfirm }),
  z.object({
    kind: z.literal('services'),
    precision,
    trialsToConfirm,
    services: z.array(
      z.object({ name: z.string(), ratePerSecond: z.number(), p99Ms: z.number(), payloadBytes: z.number() }),
    ),
  }),
])

export const scriptFolder = z
  .object({
    role: z.enum(['sidecar', 'application', 'generator']),
    plane: z.string().nullable().describe('of sidecars'),
    variant: z.string().nullable(),
    profile: z.string().optional().describe('whose scripts they are'),
    sha256: z.string(),
  })
  .describe('a folder of scripts that the run used, by what is in it')

export const deployedProfile = z.object({
  plane: z.string(),
  from: z.string().describe('whose configuration it is'),
  deviations: z.array(z.string()).describe('what it does otherwise than there'),
})

export const kit = z.object({ version: z.string(), git: z.string().nullable(), sha256: z.string().describe('of src/') })

export const machine = z.looseObject({
  before: z
    .object({ seconds: z.number(), idleFraction: z.number(), stealFraction: z.number() })
    .nullable()
    .optional()
    .describe('how idle it was before anything of the run'),
  loadHost: z
    .looseObject({ host: z.string(), cpuModel: z.string(), cpus: z.number() })
    .optional()
    .describe('the machine of the load, where --load-host named another'),
})

export const calibration = z.object({
  armId: z.string(),
  ratePerSecond: nullable,
  boundBy: boundBy.nullable(),
  trialId: z.string(),
})

export const precisionTarget = z
  .object({
    width: z.number().describe('of the 95 % interval of CPU per request, from end to end, as a share of its low end'),
    mostRounds: bounds.rounds,
    ended: z
      .enum(['reached', 'time', 'no-pair'])
      .nullable()
      .describe(
        'why no more rounds were measured; time: also that there were the most of the plan; no-pair: the sidecars of others died, or their rates cannot be reached; null: cut short',
      ),
  })
  .describe('rounds went on until every pair of planes was compared this precisely')

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
  deployed: z.array(deployedProfile).optional().describe('planes that are as a mesh deploys them'),
  settings,
  thresholds: z.array(z.string()),
  rounds: bounds.rounds.describe('with a precision: those that were begun'),
  precision: precisionTarget.optional(),
  arms: z.array(arm).min(1).describe('of a search: what it starts from'),
  search: searchSpec.nullable(),
  calibrations: z.array(calibration),
  placements: z.record(z.string(), placement.nullable()).describe("by the arm's id"),
  notMeasured: z.array(missing),
  topologies: z.record(z.string(), topology),
  parity: z.array(parityRow),
  ended: z
    .enum(['finished', 'interrupted', 'failed'])
    .nullable()
    .optional()
    .describe(
      'how the run ended; null: it goes on, or was killed. Any but finished: intervals of what it measured in part are those of a confidence sequence. Absent: an older version ran it',
    ),
})
