import { nameOf } from '../model/arms.js'
import { AXES, AXIS_NAMES, describeAxes } from '../model/axes.js'
import { generatorOf } from '../model/generators.js'
import { findScripts } from '../model/scripts.js'

/**
 * What two runs must share to be compared: the runs as a whole, then each arm of theirs. What they do not share is
 * refused, or said. Pure.
 * @import { Arm, AxisName, Load, Manifest, TrialRecord } from '../model/types.ts'
 */

/**
 * @typedef {{ manifest: Manifest, records: TrialRecord[] }} RecordedRun
 * @typedef {{ arm: string, differing: string[] }} Refusal what was not compared, and why
 * @typedef {{ old: Arm, next: Arm }} Match
 * @typedef {{ label: string, of: (manifest: Manifest) => unknown, show?: (manifest: Manifest) => unknown }} Fact
 *   show: for reading, where that is more than what is compared
 */

/** Facts that two runs must share for any of their numbers to be comparable. @type {Fact[]} */
const SHARED = [
  { label: 'schema version', of: m => m.schemaVersion },
  { label: 'method version', of: m => m.methodVersion },
  { label: 'traffic policy', of: m => m.settings.trafficPolicy },
  // Their work shares the CPUs with that of the sidecars.
  { label: 'applications', of: m => m.settings.app },
  // The load generator beside a sidecar adds to its cost.
  { label: 'load generator', of: generatorOf },
  { label: 'the load came from', of: m => (m.machine.loadHost ? 'another machine' : 'the machine of the services') },
  // They decide what is counted, and what a request costs beside the sidecars.
  { label: 'scripts of the load', of: m => sumOf(m, 'generator') },
  { label: 'scripts of the applications', of: m => sumOf(m, 'application') },
]

/** A history has one machine, however many of its kind take turns. @type {Fact[]} */
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

/** Facts that change on a machine in the course of time. @type {Fact[]} */
const CHANGING = [
  { label: 'kernel', of: m => m.machine.kernel },
  {
    label: 'kit',
    of: ({ kit }) => `${kit.version} ${kit.sha256}`,
    // Every commit has another name, whether it changes the kit or not.
    show: ({ kit }) => [kit.version, kit.git, kit.sha256.slice(0, 12)].filter(Boolean).join(' '),
  },
]

/** Facts that may differ; a difference is said. @type {Fact[]} */
const SAID = [
  { label: 'experiment', of: m => m.run.experiment },
  { label: 'set aside', of: m => relaxedBy(m).sort().join(' and ') || 'nothing' },
  ...MACHINE,
  { label: 'node', of: m => m.machine.node },
  { label: 'bytes of memory', of: m => m.machine.memoryBytes },
  { label: 'boot id', of: m => m.machine.bootId },
  ...CHANGING,
]

/**
 * Facts that two arms must share to be compared, beside the plane.
 * @type {{ label: string, of: (arm: Arm) => any, show: (value: any) => string }[]}
 */
const PLACE = [
  { label: 'load', of: ({ load }) => load.kind, show: kind => (kind === 'idle' ? 'none' : `${kind} loop`) },
  ...AXIS_NAMES.filter(name => name !== 'burstSeconds').map(name => ({
    label: AXES[name].label,
    of: AXES[name].of,
    show: (/** @type {any} */ value) => sayValue(name, value),
  })),
  { label: 'burst', of: ({ load }) => JSON.stringify(load.burst), show: text => sayBurst(JSON.parse(text)) },
  { label: 'window', of: ({ load }) => load.windowSeconds, show: seconds => `${seconds} s` },
  { label: 'client', of: ({ load }) => load.hasCertificate, show: is => (is ? 'mTLS' : 'plaintext') },
]

/**
 * Why nothing of two runs can be compared.
 * @param {{ old: Manifest, next: Manifest }} manifests
 * @returns {string[]} none where something can
 */
export function findIncomparable({ old, next }) {
  const profiles = { old: old.settings.profile, next: next.settings.profile }
  const searches = { old: old.search?.kind ?? 'none', next: next.search?.kind ?? 'none' }
  return [
    ...SHARED.flatMap(fact => sayFact(fact, { old, next })),
    ...(Object.values(profiles).includes('smoke')
      ? [`${sayBoth({ label: 'profile', ...profiles })}: smoke is comparable with nothing`]
      : []),
    ...(old.search !== null || next.search !== null
      ? [`${sayBoth({ label: 'search', ...searches })}: a search has no rounds to compare`]
      : []),
  ]
}

/**
 * Differences between the machines of two runs, or in their use.
 * @param {{ old: Manifest, next: Manifest }} manifests
 */
export function findOtherMachine(manifests) {
  return MACHINE.flatMap(fact => sayFact(fact, manifests))
}

/**
 * The kernel, the kit, the tools, and the scripts of some arms.
 * @param {Manifest} manifest
 * @param {{ name: string, arm: Arm }[]} arms
 * @returns {{ label: string, value: string, shown: string }[]} value: what is compared; shown: for reading
 */
export function listChanging(manifest, arms) {
  const alike = (/** @type {string} */ label, /** @type {string} */ value) => ({ label, value, shown: value })
  return [
    ...CHANGING.map(({ label, of, show = of }) => ({
      label,
      value: `${of(manifest) ?? 'unknown'}`,
      shown: `${show(manifest) ?? 'unknown'}`,
    })),
    ...Object.entries(manifest.tools).map(([name, tool]) => alike(name, sayTool(tool))),
    ...arms.flatMap(({ name, arm }) => {
      const scripts = findScripts(manifest, { role: 'sidecar', ...pickScripts(arm) })
      return scripts ? [alike(`scripts of ${name}`, shorten(scripts.sha256))] : []
    }),
  ]
}

/**
 * Differences between two runs that do not forbid a comparison.
 * @param {{ old: RecordedRun, next: RecordedRun }} runs
 */
export function findWarnings({ old, next }) {
  const [x, y] = [old.manifest, next.manifest]
  const [before, now] = [old, next].map(countRounds)
  return [
    ...SAID.flatMap(fact => sayFact(fact, { old: x, next: y })),
    ...Object.keys(y.tools)
      .filter(name => Object.hasOwn(x.tools, name))
      .flatMap(name => sayTools({ label: name, old: x.tools[name], next: y.tools[name] })),
    ...sayDifference({ label: 'rounds', old: before, next: now }).map(
      words => `${words}: the first ${Math.min(before, now)} are compared`,
    ),
  ]
}

/**
 * What an arm ran in both runs: other scripts are what is compared, and equal ones are said where a variant has another
 * path.
 * @param {{ old: Manifest, next: Manifest, matches: Match[] }} options
 */
export function sayScripts({ old, next, matches }) {
  const lines = matches.flatMap(match => {
    const [before, now] = [
      findScripts(old, { role: 'sidecar', ...pickScripts(match.old) }),
      findScripts(next, { role: 'sidecar', ...pickScripts(match.next) }),
    ]
    if (!before || !now) return []
    const label = `scripts of ${[...new Set([nameOf(match.old), nameOf(match.next)])].join(' and ')}`
    if (before.sha256 !== now.sha256)
      return sayDifference({ label, old: shorten(before.sha256), next: shorten(now.sha256) })
    return match.old.variant === match.next.variant ? [] : [`${label}: the same in both, ${shorten(now.sha256)}`]
  })
  return [...new Set(lines)]
}

/** @param {Arm} arm */
function pickScripts({ plane, variant }) {
  return { plane, variant }
}

/** @param {Manifest} manifest @param {'generator' | 'application'} role */
function sumOf(manifest, role) {
  const found = findScripts(manifest, { role, plane: null, variant: null })
  return found && shorten(found.sha256)
}

/** @param {string} sha256 */
function shorten(sha256) {
  return `sha256 ${sha256.slice(0, 12)}`
}

/** The rounds that a run has come to, which are fewer than planned where it was cut short. @param {RecordedRun} run */
export function countRounds({ records }) {
  return Math.max(0, ...records.map(r => r.trial.round))
}

/** The gates that a run's experiment sets aside. @param {Manifest} manifest */
export function relaxedBy({ settings }) {
  return settings.relaxes.map(({ gate }) => gate)
}

/**
 * Another version, or another program of the same one.
 * @param {{ label: string, old: { version: string, sha256: string }, next: { version: string, sha256: string } }} tools
 */
function sayTools({ label, old, next }) {
  if (old.version !== next.version) return sayDifference({ label, old: old.version, next: next.version })
  return sayDifference({ label, old: sayTool(old), next: sayTool(next) })
}

/** @param {{ version: string, sha256: string }} tool */
function sayTool({ version, sha256 }) {
  // An image's programs have no sum of their own.
  return `${version} (sha256 ${sha256.slice(0, 12) || 'unknown'})`
}

/** @param {Fact} fact @param {{ old: Manifest, next: Manifest }} manifests */
function sayFact({ label, of, show = of }, { old, next }) {
  const isSame = (of(old) ?? 'unknown') === (of(next) ?? 'unknown')
  return isSame ? [] : [sayBoth({ label, old: show(old) ?? 'unknown', next: show(next) ?? 'unknown' })]
}

/** @param {{ label: string, old: unknown, next: unknown }} fact */
function sayDifference({ label, old, next }) {
  const sides = { old: old ?? 'unknown', next: next ?? 'unknown' }
  return sides.old === sides.next ? [] : [sayBoth({ label, ...sides })]
}

/** @param {{ label: string, old: unknown, next: unknown }} fact */
function sayBoth({ label, old, next }) {
  return `${label}: ${old} in old, ${next} in new`
}

/**
 * Each arm with the same of the other run: by its name; else the only one left of a plane in its place, which is
 * another variant.
 * @param {{ old: Arm[], next: Arm[] }} arms
 * @returns {{ matches: Match[], left: { old: Arm[], next: Arm[] } }} in the order of the new run
 */
export function matchArms({ old, next }) {
  const inPlace = (/** @type {Arm[]} */ arms, /** @type {Arm} */ arm) => arms.filter(other => isInPlaceOf(other, arm))
  const byName = next.flatMap(arm => {
    const same = inPlace(old, arm).find(other => nameOf(other) === nameOf(arm))
    return same ? [{ old: same, next: arm }] : []
  })
  const left = leaveOut({ old, next }, byName)
  const byPlane = left.next.flatMap(arm => {
    const [same, ...others] = inPlace(left.old, arm).filter(other => other.plane === arm.plane)
    const rivals = inPlace(left.next, arm).filter(other => other.plane === arm.plane)
    return same && others.length === 0 && rivals.length === 1 ? [{ old: same, next: arm }] : []
  })
  const matches = [...byName, ...byPlane].sort((x, y) => next.indexOf(x.next) - next.indexOf(y.next))
  return { matches, left: leaveOut(left, byPlane) }
}

/** @param {{ old: Arm[], next: Arm[] }} arms @param {Match[]} matches */
function leaveOut({ old, next }, matches) {
  return {
    old: old.filter(arm => !matches.some(m => m.old === arm)),
    next: next.filter(arm => !matches.some(m => m.next === arm)),
  }
}

/** @param {Arm} arm @param {Arm} other */
function isInPlaceOf(arm, other) {
  return PLACE.every(({ of }) => of(arm) === of(other))
}

/**
 * What each arm without a partner differs in from the nearest of its plane that has none either; two that differ are
 * said once.
 * @param {{ old: Arm[], next: Arm[] }} left
 * @param {AxisName[]} varied
 * @returns {Refusal[]}
 */
export function refuseArms({ old, next }, varied) {
  const ofNew = next.map(arm => ({ arm, old: findNearest(arm, old), next: arm }))
  const ofOld = old
    .filter(arm => !ofNew.some(r => r.old === arm))
    .map(arm => ({ arm, old: arm, next: findNearest(arm, next) }))
  return [...ofNew, ...ofOld].map(({ arm, ...sides }) => ({
    arm: nameMatch({ arm, varied }),
    differing: sayDifferences(sides),
  }))
}

/** @param {Arm} arm @param {Arm[]} others */
function findNearest(arm, others) {
  const apart = (/** @type {Arm} */ other) =>
    PLACE.filter(({ of }) => of(other) !== of(arm)).length + (nameOf(other) === nameOf(arm) ? 0 : 0.5)
  return others.filter(other => other.plane === arm.plane).sort((x, y) => apart(x) - apart(y))[0]
}

/** @param {{ old?: Arm, next?: Arm }} sides */
function sayDifferences({ old, next }) {
  if (!old || !next) return [`not in the ${old ? 'new' : 'old'} run`]
  const differing = PLACE.filter(({ of }) => of(old) !== of(next)).map(({ label, of, show }) =>
    sayBoth({ label, old: show(of(old)), next: show(of(next)) }),
  )
  return differing.length > 0 ? differing : sayDifference({ label: 'plane', old: nameOf(old), next: nameOf(next) })
}

/**
 * `pipy at 0.5 cores, link pair`; with what it is held against where that has another name.
 * @param {{ arm: Arm, varied: AxisName[], partner?: Arm }} options
 */
export function nameMatch({ arm, varied, partner = arm }) {
  const names = [...new Set([nameOf(arm), nameOf(partner)])].join(' and ')
  const others = varied.filter(name => name !== 'capCores' && AXES[name].of(arm) !== null)
  return [
    arm.capCores === null ? names : `${names} at ${arm.capCores} cores`,
    ...others.map(name => describeAxes(arm, [name])),
  ].join(', ')
}

/** A value of an axis in words that stand after the axis' label. @param {AxisName} name @param {any} value */
function sayValue(name, value) {
  const { label, show } = AXES[name]
  if (value === null && name === 'ratePerSecond') return 'none'
  const words = show(value)
  return words.startsWith(`${label} `) ? words.slice(label.length + 1) : words
}

/** @param {Load['burst']} burst */
function sayBurst(burst) {
  if (burst === null) return 'none'
  return `${burst.factor} times the rate for ${burst.seconds} s after ${burst.beginsSeconds} s`
}
