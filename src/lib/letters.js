/** @param {string} text */
export function capitalise(text) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** @param {string} text */
export function lowerFirst(text) {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
