import { showControls } from '../lib/printable.js'

/** HTML whose every value is escaped, unless it is HTML made here. Pure. */

/** HTML made by `html`. @typedef {{ readonly markup: string }} Markup */

const ESCAPES = /** @type {Record<string, string>} */ ({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
})

/**
 * @param {TemplateStringsArray} strings
 * @param {(string | number | null | Markup | Markup[])[]} values null: nothing
 * @returns {Markup}
 */
export function html(strings, ...values) {
  return { markup: String.raw({ raw: strings }, ...values.map(renderValue)) }
}

/** Text that is markup already: of our own files and charts only. @param {string} markup @returns {Markup} */
export function trust(markup) {
  return { markup }
}

/** @param {string} text */
export function escapeMarkup(text) {
  return showControls(text).replace(/[&<>"']/g, character => ESCAPES[character])
}

/** @param {string | number | null | Markup | Markup[]} value @returns {string} */
function renderValue(value) {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(renderValue).join('')
  return typeof value === 'object' ? value.markup : escapeMarkup(`${value}`)
}
