import { listAnswerBytes } from '../judge/record/measures.js'
import { renderArmName } from '../model/arms.js'
import { findGenerator, findRecordedScripts } from '../model/tools.js'
import { renderBothValues, renderFact } from './match-arms.js'

/**
 * Facts that two runs must share to be compared, and others. Pure.
 * @import { Fact, Match } from './match-arms.js'
 */
/** @import { Arm, Manifest, Tool, TrialRecord } from '../model/types.ts' */

/** @typedef {{ manifest: Manifest, records: TrialRecord[] }} RecordedRun */

/** Facts that two runs must share for any of their numbers to be comparable. @type {Fact<Manifest>[]} */
const SHARED = [
  { label: 'schema version', of: m => m.schemaVersion },
  { label: 'method version', of: m => m.methodVersion },
  { label: 'traffic policy', of: m => m.settings.trafficPolicy },
  // The applications share the CPUs with the sidecars.
  { label: 'applications', of: m => m.settings.app },
  // The load generator beside a sidecar adds to its cost.
  { label: 'load generator', of: findGenerator },
  { label: 'the load came from', of: m => (m.machine.loadHost ? 'another machine' : 'the machine of the services') },
  // Scripts decide what is counted, and what a request costs beside the sidecars.
  { label: 'scripts of the load', of: m => renderChecksum(m, 'generator') },
  { label: 'scripts of the applications', of: m => renderChecksum(m, 'application') },
]

/** Facts by which a run is comparable with no other (isAlone). @type {(Fact<Manifest> & { isAlone: (value: any) => boolean, why: string })[]} */
const ALONE = [
  {
    label: 'profile',
    of: m => m.settings.profile,
    isAlone: v => v === 'smoke',
    why: 'smoke is comparable with nothing',
  },
  {
    label: 'search',
    of: m => m.search?.kind ?? 'none',
    isAlone: kind => kind !== 'none',
    why: 'a search has no rounds to compare',
  },
]

/** Facts of the machine that runs of one history share; they may come from several machines of a kind. @type {Fact<Manifest>[]} */
const MACHINE = [
  { label: 'CPUs of their own', of: m => (m.settings.isPinned ? 'wanted' : 'not wanted') },
  { label: 'target', of: m => m.target },
  { label: 'CPU model', of: m => m.machine.cpuModel },
  { label: 'CPUs', of: m => m.machine.cpus },
  {
    label: 'machine of the load',
    of: ({ machine: { loadHost } }) => loadHost && `${loadHost.host} (${loadHost.cpuModel})`,
  },
  { label: 'governor', of: m => m.machine.governor },
  { label: 'cgroup version', of: m => m.machine.cgroupVersion },
]

/** Facts that change on a machine over time. @type {Fact<Manifest>[]} */
const CHANGING = [
  { label: 'kernel', of: m => m.machine.kernel },
  {
    label: 'kit',
    of: ({ kit }) => `${kit.version} ${kit.sha256}`,
    // Every commit has another name, whether it changes the kit or not.
    render: ({ kit }) => [kit.version, kit.git, kit.sha256.slice(0, 12)].filter(Boolean).join(' '),
  },
]

/** Facts that may differ; a difference becomes a warning. @type {Fact<Manifest>[]} */
const SAID = [
  { label: 'experiment', of: m => m.run.experiment },
  { label: 'set aside', of: m => listRelaxedGates(m).sort().join(' and ') || 'nothing' },
  ...MACHINE,
  { label: 'node', of: m => m.machine.node },
  { label: 'bytes of memory', of: m => m.machine.memoryBytes },
  // The memory of a process depends on it, and a little of its CPU.
  { label: 'transparent huge pages', of: m => m.machine.transparentHugePages },
  { label: 'boot id', of: m => m.machine.bootId },
  ...CHANGING,
]

/**
 * Lists why no numbers of two runs can be compared.
 * @param {{ old: Manifest, next: Manifest }} manifests
 * @returns {string[]} []: some may be comparable
 */
export function listIncomparableReasons({ old, next }) {
  const alone = ALONE.flatMap(({ label, of: findFact, isAlone, why }) => {
    const sides = { old: findFact(old), next: findFact(next) }
    return Object.values(sides).some(isAlone) ? [`${renderBothValues({ label, ...sides })}: ${why}`] : []
  })
  return [...SHARED.flatMap(fact => renderFact(fact, { old, next })), ...alone]
}

/**
 * Lists the differences between the machines of two runs.
 * @param {{ old: Manifest, next: Manifest }} manifests
 * @returns {string[]} []: the machines are of one kind
 */
export function listMachineDifferences(manifests) {
  return MACHINE.flatMap(fact => renderFact(fact, manifests))
}

/**
 * Lists the facts of a run that may change over time, with its tools and with the scripts of arms that have some.
 * @param {Manifest} manifest
 * @param {{ name: string, arm: Arm }[]} arms name: that of the contender, for the label
 * @returns {{ label: string, value: string, text: string }[]} value: is compared; text: for readers
 */
export function listChangingFacts(manifest, arms) {
  const createFact = (/** @type {string} */ label, /** @type {string} */ value) => ({ label, value, text: value })
  return [
    ...CHANGING.map(({ label, of: findFact, render = findFact }) => ({
      label,
      value: `${findFact(manifest) ?? 'unknown'}`,
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
export function listWarnings({ old, next }) {
  const [x, y] = [old.manifest, next.manifest]
  return [
    ...SAID.flatMap(fact => renderFact(fact, { old: x, next: y })),
    ...Object.keys(y.tools)
      .filter(name => Object.hasOwn(x.tools, name))
      .flatMap(label => {
        // Either the version differs, or, with one version, the checksum of the program.
        const tools = { old: x.tools[label], next: y.tools[label] }
        const isSame = tools.old.version === tools.next.version
        return renderFact({ label, of: isSame ? renderTool : tool => tool.version }, tools)
      }),
    ...renderFact({ label: 'rounds', of: countRounds }, { old, next }).map(
      words => `${words}: the first ${Math.min(countRounds(old), countRounds(next))} are compared`,
    ),
  ]
}

/**
 * Renders the changed scripts of matched arms, and variants with other names and the same scripts.
 * @param {{ old: Manifest, next: Manifest, matches: Match[] }} options
 * @returns {string[]} []: nothing changed, or a run recorded no scripts
 */
export function renderScriptChanges({ old, next, matches }) {
  const lines = matches.flatMap(match => {
    const oldScripts = findRecordedScripts(old, { ...match.old, role: 'sidecar' })
    const newScripts = findRecordedScripts(next, { ...match.next, role: 'sidecar' })
    if (!oldScripts || !newScripts) return []
    const label = `scripts of ${[...new Set([renderArmName(match.old), renderArmName(match.next)])].join(' and ')}`
    if (oldScripts.sha256 !== newScripts.sha256)
      return renderFact(
        { label, of: ({ sha256 }) => abbreviateChecksum(sha256) },
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
 * @returns {string[]} []: no size changed, or a run recorded none
 */
export function renderAnswerChanges(matches, runs) {
  const lines = matches.flatMap(match => {
    const [old, next] = [renderAnswerBytes(runs.old, match.old), renderAnswerBytes(runs.next, match.next)]
    if (old === '' || next === '') return []
    return renderFact(
      { label: `bytes of an answer to ${renderArmName(match.next)}`, of: bytes => bytes },
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
 * Renders the checksum of a role's scripts, abbreviated.
 * @param {Manifest} manifest
 * @param {'generator' | 'application'} role
 * @returns {string | undefined} undefined: none was recorded
 */
function renderChecksum(manifest, role) {
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
 * Finds the number of the last round of which a run has records. If the run was cut short, fewer than planned have some.
 * @param {RecordedRun} run
 * @returns {number} 0: it has no records
 */
export function countRounds({ records }) {
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
 * Renders the version and the abbreviated checksum of a tool.
 * @param {Tool} tool
 * @returns {string}
 */
function renderTool({ version, sha256 }) {
  // The programs of an image have no checksum of their own.
  return `${version} (sha256 ${sha256.slice(0, 12) || 'unknown'})`
}
