import { GATES } from '../judge/gates.js'
import { computeRatePerSecond, listSidecars } from '../judge/record/measures.js'
import { listResults, renderFindings } from '../kinds/sections.js'
import { alignLeft, alignRight, wrapText } from '../lib/text-table.js'
import { renderPercent } from '../lib/units.js'
import { renderArmName } from '../model/arms.js'
import { listArms } from '../model/results.js'
import { createAnswer } from './answer/answer.js'
import { renderLinks, tabulateArms, tabulatePivots, WIDE_COLUMNS } from './arms-table.js'
import { createChartSections, drawCharts } from './charts.js'
import { createClaimsSection } from './claims.js'
import { tabulateDictionary } from './dictionary.js'
import { createEqualWorkSection } from './equal-work.js'
import { renderCpuLines, renderPlateaus, renderSlopes } from './fits.js'
import { listFiredGates, renderFiredGates, renderUnfinishedRun } from './missing.js'
import { renderDeviations, renderNotes, renderThresholds } from './notes.js'
import { listRunFacts, tabulateProvenance } from './provenance.js'
import { CONTRASTS, createVerdictBlocks, renderContrastVerdicts } from './verdicts.js'

/**
 * The document of a run: its answer, and sections that every format renders. Pure.
 * @import { Manifest, Summary, TrialRecord } from '../model/types.ts'
 * @import { Answer } from './answer/answer.js'
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 * @import { Table } from '../lib/text-table.js'
 * @import { Block, Section } from './section.js'
 * @import { ReportChart } from './charts/tables.js'
 * @import { RenderedResult } from '../kinds/sections.js'
 */

/**
 * @typedef {object} Run
 * @property {Manifest} manifest
 * @property {Summary} summary
 * @property {TrialRecord[]} records
 * @property {ClaimResult[]} claims
 * @property {string[]} warnings sentences on parts of the run that could not be read
 * @property {(trialId: string) => import('../judge/sidecars.js').SidecarSeries[]} seriesOf empty: the trial has no samples
 */

/**
 * @typedef {object} Document
 * @property {string} title
 * @property {string} question that the experiment asks; empty: the manifest has none
 * @property {string} startedAt ISO 8601
 * @property {Answer} answer
 * @property {string[]} missing sentences on what the run lacks
 * @property {Section[]} sections
 */

// Reports name a command instead of a figure, because the figure differs on every machine.
const SHARING =
  'The load generator shares the CPUs of the sidecars, and is part of their CPU per request: npm run bench:self -- generator measures what k6 adds here beside wrk. Planes of one run share it alike.'

// The most sidecars that a trial's row lists; of more, it has only the sum.
const LISTED_MOST = 12
const DOTS =
  'A dot is a round, a bar the median, a band its 95 % interval. Hollow: the same plane measured again (A/A); grey: no sidecars.'

/**
 * Creates the document of a run.
 * @param {Run} run
 * @returns {Document} some sections may be empty, which the formats leave out
 */
export function createDocument(run) {
  const { manifest, summary, records, warnings, claims } = run
  const charts = drawCharts(run)
  const unfinished = renderUnfinishedRun(run)
  return {
    title: `${summary.run.experiment}${listArms(summary).length === 0 ? '' : `, ${renderLinks(listArms(summary))}`}`,
    question: manifest.question ?? '',
    startedAt: summary.run.startedAt,
    answer: createAnswer(summary, { seconds: computeRunSeconds(run), unfinished }),
    missing: [...warnings, ...unfinished],
    sections: [
      ...createResultSections(summary, charts.rounds),
      createContrastSection(summary),
      createFindingSection(summary),
      ...createChartSections(charts),
      createNoteSection(summary, isGeneratorShared(run) ? [SHARING] : []),
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
 * @returns {Section[]}
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
 * Creates a section for each result: verdicts, a table of arms if it has rounds, and its charts of rounds.
 * @param {Summary} summary
 * @param {ReportChart[]} rounds charts; []: none are drawn
 * @returns {Section[]}
 */
function createResultSections(summary, rounds) {
  const { shows } = summary
  const isPivot = shows.across !== null || listArms(summary).some(arm => arm.load.kind === 'idle')
  return listResults(summary).map(({ result, sections: { hasRounds }, heading }, i) => ({
    id: i === 0 ? 'results' : `results-${i + 1}`,
    name: heading ?? 'Results',
    isNamed: heading !== undefined,
    blocks: [
      ...createVerdictBlocks(result, shows),
      ...(hasRounds === false ? [] : isPivot ? tabulatePivots(result, shows) : [tabulateArms(result)]).map(table => ({
        type: /** @type {const} */ ('table'),
        table,
        wideColumns: isPivot ? [] : WIDE_COLUMNS,
      })),
      ...createRoundBlocks(rounds.filter(({ part = 0 }) => part === i)),
    ],
  }))
}

/**
 * Creates the blocks of charts with a legend, for the page only.
 * @param {ReportChart[]} charts
 * @param {string} [legend] by default that of rounds
 * @returns {Block[]} []: there are no charts
 */
export function createRoundBlocks(charts, legend = DOTS) {
  if (charts.length === 0) return []
  return [
    { type: 'charts', on: 'page', charts },
    { type: 'sentences', on: 'page', tone: 'muted', lines: [legend] },
  ]
}

/**
 * Creates the section that compares each plane with itself.
 * @param {Summary} summary
 * @returns {Section}
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
 * @returns {Section}
 */
function createFindingSection(summary) {
  const findings = [renderCpuLines(summary), renderSlopes(summary), renderPlateaus(summary), renderFindings(summary)]
  return { id: 'findings', name: 'Findings', blocks: findings.map(lines => ({ type: 'columns', lines })) }
}

/**
 * Creates the section of thresholds, and of notes if a result compares rounds.
 * @param {Summary} summary
 * @param {string[]} [more] notes of the run
 * @returns {Section}
 */
function createNoteSection(summary, more = []) {
  const notes = listResults(summary).some(hasComparedRounds)
    ? [...renderNotes(summary), ...renderDeviations(summary), ...more]
    : []
  return {
    id: 'notes',
    name: 'How to read it',
    blocks: [{ type: 'list', lines: [...renderThresholds(summary), ...notes] }],
  }
}

/**
 * Says whether the load generator shares the CPUs of the sidecars: it has neither CPUs nor a machine of its own.
 * False: also for runs without a load, and on other targets than this machine.
 * @param {Pick<Run, 'manifest' | 'summary'>} run
 */
function isGeneratorShared({ manifest: { target, machine, placements }, summary }) {
  const isApart = machine.loadHost !== undefined || Object.values(placements).every(placement => placement !== null)
  return target === 'local' && !isApart && listArms(summary)[0]?.load.kind !== 'idle'
}

/**
 * Says whether the rounds of a result are compared.
 * @param {RenderedResult} result
 */
const hasComparedRounds = ({ sections }) => sections.hasRounds !== false

/**
 * Creates the section of gates that fired, which a terminal shows as lines, and of trials.
 * @param {Summary} summary
 * @param {TrialRecord[]} records []: trials are not listed
 * @returns {Section}
 */
function createTrialSection(summary, records) {
  const brief = listResults(summary).some(hasComparedRounds)
    ? renderFiredGates(summary).flatMap(line => wrapText(line, '', '  '))
    : []
  return {
    id: 'trials',
    name: 'Every trial',
    blocks: [
      { type: 'table', form: 'prose', table: tabulateGates(summary), brief },
      { type: 'table', on: 'page', isFolded: true, table: tabulateTrials(records) },
    ],
  }
}

/**
 * Creates the section on the origin of the numbers, which a terminal does not show.
 * @param {Manifest} manifest
 * @param {TrialRecord[]} records
 * @returns {Section}
 */
function createProvenanceSection(manifest, records) {
  const setting = listRunFacts(manifest, records)
  return {
    id: 'provenance',
    name: 'Provenance',
    blocks: [
      { type: 'table', on: 'documents', form: 'prose', table: tabulateProvenance(manifest, setting) },
      { type: 'table', on: 'page', isFolded: true, table: tabulateFiles(records) },
    ],
  }
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
 * Computes the duration of a run, from its start to the end of its last trial: of its window or its phases, whichever
 * is later.
 * @param {Pick<Run, 'manifest' | 'records'>} run
 * @returns {number | null} seconds; null: there is no record, or none that ended after the start
 */
export function computeRunSeconds({ manifest, records }) {
  const ends = records.map(({ startedAt, window, phasesSeconds }) => {
    const phases = Object.values(phasesSeconds).reduce((sum, seconds) => sum + seconds, 0)
    return Math.max(window?.endMs ?? 0, Date.parse(startedAt) + 1000 * phases)
  })
  const seconds = (Math.max(...ends) - Date.parse(manifest.run.startedAt)) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? seconds : null
}

/**
 * Tabulates the gates that fired, with the quantities that each excludes (none, if it only reports), and failed
 * trials.
 * @param {Summary} summary
 * @returns {Table}
 */
function tabulateGates(summary) {
  return {
    caption: 'Checks that excluded something, and trials that failed',
    columns: alignLeft('check', 'trials', 'excludes', 'why, the first of them'),
    rows: listFiredGates(summary).map(({ gate, name, arms, reason }) => {
      return [name, arms, GATES.get(gate)?.spoils.join(', ') ?? 'everything', reason]
    }),
  }
}

/**
 * Tabulates every trial, with its rate and the CPU of its sidecars; for more than LISTED_MOST sidecars, only the sum.
 * @param {TrialRecord[]} records
 * @returns {Table} `-`: not measured
 */
function tabulateTrials(records) {
  const formatOrDash = (/** @type {number | null} */ value, digits = 0) =>
    value === null ? '-' : value.toFixed(digits)
  return {
    caption: 'Every trial, in the order in which they ran',
    columns: [
      ...alignLeft('trial', 'outcome'),
      ...alignRight('req/s'),
      ...alignLeft('cores of each sidecar'),
      ...alignRight('host idle'),
      ...alignLeft('bound by', 'excluded for'),
    ],
    rows: records.map(record => {
      const { trial, outcome, host, boundBy, reasons } = record
      const sidecars = listSidecars(record)
      const together = sidecars.reduce((sum, p) => sum + p.cpuCores, 0)
      const cores =
        sidecars.length > LISTED_MOST
          ? [`${sidecars.length} together ${formatOrDash(together, 3)}`]
          : sidecars.map(p => `${p.service} ${formatOrDash(p.cpuCores, 3)}`)
      const idle = host ? renderPercent(host.idleFraction) : '-'
      const rate = formatOrDash(computeRatePerSecond(record))
      return [trial.id, outcome, rate, cores.join(', '), idle, boundBy ?? '-', reasons.join('; ')]
    }),
  }
}

/**
 * Tabulates the files of each sidecar, as in its first trial.
 * @param {TrialRecord[]} records
 * @returns {Table}
 */
function tabulateFiles(records) {
  const rows = new Map()
  for (const record of records) {
    const arm = renderArmName({ ...record.trial.arm, repeatOf: null })
    for (const { service, role, files } of listSidecars(record)) {
      for (const { name, sha256 } of files) {
        const key = `${arm} ${service} ${name}`
        if (!rows.has(key)) rows.set(key, [arm, `${service}'s ${role}`, name, sha256])
      }
    }
  }
  return {
    caption: 'What the sidecars were configured with (raw/ holds the files)',
    columns: alignLeft('plane', 'process', 'file', 'SHA-256'),
    rows: [...rows.values()],
  }
}
