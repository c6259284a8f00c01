import { z } from 'zod'
import { GATES } from '../judge/gates.js'
import { QUANTITY_NAMES, SHOWN_BY_DEFAULT } from '../judge/quantities.js'
import { KIND_FIELDS } from '../kinds/registry.js'
import { parseYaml } from '../lib/yaml.js'
import { AXES, AXIS_NAMES } from '../model/arms.js'
import { burstFactor, cpuLimitCores, lengthSeconds, rounds } from '../model/bounds.js'
import { moderniseQuestion } from '../model/old-words.js'
import { PARITY_NAMES } from '../parity/verdict/checks.js'

/** @import { AxisName } from '../model/types.ts' */

/** hasControl: one arm is run twice (A/A), which shows the noise. */
/** @typedef {{ rounds: number, warmupSeconds: number, windowSeconds: number, hasControl: boolean }} Profile */

/** @type {Record<string, Profile>} */
export const PROFILES = {
  smoke: { rounds: 1, warmupSeconds: 1, windowSeconds: 1.5, hasControl: false },
  quick: { rounds: 3, warmupSeconds: 1.5, windowSeconds: 3.5, hasControl: false },
  standard: { rounds: 6, warmupSeconds: 1.5, windowSeconds: 3.5, hasControl: true },
  full: { rounds: 6, warmupSeconds: 20, windowSeconds: 50, hasControl: true },
}

/** Profiles of arms in turns: rounds are deployments, and seconds are of all arms together. @type {typeof PROFILES} */
export const INTERLEAVED_PROFILES = {
  smoke: { rounds: 1, warmupSeconds: 1, windowSeconds: 3, hasControl: false },
  quick: { rounds: 3, warmupSeconds: 1, windowSeconds: 6, hasControl: false },
  // Deployments of the same arms differ more than the seconds of one deployment: docs/evidence/turns.md.
  standard: { rounds: 12, warmupSeconds: 1, windowSeconds: 6, hasControl: true },
  full: { rounds: 24, warmupSeconds: 3, windowSeconds: 10, hasControl: true },
}

// An experiment may set these aside, because they are its axis.
const RELAXABLE = [...GATES.keys(), ...PARITY_NAMES]

const axisName = z.enum(/** @type {[AxisName, ...AxisName[]]} */ (AXIS_NAMES))
const optionalAxes =
  /** @type {Record<Exclude<AxisName, 'link' | 'cpuLimitCores'>, z.ZodOptional<z.ZodArray<any>>>} */ (
    Object.fromEntries(
      AXIS_NAMES.filter(name => name !== 'link' && name !== 'cpuLimitCores').map(name => [
        name,
        z.array(AXES[name].schema).min(1).optional(),
      ]),
    )
  )
const axes = z.strictObject({
  plane: z.array(z.string()).min(1),
  /** Control planes of the sidecars; a plane that has none of these takes its first. */
  control: z.array(z.string()).min(1).optional(),
  link: z.array(z.string()).min(1),
  cpuLimitCores: z.union([z.literal('none'), z.array(cpuLimitCores).min(1)]),
  ...optionalAxes,
})

const schema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'an experiment is named in lower case, with digits and hyphens'),
  question: z.string(),
  axes,
  load: z
    .strictObject({
      /** null: by the axes, open with a rate and closed without. */
      kind: z.enum(['idle']).nullable().default(null),
      /** A rate is of the link, or of each copy of its last service. */
      ratePer: z.enum(['link', 'service']).default('link'),
      hasCertificate: z.boolean().default(false),
      burstFactor: burstFactor.default(5),
    })
    .prefault({}),
  /** cost: of arms that are interleaved; capacity: what each delivers under its cap, alone. */
  measure: z
    .array(z.enum(['cost', 'capacity']))
    .min(1)
    .nullable()
    .default(null),
  trafficPolicy: z.enum(['listed', 'open']).default('listed'),
  /** Start an arm's services once, and keep them through all rounds. */
  keepsServices: z.boolean().default(false),
  /** First find each plane's capacity, and leave out the rates above this share of it. */
  mostOfCapacity: z.number().positive().max(1).nullable().default(null),
  ...KIND_FIELDS,
  shows: z
    .strictObject({
      quantities: z.array(z.enum(QUANTITY_NAMES)).min(1).default(SHOWN_BY_DEFAULT),
      across: axisName.nullable().default(null),
      contrasts: z.array(axisName).default([]),
      hasCpuLine: z.boolean().default(false),
      hasSlopes: z.boolean().default(false),
      /** Quantities whose plateau is told: the value of the axis `across` beyond which more gains nothing. */
      plateaus: z.array(z.enum(QUANTITY_NAMES)).optional(),
      /** Quantities of which planes are told from which value of the axis `across` on one takes less than another. */
      crossings: z.array(z.enum(QUANTITY_NAMES)).optional(),
    })
    .prefault({}),
  /** Files of bench/claims that it can test. */
  claims: z.array(z.string().regex(/^[\w-]+$/, 'is the name of a file in bench/claims, without .yaml')).default([]),
  targets: z.array(z.enum(['local', 'kubernetes'])).default(['local', 'kubernetes']),
  relaxes: z.array(z.strictObject({ gate: z.enum(RELAXABLE), why: z.string().min(1) })).default([]),
  profiles: z
    .partialRecord(
      z.enum(['smoke', 'quick', 'standard', 'full']),
      z.strictObject({
        rounds: rounds.optional(),
        warmupSeconds: lengthSeconds.optional(),
        windowSeconds: lengthSeconds.optional(),
        hasControl: z.boolean().optional(),
        /** Axes of this profile, instead of those above. */
        axes: axes.partial().optional(),
      }),
    )
    .default({}),
})

/** @typedef {z.infer<typeof schema>} Experiment */

/** Reads an experiment; throws UsageError. @param {string} text YAML @param {string} file its name, for errors */
export function parseExperiment(text, file) {
  return parseYaml({ text, file, schema, modernise: moderniseQuestion })
}
