import { z } from 'zod'
import { parseYaml } from './validate.js'

/**
 * How long and how often: lengths of decisions.md. `closed` windows are in seconds.
 * @typedef {{ rounds: number, warmupSeconds: number, windowSeconds: number }} Profile
 */

/** @type {Record<string, Profile>} */
export const PROFILES = {
  smoke: { rounds: 1, warmupSeconds: 1, windowSeconds: 1.5 },
  quick: { rounds: 3, warmupSeconds: 1.5, windowSeconds: 3.5 },
  standard: { rounds: 6, warmupSeconds: 1.5, windowSeconds: 3.5 },
  full: { rounds: 6, warmupSeconds: 20, windowSeconds: 50 },
}

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
  payloadBytes: z.int().min(1).default(1024),
  trafficPolicy: z.enum(['listed', 'open']).default('listed'),
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
