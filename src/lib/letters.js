/** @param {string} text */
export const capitalise = text => text.charAt(0).toUpperCase() + text.slice(1)

/** @param {string} text */
export const lowerFirst = text => text.charAt(0).toLowerCase() + text.slice(1)
