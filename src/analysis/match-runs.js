import { listAnswerBytes } from '../judge/record/measures.js'
import { renderArmName } from '../model/arms.js'
import { findGenerator, findRecordedScripts } from '../model/tools.js'
import { renderBothValues, renderFactDifference } from './match-arms.js'

/**
 * Lists the facts in which two runs differ: those that they must share to be compared, and others. Pure.
 * @import { Fact, Match } from './match-arms.js'
 */
/** @import { Arm, Manifest, Tool, TrialRecord } from '../model/types.ts' */

/** @typedef {{ manifest: Manifest, records: TrialRecord[] }} RecordedRun */

/** Two runs must share these facts for any of their numbers to be comparable. @type {Fact<Manifest>[]} */
const REQUIRED_FACTS = [
  { label: 'schema version', read: m => m.schemaVersion },
  { label: 'method version', read: m => m.methodVersion },
  { label: 'traffic policy', read: m => m.settings.trafficPolicy },
  // The applications share the CPUs with the sidecars.
  { label: 'applications', read: m => m.settings.app },
  // The load generator beside a sidecar adds to its cost.
  { label: 'load generator', read: findGenerator },
  { label: 'the load came from', read: m => (m.machine.loadHost ? 'another machine' : 'the machine of the services') },
  // Scripts decide what is counted, and what a request costs beside the sidecars.
  { label: 'scripts of the load', read: m => renderScriptsChecksum(m, 'generator') },
  { label: 'scripts of the applications', read: m => renderScriptsChecksum(m, 'application') },
]

/**
 * A fact, some values of which (isIsolating) make a run comparable with no other.
 * @typedef {Fact<Manifest> & { isIsolating: (value: any) => boolean, why: string }} IsolatingFact
 */

/** @type {IsolatingFact[]} */
const ISOLATING_FACTS = [
  {
    label: 'profile',
    read: m => m.settings.profile,
    isIsolating: profile => profile === 'smoke',
    why: 'smoke is comparable with nothing',
  },
  {
    label: 'search',
    read: m => m.search?.kind ?? 'none',
    isIsolating: kind => kind !== 'none',
    why: 'a search has no rounds to compare',
  },
]

/** The runs of one history share these facts, though they may come from several machines of a kind. @type {Fact<Manifest>[]} */
const MACHINE_FACTS = [
  { label: 'CPUs of their own', read: m => (m.settings.isPinned ? 'wanted' : 'not wanted') },
  { label: 'target', read: m => m.target },
  { label: 'CPU model', read: m => m.machine.cpuModel },
  { label: 'CPUs', read: m => m.machine.cpus },
  {
    label: 'machine of the load',
    read: ({ machine: { loadHost } }) => loadHost && `${loadHost.host} (${loadHost.cpuModel})`,
  },
  { label: 'governor', read: m => m.machine.governor },
  { label: 'cgroup version', read: m => m.machine.cgroupVersion },
]

/** These facts change on a machine over time. @type {Fact<Manifest>[]} */
const CHANGING_FACTS = [
  { label: 'kernel', read: m => m.machine.kernel },
  {
    label: 'kit',
    read: ({ kit }) => `${kit.version} ${kit.sha256}`,
    // Every commit has another name, whether it changes the kit or not.
    render: ({ kit }) => [kit.version, kit.git, kit.sha256.slice(0, 12)].filter(Boolean).join(' '),
  },
]

/** These facts may differ; a difference becomes a warning. @type {Fact<Manifest>[]} */
const WARNING_FACTS = [
  { label: 'experiment', read: m => m.run.experiment },
  { label: 'set aside', read: m => listRelaxedGates(m).sort().join(' and ') || 'nothing' },
  ...MACHINE_FACTS,
  { label: 'node', read: m => m.machine.node },
  { label: 'bytes of memory', read: m => m.machine.memoryBytes },
  // The memory of a process depends on them, and a little of its CPU.
  { label: 'transparent huge pages', read: m => m.machine.transparentHugePages },
  { label: 'boot id', read: m => m.machine.bootId },
  ...CHANGING_FACTS,
]

/**
 * Lists why no numbers of two runs can be compared.
 * @param {{ old: Manifest, next: Manifest }} manifests
 * @returns {string[]} []: some may be comparable
 */
export function listIncomparableReasons({ old, next }) {
  const isolatingReasons = ISOLATING_FACTS.flatMap(({ label, read, isIsolating, why }) => {
    const sides = { old: read(old), next: read(next) }
    return Object.values(sides).some(isIsolating) ? [`${renderBothValues({ label, ...sides })}: ${why}`] : []
  })
  return [...REQUIRED_FACTS.flatMap(fact => renderFactDifference(fact, { old, next })), ...isolatingReasons]
}

/**
 * Lists the differences between the machines of two runs.
 * @param {{ old: Manifest, next: Manifest }} manifests
 * @returns {string[]} []: the machines are of one kind
 */
export function listMachineDifferences(manifests) {
  return MACHINE_FACTS.flatMap(fact => renderFactDifference(fact, manifests))
}

/**
 * Lists the facts of a run that may change over time: kernel, kit, its tools, and the scripts of those arms that have some.
 * @param {Manifest} manifest
 * @param {{ name: string, arm: Arm }[]} arms name: that of the contender, for the label
 * @returns {{ label: string, value: string, text: string }[]} value: is compared; text: for readers; `unknown`: it was not recorded
 */
export function listChangingFacts(manifest, arms) {
  const createFact = (/** @type {string} */ label, /** @type {string} */ value) => ({ label, value, text: value })
  return [
    ...CHANGING_FACTS.map(({ label, read, render = read }) => ({
      label,
      value: `${read(manifest) ?? 'unknown'}`,
      text: `${render(manifest) ?? 'unknown'}`,
    })),
    ...Object.entries(manifest.tools).map(([name, tool]) => createFact(name, renderTool(tool))),
    ...arms.flatMap(({ name, arm }) => {
      const scripts = findRecordedScripts(manifest, { ...arm, role: 'sidecar' })
      return scripts ? [createFact(`scripts of ${name}`, abbreviateChecksum(scripts.sha256))] : []
    }),
  ]
}

/**
 * Lists the differences that do not forbid a comparison, as warnings. Tools that one run alone has are ignored.
 * @param {{ old: RecordedRun, next: RecordedRun }} runs
 * @returns {string[]} []: there are none
 */
export function listComparisonWarnings({ old, next }) {
  const manifests = { old: old.manifest, next: next.manifest }
  const rounds = renderFactDifference({ label: 'rounds', read: findLastRound }, { old, next })
  const leastRounds = Math.min(findLastRound(old), findLastRound(next))
  return [
    ...WARNING_FACTS.flatMap(fact => renderFactDifference(fact, manifests)),
    ...renderToolDifferences(manifests),
    ...rounds.map(words => `${words}: the first ${leastRounds} are compared`),
  ]
}

/**
 * Renders the tools that both runs have, and whose versions differ or, with one version, whose checksums.
 * @param {{ old: Manifest, next: Manifest }} manifests
 * @returns {string[]} []: they are the same
 */
function renderToolDifferences({ old, next }) {
  const sharedNames = Object.keys(next.tools).filter(name => Object.hasOwn(old.tools, name))
  return sharedNames.flatMap(label => {
    const tools = { old: old.tools[label], next: next.tools[label] }
    const isSameVersion = tools.old.version === tools.next.version
    return renderFactDifference({ label, read: isSameVersion ? renderTool : tool => tool.version }, tools)
  })
}

/**
 * Renders the scripts of matched arms that changed, and those that are the same under the names of two variants.
 * @param {{ old: Manifest, next: Manifest, matches: Match[] }} options
 * @returns {string[]} each line once; []: nothing changed, or a run recorded no scripts
 */
export function renderScriptChanges({ old, next, matches }) {
  const lines = matches.flatMap(match => {
    const oldScripts = findRecordedScripts(old, { ...match.old, role: 'sidecar' })
    const newScripts = findRecordedScripts(next, { ...match.next, role: 'sidecar' })
    if (!oldScripts || !newScripts) return []
    const label = `scripts of ${[...new Set([renderArmName(match.old), renderArmName(match.next)])].join(' and ')}`
    if (oldScripts.sha256 !== newScripts.sha256)
      return renderFactDifference(
        { label, read: ({ sha256 }) => abbreviateChecksum(sha256) },
        { old: oldScripts, next: newScripts },
      )
    return match.old.variant === match.next.variant
      ? []
      : [`${label}: the same in both, ${abbreviateChecksum(newScripts.sha256)}`]
  })
  return [...new Set(lines)]
}

/**
 * Renders the matched arms whose answers to the request of a pipeline changed their size, which changes the work.
 * @param {Match[]} matches
 * @param {{ old: RecordedRun, next: RecordedRun }} runs
 * @returns {string[]} each line once; []: no size changed, or a run recorded none
 */
export function renderAnswerChanges(matches, runs) {
  const lines = matches.flatMap(match => {
    const [old, next] = [renderAnswerBytes(runs.old, match.old), renderAnswerBytes(runs.next, match.next)]
    if (old === '' || next === '') return []
    return renderFactDifference(
      { label: `bytes of an answer to ${renderArmName(match.next)}`, read: bytes => bytes },
      { old, next },
    )
  })
  return [...new Set(lines)]
}

/**
 * Renders the sizes of an arm's answers in bytes: `120 or 124`.
 * @param {RecordedRun} run
 * @param {Arm} arm
 * @returns {string} empty: none were recorded
 */
const renderAnswerBytes = ({ records }, { id }) =>
  listAnswerBytes(records.filter(({ trial }) => trial.arm.id === id)).join(' or ')

/**
 * Renders the abbreviated checksum of a role's scripts.
 * @param {Manifest} manifest
 * @param {'generator' | 'application'} role
 * @returns {string | undefined} undefined: none was recorded
 */
function renderScriptsChecksum(manifest, role) {
  const scripts = findRecordedScripts(manifest, { role, plane: null, variant: null })
  return scripts && abbreviateChecksum(scripts.sha256)
}

/**
 * Abbreviates a checksum to 12 hexadecimal digits: `sha256 0123456789ab`.
 * @param {string} sha256
 * @returns {string}
 */
function abbreviateChecksum(sha256) {
  return `sha256 ${sha256.slice(0, 12)}`
}

/**
 * Finds the number of the last round that has a record. A run that was cut short has fewer than planned.
 * @param {Pick<RecordedRun, 'records'>} run
 * @returns {number} from 1; 0: it has no records
 */
export function findLastRound({ records }) {
  return Math.max(0, ...records.map(r => r.trial.round))
}

/**
 * Lists the names of the gates that a run's experiment sets aside.
 * @param {Manifest} manifest
 * @returns {string[]} []: none
 */
export function listRelaxedGates({ settings }) {
  return settings.relaxes.map(({ gate }) => gate)
}

/**
 * Renders the version and the abbreviated checksum of a tool: `1.5 (sha256 0123456789ab)`.
 * @param {Tool} tool
 * @returns {string} `unknown` instead of a checksum that the tool does not have
 */
function renderTool({ version, sha256 }) {
  // The programs of an image have no checksum of their own.
  return `${version} (sha256 ${sha256.slice(0, 12) || 'unknown'})`
}
