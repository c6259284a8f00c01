import { createElement, findElement, setText } from './page-elements.js'
import { renderCpuUse, renderMemoryUse, renderNumber, renderThrottling } from './words.js'

/**
 * The lists of the page: sidecars, each with a bar and a line of numbers, and ended trials. Runs in browsers.
 * @import { SidecarNow } from '../judge/sidecars.js'
 * @import { LiveResult, LiveRow } from './results.js'
 */

/**
 * The columns of the table of trials: a heading, and a function that renders the cell of a trial, given the label of its arm.
 * @type {[string, (result: LiveResult, label: string) => string][]}
 */
const COLUMNS = [
  ['trial', ({ id }) => id],
  ['arm', (_, label) => label],
  ['outcome', ({ outcome }) => outcome],
  ['bound by', ({ boundBy }) => boundBy ?? '–'],
  ['requests/s', ({ ratePerSecond }) => renderNumber(ratePerSecond)],
  ['µs/request', ({ cpuPerRequestMicros }) => renderNumber(cpuPerRequestMicros)],
  ['p99 ms', ({ p99Ms }) => renderNumber(p99Ms, 1)],
  ['reason', ({ reason }) => reason ?? ''],
]
const NUMBER_COLUMNS = ['requests/s', 'µs/request', 'p99 ms']

/**
 * Creates the list of sidecars in the element `sidecars` of the page.
 * @returns {{ update: (sidecars: SidecarNow[]) => void }} update: draws the list again
 * @throws {Error} if page.html lacks an element of it
 */
export function createSidecarList() {
  const section = findElement('sidecars-section')
  const list = findElement('sidecars')
  let drawnKey = ''
  return {
    /**
     * Updates the list of sidecars. Its elements are replaced only if services or limits differ.
     * @param {SidecarNow[]} sidecars []: the section is hidden
     */
    update(sidecars) {
      section.hidden = sidecars.length === 0
      const listKey = JSON.stringify(sidecars.map(({ service, cpuLimitCores }) => [service, cpuLimitCores]))
      if (listKey !== drawnKey) list.replaceChildren(...sidecars.map(createSidecarItem))
      drawnKey = listKey
      for (const [i, sidecar] of sidecars.entries()) updateSidecarItem(list.children[i], sidecar)
    },
  }
}

/**
 * Creates the item of a sidecar, still without numbers, with a meter if it has a CPU limit.
 * @param {SidecarNow} sidecar
 * @returns {HTMLElement}
 */
function createSidecarItem({ service, cpuLimitCores }) {
  const name = createElement('span', { text: service, attributes: { class: 'name' } })
  const words = createElement('span', { attributes: { class: 'words' } })
  if (cpuLimitCores === null) return createElement('li', { children: [name, words] })
  const meter = createElement('meter', {
    attributes: { min: '0', max: String(cpuLimitCores), 'aria-label': `CPU of ${service}, of its cap` },
  })
  return createElement('li', { children: [name, meter, words] })
}

/**
 * Updates the numbers of a sidecar's item, and its meter if it has one.
 * @param {Element} item
 * @param {SidecarNow} sidecar
 */
function updateSidecarItem(item, sidecar) {
  const words = [renderCpuUse(sidecar), renderThrottling(sidecar), renderMemoryUse(sidecar)].filter(Boolean).join(', ')
  setText(/** @type {Element} */ (item.querySelector('.words')), words)
  item.classList.toggle('is-throttled', sidecar.isThrottled === true)
  const meter = item.querySelector('meter')
  if (meter === null) return
  meter.value = sidecar.cores ?? 0
  meter.setAttribute('aria-valuetext', renderCpuUse(sidecar))
}

/**
 * Creates the table of ended trials, with its headings.
 * @returns {{ update: (results: LiveResult[], rows: LiveRow[]) => void }} update: draws the rows again
 * @throws {Error} if page.html lacks an element of it
 */
export function createTrialTable() {
  const section = findElement('trials-section')
  const head = findElement('trials-head')
  const body = findElement('trials')
  const headers = COLUMNS.map(([name]) => createCell('th', { name, text: name }))
  for (const header of headers) header.setAttribute('scope', 'col')
  head.replaceChildren(...headers)
  return {
    /**
     * Updates the table, the newest trial first. All rows are made anew, because a new arm can change the labels of all.
     * @param {LiveResult[]} results []: the section is hidden
     * @param {LiveRow[]} rows that have the labels of the arms; an arm without a row has its name and values as label
     */
    update(results, rows) {
      section.hidden = results.length === 0
      const labels = new Map(rows.map(({ armId, label }) => [armId, label]))
      const tableRows = results.map(result => {
        const label = labels.get(result.arm) ?? [result.name, result.variedAxes].filter(Boolean).join(', ')
        const cells = COLUMNS.map(([name, render]) => createCell('td', { name, text: render(result, label) }))
        return createElement('tr', { attributes: { role: 'row', class: result.outcome }, children: cells })
      })
      body.replaceChildren(...tableRows.reverse())
    },
  }
}

/**
 * Creates a cell. The name of its column is an attribute, too, which the style sheet displays on narrow screens.
 * @param {'td' | 'th'} tag
 * @param {{ name: string, text: string }} cell
 * @returns {HTMLElement}
 */
function createCell(tag, { name, text }) {
  const role = tag === 'th' ? 'columnheader' : 'cell'
  const style = NUMBER_COLUMNS.includes(name) ? 'number' : 'word'
  return createElement(tag, { text, attributes: { role, class: style, 'data-name': name } })
}
