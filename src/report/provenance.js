import { alignLeft } from '../lib/text-table.js'
import { renderMebibytes, renderPercent } from '../lib/units.js'

/**
 * The origin of the numbers of a document. Pure.
 * @import { BalanceManifest, Manifest, TrialRecord } from '../model/types.ts'
 * @import { Table } from '../lib/text-table.js'
 */

const SETTINGS = /** @type {const} */ (['profile', 'trafficPolicy', 'app', 'isPinned', 'keepsServices'])

/**
 * Tabulates the run, the command and the kit that the numbers are from.
 * @param {Manifest | BalanceManifest} manifest
 * @param {string[][]} [more] last rows
 * @returns {Table}
 */
export function tabulateProvenance({ run, command, kit, schemaVersion, ...manifest }, more = []) {
  const method = 'methodVersion' in manifest ? `, method version ${manifest.methodVersion}` : ''
  return {
    caption: 'Where these numbers are from',
    columns: alignLeft('', ''),
    rows: [
      ['run', `${run.id}, started ${run.startedAt}, seed ${run.seed}`],
      ...(run.resumed ?? []).map(({ at, trials }) => ['went on', `${at}, after ${trials} trials`]),
      ['command', command.join(' ')],
      ['kit', `${kit.version}${kit.git ? `, git ${kit.git}` : ''}`],
      ['records', `schema version ${schemaVersion}${method}`],
      ...more,
    ],
  }
}

/**
 * Lists the machine, tools and settings of a run.
 * @param {Manifest} manifest
 * @param {TrialRecord[]} records
 * @returns {string[][]} names and values
 */
export function listRunFacts({ target, machine, tools, settings }, records) {
  const { before, ...facts } = machine
  const peaks = records.flatMap(record => record.orchestratorPeakBytes ?? [])
  const renderFact = (/** @type {unknown} */ value) =>
    value === null ? 'not known' : typeof value === 'object' ? JSON.stringify(value) : `${value}`
  return [
    [
      'memory of the kit',
      peaks.length > 0 ? `at most ${renderMebibytes(Math.max(...peaks))} MiB resident in the windows` : 'not known',
    ],
    ['target', target],
    ...Object.entries(facts).map(([name, value]) => [name, renderFact(value)]),
    ...(before ? [['before the run', renderIdleShare(before)]] : []),
    ...Object.values(tools).map(({ name, version, path, sha256 }) => [
      name,
      `${version}, ${path}, SHA-256 ${sha256 || 'not known'}`,
    ]),
    ...SETTINGS.map(name => [name, renderFact(settings[name])]),
  ]
}

/**
 * Renders the idle and stolen shares of the CPUs before a run.
 * @param {{ idleFraction: number, stealFraction: number }} before
 * @returns {string} both in percent
 */
const renderIdleShare = ({ idleFraction, stealFraction }) =>
  `${renderPercent(idleFraction)} idle, ${renderPercent(stealFraction)} stolen by its host`
