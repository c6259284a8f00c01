import { z } from 'zod'
import { count, fraction, nullable, schemaVersion } from './parts.js'
import { controlReading, phase, told } from './rollout.js'

/** A growth: raw/<trial>/growth.json, and its part of a record. */

export const failureReason = z
  .enum(['oom', 'ended', 'stopped', 'nack', 'deadline', 'host-memory', 'host-cpu'])
  .describe(
    'the control plane was killed for memory, ended otherwise, or is stopped; it refused a configuration; not every client saw every backend by the deadline; of the machine: its memory, or its CPU at the deadline',
  )

const ending = z.object({ sidecars: count.describe('of the step that failed'), reason: failureReason, why: z.string() })

/** raw/<trial>/growth.json */
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
      members: z.array(z.object({ name: z.string(), told: told.nullable().describe('null: it was not started') })),
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

/** The growth of a record. */
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
