/**
 * The nouns that a run hands to its trials.
 * @import { Layout, Programs, RunSettings, Site } from '../model/types.ts'
 * @import { Kind } from './kind.js'
 */

/**
 * Folders as this process sees them; a target says where processes see them.
 * @typedef {object} Folders
 * @property {string} results of the run
 * @property {string} raw of its trials, a folder each
 * @property {string} certificates of all key types, as in certificate-files.js
 * @property {string} pipyScripts the sidecar that Pipy runs, unless an arm has a variant
 * @property {string} echo the applications
 * @property {string} load its scripts
 */

/**
 * Where trials run, and with what.
 * @typedef {object} Testbed
 * @property {Site} site
 * @property {Programs} programs
 * @property {Layout} layout
 * @property {Folders} folders
 * @property {RunSettings} settings
 * @property {Kind} kind of its trials
 */

// A module of types.
export {}
