/** Options of `report` that exclude or need each other. Pure. */
/** @import { Constraint } from '../constraint.js' */

/**
 * A command line of `report`: its options, and the names of formats of one run, of a history, and of those written as files.
 * @typedef {{ run?: string, format: string, out?: string, history?: boolean, bundle?: string | true, keepNames?: boolean,
 *   formats: Record<'ofRun' | 'ofHistory' | 'files', string[]> }} ReportRequest
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
