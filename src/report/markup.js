import { showControls } from '../lib/printable.js'

/** Makes HTML: every value is escaped, unless it is HTML made here. Pure. */

/** HTML made by `html`. @typedef {{ readonly markup: string }} Markup */

/** @type {Record<string, string>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** @typedef {string | number | null | Markup | Markup[]} Value null: nothing */

/** Makes HTML. @param {TemplateStringsArray} strings @param {Value[]} values @returns {Markup} */
export function html(strings, ...values) {
  return { markup: String.raw({ raw: strings }, ...values.map(renderValue)) }
}

/** Takes text as markup: of our own files and charts only. @param {string} markup @returns {Markup} */
export function trust(markup) {
  return { markup }
}

/** @param {string} text */
export function escapeMarkup(text) {
  return showControls(text).replace(/[&<>"']/g, character => ESCAPES[character])
}

/** @param {Value} value @returns {string} */
function renderValue(value) {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(renderValue).join('')
  return typeof value === 'object' ? value.markup : escapeMarkup(`${value}`)
}
