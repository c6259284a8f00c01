import { BenchError } from '../lib/errors.js'
import { KINDS } from './registry.js'

/** Answers and sections of each kind of trial, as data: the formats are the report's. Pure. */
/** @import { Arm, Manifest, Result, Summary, SummaryArm, TrialKind, TrialRecord } from '../model/types.ts' */
/** @import { KindAnswer } from '../answer/picture.js' */

/**
 * A result, and what its answer depends on.
 * @template {Result} [OfKind=Result]
 * @typedef {object} Answered
 * @property {OfKind} result
 * @property {Summary} summary of the run, with its conditions
 * @property {SummaryArm[]} measured the arms of the result of which a trial was completed
 * @property {boolean} isAlone the run measured nothing of another kind
 * @property {{ node?: ReturnType<typeof import('./search/nodes.js').readNode> | null, nodes?: number | null }} [place] node: to fill with sidecars;
 *   nodes: of a fleet, each with one such pod
 */

/**
 * @template {Result} [OfKind=Result]
 * @typedef {{ result: OfKind, summary: Summary, arms: SummaryArm[], records: TrialRecord[], colourFor: ColourFor }} Drawn
 *   arms: of all kinds that were tried
 */

/** @typedef {(arm: Pick<SummaryArm, 'plane' | 'variant' | 'profile' | 'hasSidecars'>) => number} ColourFor */

/** form: one of the report's; lines: as that form takes them. */
/**
 * @typedef {{ form: 'overShare' | 'overSidecars' | 'overLimit' | 'overAxis', id: string, title: string,
 *   axes?: string[], lines: any[] }} KindChart axes: names of both, where the form has none
 */

/**
 * What summarises and reports the trials of one kind.
 * @template {Result} [OfKind=any]
 * @typedef {object} Sections
 * @property {OfKind['kind']} kind
 * @property {(result: OfKind) => string} [heading] where an experiment measures several kinds
 * @property {(run: { manifest: Manifest, arms: Arm[], records: TrialRecord[] }) =>
 *   Omit<OfKind, 'kind' | 'arms' | 'comparisons' | 'lines' | 'slopes'>} summarise what results of this kind alone have
 * @property {(answered: Answered<OfKind>) => KindAnswer | null} answer null: nothing was measured
 * @property {(result: OfKind, summary: Summary) => string[]} [findings] lines beside the tables
 * @property {(drawn: Drawn<OfKind>) => KindChart[]} [charts]
 * @property {(run: { manifest: Manifest, records: TrialRecord[], result?: OfKind }) => string | null} [tellUnfinished] of
 *   an interrupted run: which parts ended; absent: its trials are counted
 * @property {(result: OfKind) => string | null} [tellNothing] why its trials have shown nothing, if they have not
 * @property {(arm: SummaryArm) => string | null} [boundOf] what bound an arm beside its sidecars
 * @property {false} [hasRounds] absent: rounds are compared, drawn and noted
 * @property {false} [hasWindows] absent: a trial has a window
 * @property {false} [hasSeries] absent: the sidecars of a trial are drawn over its time
 */

/** @type {TrialKind[]} */
const ORDER = ['search', 'growth', 'rollout', 'cost', 'capacity']

/** The sections of each kind, in the order of reports. @type {Map<string, Sections>} */
const SECTIONS = new Map(
  await Promise.all(
    ORDER.map(async name => /** @type {[string, Sections]} */ ([name, await KINDS[name].loadSections()])),
  ),
)

/** Finds the sections of what says its kind. @param {{ kind: string }} of an arm, a comparison or a result @throws {BenchError} */
export function sectionsOf({ kind }) {
  const sections = SECTIONS.get(kind)
  if (sections) return sections
  throw new BenchError(
    `the kind of trials "${kind}" has no report: it is of another version of the kit; there are ${ORDER.join(', ')}`,
  )
}

/** Lists the sections of each kind of a run's trials. @param {{ arms: { kind: string }[] }} run */
export function listSections({ arms }) {
  return [...new Set(arms.map(sectionsOf))]
}

/**
 * A result with what renders it.
 * @typedef {object} RenderedResult
 * @property {Result} result
 * @property {Sections} sections
 * @property {string} [heading] beside other results
 */

/** Finds what renders each result. @param {Pick<Summary, 'results'>} summary @returns {RenderedResult[]} */
export function listResults({ results }) {
  return results.map(result => {
    const sections = sectionsOf(result)
    return { result, sections, heading: results.length > 1 ? sections.heading?.(result) : undefined }
  })
}

/** Says whether a kind of a summary has something. @param {Summary} summary @param {'hasRounds' | 'hasWindows'} name */
export function hasAny(summary, name) {
  return listResults(summary).some(({ sections }) => sections[name] !== false)
}

/** Renders the findings of each result. @param {Summary} summary */
export function renderFindings(summary) {
  return listResults(summary).flatMap(({ sections, result }) => sections.findings?.(result, summary) ?? [])
}
