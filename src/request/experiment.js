import { z } from 'zod'
import { GATES } from '../judge/gates.js'
import { QUANTITY_NAMES, SHOWN_BY_DEFAULT } from '../judge/quantities.js'
import { KIND_FIELDS } from '../kinds/registry.js'
import { parseYaml } from '../lib/yaml.js'
import { AXES, AXIS_NAMES } from '../model/arms.js'
import { burstFactor, cpuLimitCores, lengthSeconds, rounds } from '../model/bounds.js'
import { moderniseUserFile } from '../model/old-words.js'
import { PARITY_NAMES } from '../parity/verdict/checks.js'

/** @import { AxisName } from '../model/types.ts' */

/**
 * How long an experiment measures.
 * @typedef {object} Profile
 * @property {number} rounds
 * @property {number} warmupSeconds
 * @property {number} windowSeconds without the warm-up
 * @property {boolean} hasControl one arm is run twice (A/A), which shows the noise
 */

/** Profiles of trials that run one arm at a time, by name. @type {Record<string, Profile>} */
export const PROFILES = {
  smoke: { rounds: 1, warmupSeconds: 1, windowSeconds: 1.5, hasControl: false },
  quick: { rounds: 3, warmupSeconds: 1.5, windowSeconds: 3.5, hasControl: false },
  standard: { rounds: 6, warmupSeconds: 1.5, windowSeconds: 3.5, hasControl: true },
  full: { rounds: 6, warmupSeconds: 20, windowSeconds: 50, hasControl: true },
}

/** Profiles of interleaved arms: each round deploys them again, and its seconds are those of all arms together. @type {typeof PROFILES} */
export const INTERLEAVED_PROFILES = {
  smoke: { rounds: 1, warmupSeconds: 1, windowSeconds: 3, hasControl: false },
  quick: { rounds: 3, warmupSeconds: 1, windowSeconds: 6, hasControl: false },
  // Deployments of the same arms differ more than the seconds of one deployment: docs/evidence/turns.md.
  standard: { rounds: 12, warmupSeconds: 1, windowSeconds: 6, hasControl: true },
  full: { rounds: 24, warmupSeconds: 3, windowSeconds: 10, hasControl: true },
}

// Gates and rows of the equal-work check that an experiment may relax, with a reason: it may vary the very thing that they check.
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
      /** A rate is that of the link, or of each copy of its last service. */
      ratePer: z.enum(['link', 'service']).default('link'),
      hasCertificate: z.boolean().default(false),
      burstFactor: burstFactor.default(5),
    })
    .prefault({}),
  /** cost: arms are interleaved; capacity: each arm stands alone; null: capacity, unless axes or fields are those of another kind. */
  measure: z
    .array(z.enum(['cost', 'capacity']))
    .min(1)
    .nullable()
    .default(null),
  trafficPolicy: z.enum(['listed', 'open']).default('listed'),
  /** Services of an arm are started once and stay through all rounds. */
  keepsServices: z.boolean().default(false),
  /** The capacity of each plane is measured first, and rates above this share of it are left out; null: none is. */
  mostOfCapacity: z.number().positive().max(1).nullable().default(null),
  ...KIND_FIELDS,
  shows: z
    .strictObject({
      quantities: z.array(z.enum(QUANTITY_NAMES)).min(1).default(SHOWN_BY_DEFAULT),
      across: axisName.nullable().default(null),
      contrasts: z.array(axisName).default([]),
      hasCpuLine: z.boolean().default(false),
      hasSlopes: z.boolean().default(false),
      /** Quantities whose plateau is reported: the value of the axis `across` beyond which more gains nothing. */
      plateaus: z.array(z.enum(QUANTITY_NAMES)).optional(),
      /** Quantities whose crossings are reported: the value of the axis `across` from which one plane takes less than another. */
      crossings: z.array(z.enum(QUANTITY_NAMES)).optional(),
    })
    .prefault({}),
  /** Files of bench/claims that a run of it can test. */
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

/**
 * Parses an experiment file. Words of older versions are accepted, too.
 * @param {string} text YAML
 * @param {string} file its name, for error messages
 * @returns {Experiment}
 * @throws {UsageError} if it is empty, no YAML, or does not fit the schema
 */
export function parseExperiment(text, file) {
  return parseYaml({ text, file, schema, transform: moderniseUserFile })
}
