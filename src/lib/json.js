import { isTooDeep } from './read-file.js'
import { safely } from './safely.js'

/** Parses JSON. @param {string} text @returns {any} undefined: it is no JSON, or nested too deep */
export const parseJson = text => (isTooDeep(text) ? undefined : safely(() => JSON.parse(text), undefined))
