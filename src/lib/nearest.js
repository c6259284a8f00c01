import { closest, distance } from 'fastest-levenshtein'

/**
 * Renders the valid names, after the nearest one if at most 2 letters or a third of the word's differ:
 * `; did you mean "envoy"? (one of: pipy, envoy)`.
 * @param {string} word
 * @param {string[]} names []: none is suggested
 * @returns {string}
 */
export function renderSuggestion(word, names) {
  const near = names.length > 0 ? closest(word, names) : null
  const isNear = near !== null && distance(word, near) <= Math.max(2, word.length / 3)
  return `${isNear ? `; did you mean "${near}"?` : ''} (one of: ${names.join(', ')})`
}
