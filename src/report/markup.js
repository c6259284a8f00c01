import { escapeControls } from '../lib/printable.js'

/** HTML in which every value is escaped, unless it is Markup. Pure. */

/** HTML that `html` created. @typedef {{ readonly markup: string }} Markup */

/** @type {Record<string, string>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** @typedef {string | number | null | Markup | Markup[]} Value */

/**
 * Creates HTML from a template. Strings and numbers are escaped, Markup is inserted as it is, and null as nothing.
 * @param {TemplateStringsArray} strings
 * @param {Value[]} values
 * @returns {Markup}
 */
export function html(strings, ...values) {
  return { markup: String.raw({ raw: strings }, ...values.map(renderTemplateValue)) }
}

/**
 * Creates Markup from a text without escaping it: only for files of the kit, and charts that it drew.
 * @param {string} markup
 * @returns {Markup}
 */
export function trustMarkup(markup) {
  return { markup }
}

/**
 * Escapes a text for HTML and XML, also in attributes. Control characters become visible, as `\u001b` (`escapeControls`).
 * @param {string} text
 * @returns {string}
 */
export function escapeMarkup(text) {
  return escapeControls(text).replace(/[&<>"']/g, character => ESCAPES[character])
}

/**
 * Renders a value of a template.
 * @param {Value} value
 * @returns {string} HTML; empty for null
 */
function renderTemplateValue(value) {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(renderTemplateValue).join('')
  return typeof value === 'object' ? value.markup : escapeMarkup(`${value}`)
}
