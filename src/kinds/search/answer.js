import { joinWords } from '../../lib/letters.js'
import { GIB, MIB, renderNounCount } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { toLimits, toMillicores } from '../../model/container-limits.js'
import { computeServiceMs, computeServiceP99Ms } from '../../model/requests.js'
import { computeLimitsFound } from './memory-floor.js'
import { fitOnNode } from './nodes.js'
import { isAnswered } from './trial-rows.js'

/** The answer of searches: the limits, or the rates, that were found. Pure. */
/** @import { ResultOf, SearchResult, SizeResult, SummaryArm } from '../../model/types.ts' */
/** @import { Answered as AnsweredResult, Place } from '../sections.js' */
/** @import { Cell, KindAnswer, Picture } from '../../answer/picture.js' */

/** Headings of each search: of the value that held, and of the nearest one that failed. */
const SEARCHES = {
  knee: { heading: 'highest rate within the p99', next: 'not at' },
  cpu: { heading: 'smallest CPU limit', next: 'not with' },
  memory: { heading: 'smallest memory limit', next: 'killed with' },
}

/** @typedef {import('./trial-rows.js').Answered} Answered */

/**
 * Creates the answer of a run's searches. Those of older kits have no `answer`, and are drawn by their own fields.
 * @param {AnsweredResult<ResultOf<'search'>>} answered
 * @returns {KindAnswer | null} null: there is no result
 */
export function answerSearches({ result: { sizes, searches, arms }, summary: { machine }, place = {} }) {
  if (sizes.length + searches.length === 0) return null
  const answeredSizes = sizes.filter(isAnswered)
  const olderSizes = sizes.filter(size => !isAnswered(size))
  return {
    pictures: [...drawAnsweredSizes(answeredSizes, place), ...drawSizes(olderSizes), ...drawSearches(searches)],
    verdicts: [
      ...renderAnsweredSizes(answeredSizes, place),
      ...renderChecks(olderSizes),
      ...renderSavings(olderSizes),
      ...renderSearches(searches),
    ],
    basis: [
      ...renderServiceTime(arms),
      ...renderRequests(answeredSizes, Number(machine.cpus)),
      ...renderMemory(answeredSizes),
      ...(answeredSizes.length > 0 && place.node ? [renderNode(place.node)] : []),
    ],
    warnings: [
      ...answeredSizes.flatMap(warnOfUnconfirmedSize),
      ...warnOfOtherPrograms(answeredSizes),
      ...olderSizes.flatMap(warnOfSize),
      ...searches.flatMap(warnOfSearch),
    ],
  }
}

/**
 * Renders how much of the p99 is service time of the application.
 * @param {SummaryArm[]} arms
 * @returns {string[]} one sentence; []: it has none
 */
function renderServiceTime(arms) {
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
 * @param {Answered[]} sizes
 * @param {number} cpus of this machine
 * @returns {string[]} one sentence; []: there was no neighbour
 */
function renderRequests(sizes, cpus) {
  const [neighbourCores] = sizes.flatMap(size => size.neighbourCores ?? [])
  if (neighbourCores === undefined) return []
  const spare = `: the neighbour left ${Number((cpus - neighbourCores).toFixed(2))} of ${renderNounCount(cpus, 'CPU')} to all, whatever they request (--neighbour ${cpus}c fills this machine)`
  return [`CPU requests were tried without a CPU limit${neighbourCores < cpus ? spare : ''}.`]
}

/**
 * Renders which memory the limits count: cgroup memory, of which the kubelet's working set leaves out inactive file
 * pages (https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/#memory).
 * @param {Answered[]} sizes
 * @returns {string[]} one sentence; []: no answer has limits
 */
function renderMemory(sizes) {
  const limited = sizes.filter(({ answer }) => answer.limits !== null)
  if (limited.length === 0) return []
  const areTried = limited.every(({ answer }) => answer.trials.length > 0)
  return [
    `Memory is what a pod's limit counts: its working set and droppable file pages${areTried ? ', against which it was tried' : ''}; neither RSS nor PSS.`,
  ]
}

/**
 * Draws requests and limits, and in how many trials they met the p99.
 * @param {Answered[]} sizes
 * @param {Place} place
 * @returns {Picture[]} one; []: there are no sizes
 */
function drawAnsweredSizes(sizes, { node = null }) {
  if (sizes.length === 0) return []
  const isSet = sizes.some(({ services }) => services.length > 0)
  const [{ p99LimitMs }] = sizes
  const isSameLimit = sizes.every(size => size.p99LimitMs === p99LimitMs)
  const hasPods = node !== null && !isSet
  return [
    {
      isOfProxies: !isSet,
      columns: [
        { heading: 'CPU request' },
        { heading: 'CPU limit' },
        { heading: 'memory limit' },
        { heading: isSameLimit ? `p99 ≤ ${p99LimitMs} ms` : 'p99' },
        { heading: 'met' },
        ...(hasPods ? [{ heading: `pods on ${node.name}` }] : []),
        { heading: '', align: 'left' },
      ],
      rows: sizes.map(size => ({
        label: isSet ? `${renderArmName(size)} ${size.services.join(', ')}` : renderArmName(size),
        cells: [
          ...drawCells(size, isSameLimit),
          ...(hasPods
            ? [size.answer.limits && createTextCell(`${fitOnNode(toLimits(size.answer.limits), node.left).count}`)]
            : []),
          createTextCell(size.answer.state === 'none' ? 'no limits here' : size.answer.state),
        ],
      })),
    },
  ]
}

/**
 * Draws request, limits, p99, and the number of trials that met it.
 * @param {Answered} size
 * @param {boolean} isSameLimit all sizes have the same p99 limit
 * @returns {(Cell | null)[]} five cells; null: an empty one
 */
function drawCells({ answer, p99LimitMs, neighbourCores }, isSameLimit) {
  const { limits, state, requestCores, p99Ms, met, missed, notJudged, besideOthers } = answer
  if (limits === null) return [null, null, null, null, createTextCell(`0 of ${missed}`)]
  const { millicores, mebibytes } = toLimits(limits)
  // Confirmed limits do not depend on trials that were not judged; the report lists those.
  const notJudgedText = notJudged > 0 && state !== 'confirmed' ? `, ${notJudged} not judged` : ''
  const besideText = besideOthers === undefined ? '' : ', beside others'
  return [
    requestCores === null ? null : createTextCell(`${toMillicores(requestCores)}m`),
    createTextCell(neighbourCores === undefined ? `${millicores}m` : 'no limit'),
    createTextCell(`${mebibytes}Mi`),
    p99Ms === null
      ? null
      : createTextCell(`${p99Ms.toFixed(p99Ms < 10 ? 1 : 0)} ms${isSameLimit ? '' : ` of ${p99LimitMs}`}`),
    createTextCell(`${met} of ${met + missed}${notJudgedText}${besideText}`),
  ]
}

/**
 * Renders how the needs of the first proxy with limits compare to those of the others, or its limits if it is alone.
 * Without limits, or for a file of services, it counts the confirmed answers.
 * @param {Answered[]} sizes
 * @param {Place} place
 * @returns {string[]} sentences; []: there are no sizes
 */
function renderAnsweredSizes(sizes, { nodes = null }) {
  const sizesWithLimits = sizes.flatMap(size =>
    size.answer.limits && size.services.length === 0 ? [{ size, limits: toLimits(size.answer.limits) }] : [],
  )
  if (sizesWithLimits.length === 0) {
    const met = sizes.filter(({ answer }) => answer.state === 'confirmed').length
    return sizes.length === 0
      ? []
      : [`${met} of ${renderNounCount(sizes.length, 'answer')} confirmed by every trial at its limits.`]
  }
  const [{ size, limits }, ...others] = sizesWithLimits
  const fleet =
    nodes === null
      ? []
      : sizesWithLimits.map(sized => `${renderArmName(sized.size)} ${renderFleet(sized.limits, nodes)}`)
  const alone = `${renderArmName(size)} needs ${limits.millicores}m CPU and ${limits.mebibytes}Mi memory: ${size.answer.state}: ${size.answer.why}.`
  return [
    ...(others.length === 0 ? [alone] : []),
    ...others.map(other => {
      const savings = {
        millicores: other.limits.millicores - limits.millicores,
        mebibytes: other.limits.mebibytes - limits.mebibytes,
      }
      const saved = nodes === null ? '' : `: ${renderFleetSavings(savings, nodes)} on ${nodes} nodes`
      return `${renderArmName(size)} needs ${renderSignedDifference(savings.millicores, 'm')} CPU and ${renderSignedDifference(savings.mebibytes, 'Mi')} memory a pod than ${renderArmName(other.size)}${saved}.`
    }),
    ...(nodes === null ? [] : [`On ${nodes} nodes, one such pod each: ${fleet.join('; ')}.`]),
  ]
}

/**
 * Renders a difference as `30m less`, or `30m more` if it is negative.
 * @param {number} less how much less it is
 * @param {string} unit
 * @returns {string}
 */
const renderSignedDifference = (less, unit) => `${Math.abs(less)}${unit} ${less < 0 ? 'more' : 'less'}`

/**
 * Renders savings over all nodes; negative ones read `more`.
 * @param {{ millicores: number, mebibytes: number }} less the savings of a pod
 * @param {number} nodes their number, with one pod each
 * @returns {string}
 */
function renderFleetSavings(less, nodes) {
  const { cores, gibibytes } = renderFleetTotals(less, nodes)
  const renderMoreOrLess = (/** @type {number} */ value) => (value < 0 ? 'more' : 'less')
  const [ofCores, ofMemory] = [renderMoreOrLess(less.millicores), renderMoreOrLess(less.mebibytes)]
  return ofCores === ofMemory
    ? `${cores} and ${gibibytes} ${ofCores}`
    : `${cores} ${ofCores} and ${gibibytes} ${ofMemory}`
}

/**
 * Renders the limits of all nodes together.
 * @param {{ millicores: number, mebibytes: number }} limits of a pod
 * @param {number} nodes their number, with one pod each
 * @returns {string}
 */
function renderFleet(limits, nodes) {
  const { cores, gibibytes } = renderFleetTotals(limits, nodes)
  return `${cores} and ${gibibytes}`
}

/**
 * Multiplies limits by the number of nodes, and renders them without signs.
 * @param {{ millicores: number, mebibytes: number }} limits of a pod
 * @param {number} nodes their number, with one pod each
 * @returns {{ cores: string, gibibytes: string }} with units
 */
function renderFleetTotals({ millicores, mebibytes }, nodes) {
  const cores = (Math.abs(millicores) * nodes) / 1000
  const gibibytes = (Math.abs(mebibytes) * nodes * MIB) / GIB
  return { cores: `${cores.toFixed(1)} cores`, gibibytes: `${gibibytes.toFixed(1)} GiB` }
}

/**
 * Renders the part of the node into which pods were counted.
 * @param {NonNullable<Place['node']>} node
 * @returns {string} a sentence
 */
function renderNode({ name, left }) {
  return `Pods by both limits in ${renderNounCount(left.cores, 'core')} and ${left.bytes / MIB} MiB of ${name}; a core of it may be slower than one here.`
}

/**
 * Renders the warning that the limits of an answer are not confirmed.
 * @param {Answered} size
 * @returns {string[]} one sentence; []: they are
 */
function warnOfUnconfirmedSize(size) {
  const { answer } = size
  if (answer.state === 'confirmed') return []
  return [`${renderArmName(size)}: ${answer.state === 'none' ? 'no limits' : answer.state}: ${answer.why}.`]
}

/**
 * Renders the warning that trials at the limits met the p99 while other programs used the CPUs.
 * @param {Answered[]} sizes
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

/**
 * Draws the limits of older searches, which have no `answer`.
 * @param {SizeResult[]} sizes
 * @returns {Picture[]} one; []: there are none
 */
function drawSizes(sizes) {
  if (sizes.length === 0) return []
  const isOfServices = sizes.some(({ services }) => services.length > 0)
  const [{ p99LimitMs }] = sizes
  const isSameLimit = sizes.every(size => size.p99LimitMs === p99LimitMs)
  const columns = [
    { heading: 'CPU limit' },
    { heading: 'memory limit' },
    { heading: isSameLimit ? `p99 there (at most ${p99LimitMs} ms)` : 'p99 there' },
  ]
  return [
    {
      isOfProxies: !isOfServices,
      columns: isOfServices ? [{ heading: 'load' }, ...columns] : columns,
      rows: sizes.map(size => {
        const { cpu, p99Ms, services, ratePerSecond } = size
        const limits = computeLimitsFound(size)
        const cells = [
          cpu.isFound && cpu.held !== null ? createTextCell(`${Math.ceil(1000 * cpu.held)}m`) : null,
          limits === null ? null : createTextCell(`${limits.mebibytes}Mi`),
          p99Ms === null
            ? null
            : createTextCell(`${p99Ms.toFixed(1)} ms${isSameLimit ? '' : ` of ${size.p99LimitMs}`}`),
        ]
        return isOfServices
          ? {
              label: `${services.join(', ')}, ${renderArmName(size)}`,
              cells: [createTextCell(`${ratePerSecond} req/s`), ...cells],
            }
          : { label: renderArmName(size), cells }
      }),
    },
  ]
}

/**
 * Creates a cell without a bar.
 * @param {string} text
 * @returns {Cell}
 */
const createTextCell = text => ({ text })

/**
 * Renders how many trials checked the limits of older searches.
 * @param {SizeResult[]} sizes
 * @returns {string[]} one sentence; []: no limits passed their check
 */
function renderChecks(sizes) {
  const checked = sizes.filter(({ isChecked }) => isChecked)
  if (checked.length === 0) return []
  const trials = checked.map(({ checks }) => {
    const trialsOfChecks = checks.filter(({ mustHold }) => mustHold).map(check => check.trials.length)
    return trialsOfChecks.reduce((sum, n) => sum + n, 0)
  })
  const [least, most] = [Math.min(...trials), Math.max(...trials)]
  const subject =
    checked.length === sizes.length ? 'These limits' : `The limits of ${joinWords(checked.map(renderArmName))}`
  return [
    `${subject} met the p99 in each of ${least === most ? renderNounCount(most, 'trial') : `${least} to ${most} trials`} that checked them.`,
  ]
}

/**
 * Renders how the needs of the first proxy compare to those of the others, for older searches.
 * @param {SizeResult[]} sizes
 * @returns {string[]} a sentence for each other proxy; []: the first has no limits
 */
function renderSavings(sizes) {
  const [first, ...others] = sizes.filter(({ services }) => services.length === 0)
  const firstLimits = first && computeLimitsFound(first)
  if (!firstLimits) return []
  return others.flatMap(other => {
    const limits = computeLimitsFound(other)
    if (!limits) return []
    const compare = (/** @type {number} */ gap, /** @type {string} */ unit) =>
      `${Math.abs(gap)}${unit} ${gap >= 0 ? 'less' : 'more'}`
    const cpu = compare(limits.millicores - firstLimits.millicores, 'm')
    const memory = compare(limits.mebibytes - firstLimits.mebibytes, 'Mi')
    return [
      `A sidecar of ${renderArmName(first)} needs ${cpu} CPU and ${memory} memory than one of ${renderArmName(other)}.`,
    ]
  })
}

/**
 * Renders the warning of an older search: its limits are extrapolated, were not found, or failed their check.
 * @param {SizeResult} size
 * @returns {string[]} one sentence; []: they passed
 */
function warnOfSize(size) {
  const { cpu, memory, isChecked, extrapolated } = size
  const name = renderArmName(size)
  if (extrapolated !== null)
    return [`${name}: EXTRAPOLATED from lower rates, not measured: about ${extrapolated.cores.toFixed(2)} cores.`]
  if (!cpu.isFound && cpu.steps.some(step => step.held === null))
    return [`${name}: no answer, for not every CPU limit could be judged: ${cpu.why}.`]
  if (!cpu.isFound || cpu.held === null) return [`${name}: no CPU limit of this machine meets the p99: ${cpu.why}.`]
  if (computeLimitsFound(size) === null)
    return [
      `${name}: no limits are given, for no memory limit was ${memory === null ? 'tried' : `found: ${memory.why}`}.`,
    ]
  return isChecked ? [] : [`${name}: these limits did NOT pass their own check.`]
}

/**
 * Draws the value that each search found, with a bar, and the nearest value that failed.
 * @param {SearchResult[]} searches
 * @returns {Picture[]} one; []: there are no searches
 */
function drawSearches(searches) {
  if (searches.length === 0) return []
  const [{ looksFor }] = searches
  const { heading, next } = SEARCHES[looksFor]
  return [
    {
      isOfProxies: true,
      columns: [{ heading, isBar: true }, { heading: next }],
      rows: searches.map(search => ({
        label: renderArmName(search),
        cells: [
          search.isFound && search.held !== null
            ? { text: formatValue(search.held, search), value: search.held }
            : null,
          search.failed === null ? null : createTextCell(formatValue(search.failed, search)),
        ],
      })),
    },
  ]
}

/**
 * Renders how the value of the first search compares to those of the others, or that value if it is alone. A single
 * search has no interval, so chance is not ruled out.
 * @param {SearchResult[]} searches
 * @returns {string[]} sentences; []: no search found a value
 */
function renderSearches(searches) {
  const foundSearches = searches.filter(({ isFound, held }) => isFound && held !== null)
  if (foundSearches.length === 0) return []
  const [first, ...others] = foundSearches
  const { looksFor } = first
  if (others.length === 0) {
    const words = { knee: 'meets the p99 up to', cpu: 'meets the p99 with', memory: 'survives with' }[looksFor]
    return [`${renderArmName(first)} ${words} ${formatValue(Number(first.held), first)}.`]
  }
  return others.map(other => {
    const ratio = Number(first.held) / Number(other.held)
    const verb = looksFor === 'knee' ? 'serves' : 'needs'
    const what = { knee: 'requests/s within the p99', cpu: 'CPU', memory: 'memory' }[looksFor]
    const more =
      ratio >= 2
        ? `${ratio.toFixed(1)} × as much`
        : `${(100 * Math.abs(ratio - 1)).toFixed(0)} % ${ratio < 1 ? 'less' : 'more'}`
    if (ratio === 1) return `${renderArmName(first)} and ${renderArmName(other)} have the same limit.`
    return `${renderArmName(first)} ${verb} ${more} ${what} than ${renderArmName(other)} (one search each: no interval).`
  })
}

/**
 * Renders the warning that a search found no limit.
 * @param {SearchResult} search
 * @returns {string[]} one sentence; []: it found one
 */
function warnOfSearch(search) {
  if (search.isFound) return []
  const isJudged = search.steps.every(step => step.held !== null)
  const lack = isJudged
    ? 'its limit cannot be reached on this machine'
    : 'no answer, for not every value could be judged'
  return [`${renderArmName(search)}: ${lack}: ${search.why}.`]
}

/**
 * Formats a value of a search, with its unit.
 * @param {number} value
 * @param {Pick<SearchResult, 'unit'>} result
 * @returns {string}
 */
function formatValue(value, { unit }) {
  if (unit === 'bytes') return `${Number((value / MIB).toFixed(2))} MiB`
  return unit === 'cores' ? `${value} CPU` : `${value} req/s`
}
