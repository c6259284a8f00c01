import { createElement, findElement } from './page-elements.js'
import { sayNumber } from './words.js'

/**
 * The table of ended trials, the newest first. Runs in browsers.
 * @import { LiveResult, LiveRow } from './results.js'
 */

/** @type {[string, (result: LiveResult, label: string) => string][]} */
const COLUMNS = [
  ['trial', ({ id }) => id],
  ['arm', (_, label) => label],
  ['outcome', ({ outcome }) => outcome],
  ['bound by', ({ boundBy }) => boundBy ?? '–'],
  ['requests/s', ({ ratePerSecond }) => sayNumber(ratePerSecond)],
  ['µs/request', ({ cpuPerRequestMicros }) => sayNumber(cpuPerRequestMicros)],
  ['p99 ms', ({ p99Ms }) => sayNumber(p99Ms, 1)],
  ['reason', ({ reason }) => reason ?? ''],
]
const NUMBERS = ['requests/s', 'µs/request', 'p99 ms']

export function createTrialTable() {
  const section = findElement('trials-section')
  const head = findElement('trials-head')
  const body = findElement('trials')
  const headers = COLUMNS.map(([name]) => createCell('th', { name, text: name }))
  for (const header of headers) header.setAttribute('scope', 'col')
  head.replaceChildren(...headers)
  return {
    /**
     * @param {LiveResult[]} results
     * @param {LiveRow[]} rows of their arms: what an arm is called depends on those that came after it
     */
    show(results, rows) {
      section.hidden = results.length === 0
      const labels = new Map(rows.map(({ armId, label }) => [armId, label]))
      body.replaceChildren(...results.map(result => createRow(result, labels)).reverse())
    },
  }
}

/** @param {LiveResult} result @param {Map<string, string>} labels by the arm's id */
function createRow(result, labels) {
  const label = labels.get(result.arm) ?? [result.name, result.what].filter(Boolean).join(', ')
  const cells = COLUMNS.map(([name, say]) => createCell('td', { name, text: say(result, label) }))
  return createElement('tr', { attributes: { role: 'row', class: result.outcome }, children: cells })
}

/**
 * On a narrow page a row is a stack of cells, each with its name; the roles say that it is a table still.
 * @param {'td' | 'th'} tag
 * @param {{ name: string, text: string }} cell
 */
function createCell(tag, { name, text }) {
  const role = tag === 'th' ? 'columnheader' : 'cell'
  const kind = NUMBERS.includes(name) ? 'number' : 'word'
  return createElement(tag, { text, attributes: { role, class: kind, 'data-name': name } })
}
