import { joinParts, renderTextTable, wrapText } from '../lib/text-table.js'
import { ALGORITHMS, BALANCE_NAMES, BALANCE_QUANTITIES } from '../model/balance.js'
import { drawBalance, endsOf, tabulateBalance, tabulateBalanceWords } from './balance-tables.js'
import { tellClaims } from './claims.js'
import { renderCsv } from './csv.js'
import { tabulateClaims } from './document.js'
import { tabulateProvenance } from './provenance.js'

/**
 * A run of `balance` as text for the terminal, as CSV, and as the document of any run. Pure.
 * @import { BalanceManifest, BalanceRow, BalanceSummary } from '../model/types.ts'
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 * @import { Document } from './document.js'
 */

// Charts of other runs.
const NO_CHARTS = { distributions: [], overRate: [], overLimit: [], overShare: [], overSidecars: [], overTime: [] }
const NOTES = [
  'Assignments are computed: no process is started, and items have a size and no work.',
  'An algorithm places all items anew for every number of shards; it does not know where they were before.',
  'The weight of the weighted ring hash is ours, since the source gives no formula: its row shows such an algorithm, not theirs.',
]

/** Renders the text for the terminal. @param {BalanceSummary} summary @param {ClaimResult[]} claims */
export function renderBalanceText(summary, claims) {
  const tables = summary.form.sizes.map(sizes => tabulateBalance(summary, sizes))
  return joinParts([
    [`${summary.run.experiment}: ${describeForm(summary)}`, ...wrapText(answerOfBalance(summary))],
    ...tables.map(table => [`${table.caption}:`, ...renderTextTable(table)]),
    NOTES.flatMap(note => wrapText(`- ${note}`, '', '  ')),
    tellClaims(claims).flatMap(line => wrapText(line)),
  ])
}

/** Renders a row for each algorithm and kind of sizes. @param {BalanceSummary} summary */
export function renderBalanceCsv({ form: { items, shards, seeds }, run, rows }) {
  const headers = BALANCE_NAMES.flatMap(name => ['', 'Low', 'High', 'Least', 'Most'].map(end => `${name}${end}`))
  return renderCsv([
    ['algorithm', 'sizes', 'items', 'shards', 'seeds', 'firstSeed', ...headers],
    ...rows.map(({ algorithm, sizes, quantities }) => {
      const numbers = BALANCE_NAMES.flatMap(name => {
        const { median, low, high, values } = quantities[name]
        return [median, low, high, ...endsOf(values)]
      })
      return [algorithm, sizes, items, shards, seeds, run.seed, ...numbers]
    }),
  ])
}

/**
 * Makes the document.
 * @param {{ manifest: BalanceManifest, summary: BalanceSummary, claims: ClaimResult[] }} run
 * @returns {Document}
 */
export function createBalanceDocument({ manifest, summary, claims }) {
  return {
    title: `${summary.run.experiment}, ${describeForm(summary)}`,
    question: summary.question,
    startedAt: summary.run.startedAt,
    answer: answerOfBalance(summary),
    results: summary.form.sizes.map(sizes => tabulateBalance(summary, sizes)),
    notes: NOTES,
    charts: { ...NO_CHARTS, rounds: drawBalance(summary) },
    dots: 'A dot is a seed, which is a round here; a bar is the median, a band its 95 % interval.',
    ...tabulateClaims(claims),
    provenance: tabulateProvenance(manifest),
    dictionary: tabulateBalanceWords(),
    missing: [],
    verdicts: [],
    contrasts: [],
    findings: [],
    thresholds: [],
    next: [],
    fired: [],
    trials: null,
    parity: null,
    disparities: [],
  }
}

/** Ranks the algorithms by moves and by spread, for the first kind of sizes. @param {BalanceSummary} summary */
export function answerOfBalance({ form: { items, shards, sizes }, rows }) {
  const own = rows.filter(row => row.sizes === sizes[0])
  const tell = (/** @type {'moves' | 'spread'} */ name) => {
    const medianOf = (/** @type {BalanceRow} */ { quantities }) => Number(quantities[name].median)
    const sorted = own.toSorted((a, b) => medianOf(a) - medianOf(b))
    const { digits } = BALANCE_QUANTITIES[name]
    return sorted.map(row => `${ALGORITHMS[row.algorithm].label} ${medianOf(row).toFixed(digits)}`).join(', ')
  }
  return `From ${shards} shards to ${shards - 1}, of ${items} items of ${sizes[0]} sizes move: ${tell('moves')}. Spread of load, of the mean: ${tell('spread')}.`
}

/** @param {BalanceSummary} summary */
function describeForm({ form: { items, shards, seeds }, run }) {
  return `${items} items on ${shards} shards, ${seeds} seeds from ${run.seed}`
}
