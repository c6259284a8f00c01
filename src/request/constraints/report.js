/** Options of `report` that exclude or need each other. Pure. @import { Constraint } from '../constraint.js' */

/**
 * A command line of `report`.
 * @typedef {object} ReportRequest
 * @property {string} [run] a folder or bundle
 * @property {string} format
 * @property {string} [out]
 * @property {boolean} [history]
 * @property {string | true} [bundle] true: without the name of a file
 * @property {boolean} [keepNames]
 * @property {Record<'ofRun' | 'ofHistory' | 'files', string[]>} formats the names of those of one run, of a history, and that are
 *   written as files
 */

/** @type {Constraint<ReportRequest>[]} */
export const REPORT_OPTIONS = [
  {
    on: 'format',
    conflict: ({ history, format, formats }) => !history && !formats.ofRun.includes(format),
    message: ({ format, formats }) =>
      `--format ${format} is of many runs: add --history, or choose ${formats.ofRun.join(', ')}`,
  },
  {
    on: 'out',
    conflict: ({ format, formats }) => !formats.files.includes(format),
    message: ({ out, format, formats }) =>
      `--out ${out}: ${format} is printed, and no file: leave it out, or ask for --format ${formats.files.join(' or ')}`,
  },
  {
    on: 'keepNames',
    conflict: ({ bundle }) => !bundle,
    message: () => '--keep-names needs --bundle: other reports name everything',
  },
  {
    on: 'history',
    conflict: ({ format, formats }) => !formats.ofHistory.includes(format),
    message: ({ format, formats }) => `--format ${format} is of one run; --history has ${formats.ofHistory.join(', ')}`,
  },
  {
    on: 'bundle',
    conflict: ({ run }) => run === undefined,
    message: () => '--bundle needs a run: report RESULTS --bundle [FILE]',
  },
]
