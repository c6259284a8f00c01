import { escapeControls } from '../lib/printable.js'

/** Makes HTML: every value is escaped, unless it is HTML made here. Pure. */

/** HTML made by `html`. @typedef {{ readonly markup: string }} Markup */

/** @type {Record<string, string>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** @typedef {string | number | null | Markup | Markup[]} Value null: nothing */

/**
 * Makes HTML of a template: text is escaped, and Markup is inserted as it is.
 * @param {TemplateStringsArray} strings
 * @param {Value[]} values
 * @returns {Markup}
 */
export function html(strings, ...values) {
  return { markup: String.raw({ raw: strings }, ...values.map(renderValue)) }
}

/**
 * Makes Markup of a text without escaping: only for files of the kit and charts that it drew.
 * @param {string} markup
 * @returns {Markup}
 */
export function trustMarkup(markup) {
  return { markup }
}

/**
 * Escapes a text for HTML and XML, in attributes too, and shows its control characters.
 * @param {string} text
 */
export function escapeMarkup(text) {
  return escapeControls(text).replace(/[&<>"']/g, character => ESCAPES[character])
}

/**
 * @param {Value} value
 * @returns {string}
 */
function renderValue(value) {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(renderValue).join('')
  return typeof value === 'object' ? value.markup : escapeMarkup(`${value}`)
}
