/** Text of others, such as names and logs, without what a terminal or a reader would obey. Pure. */

// Line ends and tabs are text. Format characters turn the direction of a line, or hide in it.
const CONTROLS = /(?!\r?\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A text whose control characters can be seen: `\u001b` for an escape, as in JSON. @param {string} text */
export function showControls(text) {
  return text.replace(CONTROLS, character =>
    [...Array(character.length).keys()]
      .map(i => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
