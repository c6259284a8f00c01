/**
 * Chooses the first name that is not taken: the one without a suffix, else that with the lowest number from 2 on.
 * @param {Set<string>} taken
 * @param {(suffix: string) => string} addSuffix renders the name with a suffix: empty, or the separator and a number
 * @param {string} [separator]
 * @returns {string}
 */
export function chooseFreeName(taken, addSuffix, separator = '-') {
  let name = addSuffix('')
  for (let number = 2; taken.has(name); number++) name = addSuffix(`${separator}${number}`)
  return name
}
