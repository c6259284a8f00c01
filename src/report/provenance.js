import { listSidecars } from '../judge/record/measures.js'
import { alignLeft } from '../lib/text-table.js'
import { renderMebibytes, renderPercent } from '../lib/units.js'
import { renderArmName } from '../model/arms.js'

/**
 * The origin of the numbers of a document. Pure.
 * @import { BalanceManifest, Manifest, TrialRecord } from '../model/types.ts'
 * @import { Table } from '../lib/text-table.js'
 * @import { Section } from './section.js'
 */

const SETTINGS = /** @type {const} */ (['profile', 'trafficPolicy', 'app', 'isPinned', 'keepsServices'])

/**
 * Creates the section on the origin of the numbers, which a terminal does not show.
 * @param {Manifest} manifest
 * @param {TrialRecord[]} records
 * @returns {Section}
 */
export function createProvenanceSection(manifest, records) {
  const table = tabulateProvenance(manifest, listRunFacts(manifest, records))
  return {
    id: 'provenance',
    name: 'Provenance',
    blocks: [
      { type: 'table', on: 'documents', form: 'prose', table },
      { type: 'table', on: 'page', isFolded: true, table: tabulateFiles(records) },
    ],
  }
}

/**
 * Tabulates where the numbers are from: the run and its resumes, the command, the kit, and the versions of schema and method.
 * @param {Manifest | BalanceManifest} manifest
 * @param {string[][]} [more] last rows: pairs of name and value
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
 * Lists the memory of the kit, the target, the machine, tools and settings of a run.
 * @param {Manifest} manifest
 * @param {TrialRecord[]} records
 * @returns {string[][]} pairs of name and value, `not known` if it was not recorded
 */
export function listRunFacts({ target, machine, tools, settings }, records) {
  const { before, ...machineFacts } = machine
  const peaks = records.flatMap(record => record.orchestratorPeakBytes ?? [])
  const memory = peaks.length > 0 ? `at most ${renderMebibytes(Math.max(...peaks))} MiB resident in the windows` : null
  return [
    ['memory of the kit', renderFact(memory)],
    ['target', target],
    ...Object.entries(machineFacts).map(([name, value]) => [name, renderFact(value)]),
    ...(before ? [['before the run', renderIdleShare(before)]] : []),
    ...Object.values(tools).map(({ name, version, path, sha256 }) => [
      name,
      `${version}, ${path}, SHA-256 ${sha256 || 'not known'}`,
    ]),
    ...SETTINGS.map(name => [name, renderFact(settings[name])]),
  ]
}

/**
 * Renders a value of the manifest; an object as JSON.
 * @param {unknown} value
 * @returns {string} `not known` for null
 */
function renderFact(value) {
  if (value === null) return 'not known'
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`
}

/**
 * Renders the idle and stolen shares of the CPUs before a run.
 * @param {{ idleFraction: number, stealFraction: number }} before
 * @returns {string} both in percent
 */
const renderIdleShare = ({ idleFraction, stealFraction }) =>
  `${renderPercent(idleFraction)} idle, ${renderPercent(stealFraction)} stolen by its host`

/**
 * Tabulates the configuration files of each sidecar, as in its first trial.
 * @param {TrialRecord[]} records
 * @returns {Table} without rows if no sidecar has files
 */
function tabulateFiles(records) {
  /** @type {Map<string, string[]>} */
  const rows = new Map()
  for (const record of records) {
    const arm = renderArmName({ ...record.trial.arm, repeatOf: null })
    for (const { service, role, files } of listSidecars(record)) {
      for (const { name, sha256 } of files) {
        const key = `${arm} ${service} ${name}`
        if (!rows.has(key)) rows.set(key, [arm, `${service}'s ${role}`, name, sha256])
      }
    }
  }
  return {
    caption: 'What the sidecars were configured with (raw/ holds the files)',
    columns: alignLeft('plane', 'process', 'file', 'SHA-256'),
    rows: [...rows.values()],
  }
}
