import { UsageError } from '../lib/errors.js'

/**
 * A conflict between parts of a request, and the message for it. Pure.
 * @template Facts
 * @typedef {object} Constraint
 * @property {string} on the option, axis or field of an experiment file that has this constraint; `always`: every request has it
 * @property {import('../model/types.ts').TrialKind[]} [kinds] of trials that have this constraint; absent: all
 * @property {true} [dependsOnOptions] another option can lift it, so the help of an experiment still lists the option `on`
 * @property {(facts: Facts) => unknown} conflict false, null or undefined: allowed; any other value, also 0 and empty text, breaks the
 *   constraint, and is passed to `message`
 * @property {(facts: Facts, conflict: any) => string} message says what was requested, why it is impossible, and what to do
 * @property {true} [isLack] it is broken if a program is missing; absent: if the request is impossible
 */

/**
 * Finds the first broken constraint.
 * @template Facts
 * @param {Constraint<Facts>[]} constraints
 * @param {Facts} facts
 * @param {(name: string) => boolean} [isRequested] says whether to check the constraints on a name; absent: all are
 *   checked
 * @returns {{ message: string, isLack: boolean } | null} isLack: as of the constraint; null: all constraints hold
 */
export function findConflict(constraints, facts, isRequested = () => true) {
  for (const { on, conflict, message, isLack = false } of constraints) {
    if (on !== 'always' && !isRequested(on)) continue
    const value = conflict(facts)
    if (value !== undefined && value !== null && value !== false) return { message: message(facts, value), isLack }
  }
  return null
}

/**
 * Asserts that all constraints hold.
 * @template Facts
 * @param {Constraint<Facts>[]} constraints
 * @param {Facts} facts
 * @param {(name: string) => boolean} [isRequested] says whether to check the constraints on a name; absent: all are checked
 * @throws {UsageError} with the message of the first broken constraint
 */
export function assertConstraints(constraints, facts, isRequested) {
  const conflict = findConflict(constraints, facts, isRequested)
  if (conflict !== null) throw new UsageError(conflict.message)
}
