/**
 * Readers of a summary across its results, of which it has one for each kind of trials. Pure.
 * @import { Result, ResultOf, Summary } from './types.ts'
 */

/** Lists the arms of all results. @param {Pick<Summary, 'results'>} summary */
export const listArms = ({ results }) => results.flatMap(({ arms }) => arms)

/** Lists the comparisons of all results. @param {Pick<Summary, 'results'>} summary */
export const listComparisons = ({ results }) => results.flatMap(({ comparisons }) => comparisons)

/**
 * Finds the result of one kind of trials.
 * @template {Result['kind']} Kind
 * @param {Pick<Summary, 'results'>} summary
 * @param {Kind} kind
 * @returns undefined: the run had no trials of it
 */
export const findResult = ({ results }, kind) =>
  /** @type {ResultOf<Kind> | undefined} */ (results.find(result => result.kind === kind))

/**
 * Lists the answers of `size`, which its searches have.
 * @param {Pick<Summary, 'results'>} summary
 * @returns []: the run had no search, or none of a size
 */
export const listSizes = summary => findResult(summary, 'search')?.sizes ?? []
