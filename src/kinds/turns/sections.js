/**
 * What turns show: the cost of planes beside each other. Pure.
 * @import { Sections } from '../sections.js'
 */

/** @type {Sections} */
export const turnsSections = { answer: ({ cost }) => cost }
