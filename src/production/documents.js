import { stringify } from 'yaml'
import { renderTextTable } from '../lib/text-table.js'
import { renderPercent } from '../lib/units.js'
import { createResources, renderMillicores, roundCoresUp, roundLimitsUp } from '../model/container-limits.js'
import { renderCsv } from '../report/csv.js'
import { renderBytes, renderSeconds, renderWorkloadLabel } from './answer.js'
import { REQUEST_COUNTERS } from './queries.js'
import { scaleSize } from './ratios.js'
import { renderSizingRule } from './workload-size.js'

/**
 * Renders `size --from-prometheus` as details, JSON, CSV and YAML; answer.js has its short answer. Pure.
 * @import { ProductionSize } from './answer.js'
 */
/**
 * @import { Production } from './read-production.js'
 * @import { WorkloadSize } from './workload-size.js'
 */

/** Each name of --format has a renderer. @type {Record<string, (size: ProductionSize) => string>} */
const FORMATS = {
  json: size => JSON.stringify(createProductionDocument(size), null, 2),
  csv: size => renderWorkloadsCsv(size).trimEnd(),
  yaml: renderYaml,
}

/**
 * Renders all workloads in a format for programs.
 * @param {ProductionSize} size
 * @param {string} format json, csv or yaml (FORMATS)
 * @returns {string} without a line end at its end
 */
export function renderProduction(size, format) {
  return FORMATS[format](size)
}

/**
 * Creates the document that is printed as JSON.
 * @param {ProductionSize} size
 * @returns plane: null without --plane; withPlane of a workload: its size with that plane, null without ratios of its container
 */
function createProductionDocument({ namespace, range, address, production, sizes, plane, ratios, warnings }) {
  return {
    namespace,
    range,
    prometheus: address,
    ...production.intervals,
    counters: production.counters.map(({ metric }) => metric),
    rule: renderSizingRule(production.intervals),
    lacks: production.lacks,
    warnings,
    plane: plane === null ? null : { plane, ratios: Object.fromEntries(ratios) },
    workloads: sizes.map(size => {
      const ratio = ratios.get(size.container)
      return { ...size, withPlane: ratio === undefined ? null : scaleSize(size, ratio) }
    }),
  }
}

/** The columns of the CSV; `read` gives the value of a workload. @type {[header: string, read: (size: WorkloadSize) => string | number | null][]} */
const COLUMNS = [
  ['workload', ({ workload }) => workload.name],
  ['kind', ({ workload }) => workload.kind],
  ['container', ({ container }) => container],
  ['state', ({ state }) => state],
  ['pods', ({ pods }) => pods],
  ['podsSeen', ({ podsSeen }) => podsSeen],
  ['seconds', ({ seconds }) => seconds],
  ['meanCores', ({ meanCores }) => meanCores],
  ['p95Cores', ({ p95Cores }) => p95Cores],
  ['peakCores', ({ peakCores }) => peakCores],
  ['throttledFraction', ({ throttledFraction }) => throttledFraction],
  ['memoryBytes', ({ memoryBytes }) => memoryBytes],
  ['requestsPerSecond', ({ requestsPerSecond }) => requestsPerSecond],
  ['cpuPerRequestMicros', ({ cpuPerRequestMicros }) => cpuPerRequestMicros],
  ['cpuRequestCores', ({ set }) => set.request.cores],
  ['cpuLimitCores', ({ set }) => set.limit.cores],
  ['memoryRequestBytes', ({ set }) => set.request.bytes],
  ['memoryLimitBytes', ({ set }) => set.limit.bytes],
  ['computedCpuRequestCores', ({ computed }) => computed.requestCores],
  ['computedCpuLimitCores', ({ computed }) => computed.limitCores],
  ['computedMemoryBytes', ({ computed }) => computed.bytes],
  ['timesTooLarge', ({ timesTooLarge }) => timesTooLarge],
]

/**
 * Renders a CSV with a header and a row for each workload. A value that is not known is empty; without ratios of the container, so
 * are the two columns of the other plane.
 * @param {ProductionSize} size
 * @returns {string}
 */
function renderWorkloadsCsv({ sizes, ratios }) {
  return renderCsv([
    [...COLUMNS.map(([header]) => header), 'planeCpuRequestCores', 'planeMemoryBytes'],
    ...sizes.map(size => {
      const ratio = ratios.get(size.container)
      const scaled = ratio === undefined ? null : scaleSize(size, ratio)
      return [...COLUMNS.map(([, read]) => read(size)), scaled?.requestCores ?? null, scaled?.bytes ?? null]
    }),
  ])
}

/**
 * Renders the `resources` of each workload's sidecars as YAML, below a comment with the rule. A workload whose memory is not known
 * has a comment instead.
 * @param {ProductionSize} size
 * @returns {string} documents divided by `---`
 */
function renderYaml({ sizes, production }) {
  const documents = sizes.map(size => {
    const { computed, workload, container, why } = size
    const reason = why ? `: ${why}` : ''
    const head = `# ${workload.kind}/${workload.name}, container ${container}${reason}`
    if (computed.bytes === null) return `${head}\n# no limits: the memory that it used is not known`
    const limits = roundLimitsUp({ cores: computed.limitCores, bytes: computed.bytes })
    const resources = createResources({ ...limits, requestMillicores: roundCoresUp(computed.requestCores) })
    return `${head}\n${stringify({ resources }).trimEnd()}`
  })
  return [`# ${renderSizingRule(production.intervals)}`, documents.join('\n---\n')].join('\n')
}

/**
 * Renders the table of --details, with all numbers of each workload, and notes on how they were read. A number that is not known
 * is `-`.
 * @param {ProductionSize} size
 * @returns {string}
 */
export function renderProductionDetails(size) {
  const { sizes, production, ratios, plane, warnings } = size
  const names = [
    ...['workload', 'container'],
    ...['pods', 'seen', 'CPU mean', 'p95', 'peak', 'throttled', 'memory', 'req/s', 'µs/req'],
    ...['CPU request', 'CPU limit', 'memory request', 'memory limit'],
    ...(ratios.size > 0 ? [`with ${plane}`] : []),
    'state',
  ]
  const isText = (/** @type {string} */ name) => ['workload', 'container', 'state'].includes(name)
  const columns = names.map(name => /** @type {[string, 'left' | 'right']} */ ([name, isText(name) ? 'left' : 'right']))
  const rows = sizes.map(workload => renderDetailsRow(workload, size))
  return [...renderTextTable({ caption: '', columns, rows }), '', ...renderDetailsNotes(production), ...warnings].join(
    '\n',
  )
}

/**
 * Renders the cells of a workload in the table of --details, in the order of its columns. A number that is not known is `-`.
 * @param {WorkloadSize} size
 * @param {Pick<ProductionSize, 'sizes' | 'ratios'>} all
 * @returns {string[]}
 */
function renderDetailsRow(size, { sizes, ratios }) {
  const { set, computed } = size
  const computedMemory = renderOrDash(computed.bytes, renderBytes)
  return [
    renderWorkloadLabel(size, sizes),
    size.container,
    `${size.pods} of ${size.podsSeen}`,
    renderSeconds(size.seconds),
    ...[size.meanCores, size.p95Cores, size.peakCores].map(renderMillicores),
    renderOrDash(size.throttledFraction, value => renderPercent(value, 1)),
    renderOrDash(size.memoryBytes, renderBytes),
    renderOrDash(size.requestsPerSecond, value => value.toFixed(1)),
    renderOrDash(size.cpuPerRequestMicros, value => value.toFixed(0)),
    `${renderOrDash(set.request.cores, renderMillicores)} → ${renderMillicores(computed.requestCores)}`,
    `${renderOrDash(set.limit.cores, renderMillicores)} → ${renderMillicores(computed.limitCores)}`,
    `${renderOrDash(set.request.bytes, renderBytes)} → ${computedMemory}`,
    `${renderOrDash(set.limit.bytes, renderBytes)} → ${computedMemory}`,
    ...(ratios.size > 0 ? [renderScaledText(size, ratios)] : []),
    size.why || 'fits',
  ]
}

/**
 * Renders notes on how the numbers of --details were read and computed, and which metrics Prometheus lacks, a line each.
 * @param {Production} production
 * @returns {string[]}
 */
function renderDetailsNotes({ intervals, counters, lacks }) {
  return [
    'CPU and memory are those of the busiest and the largest pod, the mean and req/s those of an average pod, req/s while requests were counted.',
    'pods: that run now, of those that were seen. A request that a sidecar receives counts once, and so does one that it sends.',
    `Scraped every ${intervals.scrapeSeconds} s; averages of ${intervals.rateSeconds} s, every ${intervals.stepSeconds} s.`,
    ...(counters.length > 0
      ? counters.map(({ metric, origin }) => `Requests by ${metric} (${origin}).`)
      : [`Looked for requests by ${REQUEST_COUNTERS.map(({ metric }) => metric).join(', ')}.`]),
    renderSizingRule(intervals),
    'A sidecar that is throttled shows at most its limit: the computed limit is then 1.5 times that, and its need is not known.',
    ...lacks,
  ]
}

/**
 * Renders CPU request and memory with the other plane: `80m, 40Mi`, or `80m, -` if the memory is not known.
 * @param {WorkloadSize} size
 * @param {ProductionSize['ratios']} ratios
 * @returns {string} `-`: there are no ratios of the container
 */
function renderScaledText(size, ratios) {
  const ratio = ratios.get(size.container)
  if (ratio === undefined) return '-'
  const { requestCores, bytes } = scaleSize(size, ratio)
  return `${renderMillicores(requestCores)}, ${renderOrDash(bytes, renderBytes)}`
}

/**
 * Renders a value, or `-` if it is not known.
 * @param {number | null} value null: not known
 * @param {(value: number) => string} render
 */
const renderOrDash = (value, render) => (value === null ? '-' : render(value))
