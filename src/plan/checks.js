import { UsageError } from '../lib/errors.js'

/** How large a plan may be. Pure. */

// All are made before the first runs.
export const TRIALS_MOST = 100_000

/** @param {number} trials @param {{ name: string }} experiment @throws {UsageError} before so many are made */
export function assertFew(trials, { name }) {
  if (trials <= TRIALS_MOST) return
  throw new UsageError(`${name} would be ${trials} trials, at most ${TRIALS_MOST}: ask for fewer values or rounds`)
}
