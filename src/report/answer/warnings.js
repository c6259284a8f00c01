import { GATES } from '../../judge/gates.js'
import { PRIMARY } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { capitalise, joinWords } from '../../lib/letters.js'
import { renderPercent } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { IDLE_LEAST } from '../../model/bounds.js'
import { renderGrowth } from '../../model/memory-growth.js'
import { listArms, listComparisons } from '../../model/results.js'
import { isWrong, listDifferingRows } from '../../parity/verdict/rows.js'

/**
 * Warnings that change how the numbers of a run are read, the worst first. Pure.
 * @import { Result, Summary, SummaryArm, Use } from '../../model/types.ts'
 */

/** A check that excluded a smaller share of an arm's trials is only in the report. */
const SHARE_LEAST = 1 / 3

/**
 * Lists the warnings of a run. Each function below warns of one fact, and returns [] if there is none.
 * @param {Summary} summary
 * @returns {string[]} sentences, the worst first
 */
export function listWarnings(summary) {
  return [
    ...warnOfUnequalWork(summary),
    ...warnOfBufferedAnswers(summary),
    ...warnOfSpareCpu(summary),
    ...(summary.carries ?? []).filter(({ isContradicted }) => isContradicted).map(warnOfContradiction),
    ...warnOfSpoiledTrials(summary),
    ...warnOfLeaks(summary),
    ...warnOfByteProxies(summary),
    ...warnOfDeployedDifferences(summary),
    ...warnOfDrift(summary),
    ...warnOfBusyMachine(summary),
  ]
}

/**
 * Renders the checks in which proxies did not do equal work, without those that the experiment sets aside.
 * @param {Summary} summary
 * @returns {string[]} one sentence, or []
 */
function warnOfUnequalWork(summary) {
  const wrong = listDifferingRows(summary).wrong.map(name => name.replace('parity-', ''))
  return wrong.length === 0
    ? []
    : [`UNEQUAL WORK (${wrong.join(', ')}): what these proxies cost cannot be compared. The report says what differs.`]
}

/**
 * Renders that CPU requests decided little, because not all CPUs were in use.
 * @param {Summary} summary
 * @returns {string[]} one sentence, or []
 */
function warnOfSpareCpu({ results, machine }) {
  const spare = listArms({ results }).filter(arm => arm.spoiled.some(({ gate }) => gate === 'spare-cpu'))
  if (spare.length === 0) return []
  const cores = spare[0].conditions.neighbourCores
  return [
    `Not all CPUs were in use beside a neighbour of ${cores}, so requests decided little: fill this node with --neighbour ${machine.cpus}c.`,
  ]
}

/**
 * Renders the proxies that keep an answer until its last chunk, which costs more than passing on each chunk.
 * @param {Summary} summary
 * @returns {string[]} one sentence, or []
 */
function warnOfBufferedAnswers(summary) {
  const arms = listArms(summary)
  const keeping = arms.filter(arm => arm.hasSidecars && arm.spoiled.some(({ gate }) => gate === 'streams'))
  const names = [...new Set(keeping.map(renderArmName))]
  if (names.length === 0) return []
  const others = [...new Set(arms.filter(arm => arm.hasSidecars).map(renderArmName))].filter(
    name => !names.includes(name),
  )
  const rest = others.length === 0 ? '' : `, and ${joinWords(others)} passed each chunk on: no equal work`
  return [`${joinWords(names)} kept answers until their last chunk${rest}.`]
}

/**
 * Renders that the intervals of two measurements exclude each other. The report has the intervals.
 * @param {NonNullable<Summary['carries']>[number]} band of the ratio of a pair
 * @returns {string} a sentence
 */
function warnOfContradiction({ a, b, measured }) {
  const amounts = measured.map(({ load }) =>
    load.kind === 'open' ? `at ${load.ratePerSecond} req/s` : `with ${load.users} users`,
  )
  const isOneLoad = new Set(amounts).size < amounts.length
  const gaps = measured.map(({ load, cpuLimitCores, ratio }, i) => {
    const gap = `${Math.abs(100 * (1 - ratio)).toFixed(0)} % ${ratio < 1 ? 'less' : 'more'}`
    const way = isOneLoad ? ` ${load.isInterleaved ? 'interleaved' : 'alone'}` : ''
    const limit = cpuLimitCores === null ? '' : ` at ${cpuLimitCores} CPU each`
    return `${gap}${i === 0 ? ` than ${b}` : ''} ${amounts[i]}${way}${limit}`
  })
  return `${a} uses ${gaps.join(', but ')}.`
}

/**
 * Renders the checks that excluded at least SHARE_LEAST of an arm's trials from what is shown, the largest share
 * first. Those of a search with an outcome are left out: it ran until it had enough trials.
 * @param {Summary} summary
 * @returns {string[]} a sentence for each check, or []
 */
function warnOfSpoiledTrials({ results }) {
  const fired = listArms({ results: results.filter(result => !hasOutcome(result)) }).flatMap(arm => {
    const trials = arm.trials.completed + arm.trials.failed + arm.trials.invalid
    return arm.spoiled
      .filter(({ gate, trials: spoiled }) => spoiled >= SHARE_LEAST * trials && isOfAnswer(gate, arm))
      .map(({ gate, trials: spoiled, reason }) => ({ gate, reason, spoiled, trials, name: renderArmName(arm) }))
  })
  return [...groupBy(fired, ({ gate }) => gate).values()]
    .map(firedOfGate => {
      const sum = (/** @type {'spoiled' | 'trials'} */ name) =>
        firedOfGate.reduce((total, counts) => total + counts[name], 0)
      const names = [...new Set(firedOfGate.map(({ name }) => name))]
      const [{ gate, reason }] = firedOfGate
      const words = gate === 'failed' ? 'trials that failed' : (GATES.get(gate)?.words ?? gate)
      const whose = names.length === 1 ? ` of ${names[0]}` : ''
      return {
        share: sum('spoiled') / sum('trials'),
        text: `${capitalise(words)} in ${sum('spoiled')} of ${sum('trials')} trials${whose}: ${reason.split('\n')[0]}.`,
      }
    })
    .sort((x, y) => y.share - x.share)
    .map(({ text }) => text)
}

/**
 * Says whether a result is that of a search that has an answer.
 * @param {Result} result
 */
const hasOutcome = result => result.kind === 'search' && result.searches.length + result.sizes.length > 0

/** Renders by how much the memory of sidecars grew with the requests. @param {Summary} summary @returns {string[]} */
function warnOfLeaks(summary) {
  return listArms(summary)
    .filter(({ repeatOf }) => repeatOf === null)
    .flatMap(arm =>
      (arm.growing ?? []).map(
        ({ service, bytesPerRequest, windows, ofWindows }) =>
          `Memory of ${renderArmName(arm)} grew by ${renderGrowth(bytesPerRequest)} (${service}, ${windows} of ${ofWindows} windows): a leak.`,
      ),
    )
}

/**
 * Says whether a check spoils what the answer shows of an arm.
 * @param {string} name of the check
 * @param {SummaryArm} arm
 */
function isOfAnswer(name, { load }) {
  const spoils = /** @type {readonly Use[] | undefined} */ (GATES.get(name)?.spoils)
  if (spoils === undefined) return true
  /** @type {Use[]} */
  const uses = ['cpuPerRequest', 'memory', load.kind === 'open' ? 'latency' : 'throughput']
  return uses.some(use => spoils.includes(use))
}

/** Renders the proxies that carry bytes and parse no requests. @param {Summary} summary @returns {string[]} */
function warnOfByteProxies({ parity }) {
  const planes = [...new Set(parity.filter(({ carriesBytes }) => carriesBytes).map(({ plane }) => plane))]
  return planes.map(plane => `${plane} carries bytes: routes, retries and metrics by request are not its work.`)
}

/**
 * Renders the checks in which proxies do other work, because a mesh deploys them in this way.
 * @param {Summary} summary
 * @returns {string[]} one sentence, or []
 */
function warnOfDeployedDifferences({ parity }) {
  const rows = parity.filter(row => row.isDeployed && isWrong(row))
  const planes = [...groupBy(rows, ({ plane }) => plane)].map(([plane, rowsOfPlane]) => {
    return `${plane} (${[...new Set(rowsOfPlane.map(({ name }) => name.replace('parity-', '')))].join(', ')})`
  })
  return planes.length > 0 ? [`Unequal work, as meshes deploy it, is part of the cost: ${planes.join(', ')}.`] : []
}

/** Renders the first pair of planes whose ratio drifted over the run. @param {Summary} summary @returns {string[]} */
function warnOfDrift(summary) {
  const drifts = listComparisons(summary).flatMap(({ a, b, quantity, service, isControl, reasons }) => {
    const drift = reasons.find(reason => reason.startsWith('the ratio drifted'))
    return drift && quantity === PRIMARY.name && service === null && !isControl ? [`${a} and ${b}: ${drift}.`] : []
  })
  return drifts.slice(0, 1)
}

/**
 * Renders that the machine was busy before the run: less than IDLE_LEAST idle.
 * @param {Summary} summary
 * @returns {string[]} one sentence; []: it was not busy, or that was not measured
 */
function warnOfBusyMachine({ machine }) {
  const idle = machine.before?.idleFraction
  if (typeof idle !== 'number' || idle >= IDLE_LEAST) return []
  return [`This machine was busy before the run (${renderPercent(idle)} idle): expect wide intervals.`]
}
