import { MIB } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'

/** The answer of searches for one value: a knee, or a memory floor. Pure. */
/** @import { SearchResult } from '../../model/types.ts' */
/** @import { Picture } from '../../answer/picture.js' */

/** The words of each search: headings of the value that held and of the nearest one that failed, and parts of sentences. */
const WORDS = {
  knee: {
    heading: 'highest rate within the p99',
    failed: 'not at',
    holds: 'meets the p99 up to',
    compared: ['serves', 'requests/s within the p99'],
  },
  cpu: { heading: 'smallest CPU limit', failed: 'not with', holds: 'meets the p99 with', compared: ['needs', 'CPU'] },
  memory: {
    heading: 'smallest memory limit',
    failed: 'killed with',
    holds: 'survives with',
    compared: ['needs', 'memory'],
  },
}

/**
 * Draws the value that each search found, with a bar, and the nearest value that failed.
 * @param {SearchResult[]} searches
 * @returns {Picture[]} one; []: there are no searches
 */
export function drawSearches(searches) {
  if (searches.length === 0) return []
  const { heading, failed } = WORDS[searches[0].looksFor]
  return [
    {
      isOfProxies: true,
      columns: [{ heading, isBar: true }, { heading: failed }],
      rows: searches.map(search => ({
        label: renderArmName(search),
        cells: [
          hasFoundValue(search) ? { text: renderAnswerValue(search.held, search), value: search.held } : null,
          search.failed === null ? null : { text: renderAnswerValue(search.failed, search) },
        ],
      })),
    },
  ]
}

/**
 * Renders how the value of the first search compares to those of the others, or that value if it is alone. A single
 * search has no interval, so chance is not ruled out.
 * @param {SearchResult[]} searches
 * @returns {string[]} sentences; []: no search found a value
 */
export function renderSearches(searches) {
  const [first, ...others] = searches.filter(hasFoundValue)
  if (first === undefined) return []
  if (others.length === 0)
    return [`${renderArmName(first)} ${WORDS[first.looksFor].holds} ${renderAnswerValue(first.held, first)}.`]
  return others.map(other => renderComparison(first, other))
}

/**
 * Renders how the value of a search compares to that of another.
 * @param {FoundValue} first
 * @param {FoundValue} other
 * @returns {string} a sentence
 */
function renderComparison(first, other) {
  const [name, otherName] = [first, other].map(renderArmName)
  const ratio = first.held / other.held
  if (ratio === 1) return `${name} and ${otherName} have the same limit.`
  const percent = `${(100 * Math.abs(ratio - 1)).toFixed(0)} % ${ratio < 1 ? 'less' : 'more'}`
  const difference = ratio >= 2 ? `${ratio.toFixed(1)} × as much` : percent
  const [verb, quantity] = WORDS[first.looksFor].compared
  return `${name} ${verb} ${difference} ${quantity} than ${otherName} (one search each: no interval).`
}

/** @typedef {SearchResult & { held: number }} FoundValue */

/**
 * Says whether a search found its value.
 * @param {SearchResult} search
 * @returns {search is FoundValue}
 */
const hasFoundValue = search => search.isFound && search.held !== null

/**
 * Renders the warning that a search found no limit.
 * @param {SearchResult} search
 * @returns {string[]} one sentence; []: it found one
 */
export function warnOfSearch(search) {
  if (search.isFound) return []
  const isJudged = search.steps.every(step => step.held !== null)
  const lack = isJudged
    ? 'its limit cannot be reached on this machine'
    : 'no answer, for not every value could be judged'
  return [`${renderArmName(search)}: ${lack}: ${search.why}.`]
}

/**
 * Renders a value of a search, with its unit.
 * @param {number} value
 * @param {Pick<SearchResult, 'unit'>} result
 * @returns {string}
 */
function renderAnswerValue(value, { unit }) {
  if (unit === 'bytes') return `${Number((value / MIB).toFixed(2))} MiB`
  return unit === 'cores' ? `${value} CPU` : `${value} req/s`
}
