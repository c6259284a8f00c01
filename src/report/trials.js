import { GATES } from '../judge/gates.js'
import { computeRatePerSecond, listSidecars } from '../judge/record/measures.js'
import { hasResultWith } from '../kinds/sections.js'
import { alignLeft, alignRight, wrapText } from '../lib/text-table.js'
import { renderPercent } from '../lib/units.js'
import { listFiredGates, renderFiredGates } from './fired-gates.js'

/**
 * The section of every trial, and of the gates that fired. Pure.
 * @import { Summary, TrialRecord } from '../model/types.ts'
 * @import { Table } from '../lib/text-table.js'
 * @import { Section } from './section.js'
 */

// The most sidecars that a trial's row lists; of more, it has only the sum.
const LISTED_MOST = 12

/**
 * Creates the section of gates that fired and of trials. A terminal shows only the gates, as lines, and only in a run with
 * rounds.
 * @param {Summary} summary
 * @param {TrialRecord[]} records [] for a terminal
 * @returns {Section}
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
export function createTrialSection(summary, records) {
  const brief = hasResultWith(summary, 'hasRounds')
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
 * Tabulates the gates that fired, and failed trials, with the uses that each excludes: none if a gate only reports.
 * @param {Summary} summary
 * @returns {Table} without rows if nothing fired
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
 * Tabulates every trial, with its rate and the CPU of its sidecars; of more than LISTED_MOST sidecars, only the sum.
 * @param {TrialRecord[]} records
 * @returns {Table} a cell that was not measured is `-`
 */
function tabulateTrials(records) {
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
      const rate = computeRatePerSecond(record)?.toFixed(0) ?? '-'
      const idle = host ? renderPercent(host.idleFraction) : '-'
      return [trial.id, outcome, rate, renderSidecarCores(record), idle, boundBy ?? '-', reasons.join('; ')]
    }),
  }
}

/**
 * Renders the cores of each sidecar of a trial; of more than LISTED_MOST, only the sum.
 * @param {TrialRecord} record
 * @returns {string} empty without sidecars
 */
function renderSidecarCores(record) {
  const sidecars = listSidecars(record)
  if (sidecars.length <= LISTED_MOST)
    return sidecars.map(({ service, cpuCores }) => `${service} ${cpuCores.toFixed(3)}`).join(', ')
  const sum = sidecars.reduce((total, { cpuCores }) => total + cpuCores, 0)
  return `${sidecars.length} together ${sum.toFixed(3)}`
}
