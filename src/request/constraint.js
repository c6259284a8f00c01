import { UsageError } from '../lib/errors.js'

/** The contract of a constraint: what cannot be asked together, and what a person reads then. Pure. */

/**
 * @template Facts
 * @typedef {object} Constraint
 * @property {string} on the option, axis or field of an experiment file that must be asked for; `always`: checked at every request
 * @property {import('../model/types.ts').TrialKind[]} [kinds] of trials that it is about; absent: all
 * @property {true} [dependsOnOptions] another option allows it: the help of an experiment shows it all the same
 * @property {(facts: Facts) => unknown} conflict false, null or undefined: allowed; the message gets any other value
 * @property {(facts: Facts, conflict: any) => string} message what was asked, why that is impossible, and what to do
 */

/**
 * Finds the first constraint that is broken, and renders its message; null: all hold.
 * @template Facts
 * @param {Constraint<Facts>[]} constraints @param {Facts} facts
 * @param {(name: string) => boolean} [isRequested] absent: what is not asked for has no conflict
 */
export function findConflict(constraints, facts, isRequested = () => true) {
  for (const { on, conflict, message } of constraints) {
    if (on !== 'always' && !isRequested(on)) continue
    const value = conflict(facts)
    if (value !== undefined && value !== null && value !== false) return message(facts, value)
  }
  return null
}

/**
 * @template Facts
 * @param {Constraint<Facts>[]} constraints @param {Facts} facts @param {(name: string) => boolean} [isRequested]
 * @throws {UsageError} with the message of the first constraint that is broken
 */
export function assertAllowed(constraints, facts, isRequested) {
  const message = findConflict(constraints, facts, isRequested)
  if (message !== null) throw new UsageError(message)
}
