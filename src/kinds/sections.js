import { BenchError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { KINDS } from './registry.js'

/** Answers and sections of each kind of trial, as data: the formats are the report's. Pure. */
/** @import { Arm, Manifest, Summary, SummaryArm, TrialKind, TrialRecord } from '../model/types.ts' */
/** @import { KindAnswer } from '../answer/picture.js' */

/**
 * @typedef {object} Told
 * @property {Summary} summary with the arms and comparisons of the kind alone
 * @property {SummaryArm[]} measured its arms of which a trial was completed
 * @property {boolean} isAlone the run has no trials of another kind
 * @property {{ node?: ReturnType<typeof import('./search/nodes.js').readNode> | null, nodes?: number | null }} [place] node: to fill with sidecars;
 *   nodes: of a fleet, each with one such pod
 */

/**
 * @typedef {{ summary: Summary, arms: SummaryArm[], records: TrialRecord[], colourFor: ColourFor }} Drawn arms: that were tried
 * @typedef {(arm: Pick<SummaryArm, 'plane' | 'variant' | 'profile' | 'hasSidecars'>) => number} ColourFor
 */

/** form: one of the report's; lines: as that form takes them. */
/**
 * @typedef {{ form: 'overShare' | 'overSidecars' | 'overLimit' | 'overAxis', id: string, title: string,
 *   axes?: string[], lines: any[] }} OwnChart axes: names of both, where the form has none
 */

/**
 * @typedef {object} Sections
 * @property {(summary: Summary) => string} [heading] where an experiment measures several kinds
 * @property {(run: { manifest: Manifest, arms: Arm[], records: TrialRecord[] }) => Partial<Summary>} [summarise] what of a
 *   summary is its own
 * @property {(told: Told) => KindAnswer | null} answer null: nothing was measured
 * @property {(summary: Summary) => string[]} [findings] lines beside the tables
 * @property {(drawn: Drawn) => OwnChart[]} [charts]
 * @property {(run: { manifest: Manifest, records: TrialRecord[], summary: Pick<Summary, 'searches' | 'sizes'> }) =>
 *   string | null} [tellUnfinished] of an interrupted run: which parts ended; absent: its trials are counted
 * @property {(summary: Summary) => string | null} [tellNothing] why its trials have shown nothing, if they have not
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

/** Finds the sections of what says its kind. @param {{ kind: string }} of an arm, or a comparison @throws {BenchError} */
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

/** Splits a summary by the kinds of its trials; heading: beside other kinds. @param {Summary} summary */
export function splitByKind(summary) {
  const groups = [...groupBy(summary.arms, sectionsOf)]
  return groups.map(([sections, arms]) => {
    const comparisons = summary.comparisons.filter(comparison => sectionsOf(comparison) === sections)
    const part = { ...summary, arms, comparisons }
    return { sections, summary: part, heading: groups.length > 1 ? sections.heading?.(part) : undefined }
  })
}

/** Says whether a kind of a summary has something. @param {Summary} summary @param {'hasRounds' | 'hasWindows'} what */
export function hasAny(summary, what) {
  return splitByKind(summary).some(({ sections }) => sections[what] !== false)
}

/** Renders the findings of each result. @param {ReturnType<typeof splitByKind>} results */
export function renderFindings(results) {
  return results.flatMap(({ sections, summary }) => sections.findings?.(summary) ?? [])
}
