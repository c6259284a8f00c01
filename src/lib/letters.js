/** Makes the first letter upper-case. @param {string} text */
export const capitalise = text => text.charAt(0).toUpperCase() + text.slice(1)

/** Makes the first letter lower-case. @param {string} text */
export const lowerFirstLetter = text => text.charAt(0).toLowerCase() + text.slice(1)

/** Joins words as in a sentence: `a, b and c`; empty without words. @param {string[]} words */
export const joinWords = words =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`
