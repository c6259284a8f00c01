import { GATES } from '../../judge/gates.js'
import { PRIMARY } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { capitalise, joinWords } from '../../lib/letters.js'
import { renderPercent } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { IDLE_LEAST } from '../../model/bounds.js'
import { renderGrowthPerRequest } from '../../model/memory-growth.js'
import { listArms, listComparisons } from '../../model/results.js'
import { renderRowName } from '../../parity/verdict/checks.js'
import { isWrong, listDifferingRows } from '../../parity/verdict/rows.js'

/**
 * Warnings that change how the numbers of a run are read, the worst first. Pure.
 * @import { Result, Summary, SummaryArm, Use } from '../../model/types.ts'
 */

/** A check that excluded a smaller share of an arm's trials is only in the report. */
const SHARE_LEAST = 1 / 3
/** More proxies as deployed than these are counted instead of named. */
const DEPLOYED_NAMES_MOST = 3

/**
 * Lists the warnings of a run.
 * @param {Summary} summary
 * @returns {string[]} sentences, the worst first; [] if there is nothing to warn of
 */
export function renderRunWarnings(summary) {
  return [
    ...renderUnequalWork(summary),
    ...renderBufferedAnswers(summary),
    ...renderSpareCpu(summary),
    ...(summary.carries ?? []).filter(({ isContradicted }) => isContradicted).map(renderContradictionWarning),
    ...renderSpoiledTrials(summary),
    ...renderLeaks(summary),
    ...renderDeployedDifferences(summary),
    ...renderByteProxies(summary),
    ...renderDrift(summary),
    ...renderBusyMachine(summary),
  ]
}

/**
 * Renders the checks in which proxies did not do equal work, without those that the experiment sets aside.
 * @param {Summary} summary
 * @returns {string[]} one warning; [] if work was equal but for these, or was not checked
 */
function renderUnequalWork(summary) {
  const names = listDifferingRows(summary).wrong.map(renderRowName)
  return names.length === 0
    ? []
    : [`UNEQUAL WORK (${names.join(', ')}): their costs cannot be compared; the report says what differs.`]
}

/**
 * Renders that CPU requests decided little, because not all CPUs were in use.
 * @param {Summary} summary
 * @returns {string[]} one sentence; [] if the check `spare-cpu` spoiled no arm
 */
function renderSpareCpu({ results, machine }) {
  const arm = listArms({ results }).find(({ spoiled }) => spoiled.some(({ gate }) => gate === 'spare-cpu'))
  if (arm === undefined) return []
  const cores = arm.conditions.neighbourCores
  return [
    `Not all CPUs were in use beside a neighbour of ${cores}, so requests decided little: fill this node with --neighbour ${machine.cpus}c.`,
  ]
}

/**
 * Renders the proxies that keep an answer until its last chunk, and those that pass each chunk on.
 * @param {Summary} summary
 * @returns {string[]} one sentence; [] if the check `streams` spoiled no proxy
 */
function renderBufferedAnswers(summary) {
  const arms = listArms(summary).filter(arm => arm.hasSidecars)
  const bufferingArms = arms.filter(({ spoiled }) => spoiled.some(({ gate }) => gate === 'streams'))
  const names = [...new Set(bufferingArms.map(renderArmName))]
  if (names.length === 0) return []
  const otherNames = [...new Set(arms.map(renderArmName))].filter(name => !names.includes(name))
  const contrast = otherNames.length === 0 ? '' : `, and ${joinWords(otherNames)} passed each chunk on: no equal work`
  return [`${joinWords(names)} kept answers until their last chunk${contrast}.`]
}

/**
 * Renders the gaps of a pair in measurements whose intervals exclude each other. The report has the intervals.
 * @param {NonNullable<Summary['carries']>[number]} band of the ratio of a pair
 * @returns {string} a sentence
 */
function renderContradictionWarning({ a, b, measured }) {
  const loadTexts = measured.map(({ load }) =>
    load.kind === 'open' ? `at ${load.ratePerSecond} req/s` : `with ${load.users} users`,
  )
  // Two measurements under one load differ in how their arms ran.
  const hasSameLoads = new Set(loadTexts).size < loadTexts.length
  const gaps = measured.map(({ load, cpuLimitCores, ratio }, i) => {
    const gap = `${Math.abs(100 * (1 - ratio)).toFixed(0)} % ${ratio < 1 ? 'less' : 'more'}`
    const mode = hasSameLoads ? ` ${load.isInterleaved ? 'interleaved' : 'alone'}` : ''
    const limit = cpuLimitCores === null ? '' : ` at ${cpuLimitCores} CPU each`
    return `${gap}${i === 0 ? ` than ${b}` : ''} ${loadTexts[i]}${mode}${limit}`
  })
  return `${a} uses ${gaps.join(', but ')}.`
}

/**
 * Renders the checks that excluded at least SHARE_LEAST of an arm's trials from what is shown, the largest share
 * first. Those of a search with an outcome are left out: it ran until it had enough trials.
 * @param {Summary} summary
 * @returns {string[]} a sentence for each check, with the reason of its first arm; [] if none excluded so many
 */
function renderSpoiledTrials({ results }) {
  const resultsWithoutOutcome = results.filter(result => !hasOutcome(result))
  const comparedNames = resultsWithoutOutcome.flatMap(({ comparisons }) =>
    comparisons.filter(c => !c.isControl).flatMap(({ a, b }) => [a, b]),
  )
  const isCompared = (/** @type {SummaryArm} */ arm) => comparedNames.some(name => name.startsWith(renderArmName(arm)))
  // Applications alone, with which nothing is compared, are only for orientation.
  const arms = listArms({ results: resultsWithoutOutcome }).filter(
    arm => arm.hasSidecars || arm.load.kind === 'open' || isCompared(arm),
  )
  const spoils = arms.flatMap(arm => {
    const total = arm.trials.completed + arm.trials.failed + arm.trials.invalid
    return arm.spoiled
      .filter(({ gate, trials }) => trials >= SHARE_LEAST * total && spoilsAnswer(gate, arm))
      .map(({ gate, trials, reason }) => ({ gate, reason, trials, total, name: renderArmName(arm) }))
  })
  const gates = [...groupBy(spoils, ({ gate }) => gate)].map(([gate, gateSpoils]) => ({
    gate,
    reason: gateSpoils[0].reason,
    trials: gateSpoils.reduce((sum, { trials }) => sum + trials, 0),
    total: gateSpoils.reduce((sum, { total }) => sum + total, 0),
    names: [...new Set(gateSpoils.map(({ name }) => name))],
  }))
  return gates
    .toSorted((x, y) => y.trials / y.total - x.trials / x.total)
    .map(({ gate, reason, trials, total, names }) => {
      const gateText = gate === 'failed' ? 'trials that failed' : (GATES.get(gate)?.words ?? gate)
      const onlyArm = names.length === 1 ? ` of ${names[0]}` : ''
      return `${capitalise(gateText)} in ${trials} of ${total} trials${onlyArm}: ${reason.split('\n')[0]}.`
    })
}

/** Says whether a result is that of a search that has an answer. @param {Result} result */
const hasOutcome = result => result.kind === 'search' && result.searches.length + result.sizes.length > 0

/**
 * Says whether a check spoils what the answer shows of an arm.
 * @param {string} gate
 * @param {SummaryArm} arm
 * @returns {boolean} true also for a gate that the table lacks, such as `failed`
 */
function spoilsAnswer(gate, { load }) {
  const spoils = /** @type {readonly Use[] | undefined} */ (GATES.get(gate)?.spoils)
  if (spoils === undefined) return true
  /** @type {Use[]} */
  const uses = ['cpuPerRequest', 'memory', load.kind === 'open' ? 'latency' : 'throughput']
  return uses.some(use => spoils.includes(use))
}

/**
 * Renders by how much the memory of sidecars grew with the requests; A/A arms are left out.
 * @param {Summary} summary
 * @returns {string[]} a sentence for each sidecar whose memory grew; [] if none did
 */
function renderLeaks(summary) {
  return listArms(summary)
    .filter(({ repeatOf }) => repeatOf === null)
    .flatMap(arm =>
      (arm.growing ?? []).map(
        ({ service, bytesPerRequest, windows, ofWindows }) =>
          `Memory of ${renderArmName(arm)} grew by ${renderGrowthPerRequest(bytesPerRequest)} (${service}, ${windows} of ${ofWindows} windows): a leak.`,
      ),
    )
}

/**
 * Renders the proxies of the kit's own profiles that carry bytes and parse no requests.
 * @param {Summary} summary
 * @returns {string[]} a sentence for each; [] if all parse requests
 */
function renderByteProxies({ parity }) {
  const deployed = new Set(parity.filter(({ isDeployed }) => isDeployed).map(({ plane }) => plane))
  const planes = new Set(parity.filter(({ carriesBytes }) => carriesBytes).map(({ plane }) => plane))
  return [...planes]
    .filter(plane => !deployed.has(plane))
    .map(plane => `${plane} carries bytes: routes, retries and metrics by request are not its work.`)
}

/**
 * Renders how many proxies do other work because a mesh deploys them in this way, and which of them carry bytes.
 * @param {Summary} summary
 * @returns {string[]} one sentence; [] if no proxy as deployed differs
 */
function renderDeployedDifferences({ parity }) {
  const rows = parity.filter(row => row.isDeployed && (isWrong(row) || row.carriesBytes))
  const planes = [...new Set(rows.map(({ plane }) => plane))]
  if (planes.length === 0) return []
  const byteProxies = new Set(rows.filter(row => row.carriesBytes).map(({ plane }) => plane))
  const subject = planes.length <= DEPLOYED_NAMES_MOST ? joinWords(planes) : `${planes.length} proxies`
  const bytes =
    byteProxies.size > 0 ? `; ${joinWords([...byteProxies])} ${byteProxies.size === 1 ? 'carries' : 'carry'} bytes` : ''
  return [`As meshes deploy them, work is not equal (${subject}${bytes}).`]
}

/**
 * Renders the first pair of arms whose ratio in the primary quantity drifted over the run; A/A pairs are left out.
 * @param {Summary} summary
 * @returns {string[]} one sentence; [] if none drifted
 */
function renderDrift(summary) {
  const drifts = listComparisons(summary).flatMap(({ a, b, quantity, service, isControl, reasons }) => {
    const drift = reasons.find(reason => reason.startsWith('the ratio drifted'))
    return drift && quantity === PRIMARY.name && service === null && !isControl ? [`${a} and ${b}: ${drift}.`] : []
  })
  return drifts.slice(0, 1)
}

/**
 * Renders that the machine was busy before the run: less than IDLE_LEAST idle.
 * @param {Summary} summary
 * @returns {string[]} one sentence; [] if it was not busy, or that was not measured
 */
function renderBusyMachine({ machine }) {
  const idle = machine.before?.idleFraction
  if (typeof idle !== 'number' || idle >= IDLE_LEAST) return []
  return [`This machine was busy before the run (${renderPercent(idle)} idle): expect wide intervals.`]
}
