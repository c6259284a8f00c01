/**
 * Quotes a word for a shell: bash, zsh or fish; a plain one stays as it is.
 * @param {string} word
 * @returns {string}
 */
export function quoteWord(word) {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
