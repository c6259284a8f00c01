/**
 * Abridges a configuration for its golden file: an object or array that the base or an earlier part has, too, is named by
 * its place there instead of repeated. Nothing is lost: with the base's own golden file, the whole can be put together.
 * @typedef {{ name: string, value: unknown }} Base
 */

// A reference to fewer lines would be harder to read than the lines.
const LINES_LEAST = 4

/** @param {unknown} value @param {Base} [base] */
export function abridge(value, base) {
  /** Places by content. @type {Map<string, string>} */
  const places = new Map()
  if (base) replaceKnown(base.value, { places, at: base.name })
  return replaceKnown(value, { places, at: '' })
}

/** @param {unknown} value @param {{ places: Map<string, string>, at: string }} known @returns {unknown} */
function replaceKnown(value, { places, at }) {
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  const place = places.get(text)
  if (place !== undefined) return `= ${place}`
  if (JSON.stringify(value, null, 2).split('\n').length >= LINES_LEAST) places.set(text, at)
  const enter = (/** @type {unknown} */ part, /** @type {string | number} */ key) =>
    replaceKnown(part, { places, at: at === '' ? `${key}` : `${at}.${key}` })
  if (Array.isArray(value)) return value.map((part, i) => enter(part, part?.name ?? i))
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, enter(part, key)]))
}
