import { hasResultWith, listResults, renderFindings } from '../kinds/sections.js'
import { listArms } from '../model/results.js'
import { createAnswer } from './answer/answer.js'
import { renderLinks, tabulateArms, tabulatePivots, WIDE_COLUMNS } from './arms-table.js'
import { createChartSections, drawCharts } from './charts.js'
import { createClaimsSection } from './claims.js'
import { tabulateDictionary } from './dictionary.js'
import { createEqualWorkSection } from './equal-work.js'
import { renderCpuLines, renderPlateaus, renderSlopes } from './fits.js'
import { renderUnfinishedRun } from './missing.js'
import { renderDeviations, renderNotes, renderThresholds } from './notes.js'
import { createProvenanceSection } from './provenance.js'
import { createTrialSection } from './trials.js'
import { CONTRASTS, createVerdictBlocks, renderContrastVerdicts } from './verdicts.js'

/**
 * The document of a run: its answer, and sections that every format renders. Pure.
 * @import { Manifest, Result, Summary, TrialRecord } from '../model/types.ts'
 * @import { Answer } from './answer/answer.js'
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 * @import { Table } from '../lib/text-table.js'
 * @import { Block, Section } from './section.js'
 * @import { ReportChart } from './charts/tables.js'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 */

/**
 * A run as its folder has it, with the claims that it tests.
 * @typedef {object} Run
 * @property {Manifest} manifest
 * @property {Summary} summary
 * @property {TrialRecord[]} records
 * @property {ClaimResult[]} claims
 * @property {string[]} warnings sentences on parts of the run that could not be read
 * @property {(trialId: string) => SidecarSeries[]} listSeries gives [] for a trial without samples
 */

/**
 * A run as every format renders it.
 * @typedef {object} Document
 * @property {string} title
 * @property {string} question that the experiment asks; empty: the manifest has none
 * @property {string} startedAt ISO 8601
 * @property {Answer} answer
 * @property {string[]} missing sentences on what the run lacks
 * @property {Section[]} sections
 */

// Reports name a command instead of a figure, because the figure differs on every machine.
const SHARED_GENERATOR_NOTE =
  'The load generator shares the CPUs of the sidecars, and is part of their CPU per request: npm run bench:self -- generator measures what k6 adds here beside wrk. Planes of one run share it alike.'

const ROUNDS_LEGEND =
  'A dot is a round, a bar the median, a band its 95 % interval. Hollow: the same plane measured again (A/A); grey: no sidecars.'

/**
 * Creates the document of a run.
 * @param {Run} run
 * @returns {Document} some sections may be empty, which the formats leave out
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
export function createDocument(run) {
  const { manifest, summary, records, warnings, claims } = run
  const arms = listArms(summary)
  const charts = drawCharts(run)
  const unfinished = renderUnfinishedRun(run)
  return {
    title: `${summary.run.experiment}${arms.length === 0 ? '' : `, ${renderLinks(arms)}`}`,
    question: manifest.question ?? '',
    startedAt: summary.run.startedAt,
    answer: createAnswer(summary, { seconds: computeRunSeconds(run), unfinished }),
    missing: [...warnings, ...unfinished],
    sections: [
      ...createResultSections(summary, charts.rounds),
      createContrastSection(summary),
      createFindingSection(summary),
      ...createChartSections(charts),
      createNoteSection(summary, isGeneratorShared(run) ? [SHARED_GENERATOR_NOTE] : []),
      createEqualWorkSection(summary),
      createClaimsSection(claims),
      createTrialSection(summary, records),
      createProvenanceSection(manifest, records),
      createWordSection(tabulateDictionary()),
    ],
  }
}

/**
 * Creates the sections that need no records, for `--details` on a terminal.
 * @param {Summary} summary
 * @param {ClaimResult[]} claims
 * @returns {Section[]} some may be empty
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
export function createSummarySections(summary, claims) {
  return [
    ...createResultSections(summary, []),
    createContrastSection(summary),
    createFindingSection(summary),
    createNoteSection(summary),
    createEqualWorkSection(summary),
    createClaimsSection(claims),
    createTrialSection(summary, []),
  ]
}

/**
 * Creates a section for each result: verdicts, tables of arms if it has rounds, and its charts of rounds.
 * @param {Summary} summary
 * @param {ReportChart[]} roundCharts of all results; [] for a terminal
 * @returns {Section[]}
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
function createResultSections(summary, roundCharts) {
  return listResults(summary).map(({ result, sections, heading }, i) => ({
    id: i === 0 ? 'results' : `results-${i + 1}`,
    name: heading ?? 'Results',
    isNamed: heading !== undefined,
    blocks: [
      ...createVerdictBlocks(result, summary.shows),
      ...(sections.hasRounds === false ? [] : createArmBlocks(result, summary)),
      ...createRoundBlocks(roundCharts.filter(({ resultIndex = 0 }) => resultIndex === i)),
    ],
  }))
}

/**
 * Creates the blocks of the arms of a result: pivots if the experiment is about an axis or an arm of the run is idle, else one
 * table.
 * @param {Result} result
 * @param {Summary} summary
 * @returns {Block[]}
 * @throws {BenchError} if an arm is of a kind that this version of the kit does not have
 */
function createArmBlocks(result, summary) {
  const { shows } = summary
  const isPivot = shows.across !== null || listArms(summary).some(arm => arm.load.kind === 'idle')
  if (isPivot) return tabulatePivots(result, shows).map(table => ({ type: 'table', table }))
  return [{ type: 'table', table: tabulateArms(result), wideColumns: WIDE_COLUMNS }]
}

/**
 * Creates the blocks of charts with a legend, for the page only.
 * @param {ReportChart[]} charts
 * @param {string} [legend] by default that of rounds
 * @returns {Block[]} [] without charts
 */
export function createRoundBlocks(charts, legend = ROUNDS_LEGEND) {
  if (charts.length === 0) return []
  return [
    { type: 'charts', on: 'page', charts },
    { type: 'sentences', on: 'page', tone: 'muted', lines: [legend] },
  ]
}

/**
 * Creates the section that compares each plane with itself.
 * @param {Summary} summary
 * @returns {Section} without lines if the experiment has no contrasts
 */
function createContrastSection(summary) {
  return {
    id: 'contrasts',
    name: CONTRASTS,
    isNamed: true,
    blocks: [{ type: 'list', lines: renderContrastVerdicts(summary) }],
  }
}

/**
 * Creates the section of fitted lines, slopes, plateaus, and findings of the kinds.
 * @param {Summary} summary
 * @returns {Section} a block for each of these, without lines if there are none
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
function createFindingSection(summary) {
  const findings = [renderCpuLines(summary), renderSlopes(summary), renderPlateaus(summary), renderFindings(summary)]
  return { id: 'findings', name: 'Findings', blocks: findings.map(lines => ({ type: 'columns', lines })) }
}

/**
 * Creates the section of thresholds, and of notes if the run has rounds.
 * @param {Summary} summary
 * @param {string[]} [more] further notes, of a run with rounds
 * @returns {Section}
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
function createNoteSection(summary, more = []) {
  const notes = hasResultWith(summary, 'hasRounds')
    ? [...renderNotes(summary), ...renderDeviations(summary), ...more]
    : []
  return {
    id: 'notes',
    name: 'How to read it',
    blocks: [{ type: 'list', lines: [...renderThresholds(summary), ...notes] }],
  }
}

/**
 * Says whether the load generator shares the CPUs of the sidecars: it has no machine of its own, nor CPUs of its own for every arm.
 * @param {Pick<Run, 'manifest' | 'summary'>} run
 * @returns {boolean} false also for an idle run, on other targets than this machine, and if no placement was recorded
 */
function isGeneratorShared({ manifest: { target, machine, placements }, summary }) {
  const isApart = machine.loadHost !== undefined || Object.values(placements).every(placement => placement !== null)
  return target === 'local' && !isApart && listArms(summary)[0]?.load.kind !== 'idle'
}

/**
 * Creates the section of definitions, for the page only.
 * @param {Table[]} tables
 * @returns {Section}
 */
export function createWordSection(tables) {
  return {
    id: 'words',
    name: 'What the words mean',
    blocks: tables.map(table => ({ type: 'table', on: 'page', form: 'prose', table })),
  }
}

/**
 * Computes the duration of a run: from its start to the end of the last window or of the last phase, whichever is later. A run that
 * was resumed lasted as long as its parts together.
 * @param {Pick<Run, 'manifest' | 'records'>} run
 * @returns {number | null} seconds; null if there is no record, none ended after the start, or a time is no date
 */
export function computeRunSeconds({ manifest, records }) {
  const ends = records.map(({ startedAt, window, phasesSeconds }) => {
    const phases = Object.values(phasesSeconds).reduce((sum, seconds) => sum + seconds, 0)
    return Math.max(window?.endMs ?? 0, Date.parse(startedAt) + 1000 * phases)
  })
  const { startedAt, resumed = [] } = manifest.run
  const starts = [startedAt, ...resumed.map(({ at }) => at)].map(at => Date.parse(at))
  const milliseconds = starts.reduce((sum, start, i) => {
    // The test is also true for the last part, which has no next start, and for NaN, which makes the result null.
    const endsOfPart = ends.filter(end => !(end >= starts[i + 1]))
    return sum + Math.max(0, Math.max(...endsOfPart) - start)
  }, 0)
  return Number.isFinite(milliseconds) && milliseconds > 0 ? milliseconds / 1000 : null
}
