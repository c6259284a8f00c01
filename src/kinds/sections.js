import { BenchError } from '../lib/errors.js'
import { KINDS } from './registry.js'

/** The contract by which each kind of trial answers and reports, as data: the report renders it in its formats. Pure. */
/** @import { Arm, Manifest, Result, Summary, SummaryArm, TrialKind, TrialRecord } from '../model/types.ts' */
/** @import { KindAnswer } from '../answer/picture.js' */

/**
 * A result, and all that its answer depends on.
 * @template {Result} [OfKind=Result]
 * @typedef {object} Answered
 * @property {OfKind} result
 * @property {Summary} summary of the run, with its conditions
 * @property {SummaryArm[]} measured the arms of the result with at least one completed trial
 * @property {boolean} isAlone the run measured nothing of another kind
 * @property {Place} [place] the nodes that sidecars will run on, if options name them
 */
/**
 * The nodes for which an answer counts sidecars; null or absent: no option names any.
 * @typedef {object} Place
 * @property {ReturnType<typeof import('./search/nodes.js').parseNodeOptions> | null} [node] whose free room is filled with sidecars
 * @property {number | null} [nodes] their number in a fleet, with one such pod each
 */

/**
 * A result, and all that its charts depend on.
 * @template {Result} [OfKind=Result]
 * @typedef {object} Drawn
 * @property {OfKind} result
 * @property {Summary} summary
 * @property {SummaryArm[]} arms of all kinds with a trial
 * @property {TrialRecord[]} records
 * @property {ColourFor} colourFor
 */

/**
 * Chooses the colour of an arm's plane in charts, by its number.
 * @typedef {(arm: Pick<SummaryArm, 'plane' | 'variant' | 'profile' | 'hasSidecars'>) => number} ColourFor
 */

/**
 * A chart of one kind of trials as data.
 * @typedef {object} KindChart
 * @property {'overShare' | 'overSidecars' | 'overLimit' | 'overAxis'} form of chart in the report
 * @property {string} id
 * @property {string} title
 * @property {string[]} [axes] the names of both axes, if the form has none of its own
 * @property {any[]} lines as the form takes them
 */

/**
 * The part of a kind that summarises and reports its trials.
 * @template {Result} [OfKind=any]
 * @typedef {object} Sections
 * @property {OfKind['kind']} kind
 * @property {(result: OfKind) => string} [renderHeading] renders the heading beside results of other kinds; absent: it has none
 * @property {(run: { manifest: Manifest, arms: Arm[], records: TrialRecord[] }) =>
 *   Omit<OfKind, 'kind' | 'arms' | 'comparisons' | 'lines' | 'slopes'>} summarise computes the fields that only results of this kind have
 * @property {(answered: Answered<OfKind>) => KindAnswer | null} createAnswer null: nothing was measured
 * @property {(result: OfKind, summary: Summary) => string[]} [renderFindings] renders lines that stand beside the tables
 * @property {(drawn: Drawn<OfKind>) => KindChart[]} [drawCharts] absent: it has no charts of its own
 * @property {(run: { manifest: Manifest, records: TrialRecord[], result?: OfKind }) => string | null} [renderUnfinished]
 *   renders which parts of an interrupted run ended; null: all did; absent: its trials are counted
 * @property {(result: OfKind) => string | null} [renderNothingShown] renders why its trials have shown nothing; null: they have
 *   shown something
 * @property {(arm: SummaryArm) => string | null} [renderBound] renders what bound an arm; null or absent: `boundBy` of the arm
 * @property {false} [hasRounds] false: its trials are not repeated in rounds; absent: rounds are compared and drawn
 * @property {false} [hasWindows] false: its trials have no window
 * @property {false} [hasSeries] false: its sidecars are not drawn over the time of a trial
 */

/** The kinds that have sections. @type {TrialKind[]} */
const ORDER = ['search', 'growth', 'rollout', 'cost', 'capacity']

/** The sections of each kind, by its name. @type {Map<string, Sections>} */
const SECTIONS = new Map(
  await Promise.all(
    ORDER.map(async name => /** @type {[string, Sections]} */ ([name, await KINDS[name].loadSections()])),
  ),
)

/**
 * Finds the sections of the kind of an arm, a comparison or a result.
 * @param {{ kind: string }} source
 * @returns {Sections}
 * @throws {BenchError} if this version of the kit has no such kind
 */
export function findSections({ kind }) {
  const sections = SECTIONS.get(kind)
  if (sections) return sections
  throw new BenchError(
    `the kind of trials "${kind}" has no report: it is of another version of the kit; there are ${ORDER.join(', ')}`,
  )
}

/**
 * A result with the sections of its kind.
 * @typedef {object} RenderedResult
 * @property {Result} result
 * @property {Sections} sections
 * @property {string} [heading] absent: there is one result, or its kind has no heading
 */

/**
 * Lists each result with the sections of its kind, in the order of the summary.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {RenderedResult[]}
 * @throws {BenchError} if this version of the kit has no such kind
 */
export function listResults({ results }) {
  return results.map(result => {
    const sections = findSections(result)
    return { result, sections, heading: results.length > 1 ? sections.renderHeading?.(result) : undefined }
  })
}

/**
 * Says whether any result of a summary is of a kind with rounds, or with windows.
 * @param {Summary} summary
 * @param {'hasRounds' | 'hasWindows'} field of sections
 * @returns {boolean}
 * @throws {BenchError} if this version of the kit has no such kind
 */
export function hasResultWith(summary, field) {
  return listResults(summary).some(({ sections }) => sections[field] !== false)
}

/**
 * Renders the findings of all results.
 * @param {Summary} summary
 * @returns {string[]} lines; []: there are none
 * @throws {BenchError} if this version of the kit has no such kind
 */
export function renderFindings(summary) {
  return listResults(summary).flatMap(({ sections, result }) => sections.renderFindings?.(result, summary) ?? [])
}
