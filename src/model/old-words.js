import { callSafely } from '../lib/call-safely.js'
import { groupBy } from '../lib/group-by.js'
import { renderArmName } from './arms.js'
import { OLD_SCHEMA_VERSIONS, SCHEMA_VERSION } from './versions.js'

/**
 * Converts documents of older versions to the words of today; no other module knows the old ones. Version 3 of the schema called
 * the kinds `turns` and `load`, interleaved arms `isBesideOthers` with a `deployment`, and a CPU limit a cap; version 4 had a
 * flat summary. Pure.
 * @import { Comparison, CpuLine, Slope, SummaryArm } from './types.ts'
 */

/**
 * Creates a table without a prototype: a file may have a name such as `constructor`, which an ordinary object has, too.
 * @param {Record<string, string>} words
 * @returns {Record<string, string>}
 */
const createWords = words => Object.assign(Object.create(null), words)

const KEYS = createWords({
  capCores: 'cpuLimitCores',
  controlCapCores: 'controlCpuLimitCores',
  capReadBackCores: 'cpuLimitReadBackCores',
  isBesideOthers: 'isInterleaved',
  deployment: 'interleaving',
  turns: 'interleaved',
})

/** Version 3, the only one with other words. */
const [OLDEST] = OLD_SCHEMA_VERSIONS

/** Kinds of trials, as `--measure` and experiment files name them, too. */
export const OLD_KINDS = createWords({ turns: 'cost', load: 'capacity' })

// The keys in these fields are names that a user chose, and no words of the schema.
const FIELDS_BY_NAME = ['topologies', 'tools', 'placements', 'phasesSeconds', 'env']
// The values of these fields are names of axes.
const AXIS_FIELDS = ['across', 'contrasts', 'contrast', 'axis', 'over']

/**
 * Converts a document of a run, such as a manifest, a record or a summary, from a version of OLD_SCHEMA_VERSIONS to today's. It
 * does not validate the result. In a summary of version 4 it renames the sides of the comparisons in place.
 * @param {any} document also undefined or no object
 * @returns the converted document; with its old words if it is damaged, such as an arm that is null: the schema names the fault;
 *   `document` itself: it is of any other version, or has none
 */
export function moderniseDocument(document) {
  if (!OLD_SCHEMA_VERSIONS.includes(document?.schemaVersion)) return document
  return callSafely(() => convertDocument(document), { ...document, schemaVersion: SCHEMA_VERSION })
}

/**
 * Converts a document of an older version. The comparisons of a summary of version 4 are changed in place.
 * @param {any} document
 * @returns a copy, but for these
 * @throws {TypeError} if it is damaged
 */
function convertDocument(document) {
  const renamed = {
    ...(document.schemaVersion === OLDEST ? moderniseWords(document) : document),
    schemaVersion: SCHEMA_VERSION,
  }
  if (!isFlatSummary(renamed)) return renamed
  renameOneCore(renamed.comparisons)
  return splitFlatSummary(renamed)
}

/**
 * Renames the words of version 3, and adds the kinds that it left out.
 * @param {any} document of version 3
 * @returns a copy
 * @throws {TypeError} if the document is damaged, such as an arm that is null, or as `findTrialKind`
 */
function moderniseWords(document) {
  const renamed = renameWords(document)
  if (renamed.trial?.arm) {
    renamed.trial.kind = findTrialKind(renamed)
    renamed.trial.arm.kind = renamed.trial.kind
  }
  const { search, searches = [], sizes = [], growths, settings } = renamed
  const run = { isSearch: Boolean(search) || searches.length + sizes.length > 0, grows: growths ?? settings?.grows }
  for (const list of [renamed.arms, renamed.comparisons].filter(Array.isArray))
    for (const arm of list) arm.kind = findArmKind(arm, run)
  return renamed
}

/**
 * Replaces `1 cores` at the end of the names of both sides by `1 core`, in place: kits of version 4 wrote it so.
 * @param {any[]} comparisons of a summary
 */
function renameOneCore(comparisons) {
  for (const comparison of comparisons)
    for (const side of ['a', 'b'])
      if (typeof comparison?.[side] === 'string') comparison[side] = comparison[side].replace(/ 1 cores$/, ' 1 core')
}

/**
 * Converts an experiment file or published claims, which have no schema version, to today's words. It does not validate.
 * @param {any} document
 * @returns a copy in today's words
 */
export function moderniseUserFile(document) {
  const renamed = renameWords(document)
  if (Array.isArray(renamed?.measure))
    renamed.measure = renamed.measure.map((/** @type {string} */ kind) => OLD_KINDS[kind] ?? kind)
  return renamed
}

/**
 * Renames old keys, and old names of axes and kinds of loads, at any depth.
 * @param {any} value
 * @param {string} [key] of the value; that of its list, if it is in one
 * @returns {any} a copy
 */
function renameWords(value, key = '') {
  if (Array.isArray(value)) return value.map(part => renameWords(part, key))
  if (typeof value === 'string') return AXIS_FIELDS.includes(key) ? (KEYS[value] ?? value) : value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, part]) => {
    const newName = FIELDS_BY_NAME.includes(key) ? name : (KEYS[name] ?? name)
    const isOldLoadKind = name === 'kind' && 'users' in value && part === 'turns'
    return [newName, isOldLoadKind ? 'interleaved' : renameWords(part, name)]
  })
  return Object.fromEntries(entries)
}

/**
 * Finds the kind of a trial. Records of the oldest runs lack it: it follows from their other fields.
 * @param {any} record with the keys of today
 * @returns {string}
 * @throws {TypeError} if the kind follows from the load, and the arm has none
 */
function findTrialKind({ trial, rollout, growth }) {
  if (trial.kind !== undefined) return OLD_KINDS[trial.kind] ?? trial.kind
  if (growth) return 'growth'
  if (rollout) return 'rollout'
  if (trial.searchOf !== null) return 'search'
  return trial.arm.load.isInterleaved ? 'cost' : 'capacity'
}

/**
 * Finds the kind of an arm or a comparison, which version 3 lacks.
 * @param {any} arm or comparison
 * @param {{ isSearch: boolean, grows: unknown }} run grows: the setting or results of its growth; undefined: it has none
 * @returns {string}
 */
function findArmKind({ conditions, load }, { isSearch, grows }) {
  if (isSearch) return 'search'
  if (conditions?.sidecars !== undefined) return grows ? 'growth' : 'rollout'
  return load?.isInterleaved ? 'cost' : 'capacity'
}

/**
 * Creates, for each kind, the fields of its result that other kinds lack: a summary of version 4 has those of all kinds at its
 * top level.
 * @type {Record<string, (flat: any) => object>}
 */
const CREATE_KIND_FIELDS = {
  cost: ({ interleaved }) => ({ cpus: interleaved?.cpus ?? null, connections: interleaved?.connections ?? [] }),
  capacity: () => ({}),
  search: ({ searches = [], sizes = [] }) => ({ searches, sizes }),
  rollout: ({ controlNeeds = [] }) => ({ controlNeeds }),
  growth: ({ growths = [] }) => ({ growths }),
}

/** Says whether a document is a summary as before version 5: it has arms and comparisons, but no results. @param {any} document */
function isFlatSummary(document) {
  return Array.isArray(document?.arms) && Array.isArray(document.comparisons) && document.results === undefined
}

/**
 * Splits a summary by the kinds of its arms, into one result each. Lines, slopes and comparisons that belong to no kind of these
 * arms are left out.
 * @param {any} summary of an old version, in the words of today; lines and slopes may be absent
 * @returns a summary of today, which is not validated
 */
function splitFlatSummary({ arms, comparisons, lines, slopes, ...otherFields }) {
  const { interleaved, searches, sizes, controlNeeds, growths, ...common } = otherFields
  const kindOfLine = new Map((lines ?? []).map((/** @type {CpuLine} */ line) => [line, findLineKind(line, arms)]))
  return {
    ...common,
    results: [...groupBy(arms, (/** @type {SummaryArm} */ arm) => arm.kind)].map(([kind, armsOfKind]) => ({
      kind,
      arms: armsOfKind,
      comparisons: comparisons.filter((/** @type {Comparison} */ comparison) => comparison.kind === kind),
      lines: (lines ?? []).filter((/** @type {CpuLine} */ line) => kindOfLine.get(line) === kind),
      slopes: (slopes ?? []).filter((/** @type {Slope} */ { armId }) => armsOfKind.some(({ id }) => id === armId)),
      ...CREATE_KIND_FIELDS[kind]?.({ interleaved, searches, sizes, controlNeeds, growths }),
    })),
  }
}

/**
 * Finds the kind of a line of an old summary, which does not record it: the kind whose arms have the most of its points. The rates
 * alone do not tell, since arms of several kinds may share them.
 * @param {CpuLine} line
 * @param {SummaryArm[]} arms
 * @returns of several with equally many points, or none, that of the first arm; undefined: no arm has the plane and link of the
 *   line
 */
function findLineKind(line, arms) {
  const armsOfLine = arms.filter(arm => renderArmName(arm) === renderArmName(line) && arm.link === line.link)
  const countPoints = (/** @type {SummaryArm[]} */ armsOfKind) =>
    line.points.filter(point => armsOfKind.some(arm => isPointOf(point, arm, line.service))).length
  const kinds = [...groupBy(armsOfLine, arm => arm.kind)].toSorted(([, a], [, b]) => countPoints(b) - countPoints(a))
  return kinds[0]?.[0]
}

/**
 * Says whether an arm has the rate and the median CPU of a point.
 * @param {CpuLine['points'][0]} point
 * @param {SummaryArm} arm
 * @param {string | null} service null: all sidecars
 * @returns {boolean} false also: the arm has no sidecar of the service
 */
function isPointOf({ ratePerSecond, millicores }, arm, service) {
  /** @type {any} */
  const measured = service === null ? arm : arm.sidecars.find(sidecar => sidecar.service === service)
  return arm.load.ratePerSecond === ratePerSecond && 1000 * measured?.cpuCores?.median === millicores
}
