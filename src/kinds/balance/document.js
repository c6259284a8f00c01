import { capitalise, joinWords } from '../../lib/letters.js'
import { alignLeft, alignRight, joinParts } from '../../lib/text-table.js'
import { ALGORITHMS } from '../../model/balance.js'
import { BALANCE_NAMES, BALANCE_QUANTITIES } from '../../model/balance-quantities.js'
import { drawRounds } from '../../report/charts/rounds.js'
import { tabulateRounds } from '../../report/charts/tables.js'
import { createClaimsSection } from '../../report/claims.js'
import { renderCsv } from '../../report/csv.js'
import { createRoundBlocks, createWordSection } from '../../report/document.js'
import { tabulateProvenance } from '../../report/provenance.js'
import { renderSectionsText } from '../../report/section-text.js'

/**
 * Renders a run of `balance` as text, CSV, an answer and a document. Pure.
 * @import { BalanceManifest, BalanceRow, BalanceSummary, Quantity } from '../../model/types.ts'
 * @import { ClaimResult } from '../../analysis/claims/claims.js'
 * @import { ReportChart } from '../../report/charts/tables.js'
 * @import { Picture } from '../../answer/picture.js'
 * @import { Document } from '../../report/document.js'
 * @import { Section } from '../../report/section.js'
 * @import { Table } from '../../lib/text-table.js'
 */

const SEEDS = 'A dot is a seed, which is a round here; a bar is the median, a band its 95 % interval.'
const NOTES = [
  'Assignments are computed: no process is started, and items have a size and no work.',
  'An algorithm places all items anew for every number of shards; it does not know where they were before.',
  'The weight of the weighted ring hash is ours, since the source gives no formula: its row shows such an algorithm, not theirs.',
]

/**
 * Renders a run for a terminal: the form, a table for each kind of sizes, notes and claims.
 * @param {BalanceSummary} summary
 * @param {ClaimResult[]} claims evaluated; []: none, and their section is empty
 * @returns {string}
 */
export function renderBalanceText(summary, claims) {
  const sections = createSections(summary, claims, [])
  return joinParts([[`${summary.run.experiment}: ${renderForm(summary)}`], ...renderSectionsText(sections)])
}

/**
 * Renders a CSV row for each algorithm and kind of sizes: the median of each quantity, its 95 % interval, and its
 * least and most over the seeds.
 * @param {BalanceSummary} summary
 * @returns {string}
 */
export function renderBalanceCsv({ form: { items, shards, seeds }, run, rows }) {
  const headers = BALANCE_NAMES.flatMap(name => ['', 'Low', 'High', 'Least', 'Most'].map(end => `${name}${end}`))
  return renderCsv([
    ['algorithm', 'sizes', 'items', 'shards', 'seeds', 'firstSeed', ...headers],
    ...rows.map(({ algorithm, sizes, quantities }) => {
      const numbers = BALANCE_NAMES.flatMap(name => {
        const { median, low, high, values } = quantities[name]
        return [median, low, high, ...computeExtremes(values)]
      })
      return [algorithm, sizes, items, shards, seeds, run.seed, ...numbers]
    }),
  ])
}

/**
 * Creates the document of a run, for the page: answer, tables, charts, claims, provenance and words.
 * @param {{ manifest: BalanceManifest, summary: BalanceSummary, claims: ClaimResult[] }} run
 * @returns {Document}
 */
export function createBalanceDocument({ manifest, summary, claims }) {
  return {
    title: `${summary.run.experiment}, ${renderForm(summary)}`,
    question: summary.question,
    startedAt: summary.run.startedAt,
    answer: answerBalance(summary),
    missing: [],
    sections: [
      ...createSections(summary, claims, drawQuantityCharts(summary)),
      {
        id: 'provenance',
        name: 'Provenance',
        blocks: [{ type: 'table', on: 'documents', form: 'prose', table: tabulateProvenance(manifest) }],
      },
      createWordSection(tabulateBalanceDefinitions()),
    ],
  }
}

/**
 * Creates the sections that text and document share.
 * @param {BalanceSummary} summary
 * @param {ClaimResult[]} claims
 * @param {ReportChart[]} charts []: for text
 * @returns {Section[]}
 */
function createSections(summary, claims, charts) {
  return [
    {
      id: 'results',
      name: 'Results',
      blocks: [
        ...summary.form.sizes.map(sizes => {
          return /** @type {Section['blocks'][0]} */ ({ type: 'table', table: tabulateBalance(summary, sizes) })
        }),
        ...createRoundBlocks(charts, SEEDS),
      ],
    },
    { id: 'notes', name: 'How to read it', blocks: [{ type: 'list', lines: NOTES }] },
    createClaimsSection(claims),
  ]
}

/**
 * Creates the answer, for the first kind of sizes: the algorithms that move the fewest items and that spread the load
 * best, each with all ties.
 * @param {BalanceSummary} summary
 * @returns {import('../../report/answer/answer.js').Answer}
 */
export function answerBalance({ form, rows, run }) {
  const { items, shards, sizes, seeds } = form
  const rowsOfFirst = rows.filter(row => row.sizes === sizes[0])
  const fewestMoves = renderLeastAlgorithms(rowsOfFirst, 'moves')
  const leastSpread = renderLeastAlgorithms(rowsOfFirst, 'spread')
  return {
    conditions: [
      run.experiment,
      `${items} items of ${sizes[0]} sizes`,
      `${shards} shards, then ${shards - 1}`,
      'computed',
    ],
    pictures: [drawMedianPicture(rowsOfFirst)],
    verdicts: [`Fewest items move with ${fewestMoves}; the load is spread best by ${leastSpread}.`],
    basis: [`Medians of ${seeds} seeds from ${run.seed}; no process is started.`],
    warnings: [],
    notMeasured: [],
  }
}

/**
 * Draws the medians of all quantities: a row for each algorithm, with a bar for the first quantity.
 * @param {BalanceRow[]} rows of one kind of sizes
 * @returns {Picture}
 */
function drawMedianPicture(rows) {
  return {
    columns: BALANCE_NAMES.map((name, i) => ({
      heading: BALANCE_QUANTITIES[name].label,
      ...(i === 0 && { isBar: /** @type {const} */ (true) }),
    })),
    rows: rows.map(({ algorithm, quantities }) => ({
      label: ALGORITHMS[algorithm].label,
      cells: BALANCE_NAMES.map(name => {
        const { median, low, high } = quantities[name]
        return { text: Number(median).toFixed(BALANCE_QUANTITIES[name].digits), value: Number(median), low, high }
      }),
    })),
  }
}

/**
 * Renders the algorithms with the least median of a quantity, as it is rounded in reports, and that median.
 * @param {BalanceRow[]} rows of one kind of sizes
 * @param {'moves' | 'spread'} name
 * @returns {string} `greedy minimum and bounded loads (12)`
 */
function renderLeastAlgorithms(rows, name) {
  const { digits } = BALANCE_QUANTITIES[name]
  const readMedian = (/** @type {BalanceRow} */ { quantities }) => Number(quantities[name].median)
  const least = Math.min(...rows.map(readMedian)).toFixed(digits)
  const best = rows.filter(row => readMedian(row).toFixed(digits) === least)
  return `${joinWords(best.map(row => ALGORITHMS[row.algorithm].label))} (${least})`
}

/**
 * Renders the form of a run: `1000 items on 10 shards, 20 seeds from 1`.
 * @param {BalanceSummary} summary
 */
function renderForm({ form: { items, shards, seeds }, run }) {
  return `${items} items on ${shards} shards, ${seeds} seeds from ${run.seed}`
}

/**
 * Tabulates one kind of sizes: a row for each algorithm, a column for each quantity.
 * @param {BalanceSummary} summary
 * @param {BalanceRow['sizes']} sizes
 * @returns {Table} a cell: `12 (10 to 15)`, the median over the seeds, the least and the most
 */
function tabulateBalance({ rows }, sizes) {
  const renderMedianAndExtremes = (/** @type {Quantity} */ { median, values }, /** @type {number} */ digits) => {
    const [least, most] = computeExtremes(values).map(value => value.toFixed(digits))
    return `${Number(median).toFixed(digits)} (${least} to ${most})`
  }
  return {
    caption: `Items of ${sizes} sizes: the median of the seeds, the least and the most`,
    columns: [...alignLeft('algorithm'), ...alignRight(...BALANCE_NAMES.map(name => BALANCE_QUANTITIES[name].label))],
    rows: rows
      .filter(row => row.sizes === sizes)
      .map(({ algorithm, quantities }) => [
        ALGORITHMS[algorithm].label,
        ...BALANCE_NAMES.map(name => renderMedianAndExtremes(quantities[name], BALANCE_QUANTITIES[name].digits)),
      ]),
  }
}

/**
 * Draws a chart for each quantity and kind of sizes.
 * @param {BalanceSummary} summary
 * @returns {ReportChart[]}
 */
function drawQuantityCharts({ form, rows }) {
  return form.sizes.flatMap(sizes =>
    BALANCE_NAMES.map(name => {
      const { label, unit, digits } = BALANCE_QUANTITIES[name]
      const title = `${capitalise(label)}, items of ${sizes} sizes`
      const drawn = rows
        .filter(row => row.sizes === sizes)
        .map(({ algorithm, quantities }) => ({
          label: ALGORITHMS[algorithm].label,
          colour: 1 + Object.keys(ALGORITHMS).indexOf(algorithm),
          quantity: quantities[name],
        }))
      const chart = { title, unit, digits, rows: drawn }
      return { ...drawRounds(chart), id: `balance-${name}-${sizes}`, table: tabulateRounds(chart) }
    }),
  )
}

/**
 * Tabulates the definitions of algorithms and quantities.
 * @returns {Table[]} two tables
 */
export function tabulateBalanceDefinitions() {
  return [
    {
      caption: 'Assignment algorithms',
      columns: alignLeft('algorithm', 'definition'),
      rows: Object.values(ALGORITHMS).map(({ label, does }) => [label, does]),
    },
    {
      caption: 'Quantities of an assignment',
      columns: alignLeft('quantity', 'definition'),
      rows: Object.values(BALANCE_QUANTITIES).map(({ label, unit, definition }) => [`${label} (${unit})`, definition]),
    },
  ]
}

/**
 * Computes the extremes of a quantity over the seeds.
 * @param {(number | null)[]} values one for each seed, none of them null
 * @returns {[number, number]} the least, the most
 */
function computeExtremes(values) {
  const numbers = values.map(Number)
  return [Math.min(...numbers), Math.max(...numbers)]
}
