import { GIB, MIB, renderNounCount, renderPercent } from '../lib/units.js'
import { toMillicores } from '../model/container-limits.js'
import { scaleSize } from './ratios.js'
import { renderRule } from './workload-size.js'

/** Makes the short answer of `size --from-prometheus`, as data that is rendered for a terminal. Pure. */
/**
 * @import { Answer } from '../report/answer/answer.js'
 * @import { Cell } from '../answer/picture.js'
 */
/**
 * @import { Production, Resources } from './read-production.js'
 * @import { WorkloadSize } from './workload-size.js'
 * @import { PlaneRatios } from './ratios.js'
 */

/**
 * @typedef {object} ProductionSize
 * @property {string} namespace
 * @property {string} range as the user wrote it, such as 7d
 * @property {number} seconds that these are
 * @property {string} address of Prometheus
 * @property {Production} production
 * @property {WorkloadSize[]} sizes those that need a change first
 * @property {string | null} plane that would run instead (--plane); null: none
 * @property {Map<string, PlaneRatios>} ratios by the name of the container; empty without a plane
 * @property {string[]} warnings of the server, and of containers without ratios
 */

/** Share of the range below which the answer warns that samples are missing. */
const SHARE_LEAST = 0.9
const LABEL_MOST = 22

/** The states that need a change, in words. @type {Partial<Record<WorkloadSize['state'], string>>} */
const NEEDS = {
  throttled: 'throttled',
  'near-memory-limit': 'near their memory limit',
  'too-large': 'at least ten times too large',
}

/**
 * Makes the answer: a row for each workload, the workloads that need a change, and totals.
 * @param {ProductionSize} size
 * @returns {Answer}
 */
export function createProductionAnswer({
  namespace,
  range,
  seconds,
  address,
  production,
  sizes,
  plane,
  ratios,
  warnings,
}) {
  const pods = sizes.reduce((sum, size) => sum + size.pods, 0)
  const hasPlane = ratios.size > 0
  return {
    conditions: [
      'size',
      `${renderNounCount(pods, 'sidecar')} of ${renderNounCount(sizes.length, 'workload')} in ${namespace}`,
      `the last ${range} of ${address.replace(/^https?:\/\//, '')}`,
    ],
    pictures: [
      {
        columns: [
          { heading: '', align: 'left' },
          { heading: 'µs/req' },
          { heading: 'CPU request' },
          ...(hasPlane ? [{ heading: `with ${plane}` }] : []),
          { heading: 'memory' },
          { heading: 'CPU limit' },
        ],
        rows: sizes.map(size => ({
          label: clipLabel(renderWorkloadLabel(size, sizes)),
          cells: [
            { text: renderState(size) },
            size.cpuPerRequestMicros === null ? null : { text: formatMicros(size.cpuPerRequestMicros) },
            renderChange(size.set.request.cores, size.computed.requestCores, renderCores),
            ...(hasPlane ? [renderScaledCell(size, ratios)] : []),
            renderChange(size.set.request.bytes, size.computed.bytes, renderBytes),
            renderChange(size.set.limit.cores, size.computed.limitCores, renderCores),
          ],
        })),
      },
    ],
    verdicts: [renderNeeds(sizes), ...renderTotals(sizes, { plane, ratios })],
    // Ratios and their conditions take the lines that the rule has otherwise: --details has the rule.
    basis: hasPlane ? renderRatios(sizes, { plane, ratios }) : [renderRule(production.steps), renderGrouping(sizes)],
    warnings: [...renderShortRange({ range, seconds, sizes }), ...production.lacks, ...warnings],
    notMeasured: [],
  }
}

/** Renders the state in a word or two. @param {WorkloadSize} size */
function renderState({ state, seconds, throttledFraction, memoryBytes, set, timesTooLarge }) {
  switch (state) {
    case 'throttled':
      return `throttled ${renderPercent(Number(throttledFraction))}`
    case 'near-memory-limit':
      return `memory ${renderPercent(Number(memoryBytes) / Number(set.limit.bytes))} full`
    case 'too-large':
      return `${Number(timesTooLarge).toFixed(0)} × too large`
    case 'few-data':
      return `${renderSeconds(seconds)} of data`
    case 'fits':
      return 'fits'
  }
}

/** @param {string} label */
const clipLabel = label => (label.length <= LABEL_MOST ? label : `${label.slice(0, LABEL_MOST - 1)}…`)

/**
 * Labels a workload by its name. If others have that name, the container is added, and the kind where theirs is another.
 * @param {WorkloadSize} size
 * @param {WorkloadSize[]} sizes all of them
 * @returns {string}
 */
export function renderWorkloadLabel({ workload: { name, kind }, container }, sizes) {
  const alike = sizes.filter(other => other.workload.name === name)
  if (alike.length === 1) return name
  return alike.every(other => other.workload.kind === kind) ? `${name} ${container}` : `${kind}/${name} ${container}`
}

/**
 * Renders the value that is set and the computed one: `100m → 104m`.
 * @param {number | null} set null: only the computed one is shown
 * @param {number | null} computed
 * @param {(value: number) => string} render
 * @returns {Cell | null} null: nothing was computed
 */
function renderChange(set, computed, render) {
  if (computed === null) return null
  return { text: set === null ? render(computed) : `${render(set)} → ${render(computed)}` }
}

/**
 * @param {WorkloadSize} size
 * @param {Map<string, PlaneRatios>} ratios
 * @returns {Cell | null} null: the container has no ratios
 */
function renderScaledCell(size, ratios) {
  const ratio = ratios.get(size.container)
  if (ratio === undefined) return null
  const { requestCores, bytes } = scaleSize(size, ratio)
  return { text: `${renderCores(requestCores)}${bytes === null ? '' : `, ${renderBytes(bytes)}`}` }
}

/** Renders how many workloads need a change, as a sentence. @param {WorkloadSize[]} sizes */
function renderNeeds(sizes) {
  const needs = Object.entries(NEEDS).flatMap(([state, words]) => {
    const many = sizes.filter(size => size.state === state).length
    return many > 0 ? [`${many} ${words}`] : []
  })
  return needs.length === 0
    ? 'No workload is throttled, near its memory limit, or ten times too large.'
    : `Of ${renderNounCount(sizes.length, 'workload')}, ${needs.join(', ')}.`
}

/**
 * Renders the sums over running pods, a sentence each: of requests today and computed, if known, and with the other plane, if it
 * has ratios.
 * @param {WorkloadSize[]} sizes
 * @param {Pick<ProductionSize, 'plane' | 'ratios'>} options
 */
function renderTotals(sizes, { plane, ratios }) {
  const known = sizes.filter(({ set, pods }) => set.request.cores !== null && pods > 0)
  const today = renderSum(known, ({ set: { request } }) => request)
  const computed = renderSum(known, ({ computed: { requestCores: cores, bytes } }) => ({ cores, bytes }))
  const scaled = sizes.filter(({ container, pods }) => ratios.has(container) && pods > 0)
  const withPlane = renderSum(scaled, size => {
    const { requestCores: cores, bytes } = scaleSize(size, /** @type {PlaneRatios} */ (ratios.get(size.container)))
    return { cores, bytes }
  })
  const ofScaled = renderSum(scaled, ({ computed: { requestCores: cores, bytes } }) => ({ cores, bytes }))
  return [
    ...(known.length === 0 ? [] : [`${countPods(known)} request ${today}; computed: ${computed}.`]),
    ...(scaled.length === 0
      ? []
      : [`With ${plane}, an estimate: ${withPlane} instead of ${ofScaled} (${countPods(scaled)}).`]),
  ]
}

/** Renders how many sidecars run: `12 sidecars`. @param {WorkloadSize[]} sizes */
const countPods = sizes =>
  renderNounCount(
    sizes.reduce((sum, { pods }) => sum + pods, 0),
    'sidecar',
  )

/**
 * Renders the sum over pods. Memory is left out unless it is known of all; CPU that is not known counts as 0.
 * @param {WorkloadSize[]} sizes
 * @param {(size: WorkloadSize) => Resources} pick the resources of each pod
 */
function renderSum(sizes, pick) {
  const each = sizes.map(size => ({ pods: size.pods, ...pick(size) }))
  const cores = each.reduce((sum, one) => sum + one.pods * Number(one.cores), 0)
  if (each.some(({ bytes }) => bytes === null)) return `${formatSum(cores)} cores`
  const bytes = each.reduce((sum, one) => sum + one.pods * Number(one.bytes), 0)
  return `${formatSum(cores)} cores and ${formatSum(bytes / GIB)} GiB`
}

/**
 * Renders the ratios of each container, and where they were measured.
 * @param {WorkloadSize[]} sizes
 * @param {Pick<ProductionSize, 'plane' | 'ratios'>} options
 * @returns {string[]} []: there are none
 */
function renderRatios(sizes, { plane, ratios }) {
  return [...ratios].map(([container, { from, cpu, memory, node, folder }]) => {
    const interval =
      cpu.low === null || cpu.high === null
        ? 'no interval'
        : `95 % CI ${formatRatio(cpu.low)} to ${formatRatio(cpu.high)}`
    const elsewhere = memory === null || memory.conditions === cpu.conditions ? '' : `; ${memory.conditions}`
    const ofMemory =
      memory === null ? 'memory was not compared' : `memory ${formatRatio(memory.median)} (${memory.of}${elsewhere})`
    const whose = new Set(sizes.map(size => size.container)).size > 1 ? ` of ${container}` : ''
    return `Ratios${whose}, ${plane} to ${from} on ${node} (${folder}; ${cpu.conditions}), not under this load: CPU per request ${formatRatio(cpu.median)} (${interval}), ${ofMemory}.`
  })
}

/**
 * Renders a warning if less than 90 % of the range has samples; else empty.
 * @param {Pick<ProductionSize, 'range' | 'seconds' | 'sizes'>} size
 */
function renderShortRange({ range, seconds, sizes }) {
  const most = Math.max(...sizes.map(size => size.seconds))
  return most >= SHARE_LEAST * seconds
    ? []
    : [`Only ${renderSeconds(most)} of the ${range} are there: a weekly peak may be missing.`]
}

/**
 * Renders a time in minutes if it is below two hours, in hours below two days, else in days, such as `90 min`.
 * @param {number} seconds
 * @returns {string}
 */
export function renderSeconds(seconds) {
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 2 * 86_400 ? `${Math.round(seconds / 3600)} h` : `${(seconds / 86_400).toFixed(1)} d`
}

/** Renders by which source workloads were found. @param {WorkloadSize[]} sizes */
function renderGrouping(sizes) {
  const byName = sizes.filter(({ workload }) => !workload.isByOwner).length
  if (byName === 0) return 'Workloads by kube-state-metrics.'
  return byName === sizes.length
    ? 'Workloads by names of pods.'
    : `Workloads by kube-state-metrics, ${byName} by names of pods.`
}

/** Renders cores as Kubernetes writes them, rounded up: `100m`. @param {number} cores */
export const renderCores = cores => `${toMillicores(cores)}m`
/** Renders bytes as Kubernetes writes them, rounded up: `64Mi`. @param {number} bytes */
export const renderBytes = bytes => `${Math.ceil(bytes / MIB)}Mi`
/** Renders microseconds, a tenth below ten. @param {number} micros */
const formatMicros = micros => (micros < 10 ? micros.toFixed(1) : micros.toFixed(0))
/** @param {number} sum */
const formatSum = sum => sum.toFixed(sum < 10 ? 2 : sum < 100 ? 1 : 0)
/** @param {number} ratio */
const formatRatio = ratio => ratio.toFixed(2)
