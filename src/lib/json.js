import { callSafely } from './call-safely.js'
import { isTooDeep } from './read-file.js'

/**
 * Parses JSON.
 * @param {string} text
 * @returns {any} undefined: it is no JSON, or nested too deep
 */
export const parseJson = text => (isTooDeep(text) ? undefined : callSafely(() => JSON.parse(text), undefined))
