import { GIB, MIB, renderNounCount } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { renderMillicores, roundLimitsUp } from '../../model/container-limits.js'
import { computeServiceMs, computeServiceP99Ms } from '../../model/requests.js'
import { drawOlderSizes, renderOlderChecks, renderOlderSavings, warnOfOlderSize } from './before/answer.js'
import { renderSaving } from './found-limits.js'
import { computeNodeFit } from './nodes.js'
import { hasAnswer } from './size-answer.js'
import { drawSearches, renderSearches, warnOfSearch } from './value-answer.js'

/** The answer of searches: the limits, or the rates, that were found. Pure. */
/** @import { ResultOf, SummaryArm } from '../../model/types.ts' */
/** @import { ContainerLimits } from '../../model/container-limits.js' */
/** @import { Answered, Place } from '../sections.js' */
/** @import { Cell, KindAnswer, Picture } from '../../answer/picture.js' */
/** @import { AnsweredSize } from './size-answer.js' */

/**
 * Creates the answer of a run's searches. Those of older kits have no `answer`, and are drawn by their own fields.
 * @param {Answered<ResultOf<'search'>>} answered
 * @returns {KindAnswer | null} null: there is no result
 */
export function answerSearches({ result: { sizes, searches, arms }, summary: { machine }, place = {} }) {
  if (sizes.length + searches.length === 0) return null
  const answeredSizes = sizes.filter(hasAnswer)
  const olderSizes = sizes.filter(size => !hasAnswer(size))
  return {
    pictures: [...drawAnsweredSizes(answeredSizes, place), ...drawOlderSizes(olderSizes), ...drawSearches(searches)],
    verdicts: [
      ...renderLimitVerdicts(answeredSizes, place),
      ...renderOlderChecks(olderSizes),
      ...renderOlderSavings(olderSizes),
      ...renderSearches(searches),
    ],
    basis: [
      ...renderServiceTimeNote(arms),
      ...renderRequestNote(answeredSizes, Number(machine.cpus)),
      ...renderMemoryNote(answeredSizes),
      ...(answeredSizes.length > 0 && place.node ? [renderNodeNote(place.node)] : []),
    ],
    warnings: [
      ...answeredSizes.flatMap(warnOfUnconfirmedSize),
      ...warnOfOtherPrograms(answeredSizes),
      ...olderSizes.flatMap(warnOfOlderSize),
      ...searches.flatMap(warnOfSearch),
    ],
  }
}

/**
 * Renders how much of the p99 is service time of the application.
 * @param {SummaryArm[]} arms
 * @returns {string[]} one sentence; []: the application has none
 */
function renderServiceTimeNote(arms) {
  const times = arms.flatMap(({ load }) => {
    const meanMs = computeServiceMs(load)
    if (meanMs === 0) return []
    const p99Ms = computeServiceP99Ms(load.requests ?? [])
    // A constant time equals its p99, which is computed to 0.1 ms.
    const isConstant = Math.abs(p99Ms - meanMs) < 0.1
    return [isConstant ? `${meanMs} ms` : `${Number(meanMs.toFixed(1))} ms on average and ${p99Ms} ms at its own p99`]
  })
  const distinctTimes = [...new Set(times)].join(' or ')
  return distinctTimes === '' ? [] : [`The p99 includes the service time of the application, ${distinctTimes}.`]
}

/**
 * Renders how CPU requests were tried, and whether the neighbour left enough CPU that they decided little.
 * @param {AnsweredSize[]} sizes
 * @param {number} cpus of this machine
 * @returns {string[]} one sentence; []: there was no neighbour
 */
function renderRequestNote(sizes, cpus) {
  const [neighbourCores] = sizes.flatMap(size => size.neighbourCores ?? [])
  if (neighbourCores === undefined) return []
  const spare = `: the neighbour left ${Number((cpus - neighbourCores).toFixed(2))} of ${renderNounCount(cpus, 'CPU')} to all, whatever they request (--neighbour ${cpus}c fills this machine)`
  return [`CPU requests were tried without a CPU limit${neighbourCores < cpus ? spare : ''}.`]
}

/**
 * Renders which memory the limits count: cgroup memory, of which the kubelet's working set leaves out inactive file
 * pages (https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/#memory).
 * @param {AnsweredSize[]} sizes
 * @returns {string[]} one sentence; []: no answer has limits
 */
function renderMemoryNote(sizes) {
  const limited = sizes.filter(({ answer }) => answer.limits !== null)
  if (limited.length === 0) return []
  const areTried = limited.every(({ answer }) => answer.trials.length > 0)
  return [
    `Memory is what a pod's limit counts: its working set and droppable file pages${areTried ? ', against which it was tried' : ''}; neither RSS nor PSS.`,
  ]
}

/**
 * Draws requests and limits, and in how many trials they met the p99.
 * @param {AnsweredSize[]} sizes
 * @param {Place} place
 * @returns {Picture[]} one; []: there are no sizes
 */
function drawAnsweredSizes(sizes, { node = null }) {
  if (sizes.length === 0) return []
  const isOfServices = sizes.some(({ services }) => services.length > 0)
  const [{ p99LimitMs }] = sizes
  const isSameLimit = sizes.every(size => size.p99LimitMs === p99LimitMs)
  const countedNode = isOfServices ? null : node
  return [
    {
      isOfProxies: !isOfServices,
      columns: [
        { heading: 'CPU request' },
        { heading: 'CPU limit' },
        { heading: 'memory limit' },
        { heading: isSameLimit ? `p99 ≤ ${p99LimitMs} ms` : 'p99' },
        { heading: 'met' },
        ...(countedNode ? [{ heading: `pods on ${countedNode.name}` }] : []),
        { heading: '', align: 'left' },
      ],
      rows: sizes.map(size => ({
        label: isOfServices ? `${renderArmName(size)} ${size.services.join(', ')}` : renderArmName(size),
        cells: [
          ...drawAnswerCells(size, isSameLimit),
          ...(countedNode ? [drawPodCount(size, countedNode)] : []),
          { text: size.answer.state === 'none' ? 'no limits here' : size.answer.state },
        ],
      })),
    },
  ]
}

/**
 * Draws how many pods with the limits of a size fit on a node.
 * @param {AnsweredSize} size
 * @param {NonNullable<Place['node']>} node
 * @returns {Cell | null} null: it has no limits
 */
function drawPodCount({ answer: { limits } }, { left }) {
  return limits && { text: `${computeNodeFit(roundLimitsUp(limits), left).count}` }
}

/**
 * Draws request, limits, p99, and the number of trials that met it.
 * @param {AnsweredSize} size
 * @param {boolean} isSameLimit all sizes have the same p99 limit
 * @returns {(Cell | null)[]} five cells; null: the size has no limits, no need or no p99
 */
function drawAnswerCells({ answer, p99LimitMs, neighbourCores }, isSameLimit) {
  const { limits, state, requestCores, p99Ms, met, missed, notJudged, besideOthers } = answer
  if (limits === null) return [null, null, null, null, missed > 0 ? { text: `0 of ${missed}` } : null]
  const { millicores, mebibytes } = roundLimitsUp(limits)
  // Confirmed limits do not depend on trials that were not judged; the report lists those.
  const notJudgedText = notJudged > 0 && state !== 'confirmed' ? `, ${notJudged} not judged` : ''
  const besideText = besideOthers === undefined ? '' : ', beside others'
  const p99LimitText = isSameLimit ? '' : ` of ${p99LimitMs}`
  return [
    requestCores === null ? null : { text: renderMillicores(requestCores) },
    { text: neighbourCores === undefined ? `${millicores}m` : 'no limit' },
    { text: `${mebibytes}Mi` },
    p99Ms === null ? null : { text: `${p99Ms.toFixed(p99Ms < 10 ? 1 : 0)} ms${p99LimitText}` },
    { text: `${met} of ${met + missed}${notJudgedText}${besideText}` },
  ]
}

/**
 * Renders how the needs of the first proxy with limits compare to those of the others, or its limits if it is alone, and the limits
 * of a fleet. Without limits, or for a file of services, it counts the confirmed answers.
 * @param {AnsweredSize[]} sizes
 * @param {Place} place
 * @returns {string[]} sentences; []: there are no sizes
 */
function renderLimitVerdicts(sizes, { nodes = null }) {
  const sizesWithLimits = sizes.flatMap(size =>
    size.answer.limits && size.services.length === 0 ? [{ size, limits: roundLimitsUp(size.answer.limits) }] : [],
  )
  if (sizesWithLimits.length === 0) return renderConfirmedCount(sizes)
  const [first, ...others] = sizesWithLimits
  return [
    ...(others.length === 0 ? [renderLimitVerdict(first)] : []),
    ...others.map(other => renderLimitComparison(first, other, nodes)),
    ...(nodes === null ? [] : [renderFleets(sizesWithLimits, nodes)]),
  ]
}

/** @typedef {{ size: AnsweredSize, limits: ContainerLimits }} SizeWithLimits */

/**
 * Renders how many answers are confirmed.
 * @param {AnsweredSize[]} sizes
 * @returns {string[]} one sentence; []: there are no sizes
 */
function renderConfirmedCount(sizes) {
  if (sizes.length === 0) return []
  const confirmed = sizes.filter(({ answer }) => answer.state === 'confirmed').length
  return [`${confirmed} of ${renderNounCount(sizes.length, 'answer')} confirmed by every trial at its limits.`]
}

/**
 * Renders the limits of a proxy, and how sure they are.
 * @param {SizeWithLimits} sized
 * @returns {string} a sentence
 */
function renderLimitVerdict({ size, limits: { millicores, mebibytes } }) {
  const { state, why } = size.answer
  return `${renderArmName(size)} needs ${millicores}m CPU and ${mebibytes}Mi memory: ${state}: ${why}.`
}

/**
 * Renders how much less a proxy needs than another, for a pod and for a fleet.
 * @param {SizeWithLimits} first
 * @param {SizeWithLimits} other
 * @param {number | null} nodes their number in the fleet; null: there is no fleet
 * @returns {string} a sentence
 */
function renderLimitComparison(first, other, nodes) {
  const savings = {
    millicores: other.limits.millicores - first.limits.millicores,
    mebibytes: other.limits.mebibytes - first.limits.mebibytes,
  }
  const cpu = renderSaving(savings.millicores, 'm')
  const memory = renderSaving(savings.mebibytes, 'Mi')
  const ofFleet = nodes === null ? '' : `: ${renderFleetSavings(savings, nodes)} on ${nodes} nodes`
  return `The limits of a pod with ${renderArmName(first.size)}: ${cpu} CPU and ${memory} memory than with ${renderArmName(other.size)}${ofFleet}.`
}

/**
 * Renders savings over all nodes; negative ones read `more`.
 * @param {{ millicores: number, mebibytes: number }} savings of a pod
 * @param {number} nodes their number, with one pod each
 * @returns {string} `3.0 cores and 2.0 GiB less`
 */
function renderFleetSavings(savings, nodes) {
  const { cpu, memory } = renderFleetTotals(savings, nodes)
  const cpuDirection = savings.millicores < 0 ? 'more' : 'less'
  const memoryDirection = savings.mebibytes < 0 ? 'more' : 'less'
  return cpuDirection === memoryDirection
    ? `${cpu} and ${memory} ${cpuDirection}`
    : `${cpu} ${cpuDirection} and ${memory} ${memoryDirection}`
}

/**
 * Renders the limits of all nodes together, for each proxy.
 * @param {SizeWithLimits[]} sizes
 * @param {number} nodes their number, with one pod each
 * @returns {string} a sentence
 */
function renderFleets(sizes, nodes) {
  const fleets = sizes.map(({ size, limits }) => {
    const { cpu, memory } = renderFleetTotals(limits, nodes)
    return `${renderArmName(size)} ${cpu} and ${memory}`
  })
  return `On ${nodes} nodes, one such pod each: ${fleets.join('; ')}.`
}

/**
 * Multiplies limits by the number of nodes, and renders them without signs.
 * @param {{ millicores: number, mebibytes: number }} limits of a pod
 * @param {number} nodes their number, with one pod each
 * @returns {{ cpu: string, memory: string }} such as `3.0 cores` and `2.0 GiB`
 */
function renderFleetTotals({ millicores, mebibytes }, nodes) {
  const cores = (Math.abs(millicores) * nodes) / 1000
  const gibibytes = (Math.abs(mebibytes) * nodes * MIB) / GIB
  return { cpu: `${cores.toFixed(1)} cores`, memory: `${gibibytes.toFixed(1)} GiB` }
}

/**
 * Renders the part of the node into which pods were counted.
 * @param {NonNullable<Place['node']>} node
 * @returns {string} a sentence
 */
function renderNodeNote({ name, left }) {
  return `Pods by both limits in ${renderNounCount(left.cores, 'core')} and ${left.bytes / MIB} MiB of ${name}; a core of it may be slower than one here.`
}

/**
 * Renders the warning that the limits of an answer are not confirmed, or that it has none.
 * @param {AnsweredSize} size
 * @returns {string[]} one sentence; []: they are confirmed
 */
function warnOfUnconfirmedSize(size) {
  const { answer } = size
  if (answer.state === 'confirmed') return []
  return [`${renderArmName(size)}: ${answer.state === 'none' ? 'no limits' : answer.state}: ${answer.why}.`]
}

/**
 * Renders the warning that trials at the limits met the p99 while other programs used the CPUs.
 * @param {AnsweredSize[]} sizes
 * @returns {string[]} one sentence; []: none did
 */
function warnOfOtherPrograms(sizes) {
  const disturbed = sizes.filter(({ answer }) => answer.besideOthers !== undefined)
  if (disturbed.length === 0) return []
  const counts = disturbed.map(size => `${renderArmName(size)} in ${size.answer.besideOthers} of ${size.answer.met}`)
  return [
    `Other programs used the CPUs in trials that met the p99 all the same (${counts.join(', ')}): on a quiet node less may do.`,
  ]
}
