/** Readers of a summary whose question spans the kinds of trials: a summary has a result for each kind. Pure. @import { Result, ResultOf, Summary } from './types.ts' */

/** @param {Pick<Summary, 'results'>} summary */
export const listArms = ({ results }) => results.flatMap(({ arms }) => arms)

/** @param {Pick<Summary, 'results'>} summary */
export const listComparisons = ({ results }) => results.flatMap(({ comparisons }) => comparisons)

/**
 * Finds the result of one kind of trials; undefined where a run had none.
 * @template {Result['kind']} Kind @param {Pick<Summary, 'results'>} summary @param {Kind} kind
 */
export const findResult = ({ results }, kind) =>
  /** @type {ResultOf<Kind> | undefined} */ (results.find(result => result.kind === kind))

/** Lists the answers of `size`. @param {Pick<Summary, 'results'>} summary */
export const listSizes = summary => findResult(summary, 'search')?.sizes ?? []
