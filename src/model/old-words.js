import { OLD_SCHEMA_VERSION, SCHEMA_VERSION } from './versions.js'

/**
 * Reads what older versions wrote, in the words of today: the one place that knows the old ones. Schema version 3 called
 * the kinds `turns` and `load`, said of interleaved arms that they were beside others and shared a deployment, and called
 * a CPU limit a cap. Pure.
 */

// A name of a file may be `constructor` or `__proto__`, which an ordinary object has, too.
/** @param {Record<string, string>} words @returns {Record<string, string>} */
const createWords = words => Object.assign(Object.create(null), words)

const KEYS = createWords({
  capCores: 'cpuLimitCores',
  controlCapCores: 'controlCpuLimitCores',
  capReadBackCores: 'cpuLimitReadBackCores',
  isBesideOthers: 'isInterleaved',
  deployment: 'interleaving',
  turns: 'interleaved',
})

/** Kinds of trials, as `--measure` and experiment files name them, too. */
export const OLD_KINDS = createWords({ turns: 'cost', load: 'capacity' })

// Their keys are names that a user chose.
const BY_NAME = ['topologies', 'tools', 'placements', 'phasesSeconds', 'env']
// Their values are names of axes.
const AXIS_NAMES = ['across', 'contrasts', 'contrast', 'axis', 'over']

/**
 * Reads a document of a run, such as a manifest, a record or a summary: one of schema version 3 in the words of today, and
 * any other as it is.
 * @param {any} document
 */
export function modernise(document) {
  if (Array.isArray(document?.comparisons)) renameOneCore(document.comparisons)
  if (document?.schemaVersion !== OLD_SCHEMA_VERSION) return document
  const renamed = { ...rename(document), schemaVersion: SCHEMA_VERSION }
  if (renamed.trial?.arm) {
    renamed.trial.kind = kindOfTrial(renamed)
    renamed.trial.arm.kind = renamed.trial.kind
  }
  const { search, searches = [], sizes = [], growths, settings } = renamed
  const run = { isSearch: Boolean(search) || searches.length + sizes.length > 0, grows: growths ?? settings?.grows }
  for (const list of [renamed.arms, renamed.comparisons].filter(Array.isArray))
    for (const arm of list) arm.kind = kindOfArm(arm, run)
  return renamed
}

/** Kits before wrote `1 cores` in the names of proxies. @param {any[]} comparisons of a summary */
function renameOneCore(comparisons) {
  for (const comparison of comparisons)
    for (const side of ['a', 'b'])
      if (typeof comparison?.[side] === 'string') comparison[side] = comparison[side].replace(/ 1 cores$/, ' 1 core')
}

/** Reads an experiment file or published claims. @param {any} written */
export function moderniseQuestion(written) {
  const renamed = rename(written)
  if (Array.isArray(renamed?.measure))
    renamed.measure = renamed.measure.map((/** @type {string} */ kind) => OLD_KINDS[kind] ?? kind)
  return renamed
}

/** @param {any} value @param {string} [key] under which it stands @returns {any} */
function rename(value, key = '') {
  if (Array.isArray(value)) return value.map(part => rename(part, key))
  if (typeof value === 'string') {
    if (AXIS_NAMES.includes(key)) return KEYS[value] ?? value
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, part]) => {
    const now = BY_NAME.includes(key) ? name : (KEYS[name] ?? name)
    return [now, name === 'kind' && 'users' in value && part === 'turns' ? 'interleaved' : rename(part, name)]
  })
  return Object.fromEntries(entries)
}

/** Returns the kind of a trial; the oldest runs do not say it. @param {any} record @returns {string} */
function kindOfTrial({ trial, rollout, growth }) {
  if (trial.kind !== undefined) return OLD_KINDS[trial.kind] ?? trial.kind
  if (growth) return 'growth'
  if (rollout) return 'rollout'
  if (trial.searchOf !== null) return 'search'
  return trial.arm.load.isInterleaved ? 'cost' : 'capacity'
}

/** Returns the kind of an arm or a comparison, which version 3 did not say. @param {any} arm @param {{ isSearch: boolean, grows: unknown }} run */
function kindOfArm({ conditions, load }, { isSearch, grows }) {
  if (isSearch) return 'search'
  if (conditions?.sidecars !== undefined) return grows ? 'growth' : 'rollout'
  return load?.isInterleaved ? 'cost' : 'capacity'
}
