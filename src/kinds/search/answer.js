import { groupBy } from '../../lib/group-by.js'
import { renderTextTable, right, wrapText } from '../../lib/text-table.js'
import { GIB, MIB } from '../../lib/units.js'
import { describeAxes, nameOf } from '../../model/arms.js'
import { toLimits, toMillicores } from '../../model/container-limits.js'
import { RULE } from './confirm.js'
import { fitOnNode } from './nodes.js'

/**
 * The answer of `size` as people read it: on the terminal, and each trial behind it. Pure.
 * @import { AxisName, SizeResult, Summary } from '../../model/types.ts' @import { readNode } from './nodes.js'
 * @typedef {NonNullable<SizeResult['answer']>} Answer
 * @typedef {SizeResult & { answer: Answer }} Answered
 */

const MEMORY =
  "Memory limit: 1.5 times the most that a sidecar took, pages of its program included. A pod's limit counts what its cgroup is charged for, and was tried here as that; RSS counts shared pages in each sidecar, PSS divides them."
const REQUEST = 'CPU request: what the busiest sidecar used on average, and 15 % more.'

/** @param {SizeResult} size @returns {size is Answered} results of older searches have none */
export const isAnswered = size => size.answer !== undefined

/** Renders limits as they are pasted. @param {Answer} answer */
export function renderLimits({ limits, requestCores }) {
  if (limits === null) return 'no limits'
  const { millicores, mebibytes } = toLimits(limits)
  const request = requestCores === null ? '' : `CPU request ${toMillicores(requestCores)}m, `
  return `${request}CPU limit ${millicores}m, memory limit ${mebibytes}Mi`
}

/**
 * Renders the answer on one screen; node: to fill; nodes: of the fleet, each with one such pod.
 * @param {Pick<Summary, 'machine' | 'arms'> & { sizes: Answered[] }} summary
 * @param {{ node?: ReturnType<typeof readNode> | null, nodes?: number | null }} [options]
 */
export function renderAnswer({ sizes, machine, arms }, { node = null, nodes = null } = {}) {
  const isSet = sizes.some(size => size.services.length > 0)
  const [first] = sizes
  const payloads = [...new Set(arms.map(({ load }) => load.payloadBytes))].map(renderBytes)
  const load = isSet ? 'services of a file' : `${first.ratePerSecond} requests/s · p99 at most ${first.p99LimitMs} ms`
  const head = `size · ${load} · POST ${payloads.join(', ')}, echoed · link ${first.cpu.link}, ${sayConditions(arms)} · ${machine.cpus} CPUs ${machine.cpuModel}`
  const hasPods = node !== null && !isSet
  const table = renderTextTable({
    caption: '',
    columns: [
      ['each sidecar', 'left'],
      ...right('CPU request', 'CPU limit', 'memory limit', 'p99 at it', 'met'),
      ...(hasPods ? right(`pods on ${node.name}`) : []),
      ['', 'left'],
    ],
    rows: sizes.map(size => [
      isSet ? `${nameOf(size)} ${size.services.join(', ')}` : nameOf(size),
      ...renderCells(size.answer),
      ...(hasPods ? [countPods(size.answer, node)] : []),
      size.answer.state === 'none' ? 'no limits here' : size.answer.state,
    ]),
  })
  const states = sizes
    .filter(({ answer }) => answer.state !== 'confirmed')
    .map(
      size => `${nameOf(size)}: ${size.answer.state === 'none' ? 'no limits' : size.answer.state}: ${size.answer.why}.`,
    )
  return [
    ...wrapText(head),
    '',
    ...table.map(line => `  ${line}`),
    '',
    ...(isSet ? [] : compareSizes(sizes, nodes)).flatMap(line => wrapText(line, '  ')),
    ...states.flatMap(line => wrapText(line, '  ')),
    ...(hasPods ? wrapText(sayNode(node), '  ') : []),
    ...wrapText(`${RULE}. ${REQUEST}`, '  '),
    ...wrapText(MEMORY, '  '),
    'Paste: --format yaml, helm, compose',
  ]
}

/** Says what all sidecars have beside the link. @param {Pick<Summary, 'arms'>['arms']} arms */
function sayConditions([arm]) {
  const { interception, features } = arm.conditions
  const shared = /** @type {AxisName[]} */ (['tls', 'protocol'])
  return describeAxes(arm, [
    ...shared,
    ...(interception ? [/** @type {const} */ ('interception')] : []),
    ...(features && features !== 'lean' ? [/** @type {const} */ ('features')] : []),
  ])
}

/** @param {Answer} answer */
function renderCells({ limits, requestCores, p99Ms, met, missed, notJudged }) {
  if (limits === null) return ['-', '-', '-', '-', `0 of ${missed}`]
  const { millicores, mebibytes } = toLimits(limits)
  return [
    requestCores === null ? '-' : `${toMillicores(requestCores)}m`,
    `${millicores}m`,
    `${mebibytes}Mi`,
    p99Ms === null ? '-' : `${p99Ms.toFixed(p99Ms < 10 ? 1 : 0)} ms`,
    `${met} of ${met + missed}${notJudged > 0 ? `, ${notJudged} not judged` : ''}`,
  ]
}

/** @param {Answer} answer @param {ReturnType<typeof readNode>} node */
function countPods({ limits }, { left }) {
  return limits === null ? '-' : String(fitOnNode(toLimits(limits), left).count)
}

/** @param {ReturnType<typeof readNode>} node */
function sayNode({ name, left }) {
  return `Pods, each with one sidecar, by both limits in ${left.cores} cores and ${left.bytes / MIB} MiB of ${name}; a core of it may be faster or slower than one here.`
}

/** Says what each other plane would take more, or less, than the first. @param {Answered[]} sizes @param {number | null} nodes */
function compareSizes(sizes, nodes) {
  const known = sizes.flatMap(size => (size.answer.limits ? [{ size, limits: toLimits(size.answer.limits) }] : []))
  if (known.length === 0) return []
  const fleet = nodes === null ? [] : known.map(({ size, limits }) => `${nameOf(size)} ${renderFleet(limits, nodes)}`)
  const onNodes = nodes === null ? [] : [`On ${nodes} nodes, one such pod each: ${fleet.join('; ')}.`]
  const [{ size, limits: own }, ...others] = known
  return [
    ...others.map(other => {
      const less = {
        millicores: other.limits.millicores - own.millicores,
        mebibytes: other.limits.mebibytes - own.mebibytes,
      }
      const saved = nodes === null ? '' : `: ${renderFleet(less, nodes)} on ${nodes} nodes`
      return `${nameOf(size)} needs ${renderLess(less.millicores, 'm')} and ${renderLess(less.mebibytes, 'Mi')} a pod than ${nameOf(other.size)}${saved}.`
    }),
    ...onNodes,
  ]
}

/** @param {number} less @param {string} unit */
const renderLess = (less, unit) => `${Math.abs(less)}${unit} ${less < 0 ? 'more' : 'less'}`

/** @param {{ millicores: number, mebibytes: number }} limits @param {number} nodes */
function renderFleet({ millicores, mebibytes }, nodes) {
  const cores = (Math.abs(millicores) * nodes) / 1000
  const gibibytes = (Math.abs(mebibytes) * nodes * MIB) / GIB
  return `${cores.toFixed(1)} cores and ${gibibytes.toFixed(1)} GiB`
}

/** @param {number} bytes */
function renderBytes(bytes) {
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} B`
}

/** Says the answer of a plane in a line. @param {Answered} size */
export function sayAnswer(size) {
  const { answer, services, ratePerSecond, p99LimitMs } = size
  const whose = `${nameOf(size)}${services.length > 0 ? `, ${services.join(', ')}` : ''}`
  const load = `${ratePerSecond} requests/s with a p99 of at most ${p99LimitMs} ms`
  return `${whose}, ${load}: ${renderLimits(answer)}; ${answer.state === 'none' ? '' : `${answer.state}: `}${answer.why}`
}

/** Lists every trial of each plane: limits, state, p99 and why. @param {Answered[]} sizes */
export function listTrialRows(sizes) {
  return [...groupBy(sizes, nameOf)].flatMap(([name, own]) => [
    `${name}: each trial, and the limits that it had`,
    ...renderTextTable({
      caption: '',
      columns: [['trial', 'left'], ...right('requests/s', 'CPU', 'memory', 'p99'), ['state', 'left'], ['why', 'left']],
      rows: own.flatMap(({ trials = [] }) => trials.map(renderTrial)),
    }).map(line => `  ${line}`),
    ...own.flatMap(({ answer: { need } }) => (need ? renderNeed(need) : [])),
    '',
  ])
}

/** @param {NonNullable<SizeResult['trials']>[0]} trial */
function renderTrial({ trial, ratePerSecond, cpuCores, memoryBytes, state, p99Ms, why }) {
  return [
    trial,
    String(ratePerSecond),
    cpuCores === null ? '-' : `${toMillicores(cpuCores)}m`,
    memoryBytes === null ? 'no limit' : `${(memoryBytes / MIB).toFixed(2)} MiB`,
    p99Ms === null ? '-' : `${p99Ms.toFixed(1)} ms`,
    state,
    why,
  ]
}

/** @param {NonNullable<Answer['need']>} need */
function renderNeed({ cores, bytes, memory }) {
  const mib = (/** @type {number | null} */ value) => (value === null ? '-' : (value / MIB).toFixed(1))
  const used = `  the busiest sidecar used ${(1000 * cores).toFixed(0)}m, and the largest ${mib(bytes)} MiB`
  if (!memory) return [used]
  const { peakBytes, workingSetBytes, rssBytes, anonBytes, pssBytes } = memory
  return [
    `${used}: most charged ${mib(peakBytes)}, working set ${mib(workingSetBytes)}, RSS ${mib(rssBytes)}, anonymous ${mib(anonBytes)}, PSS ${mib(pssBytes)}`,
  ]
}
