import { DEFINITIONS } from './comparison.js'
import { formatChange, formatCount, formatDifference } from './text.js'

/** The answer of a count: what a request costs on either side, and where the difference is. Pure. */
/**
 * @import { Breakdown, Row } from './comparison.js'
 * @import { LabResults } from './text.js'
 */
/** @import { Answer } from '../report/answer/answer.js' */

const FUNCTIONS_MOST = 3
const PARTS_MOST = 4
const NOUNS = { instructions: 'instructions', cpu: 'ns of CPU' }

/**
 * Creates the answer of a count: both sides of each sidecar and where they differ; of one side alone (isAlone), where
 * its cost is. It shows CPU time if that was sampled, else instructions.
 * @param {LabResults & { conditions?: string[] }} options conditions: of the counted requests, as words
 * @returns {Answer}
 */
export function createLabAnswer({ rows: allRows, breakdowns, labels, conditions = [], isAlone = false }) {
  const quantity = allRows.some(row => row.quantity === 'cpu') ? 'cpu' : 'instructions'
  const rows = allRows.filter(row => row.quantity === quantity)
  const noun = NOUNS[quantity]
  const links = [...new Set(rows.map(({ link }) => link))]
  const renderSidecarName = (/** @type {Row | Breakdown} */ { link, service }) =>
    links.length > 1 ? `${service} of ${link}` : service
  return {
    conditions: [
      'lab',
      ...(isAlone ? [labels.new] : [`new: ${labels.new}`, `old: ${labels.old}`]),
      links.join(' and '),
      ...conditions,
    ],
    pictures: [
      {
        columns: [
          ...(isAlone ? [] : [{ heading: 'old' }]),
          { heading: isAlone ? `${noun} a request` : `new, ${noun} a request`, isBar: true },
          ...(isAlone ? [] : [{ heading: 'change' }]),
          { heading: 'noise' },
        ],
        rows: rows.map(row => ({
          label: renderSidecarName(row),
          cells: [
            ...(isAlone ? [] : [{ text: formatCount(row.old), value: row.old }]),
            { text: formatCount(row.new), value: row.new },
            ...(isAlone ? [] : [{ text: formatChange(row.ratio - 1) }]),
            { text: `±${(100 * row.spread).toFixed(2)} %` },
          ],
        })),
      },
    ],
    verdicts: isAlone
      ? breakdowns.flatMap(breakdown => renderCostliestParts(breakdown, renderSidecarName(breakdown)))
      : [
          renderVerdict(rows, quantity),
          ...breakdowns.flatMap(breakdown =>
            hasChanged(breakdown, rows) ? renderMostChanged(breakdown, renderSidecarName(breakdown)) : [],
          ),
        ],
    basis: [],
    warnings: [],
    notMeasured: [],
  }
}

/**
 * Renders the range in which the sidecars changed. It says `No difference` only if no change is above its noise.
 * @param {Row[]} rows of the quantity, one for each sidecar
 * @param {keyof typeof NOUNS} quantity
 * @returns {string} a sentence
 */
function renderVerdict(rows, quantity) {
  if (rows.length === 0) return `Nothing was counted: no sidecar is on both sides (${DEFINITIONS[quantity]}).`
  const changes = rows.map(({ ratio }) => ratio - 1)
  if (rows.every(isWithinNoise))
    return `No difference found: a request takes as many ${NOUNS[quantity]} on either side.`
  const [least, most] = [Math.min(...changes), Math.max(...changes)]
  const ends = [least, most].map(change => formatChange(Math.abs(change)).replace('+', '').replace(' %', ''))
  if (least < 0 && most > 0)
    return `A request takes between ${ends[0]} % less and ${ends[1]} % more ${NOUNS[quantity]} than before.`
  const range = ends[0] === ends[1] ? ends[0] : ends.toSorted((a, b) => Number(a) - Number(b)).join(' to ')
  return `A request takes ${range} % ${most > 0 ? 'more' : 'less'} ${NOUNS[quantity]} than before.`
}

/** Says whether both sides differ by no more than two counts of one side. @param {Row} row */
const isWithinNoise = ({ ratio, spread }) => Math.abs(ratio - 1) <= spread

/**
 * Says whether the cost of a sidecar changed by more than its noise. If it did not, changes of its functions are
 * chance.
 * @param {Breakdown} breakdown of the sidecar
 * @param {Row[]} rows
 */
function hasChanged({ link, service }, rows) {
  return rows.some(row => row.link === link && row.service === service && !isWithinNoise(row))
}

/**
 * Renders the most expensive purposes and filters of a request in one sidecar, as shares.
 * @param {Breakdown} breakdown
 * @param {string} name of the sidecar
 * @returns {string[]} a sentence, with PARTS_MOST of each; []: nothing was counted
 */
function renderCostliestParts({ groups, filters }, name) {
  const total = groups.reduce((sum, part) => sum + part.new, 0)
  const list = (/** @type {Breakdown['groups']} */ parts) =>
    parts.slice(0, PARTS_MOST).map(part => `${part.name} ${Math.round((100 * part.new) / total)} %`)
  return total === 0
    ? []
    : [`Most of it in ${name}: ${list(groups).join(', ')}. By filter: ${list(filters).join(', ')}.`]
}

/**
 * Renders the functions that changed most in a sidecar, each by at least half a unit.
 * @param {Breakdown} breakdown
 * @param {string} name of the sidecar
 * @returns {string[]} a sentence with at most FUNCTIONS_MOST; []: none changed
 */
function renderMostChanged({ functions }, name) {
  const changed = functions
    .filter(part => Math.abs(part.new - part.old) >= 0.5)
    .toSorted((a, b) => Math.abs(b.new - b.old) - Math.abs(a.new - a.old))
    .slice(0, FUNCTIONS_MOST)
  if (changed.length === 0) return []
  return [
    `Most of it in ${name}: ${changed.map(part => `${part.name} ${formatDifference(part.new - part.old)}`).join(', ')}.`,
  ]
}
