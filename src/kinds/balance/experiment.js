import { z } from 'zod'
import { parseYaml } from '../../lib/yaml.js'
import { balanceForm } from '../../model/balance.js'

/** The experiment file of `balance`, whose assignments are computed. Pure. */

const PLACED_MOST = 100_000

const schema = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'an experiment is named in lower case, with digits and hyphens'),
    question: z.string(),
    kind: z.literal('balance'),
    ...balanceForm.shape,
    /** Names of the files in bench/claims whose claims this experiment can test. */
    claims: z.array(z.string()).default([]),
  })
  .refine(({ items, seeds }) => items * seeds <= PLACED_MOST, {
    path: ['seeds'],
    error: `items × seeds is at most ${PLACED_MOST}: more would take minutes`,
  })

/** @typedef {z.infer<typeof schema>} BalanceExperiment */

/**
 * Parses an experiment of `balance`.
 * @param {string} text YAML
 * @param {string} file its name, for error messages
 * @returns {BalanceExperiment}
 * @throws {UsageError} if the text is empty, no YAML, or does not fit the schema
 */
export function parseBalanceExperiment(text, file) {
  return parseYaml({ text, file, schema })
}
