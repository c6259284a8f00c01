import { NOT_TESTABLE } from '../analysis/claims/answers.js'
import { GATES } from '../judge/gates.js'
import { ratePerSecond, sidecarsOf } from '../judge/record/measures.js'
import { hasAny, splitByKind, tellFindings } from '../kinds/sections.js'
import { left, right } from '../lib/text-table.js'
import { percent } from '../lib/units.js'
import { nameOf } from '../model/arms.js'
import { listDisparities, tabulateParity } from '../parity/verdict/rows.js'
import { createAnswer } from './answer/answer.js'
import { nameLinks, tabulateArms, tabulatePivots } from './arms-table.js'
import { drawCharts } from './charts.js'
import { groupUntested, tellClaims } from './claims.js'
import { tabulateDictionary } from './dictionary.js'
import { renderCpuLines, renderPlateaus, renderSlopes } from './fits.js'
import { describeUnfinished, listFired } from './missing.js'
import { renderNotes, renderThresholds, tellDeviations } from './notes.js'
import { describeSetting, tabulateProvenance } from './provenance.js'
import { tellContrasts, tellVerdicts } from './verdicts.js'

/**
 * The content of a run's document in any format. warnings: parts of the run that could not be read. Pure.
 * @import { Manifest, Summary, TrialRecord } from '../model/types.ts'
 * @import { ClaimResult } from '../analysis/claims/claims.js' @import { Table } from '../lib/text-table.js'
 * @typedef {{ manifest: Manifest, summary: Summary, records: TrialRecord[], claims: ClaimResult[], warnings: string[],
 *   seriesOf: (trialId: string) => import('../judge/sidecars.js').SidecarSeries[] }} Run
 * @typedef {ReturnType<typeof createDocument>} Document
 */

// Reports leave out the figure, which differs on every machine.
const SHARING =
  'The load generator shares the CPUs of the sidecars, and is part of their CPU per request: npm run bench:self -- generator measures what k6 adds here beside wrk. Planes of one run share it alike.'

// A trial's row lists at most so many sidecars, and the sum of more.
const LISTED_MOST = 12
const DOTS =
  'A dot is a round, a bar the median, a band its 95 % interval. Hollow: the same plane measured again (A/A); grey: no sidecars.'

/** @param {Run} run */
export function createDocument(run) {
  const { manifest, summary, records, warnings, claims } = run
  const { target, machine, placements } = manifest
  const { arms, shows } = summary
  const hasRounds = hasAny(summary, 'hasRounds')
  const isIdle = arms[0]?.load.kind === 'idle'
  const isPivot = shows.across !== null || isIdle
  const tabulate = (/** @type {Summary} */ some) =>
    !hasRounds ? [] : isPivot ? tabulatePivots(some) : tabulateArms(some)
  const charts = drawCharts(run)
  const findings = tellFindings(summary)
  // A load generator with CPUs or a machine of its own shares none.
  const isApart = machine.loadHost !== undefined || Object.values(placements).every(placement => placement !== null)
  const isShared = target === 'local' && !isApart && !isIdle
  return {
    title: `${summary.run.experiment}${arms.length === 0 ? '' : `, ${nameLinks(summary)}`}`,
    question: /** @type {string} */ (manifest.question ?? ''),
    startedAt: summary.run.startedAt,
    answer: createAnswer(summary, { seconds: findSeconds(run), unfinished: describeUnfinished(run) }),
    missing: [...warnings, ...describeUnfinished(run)],
    parts: splitByKind(summary).map(({ summary: part, heading: name = 'Results' }, i) => ({
      name,
      verdicts: tellVerdicts(part),
      results: tabulate(part),
      charts: charts.rounds.filter(chart => (chart.part ?? 0) === i),
    })),
    verdicts: tellVerdicts(summary),
    contrasts: tellContrasts(summary),
    findings: [
      ...(hasRounds ? [] : findings),
      ...renderCpuLines(summary),
      ...renderSlopes(summary),
      ...renderPlateaus(summary),
      ...(hasRounds ? findings : []),
    ],
    thresholds: renderThresholds(summary),
    results: tabulate(summary),
    notes: hasRounds ? [...renderNotes(summary), ...tellDeviations(summary), ...(isShared ? [SHARING] : [])] : [],
    charts,
    dots: DOTS,
    /** null: the run measured nothing. */
    trials: /** @type {{ gates: Table, all: Table, files: Table } | null} */ ({
      gates: tabulateGates(summary),
      all: tabulateTrials(records),
      files: tabulateFiles(records),
    }),
    parity: summary.parity.length > 0 ? tabulateParity(summary) : null,
    disparities: listDisparities(summary),
    ...tabulateClaims(claims),
    provenance: tabulateProvenance(manifest, describeSetting(manifest, records)),
    dictionary: tabulateDictionary(),
  }
}

/** Measures the time from the start of a run to its last record; null without records. @param {Pick<Run, 'manifest' | 'records'>} run */
export function findSeconds({ manifest, records }) {
  const ends = records.map(({ startedAt, window, phasesSeconds }) => {
    const phases = Object.values(phasesSeconds).reduce((sum, seconds) => sum + seconds, 0)
    return Math.max(window?.endMs ?? 0, Date.parse(startedAt) + 1000 * phases)
  })
  const seconds = (Math.max(...ends) - Date.parse(manifest.run.startedAt)) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? seconds : null
}

/** Lists the gates that spoiled something. @param {Summary} summary @returns {Table} */
function tabulateGates(summary) {
  return {
    caption: 'Checks that excluded something, and trials that failed',
    columns: left('check', 'trials', 'excludes', 'why, the first of them'),
    rows: listFired(summary).map(({ gate, name, arms, reason }) => {
      return [name, arms, GATES.get(gate)?.spoils.join(', ') ?? 'everything', reason]
    }),
  }
}

/** @param {TrialRecord[]} records @returns {Table} */
function tabulateTrials(records) {
  const show = (/** @type {number | null} */ value, digits = 0) => (value === null ? '-' : value.toFixed(digits))
  return {
    caption: 'Every trial, in the order in which they ran',
    columns: [
      ...left('trial', 'outcome'),
      ...right('req/s'),
      ...left('cores of each sidecar'),
      ...right('host idle'),
      ...left('bound by', 'excluded for'),
    ],
    rows: records.map(record => {
      const { trial, outcome, host, boundBy, reasons } = record
      const sidecars = sidecarsOf(record)
      const together = sidecars.reduce((sum, p) => sum + p.cpuCores, 0)
      const cores =
        sidecars.length > LISTED_MOST
          ? [`${sidecars.length} together ${show(together, 3)}`]
          : sidecars.map(p => `${p.service} ${show(p.cpuCores, 3)}`)
      const idle = host ? percent(host.idleFraction) : '-'
      const rate = show(ratePerSecond(record))
      return [trial.id, outcome, rate, cores.join(', '), idle, boundBy ?? '-', reasons.join('; ')]
    }),
  }
}

/** Counts the claims by answer, and lists the tested ones. @param {ClaimResult[]} results */
export function tabulateClaims(results) {
  const tested = results.filter(claim => claim.status !== NOT_TESTABLE)
  return {
    claimsTold: tellClaims(results),
    claims: {
      caption: 'Published claims, and what this run says to them',
      columns: left('answer', 'claim', 'theirs', 'ours', 'why'),
      rows: tested.map(({ status, says, theirs, ours, reason, source, isDeployed }) => {
        const from = `${source.publisher}${isDeployed ? '; here as deployed' : ''}`
        return [status, `${says} (${from})`, theirs ?? '-', ours ?? '-', reason]
      }),
    },
    untested: {
      caption: 'Claims that this run could not test, by the reason',
      columns: left('why', 'claims'),
      rows: groupUntested(results).map(({ reason, ids }) => [reason, ids.join(', ')]),
    },
  }
}

/** Lists the files of each sidecar, as of its first trial. @param {TrialRecord[]} records @returns {Table} */
function tabulateFiles(records) {
  const rows = new Map()
  for (const record of records) {
    const arm = nameOf({ ...record.trial.arm, repeatOf: null })
    for (const { service, role, files } of sidecarsOf(record)) {
      for (const { name, sha256 } of files) {
        const key = `${arm} ${service} ${name}`
        if (!rows.has(key)) rows.set(key, [arm, `${service}'s ${role}`, name, sha256])
      }
    }
  }
  return {
    caption: 'What the sidecars were configured with (raw/ holds the files)',
    columns: left('plane', 'process', 'file', 'SHA-256'),
    rows: [...rows.values()],
  }
}
