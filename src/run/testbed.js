/**
 * The place and the means of trials. Folders are as this process sees them; a target says where processes see them. raw: a
 * folder for each trial; certificates: of all key types, as in certificate-files.js; pipyScripts: the sidecar that Pipy
 * runs, unless an arm has a variant; echo: the applications; load: its scripts; kind: of the trials.
 * @import { Layout, Programs, RunSettings, Site } from '../model/types.ts' @import { Kind } from './kind.js'
 * @typedef {Record<'results' | 'raw' | 'certificates' | 'pipyScripts' | 'echo' | 'load', string>} Folders
 * @typedef {{ site: Site, programs: Programs, layout: Layout, folders: Folders, settings: RunSettings, kind: Kind }} Testbed
 */

// A module of types.
export {}
