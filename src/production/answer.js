import { GIB, MIB, renderNounCount, renderPercent } from '../lib/units.js'
import { renderMillicores } from '../model/container-limits.js'
import { scaleSize } from './ratios.js'
import { renderSizingRule } from './workload-size.js'

/** Creates the short answer of `size --from-prometheus`, as data that is rendered for a terminal. Pure. */
/**
 * @import { Answer } from '../report/answer/answer.js'
 * @import { Cell, Picture } from '../answer/picture.js'
 */
/**
 * @import { Production, Resources } from './read-production.js'
 * @import { WorkloadSize } from './workload-size.js'
 * @import { PlaneRatios, Ratio } from './ratios.js'
 */

/**
 * The sizes of the workloads of a namespace, with their sources.
 * @typedef {object} ProductionSize
 * @property {string} namespace
 * @property {string} range as the user wrote it, such as 7d
 * @property {number} seconds of the range
 * @property {string} address of Prometheus
 * @property {Production} production
 * @property {WorkloadSize[]} sizes those that need a change first
 * @property {string | null} plane that would run instead (--plane); null: none
 * @property {Map<string, PlaneRatios>} ratios by the name of the container; empty without a plane
 * @property {string[]} warnings of the server, and of containers without ratios
 */

/** If a smaller share of the range has samples, the answer warns that some are missing. */
const SHARE_LEAST = 0.9
const LABEL_MOST = 22

/** Workloads in these states need a change. @type {Partial<Record<WorkloadSize['state'], string>>} */
const NEEDS = {
  throttled: 'throttled',
  'near-memory-limit': 'near their memory limit',
  'too-large': 'at least ten times too large',
}

/**
 * Creates the answer: a row for each workload, the workloads that need a change, and totals.
 * @param {ProductionSize} size at least one workload
 * @returns {Answer}
 */
export function createProductionAnswer(size) {
  const { namespace, range, address, production, sizes, ratios, warnings } = size
  return {
    conditions: [
      'size',
      `${renderRunningSidecars(sizes)} of ${renderNounCount(sizes.length, 'workload')} in ${namespace}`,
      `the last ${range} of ${address.replace(/^https?:\/\//, '')}`,
    ],
    pictures: [createPicture(size)],
    verdicts: [renderNeeds(sizes), ...renderTotals(size)],
    // Ratios and their conditions take the lines that the rule has otherwise: --details has the rule.
    basis: ratios.size > 0 ? renderRatios(size) : [renderSizingRule(production.intervals), renderWorkloadSource(sizes)],
    warnings: [...renderShortRangeWarning(size), ...production.lacks, ...warnings],
    notMeasured: [],
  }
}

/**
 * Creates the picture: a row for each workload, with a column for the other plane if there are ratios.
 * @param {Pick<ProductionSize, 'sizes' | 'plane' | 'ratios'>} size
 * @returns {Picture}
 */
function createPicture({ sizes, plane, ratios }) {
  const hasPlane = ratios.size > 0
  return {
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
        size.cpuPerRequestMicros === null ? null : { text: renderMicros(size.cpuPerRequestMicros) },
        renderTodayAndComputed(size.set.request.cores, size.computed.requestCores, renderMillicores),
        ...(hasPlane ? [renderScaledCell(size, ratios)] : []),
        renderTodayAndComputed(size.set.request.bytes, size.computed.bytes, renderBytes),
        renderTodayAndComputed(size.set.limit.cores, size.computed.limitCores, renderMillicores),
      ],
    })),
  }
}

/** Renders the state with its number, if it has one: `throttled 12 %`. @param {WorkloadSize} size */
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

/** Clips a label to LABEL_MOST characters, the last of which is then `…`. @param {string} label */
const clipLabel = label => (label.length <= LABEL_MOST ? label : `${label.slice(0, LABEL_MOST - 1)}…`)

/**
 * Renders the name of a workload. If others have that name, the container is added, and the kind if theirs is another.
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
 * Renders today's value and the computed one: `100m → 104m`.
 * @param {number | null} today null: only the computed one is rendered
 * @param {number | null} computed
 * @param {(value: number) => string} render
 * @returns {Cell | null} null: nothing was computed
 */
function renderTodayAndComputed(today, computed, render) {
  if (computed === null) return null
  return { text: today === null ? render(computed) : `${render(today)} → ${render(computed)}` }
}

/**
 * Renders the CPU request and, if it is known, the memory with the other plane.
 * @param {WorkloadSize} size
 * @param {Map<string, PlaneRatios>} ratios
 * @returns {Cell | null} null: the container has no ratios
 */
function renderScaledCell(size, ratios) {
  const ratio = ratios.get(size.container)
  if (ratio === undefined) return null
  const { requestCores, bytes } = scaleSize(size, ratio)
  return { text: `${renderMillicores(requestCores)}${bytes === null ? '' : `, ${renderBytes(bytes)}`}` }
}

/** Renders how many workloads need a change, as a sentence. @param {WorkloadSize[]} sizes */
function renderNeeds(sizes) {
  const needs = Object.entries(NEEDS).flatMap(([state, words]) => {
    const count = sizes.filter(size => size.state === state).length
    return count > 0 ? [`${count} ${words}`] : []
  })
  return needs.length === 0
    ? 'No workload is throttled, near its memory limit, or ten times too large.'
    : `Of ${renderNounCount(sizes.length, 'workload')}, ${needs.join(', ')}.`
}

/**
 * Renders the sums over running pods, a sentence each: requests of today and computed ones, if today's are known, and those with
 * the other plane, if it has ratios.
 * @param {Pick<ProductionSize, 'sizes' | 'plane' | 'ratios'>} size
 * @returns {string[]} []: neither is known of a running pod
 */
function renderTotals({ sizes, plane, ratios }) {
  const running = sizes.filter(({ pods }) => pods > 0)
  const requesting = running.filter(({ set }) => set.request.cores !== null)
  const scaled = running.filter(({ container }) => ratios.has(container))
  const pickComputed = (/** @type {WorkloadSize} */ { computed }) => ({
    cores: computed.requestCores,
    bytes: computed.bytes,
  })
  const pickScaled = (/** @type {WorkloadSize} */ size) => {
    const { requestCores, bytes } = scaleSize(size, /** @type {PlaneRatios} */ (ratios.get(size.container)))
    return { cores: requestCores, bytes }
  }
  const totals = []
  if (requesting.length > 0) {
    const today = renderTotalResources(requesting, ({ set }) => set.request)
    const computed = renderTotalResources(requesting, pickComputed)
    totals.push(`${renderRunningSidecars(requesting)} request ${today}; computed: ${computed}.`)
  }
  if (scaled.length > 0) {
    const [withPlane, computed] = [renderTotalResources(scaled, pickScaled), renderTotalResources(scaled, pickComputed)]
    const count = renderRunningSidecars(scaled)
    totals.push(`With ${plane}, an estimate: ${withPlane} instead of ${computed} (${count}).`)
  }
  return totals
}

/** Renders the number of sidecars that run: `12 sidecars`. @param {WorkloadSize[]} sizes */
function renderRunningSidecars(sizes) {
  const count = sizes.reduce((sum, { pods }) => sum + pods, 0)
  return renderNounCount(count, 'sidecar')
}

/**
 * Renders the sum over running pods: `3.20 cores and 1.50 GiB`. Memory is left out unless it is known of all; CPU that is not known
 * counts as 0.
 * @param {WorkloadSize[]} sizes
 * @param {(size: WorkloadSize) => Resources} pickPodResources picks those of each pod
 * @returns {string}
 */
function renderTotalResources(sizes, pickPodResources) {
  const resources = sizes.map(size => ({ pods: size.pods, ...pickPodResources(size) }))
  const cores = resources.reduce((sum, { pods, cores }) => sum + pods * Number(cores), 0)
  if (resources.some(({ bytes }) => bytes === null)) return `${renderThreeDigits(cores)} cores`
  const bytes = resources.reduce((sum, { pods, bytes }) => sum + pods * Number(bytes), 0)
  return `${renderThreeDigits(cores)} cores and ${renderThreeDigits(bytes / GIB)} GiB`
}

/**
 * Renders the ratios of each container with their conditions and their run, a sentence each.
 * @param {Pick<ProductionSize, 'sizes' | 'plane' | 'ratios'>} size
 * @returns {string[]} []: there are none
 */
function renderRatios({ sizes, plane, ratios }) {
  const hasManyContainers = new Set(sizes.map(({ container }) => container)).size > 1
  return [...ratios].map(([container, { from, cpu, memory, node, folder }]) => {
    const { low, high } = cpu
    const interval = low === null || high === null ? 'no interval' : `95 % CI ${low.toFixed(2)} to ${high.toFixed(2)}`
    const containerNote = hasManyContainers ? ` of ${container}` : ''
    const memoryRatio = memory === null ? 'memory was not compared' : renderMemoryRatio(memory, cpu)
    return `Ratios${containerNote}, ${plane} to ${from} on ${node} (${folder}; ${cpu.conditions}), not under this load: CPU per request ${cpu.median.toFixed(2)} (${interval}), ${memoryRatio}.`
  })
}

/**
 * Renders the ratio of memory, with its conditions if they are not those of CPU: `memory 0.50 (rss)`.
 * @param {Ratio} memory
 * @param {Ratio} cpu
 */
function renderMemoryRatio(memory, cpu) {
  const conditions = memory.conditions === cpu.conditions ? '' : `; ${memory.conditions}`
  return `memory ${memory.median.toFixed(2)} (${memory.of}${conditions})`
}

/**
 * Renders a warning if no pod has samples of at least SHARE_LEAST of the range.
 * @param {Pick<ProductionSize, 'range' | 'seconds' | 'sizes'>} size sizes: at least one
 * @returns {string[]} []: a pod has
 */
function renderShortRangeWarning({ range, seconds, sizes }) {
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

/** Renders the source by which workloads were found, as a sentence. @param {WorkloadSize[]} sizes */
function renderWorkloadSource(sizes) {
  const byName = sizes.filter(({ workload }) => !workload.isByOwner).length
  if (byName === 0) return 'Workloads by kube-state-metrics.'
  return byName === sizes.length
    ? 'Workloads by names of pods.'
    : `Workloads by kube-state-metrics, ${byName} by names of pods.`
}

/** Renders bytes as a quantity of Kubernetes, rounded up: `64Mi`. @param {number} bytes */
export const renderBytes = bytes => `${Math.ceil(bytes / MIB)}Mi`
/** Renders microseconds without a unit, with one decimal below ten and none from ten on. @param {number} micros */
const renderMicros = micros => (micros < 10 ? micros.toFixed(1) : micros.toFixed(0))

/** Renders a number with two decimals below 10, one below 100, and none from 100 on. @param {number} number */
function renderThreeDigits(number) {
  if (number < 10) return number.toFixed(2)
  return number.toFixed(number < 100 ? 1 : 0)
}
