import { safely } from './safely.js'

/** Parses a text. @param {string} text @returns {any} undefined: it is no JSON */
export const parseJson = text => safely(() => JSON.parse(text), undefined)
