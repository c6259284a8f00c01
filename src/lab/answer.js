import { DEFINITIONS } from './comparison.js'
import { formatChange, formatCount, formatDifference, formatPercentage } from './text.js'

/** The answer of a count: the cost of a request on either side, and the functions that changed. Pure. */
/**
 * @import { Breakdown, Row } from './comparison.js'
 * @import { LabResults } from './text.js'
 */
/** @import { Answer } from '../report/answer/answer.js' */

const FUNCTIONS_MOST = 3
const PARTS_MOST = 4
const NOUNS = { instructions: 'instructions', cpu: 'ns of CPU' }

/**
 * Creates the answer of a count: both sides of each sidecar and the functions that changed; of one side alone (isAlone), its
 * most expensive parts. It shows CPU time if that was sampled, else instructions. Other quantities are left out.
 * @param {LabResults & { conditions?: string[] }} options conditions: of the counted requests, as words
 * @returns {Answer}
 */
export function createLabAnswer({ rows: allRows, breakdowns, labels, conditions = [], isAlone = false }) {
  const quantity = allRows.some(row => row.quantity === 'cpu') ? 'cpu' : 'instructions'
  const rows = allRows.filter(row => row.quantity === quantity)
  const links = [...new Set(rows.map(({ link }) => link))]
  /** @type {RenderName} */
  const renderName = ({ link, service }) => (links.length > 1 ? `${service} of ${link}` : service)
  const sides = isAlone ? [labels.new] : [`new: ${labels.new}`, `old: ${labels.old}`]
  return {
    conditions: ['lab', ...sides, links.join(' and '), ...conditions],
    pictures: [createCostPicture(rows, { noun: NOUNS[quantity], isAlone, renderName })],
    verdicts: isAlone
      ? breakdowns.flatMap(breakdown => renderCostliestParts(breakdown, renderName(breakdown)))
      : [renderVerdict(rows, quantity), ...renderChanges(breakdowns, rows, renderName)],
    basis: [],
    warnings: [],
    notMeasured: [],
  }
}

/** @typedef {(sidecar: Pick<Row, 'link' | 'service'>) => string} RenderName */

/**
 * Creates the picture of the costs of each sidecar.
 * @param {Row[]} rows of one quantity; []: the picture has no rows
 * @param {{ noun: string, isAlone: boolean, renderName: RenderName }} options isAlone: without old side and change
 * @returns {Answer['pictures'][number]}
 */
function createCostPicture(rows, { noun, isAlone, renderName }) {
  const costColumn = { heading: isAlone ? `${noun} a request` : `new, ${noun} a request`, isBar: true }
  const noiseColumn = { heading: 'noise' }
  return {
    columns: isAlone ? [costColumn, noiseColumn] : [{ heading: 'old' }, costColumn, { heading: 'change' }, noiseColumn],
    rows: rows.map(row => {
      const cost = { text: formatCount(row.new), value: row.new }
      const noise = { text: `±${(100 * row.spread).toFixed(2)} %` }
      const old = { text: formatCount(row.old), value: row.old }
      const change = { text: formatChange(row.ratio - 1) }
      return { label: renderName(row), cells: isAlone ? [cost, noise] : [old, cost, change, noise] }
    }),
  }
}

/**
 * Renders the range in which the costs of sidecars changed: `No difference` only if no change is above its noise.
 * @param {Row[]} rows of the quantity, one for each sidecar; []: nothing was counted
 * @param {keyof typeof NOUNS} quantity
 * @returns {string} a sentence
 */
function renderVerdict(rows, quantity) {
  if (rows.length === 0) return `Nothing was counted: no sidecar is on both sides (${DEFINITIONS[quantity]}).`
  if (rows.every(isWithinNoise))
    return `No difference found: every change of the ${NOUNS[quantity]} a request is within its noise.`
  const changes = rows.map(({ ratio }) => ratio - 1)
  const [least, most] = [Math.min(...changes), Math.max(...changes)]
  const formatSize = (/** @type {number} */ change) => formatPercentage(Math.abs(change))
  if (least < 0 && most > 0)
    return `A request takes between ${formatSize(least)} % less and ${formatSize(most)} % more ${NOUNS[quantity]} than before.`
  const ends = (least < 0 ? [most, least] : [least, most]).map(formatSize)
  return `A request takes ${[...new Set(ends)].join(' to ')} % ${most > 0 ? 'more' : 'less'} ${NOUNS[quantity]} than before.`
}

/** Says whether the sides differ by no more than the counts of one side do among themselves. @param {Row} row */
const isWithinNoise = ({ ratio, spread }) => Math.abs(ratio - 1) <= spread

/**
 * Renders the functions that changed most in each sidecar whose cost changed by more than its noise: in others, changes of
 * functions are chance.
 * @param {Breakdown[]} breakdowns
 * @param {Row[]} rows of the quantity
 * @param {RenderName} renderName
 * @returns {string[]} a sentence for each such sidecar with a function that changed; []: there is none
 */
function renderChanges(breakdowns, rows, renderName) {
  const changedRows = rows.filter(row => !isWithinNoise(row))
  const changed = breakdowns.filter(({ link, service }) =>
    changedRows.some(row => row.link === link && row.service === service),
  )
  return changed.flatMap(breakdown => renderMostChangedFunctions(breakdown, renderName(breakdown)))
}

/**
 * Renders the most expensive purposes and filters of a request in one sidecar, as shares.
 * @param {Breakdown} breakdown
 * @param {string} name of the sidecar
 * @returns {string[]} a sentence with at most PARTS_MOST of each; []: nothing was counted
 */
function renderCostliestParts({ groups, filters }, name) {
  const total = groups.reduce((sum, part) => sum + part.new, 0)
  if (total === 0) return []
  const renderShares = (/** @type {Breakdown['groups']} */ parts) =>
    parts
      .slice(0, PARTS_MOST)
      .map(part => `${part.name} ${Math.round((100 * part.new) / total)} %`)
      .join(', ')
  return [`Most of it in ${name}: ${renderShares(groups)}. By filter: ${renderShares(filters)}.`]
}

/**
 * Renders the functions that changed most in a sidecar, each by at least half of the breakdown's unit: less is printed as 0.
 * @param {Breakdown} breakdown
 * @param {string} name of the sidecar
 * @returns {string[]} a sentence with at most FUNCTIONS_MOST; []: none changed
 */
function renderMostChangedFunctions({ functions }, name) {
  const changed = functions
    .filter(part => Math.abs(part.new - part.old) >= 0.5)
    .toSorted((a, b) => Math.abs(b.new - b.old) - Math.abs(a.new - a.old))
    .slice(0, FUNCTIONS_MOST)
  if (changed.length === 0) return []
  const changes = changed.map(part => `${part.name} ${formatDifference(part.new - part.old)}`)
  return [`Most of it in ${name}: ${changes.join(', ')}.`]
}
