/**
 * Escapes a text so that a regular expression matches it literally.
 * @param {string} text
 * @returns {string}
 */
export function escapePattern(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
