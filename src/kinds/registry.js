import { capacity } from './capacity/index.js'
import { cost } from './cost/index.js'
import { growth } from './growth/index.js'
import { rollout } from './rollout/index.js'
import { search } from './search/index.js'

/**
 * The kinds of trials by their names. A new kind is a folder, its name in model/types/plan.ts and in sections.js, and its lines here.
 * Pure.
 * @import { TrialKind } from '../model/types.ts'
 * @import { Kind } from '../run/kind.js'
 * @import { Sections } from './sections.js'
 * @import { ExperimentFields, KindPlan } from './kind.js'
 */

/**
 * A kind of trials: one object in its folder. The code that runs its trials, and that reports them, is imported only by a run or a
 * report that has some.
 * @typedef {KindPlan & { name: TrialKind, loadCourse: () => Promise<Kind>, loadSections: () => Promise<Sections> }} KindOfTrials
 */

/** @type {Record<TrialKind, KindOfTrials>} */
export const KINDS = { cost, capacity, search, rollout, growth }

/** The names of all kinds of trials. */
export const KIND_NAMES = /** @type {TrialKind[]} */ (Object.keys(KINDS))

/** Fields of an experiment file that one kind alone reads. */
export const KIND_FIELDS = { ...search.fields, ...growth.fields, ...rollout.fields }

const MEASURED = /** @type {const} */ (['cost', 'capacity'])

/**
 * Lists the kinds of an experiment's trials, in the order in which they run: the one that its fields request (`isRequested`; if several
 * do, the last of KINDS), else those of `measure`, cost first and each once, else `capacity`.
 * @param {ExperimentFields & { measure: ('cost' | 'capacity')[] | null }} experiment
 * @returns {TrialKind[]}
 */
export function listKinds(experiment) {
  const requested = KIND_NAMES.findLast(kind => KINDS[kind].isRequested?.(experiment))
  if (requested) return [requested]
  const { measure } = experiment
  if (measure === null) return ['capacity']
  // Cost comes first, whatever the order in a file: its arms are interleaved before each stands alone.
  return MEASURED.filter(kind => measure.includes(kind))
}
