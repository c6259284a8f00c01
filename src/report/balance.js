import { joinParts, renderTextTable, wrapText } from '../lib/text-table.js'
import { ALGORITHMS, BALANCE_NAMES, BALANCE_QUANTITIES } from '../model/balance.js'
import { drawBalance, endsOf, tabulateBalance, tabulateBalanceWords } from './balance-tables.js'
import { tellClaims } from './claims.js'
import { renderCsv } from './csv.js'
import { tabulateClaims } from './document.js'
import { tabulateProvenance } from './provenance.js'

/**
 * A run of `balance` in words, for the terminal, as CSV, and as the document of any run. Pure.
 * @import { BalanceManifest, BalanceRow, BalanceSummary } from '../model/types.ts'
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 * @import { Document } from './document.js'
 */

const NOTES = [
  'Assignments are computed: no process is started, and items have a size and no work.',
  'An algorithm places all items anew for every number of shards; it does not know where they were before.',
  'The weight of the weighted ring hash is ours, since the source gives no formula: its row shows such an algorithm, not theirs.',
]

/**
 * The text for the terminal.
 * @param {BalanceSummary} summary
 * @param {ClaimResult[]} claims
 */
export function renderBalanceText(summary, claims) {
  const tables = summary.form.sizes.map(sizes => tabulateBalance(summary, sizes))
  return joinParts([
    [`${summary.run.experiment}: ${describeForm(summary)}`, ...wrapText(answerOfBalance(summary))],
    ...tables.map(table => [`${table.caption}:`, ...renderTextTable(table)]),
    NOTES.flatMap(note => wrapText(`- ${note}`, '', '  ')),
    tellClaims(claims).flatMap(line => wrapText(line)),
  ])
}

/** A row an algorithm and kind of sizes. @param {BalanceSummary} summary */
export function renderBalanceCsv({ form, run, rows }) {
  return renderCsv([
    [
      ...['algorithm', 'sizes', 'items', 'shards', 'seeds', 'firstSeed'],
      ...BALANCE_NAMES.flatMap(name => ['', 'Low', 'High', 'Least', 'Most'].map(end => `${name}${end}`)),
    ],
    ...rows.map(({ algorithm, sizes, quantities }) => [
      ...[algorithm, sizes, form.items, form.shards, form.seeds, run.seed],
      ...BALANCE_NAMES.flatMap(name => {
        const { median, low, high, values } = quantities[name]
        return [median, low, high, ...endsOf(values)]
      }),
    ]),
  ])
}

/**
 * The algorithms by moves and by spread, the least first; of the first kind of sizes.
 * @param {BalanceSummary} summary
 */
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

/**
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
    charts: {
      rounds: drawBalance(summary),
      distributions: [],
      overTime: [],
      overRate: [],
      overLimit: [],
      overShare: [],
      overSidecars: [],
    },
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
