/** Makes names and logs harmless for terminals and readers. Pure. */

// Line ends and tabs stay. Format characters can reverse the direction of a line, or are invisible in it.
const CONTROLS = /(?!\r?\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Escapes the control characters of a text, except line ends and tabs: `\u001b` for an escape, as in JSON.
 * @param {string} text
 * @returns {string}
 */
export function escapeControls(text) {
  return text.replace(CONTROLS, character =>
    [...Array(character.length).keys()]
      .map(i => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
