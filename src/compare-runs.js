import { isControl, nameOf } from './arms.js'
import { AXES, AXIS_NAMES, BASELINE_AXES, describeAxes, findVaried, groupOf } from './axes.js'
import { compareQuantity, compareSides, findSpread } from './compare.js'
import { cpuPerRequestMicros, MEASURES, sidecarsOf } from './measures.js'
import { findDisparities } from './parity/rows.js'
import { evaluateThreshold, parseRunThreshold } from './thresholds.js'

/**
 * Two runs, an old and a new one, arm by arm: by the statistics of two planes in one run. Pure. Long, because most of
 * comparing two runs is to say what cannot be compared, and why.
 * @import { Arm, AxisName, Comparison, Load, ParityRow, Relaxation, Service, Summary, ThresholdResult, TrialRecord } from './types.ts'
 * @import { Measure } from './measures.js'
 * @import { Threshold } from './thresholds.js'
 */

/**
 * @typedef {{ folder: string, manifest: any, records: TrialRecord[], summary: Summary }} ComparedRun
 * @typedef {{ arm: string, differing: string[] }} Refusal what was not compared, and why
 * @typedef {Pick<ThresholdResult, 'expression' | 'value' | 'held'> & Partial<ThresholdResult> & { arm: string | null }} HeldThreshold
 *   arm: with its place; null, and no link, cap or load, where no arm that has the quantity was compared
 * @typedef {object} RunComparison
 * @property {Comparison[]} comparisons of the same arm in both runs: new over old
 * @property {Comparison[]} controls of the applications' CPU per request where nothing is before them
 * @property {Refusal[]} refused
 * @property {string[]} warnings what differs, and was compared nevertheless
 * @property {HeldThreshold[]} thresholds
 * @typedef {{ old: Arm, next: Arm }} Match
 * @typedef {{ label: string, of: (manifest: any) => unknown }} Fact
 */

/** What two runs must share for any number of theirs to be comparable. @type {Fact[]} */
const SHARED = [
  { label: 'schema version', of: m => m.schemaVersion },
  { label: 'method version', of: m => m.methodVersion ?? 0 },
  { label: 'traffic policy', of: m => m.settings.trafficPolicy },
  // Their work shares the CPUs with that of the sidecars.
  { label: 'applications', of: m => m.settings.app },
]

/** What may differ, and is said. @type {Fact[]} */
const SAID = [
  { label: 'experiment', of: m => m.run.experiment },
  { label: 'set aside', of: m => relaxedBy(m).sort().join(' and ') || 'nothing' },
  { label: 'CPUs of their own', of: m => (m.settings.isPinned ? 'wanted' : 'not wanted') },
  { label: 'target', of: m => m.target },
  { label: 'node', of: m => m.machine.node },
  { label: 'CPU model', of: m => m.machine.cpuModel },
  { label: 'CPUs', of: m => m.machine.cpus },
  { label: 'governor', of: m => m.machine.governor },
  { label: 'bytes of memory', of: m => m.machine.memoryBytes },
  { label: 'kernel', of: m => m.machine.kernel },
  { label: 'cgroup version', of: m => m.machine.cgroupVersion },
  { label: 'boot id', of: m => m.machine.bootId },
  { label: 'kit', of: m => m.kit && [m.kit.version, m.kit.git].filter(Boolean).join(' ') },
]

/**
 * What two arms must share to be compared, beside the plane.
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

/** What must not change from run to run. @type {Measure} */
const CONTROL = {
  ...MEASURES[0],
  name: 'applicationCpuPerRequest',
  measure: record =>
    cpuPerRequestMicros(
      record,
      record.processes.filter(p => p.role === 'application'),
    ),
}

/**
 * Every arm that two runs share, the new over the old, in every quantity.
 * @param {{ old: ComparedRun, new: ComparedRun }} runs
 * @param {{ thresholds?: string[] }} [options] thresholds: `new/old cpuPerRequest <= 1.05`, held at every arm
 * @returns {RunComparison}
 * @throws {import('./lib/errors.js').UsageError} for a threshold that no two runs have
 */
export function compareRuns({ old, new: next }, { thresholds = [] } = {}) {
  const runs = [old, next]
  const arms = runs.flatMap(listArms)
  const loads = runs.flatMap(({ manifest }) => manifest.arms)
  const parsed = thresholds.map(expression => parseRunThreshold(expression, loads, listServices(runs)))
  const varied = findVaried(arms)
  const warnings = findWarnings({ old, next })
  const differing = findIncomparable({ old: old.manifest, next: next.manifest })
  if (differing.length > 0) {
    const refused = [{ arm: 'every arm', differing }]
    const untested = holdThresholds({ thresholds: parsed, compared: [], varied })
    return { comparisons: [], controls: [], refused, warnings, thresholds: untested }
  }
  const { matches, left } = matchArms({ old: listArms(old), next: listArms(next) })
  const controls = compareBaselines({ old, next })
  const compared = matches.map(match => {
    const own = controls.filter(control => isBaselineOf(control, match.next))
    return { match, own, comparisons: compareMatch({ old, next, match, controls: own }) }
  })
  const unknown = compared.filter(({ match, own }) => isLoaded(match.next) && own.every(c => c.ratio.median === null))
  if (unknown.length > 0) {
    const names = unknown.map(({ match }) => labelOf({ arm: match.next, varied })).join('; ')
    warnings.push(`nothing was measured without sidecars in both runs to tell what else changed between them: ${names}`)
  }
  return {
    ...{ comparisons: compared.flatMap(c => c.comparisons), controls, refused: refuseArms(left, varied), warnings },
    thresholds: holdThresholds({ thresholds: parsed, compared, varied }),
  }
}

/**
 * 5: a threshold was crossed; 3: nothing could be compared, or a quantity with a threshold was spoiled; 0 otherwise. A
 * spoiled quantity goes before a crossed threshold.
 * @param {Pick<RunComparison, 'comparisons' | 'thresholds'>} result
 * @returns {{ status: 0 | 3 | 5, reasons: string[] }}
 */
export function findCompareStatus({ comparisons, thresholds }) {
  const nothing = []
  if (comparisons.length === 0) nothing.push('nothing could be compared: the runs share no arm')
  else if (comparisons.every(c => c.ratio.median === null || c.verdict === 'invalid'))
    nothing.push('nothing could be compared: every quantity of every arm was spoiled')
  for (const { expression, arm, held } of thresholds) {
    const why = arm === null ? 'no arm that has its quantity was compared' : `its quantity was spoiled (${arm})`
    if (held === null) nothing.push(`the threshold ${expression} could not be tested: ${why}`)
  }
  if (nothing.length > 0) return { status: 3, reasons: nothing }

  const crossed = thresholds.filter(t => t.held === false)
  return {
    status: crossed.length > 0 ? 5 : 0,
    reasons: crossed.map(
      ({ expression, arm, value }) => `the threshold ${expression} was crossed: ${value?.toFixed(3)} (${arm})`,
    ),
  }
}

/**
 * Why nothing of two runs can be compared.
 * @param {{ old: any, next: any }} manifests
 */
function findIncomparable({ old, next }) {
  const [x, y] = [old, next].map(m => m.settings.profile)
  const [searched, searches] = [old, next].map(m => m.search?.kind ?? 'none')
  return [
    ...SHARED.flatMap(({ label, of }) => sayDifference({ label, old: of(old), next: of(next) })),
    ...([x, y].includes('smoke') ? [`profile: ${x} in old, ${y} in new: smoke is comparable with nothing`] : []),
    ...(old.search || next.search
      ? [`search: ${searched} in old, ${searches} in new: a search has no rounds to compare`]
      : []),
  ]
}

/**
 * What differs between two runs and is no reason not to compare them.
 * @param {{ old: ComparedRun, next: ComparedRun }} runs
 */
function findWarnings({ old, next }) {
  const [x, y] = [old.manifest, next.manifest]
  const [before, now] = [old, next].map(countRounds)
  return [
    ...SAID.flatMap(({ label, of }) => sayDifference({ label, old: of(x), next: of(y) })),
    ...Object.keys(y.tools)
      .filter(name => name in x.tools)
      .flatMap(name => sayTools({ label: name, old: x.tools[name], next: y.tools[name] })),
    ...sayDifference({ label: 'rounds', old: before, next: now }).map(
      words => `${words}: the first ${Math.min(before, now)} are compared`,
    ),
  ]
}

/**
 * Another version, or another program of the same one.
 * @param {{ label: string, old: { version: string, sha256: string }, next: { version: string, sha256: string } }} tools
 */
function sayTools({ label, old, next }) {
  if (old.version !== next.version) return sayDifference({ label, old: old.version, next: next.version })
  // An image's programs have no sum of their own.
  const [x, y] = [old, next].map(tool => `${tool.version} (sha256 ${tool.sha256.slice(0, 12) || 'unknown'})`)
  return sayDifference({ label, old: x, next: y })
}

/** @param {{ label: string, old: unknown, next: unknown }} fact */
function sayDifference({ label, old, next }) {
  const [x, y] = [old ?? 'unknown', next ?? 'unknown']
  return x === y ? [] : [`${label}: ${x} in old, ${y} in new`]
}

/**
 * Each arm with the same of the other run: by its name; else the only one left of a plane in its place, which is
 * another variant.
 * @param {{ old: Arm[], next: Arm[] }} arms
 * @returns {{ matches: Match[], left: { old: Arm[], next: Arm[] } }} in the order of the new run
 */
function matchArms({ old, next }) {
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

/**
 * @param {{ old: Arm[], next: Arm[] }} arms
 * @param {Match[]} matches
 */
function leaveOut({ old, next }, matches) {
  return {
    old: old.filter(arm => !matches.some(m => m.old === arm)),
    next: next.filter(arm => !matches.some(m => m.next === arm)),
  }
}

/**
 * What each arm without a partner differs in from the nearest of its plane that has none either; two that differ are
 * said once.
 * @param {{ old: Arm[], next: Arm[] }} left
 * @param {AxisName[]} varied
 * @returns {Refusal[]}
 */
function refuseArms({ old, next }, varied) {
  const ofNew = next.map(arm => ({ arm, old: findNearest(arm, old), next: arm }))
  const ofOld = old
    .filter(arm => !ofNew.some(r => r.old === arm))
    .map(arm => ({ arm, old: arm, next: findNearest(arm, next) }))
  return [...ofNew, ...ofOld].map(({ arm, ...sides }) => ({
    arm: labelOf({ arm, varied }),
    differing: describeDifference(sides),
  }))
}

/**
 * @param {Arm} arm
 * @param {Arm[]} others
 */
function findNearest(arm, others) {
  const apart = (/** @type {Arm} */ other) =>
    PLACE.filter(({ of }) => of(other) !== of(arm)).length + (nameOf(other) === nameOf(arm) ? 0 : 0.5)
  return others.filter(other => other.plane === arm.plane).sort((x, y) => apart(x) - apart(y))[0]
}

/** @param {{ old?: Arm, next?: Arm }} sides */
function describeDifference({ old, next }) {
  if (!old || !next) return [`not in the ${old ? 'new' : 'old'} run`]
  const differing = PLACE.filter(({ of }) => of(old) !== of(next)).map(
    ({ label, of, show }) => `${label}: ${show(of(old))} in old, ${show(of(next))} in new`,
  )
  return differing.length > 0 ? differing : sayDifference({ label: 'plane', old: nameOf(old), next: nameOf(next) })
}

/**
 * @param {{ old: ComparedRun, next: ComparedRun, match: Match, controls: Comparison[] }} options
 *   controls: of the arm without sidecars that belongs to these
 * @returns {Comparison[]}
 */
function compareMatch({ old, next, match, controls }) {
  const pair = pairOf({ old, next, match })
  const relaxed = relaxedBy(old.manifest).filter(gate => relaxedBy(next.manifest).includes(gate))
  const groups = [groupOf(match.next)]
  return compareSides({
    ...pair,
    // Rows are found by the plane's name, and both runs have one of that name.
    disparities: findDisparities({
      rows: [...nameRows(old, 'old'), ...nameRows(next, 'new')],
      a: { ...match.next, plane: pair.a.name, variant: null },
      b: { ...match.old, plane: pair.b.name, variant: null },
      relaxed,
    }),
    findNoise(quantity, service) {
      const spreads = [old, next].map(({ summary }) =>
        findSpread(summary.comparisons.filter(isControl), { quantity, service, groups }),
      )
      // Between runs at other times there is no A/A: what changed without any sidecar is noise.
      const changes = quantity === MEASURES[0].name ? controls.flatMap(c => c.ratio.median ?? []) : []
      const known = [...spreads, ...changes.map(ratio => Math.abs(ratio - 1))].filter(share => share !== null)
      return known.length > 0 ? Math.max(...known) : null
    },
  })
}

/**
 * Each threshold at every match that has its quantity.
 * @param {{ thresholds: Threshold[], compared: { match: Match, comparisons: Comparison[] }[], varied: AxisName[] }} options
 * @returns {HeldThreshold[]}
 */
function holdThresholds({ thresholds, compared, varied }) {
  return thresholds.flatMap(threshold => {
    /** @type {HeldThreshold[]} */
    const held = compared.flatMap(({ match, comparisons }) => {
      const names = /** @type {Record<string, string>} */ ({ new: comparisons[0].a, old: comparisons[0].b })
      const named = { ...threshold, a: names[threshold.a], b: names[threshold.b] }
      return evaluateThreshold(named, comparisons).map(result => ({
        ...result,
        arm: labelOf({ arm: match.next, partner: match.old, varied }),
      }))
    })
    return held.length > 0 ? held : [{ expression: threshold.expression, arm: null, value: null, held: null }]
  })
}

/**
 * The change of what the applications use where nothing is before them, wherever both runs have such an arm.
 * @param {{ old: ComparedRun, next: ComparedRun }} runs
 * @returns {Comparison[]}
 */
function compareBaselines({ old, next }) {
  const [before, now] = [old, next].map(({ manifest }) =>
    manifest.arms.filter((/** @type {Arm} */ arm) => arm.plane === 'none' && isLoaded(arm)),
  )
  return matchArms({ old: before, next: now }).matches.map(match =>
    compareQuantity({
      ...pairOf({ old, next, match }),
      ...{ measure: CONTROL, service: null, aaSpread: null, disparities: [] },
    }),
  )
}

/**
 * Whether a change without sidecars tells of an arm: in a closed loop the arms without have the users of the largest
 * cap, which can be more than those of the arm.
 * @param {Comparison} control
 * @param {Arm} arm
 */
function isBaselineOf(control, arm) {
  const names = BASELINE_AXES.filter(name => name !== 'users')
  return control.load.kind === arm.load.kind && describeAxes(control, names) === describeAxes(arm, names)
}

/**
 * Whether CPU per request is a quantity of an arm.
 * @param {Arm} arm
 */
function isLoaded({ load }) {
  return MEASURES[0].kinds.includes(load.kind)
}

/** @param {{ old: ComparedRun, next: ComparedRun, match: Match }} options */
function pairOf({ old, next, match }) {
  return {
    a: sideOf({ run: next, arm: match.next, age: 'new' }),
    b: sideOf({ run: old, arm: match.old, age: 'old' }),
    rounds: Math.min(countRounds(old), countRounds(next)),
    seed: next.manifest.run.seed,
  }
}

/** @param {{ run: ComparedRun, arm: Arm, age: 'old' | 'new' }} options */
function sideOf({ run: { records }, arm, age }) {
  return { arm, name: `${nameOf(arm)} (${age})`, records: records.filter(r => r.trial.arm.id === arm.id) }
}

/**
 * @param {ComparedRun} run
 * @param {'old' | 'new'} age
 * @returns {ParityRow[]}
 */
function nameRows({ manifest }, age) {
  return manifest.parity.map((/** @type {ParityRow} */ row) => ({ ...row, plane: `${row.plane} (${age})` }))
}

/**
 * The rounds that a run has come to, which are fewer than planned where it was cut short.
 * @param {ComparedRun} run
 */
function countRounds({ records }) {
  return Math.max(0, ...records.map(r => r.trial.round))
}

/**
 * The arms that can be compared: those with sidecars, each once.
 * @param {ComparedRun} run
 * @returns {Arm[]}
 */
function listArms({ manifest }) {
  return manifest.arms.filter((/** @type {Arm} */ arm) => arm.repeatOf === null && arm.plane !== 'none')
}

/**
 * The services of runs: of their links, and those that were measured.
 * @param {ComparedRun[]} runs
 */
function listServices(runs) {
  const names = runs.flatMap(({ manifest, records }) => [
    ...Object.values(manifest.topologies ?? {}).flatMap(t => t.services.map((/** @type {Service} */ s) => s.name)),
    ...records.flatMap(r => sidecarsOf(r).map(p => p.service)),
  ])
  return [...new Set(names)]
}

/**
 * The gates that a run's experiment sets aside.
 * @param {any} manifest
 * @returns {string[]}
 */
function relaxedBy({ settings }) {
  return settings.relaxes.map((/** @type {Relaxation} */ { gate }) => gate)
}

/**
 * @param {Arm} arm
 * @param {Arm} other
 */
function isInPlaceOf(arm, other) {
  return PLACE.every(({ of }) => of(arm) === of(other))
}

/**
 * `pipy at 0.5 cores, link pair`; with what it is held against where that has another name.
 * @param {{ arm: Arm, varied: AxisName[], partner?: Arm }} options
 */
function labelOf({ arm, varied, partner = arm }) {
  const names = [...new Set([nameOf(arm), nameOf(partner)])].join(' and ')
  const others = varied.filter(name => name !== 'capCores' && AXES[name].of(arm) !== null)
  return [
    arm.capCores === null ? names : `${names} at ${arm.capCores} cores`,
    ...others.map(name => describeAxes(arm, [name])),
  ].join(', ')
}

/**
 * A value of an axis in words that stand after the axis' label.
 * @param {AxisName} name
 * @param {any} value
 */
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
