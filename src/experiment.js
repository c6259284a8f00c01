import { z } from 'zod'
import { GATE_NAMES } from './gates.js'
import { PARITY_NAMES } from './parity/rows.js'
import { parseYaml } from './validate.js'

/**
 * How long and how often, and whether one arm is run twice (A/A) to show the noise.
 * @typedef {{ rounds: number, warmupSeconds: number, windowSeconds: number, hasControl: boolean }} Profile
 */

/** @type {Record<string, Profile>} */
export const PROFILES = {
  smoke: { rounds: 1, warmupSeconds: 1, windowSeconds: 1.5, hasControl: false },
  quick: { rounds: 3, warmupSeconds: 1.5, windowSeconds: 3.5, hasControl: false },
  standard: { rounds: 6, warmupSeconds: 1.5, windowSeconds: 3.5, hasControl: true },
  full: { rounds: 6, warmupSeconds: 20, windowSeconds: 50, hasControl: true },
}

// What an experiment may set aside, because it is its axis.
const RELAXABLE = [...GATE_NAMES, ...PARITY_NAMES]

const positive = z.number().positive()
const schema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'an experiment is named in lower case, with digits and hyphens'),
  question: z.string(),
  axes: z.strictObject({
    plane: z.array(z.string()).min(1),
    link: z.array(z.string()).min(1),
    capCores: z.array(positive).min(1),
  }),
  users: z.int().positive().nullable().default(null),
  /** Given: an open loop at each of these rates. */
  ratePerSecond: z.array(z.int().positive()).min(1).nullable().default(null),
  payloadBytes: z.int().min(1).default(1024),
  trafficPolicy: z.enum(['listed', 'open']).default('listed'),
  relaxes: z.array(z.strictObject({ gate: z.enum(RELAXABLE), why: z.string().min(1) })).default([]),
  profiles: z
    .partialRecord(
      z.enum(['smoke', 'quick', 'standard', 'full']),
      z.strictObject({
        rounds: z.int().positive().optional(),
        warmupSeconds: positive.optional(),
        windowSeconds: positive.optional(),
      }),
    )
    .default({}),
})

/** @typedef {z.infer<typeof schema>} Experiment */

/**
 * @param {string} text YAML
 * @param {string} file its name, for errors
 * @returns {Experiment}
 * @throws {import('./lib/errors.js').UsageError}
 */
export function parseExperiment(text, file) {
  return parseYaml({ text, file, schema })
}
