import { stringify } from 'yaml'
import { computeLimitsFound } from '../kinds/search/found-limits.js'
import { computeNodeFit } from '../kinds/search/nodes.js'
import { groupBy } from '../lib/group-by.js'
import { MIB } from '../lib/units.js'
import { AXES, renderArmName } from '../model/arms.js'
import { createResources, roundCoresUp } from '../model/container-limits.js'
import { listSizes } from '../model/results.js'

/**
 * Renders the limits that were found, to paste, and how many of them a node holds. Pure.
 * @import { parseNodeOptions } from '../kinds/search/nodes.js'
 * @import { SizeResult, Summary } from '../model/types.ts'
 * @import { ContainerLimits } from '../model/container-limits.js'
 */

/** @typedef {{ service: string | null, limits: ContainerLimits, size: SizeResult }} Entry limits of a sidecar; service: null: of any */

/**
 * A format of limits, to paste.
 * @typedef {object} Format
 * @property {true} [isPerSidecar] each sidecar has a document; absent: all sidecars of a plane share one
 * @property {(entries: Entry[]) => object} createDocument
 */

/** @type {Record<string, Format>} */
const FORMATS = {
  yaml: { isPerSidecar: true, createDocument: ([{ limits }]) => ({ resources: createResources(limits) }) },
  helm: { createDocument: entries => Object.assign({}, ...entries.map(createHelmValues)) },
  compose: { createDocument: entries => ({ services: Object.fromEntries(entries.map(createComposeService)) }) },
}

/** The names of the formats: `yaml` for a container in Kubernetes, `helm` for values of a chart, `compose` for a Compose file. */
export const LIMIT_FORMATS = Object.keys(FORMATS)

/** Creates the values of a chart, below the name of the service if it has one. @param {Entry} entry */
function createHelmValues({ service, limits }) {
  const values = { sidecar: { resources: createResources(limits) } }
  return service === null ? values : { [service]: values }
}

/**
 * Creates the service of a sidecar in a Compose file.
 * @param {Entry} entry
 * @returns {[string, object]} its name and definition
 */
function createComposeService({ service, limits: { millicores, mebibytes, requestMillicores, isRequest } }) {
  const reservedMillicores = requestMillicores ?? (isRequest ? millicores : undefined)
  const resources = {
    // The m of Compose is a MiB: https://docs.docker.com/reference/compose-file/extension/#specifying-byte-values
    limits: { ...(!isRequest && { cpus: `${millicores / 1000}` }), memory: `${mebibytes}m` },
    ...(reservedMillicores && { reservations: { cpus: `${reservedMillicores / 1000}` } }),
  }
  return [service === null ? 'sidecar' : `${service}-sidecar`, { deploy: { resources } }]
}

/**
 * Renders the limits of each plane as YAML documents, below comments on the loads that they hold. A plane without
 * limits has only a comment with the reason.
 * @param {SizeResult[]} sizes
 * @param {string} format one of LIMIT_FORMATS
 * @returns {string} YAML without a line end at its end; empty without sizes
 */
export function renderLimits(sizes, format) {
  const planes = [...groupBy(sizes, renderArmName).values()]
  return planes.flatMap(planeSizes => renderPlaneDocuments(planeSizes, FORMATS[format])).join('\n---\n')
}

/**
 * Renders the documents of a plane, each below its comment. Comments on sizes without limits stand above the first.
 * @param {SizeResult[]} sizes of the plane
 * @param {Format} format
 * @returns {string[]} YAML documents; comments alone if no size has limits
 */
function renderPlaneDocuments(sizes, { isPerSidecar, createDocument }) {
  const entries = sizes.flatMap(listEntries)
  const groups = isPerSidecar ? entries.map(entry => [entry]) : [entries]
  const [first = '', ...others] = groups
    .filter(group => group.length > 0)
    .map(group => renderComment(group) + stringify(createDocument(group)).trimEnd())
  const lackComments = sizes.filter(size => computeLimitsFound(size) === null).map(renderLackingLimits)
  return [[...lackComments, first].filter(Boolean).join('\n'), ...others]
}

/**
 * Lists the limits of the sidecars of a size, one entry for each service, or one for any.
 * @param {SizeResult} size
 * @returns {Entry[]} [] if no limits were found
 */
function listEntries(size) {
  const limits = computeLimitsFound(size)
  if (limits === null) return []
  const services = size.services.length > 0 ? size.services : [null]
  return services.map(service => ({ service, limits: { ...limits, ...findCpuRequest(size) }, size }))
}

/**
 * Finds the CPU request of a size.
 * @param {SizeResult} size
 * @returns {Pick<ContainerLimits, 'requestMillicores'>} {} if it has none, or is of an older kit
 */
function findCpuRequest({ answer }) {
  return answer?.requestCores ? { requestMillicores: roundCoresUp(answer.requestCores) } : {}
}

/**
 * Renders the comment that a size has no limits, and why.
 * @param {SizeResult} size
 * @returns {string} a line
 */
function renderLackingLimits(size) {
  const subject = [renderArmName(size), ...size.services].join(', ')
  const why = (size.answer?.why ?? size.cpu.why).replaceAll('\n', ' ')
  return `# ${subject}: no limits for ${size.ratePerSecond} requests/s: ${why}`
}

/**
 * Renders the comment above a document: the plane, the link, and the load of each entry.
 * @param {Entry[]} entries of a plane, at least one
 * @returns {string} lines, with a line end at the end
 */
function renderComment(entries) {
  const [{ size }] = entries
  const head = `# ${renderArmName(size)}, for each sidecar of the link ${size.cpu.link}`
  return `${[head, ...entries.map(entry => `#   ${renderLoad(entry)}`)].join('\n')}\n`
}

/**
 * Renders the load that limits hold, and how trials confirmed it.
 * @param {Pick<Entry, 'service' | 'size'>} entry
 * @returns {string}
 */
function renderLoad({ service, size }) {
  const { ratePerSecond, answer } = size
  const name = service === null ? '' : `${service}: `
  return `${name}${ratePerSecond} requests/s${answer ? renderConfirmation(size, answer) : renderOldCheck(size)}`
}

/**
 * Renders how sure the limits of a size are, to follow its rate.
 * @param {SizeResult} size
 * @param {NonNullable<SizeResult['answer']>} answer
 * @returns {string}
 */
function renderConfirmation({ p99Ms, p99LimitMs, neighbourCores }, { state, met, missed, why }) {
  const neighbour = neighbourCores === undefined ? '' : ` beside a ${AXES.neighbourCores.render(neighbourCores)}`
  const worstP99 = p99Ms === null ? '' : `, worst p99 ${p99Ms.toFixed(1)} ms`
  const reason = state === 'confirmed' ? '' : `; ${why.replaceAll('\n', ' ')}`
  const proof = `met in ${met} of ${met + missed} trials${worstP99}${reason}`
  return `${neighbour}, p99 at most ${p99LimitMs} ms: ${state}: ${proof}`
}

/** Renders whether the limits of a size by an older kit passed its check, to follow the rate. @param {SizeResult} size */
function renderOldCheck({ p99Ms, isChecked }) {
  const p99 = p99Ms === null ? '' : `, p99 ${p99Ms.toFixed(1)} ms`
  return `${p99}; ${isChecked ? 'checked' : 'NOT proven: these limits did not pass their check'}`
}

/**
 * Renders how many sidecars of each plane fit on a node, and that the speed of cores is not converted.
 * @param {Pick<Summary, 'results' | 'machine'>} summary
 * @param {ReturnType<typeof parseNodeOptions>} node
 * @returns {string[]} lines; [] if no limits were found
 */
export function renderNodeFit({ results, machine }, node) {
  const sizes = listSizes({ results })
  if (!sizes.some(size => computeLimitsFound(size) !== null)) return []
  const planes = [...groupBy(sizes, renderArmName).values()]
  const fits = planes.map(plane => `  ${renderPlaneFit(plane, node)}`)
  return [renderNodeSize(node), ...fits, renderSpeedNote(node, machine)]
}

/**
 * Sums the limits of all sidecars of a plane, each rounded as it is set.
 * @param {SizeResult[]} sizes of a plane, each with limits
 * @returns {ContainerLimits}
 */
function sumLimits(sizes) {
  const sum = { millicores: 0, mebibytes: 0 }
  for (const size of sizes) {
    const { millicores, mebibytes } = /** @type {ContainerLimits} */ (computeLimitsFound(size))
    const sidecars = Math.max(1, size.services.length)
    sum.millicores += sidecars * millicores
    sum.mebibytes += sidecars * mebibytes
  }
  return sum
}

/**
 * Renders how many times the limits of a plane fit on a node, by CPU and by memory, or that a size has no limits.
 * @param {SizeResult[]} sizes of a plane: of one load, or of all services
 * @param {ReturnType<typeof parseNodeOptions>} node
 * @returns {string}
 */
function renderPlaneFit(sizes, { left }) {
  const name = renderArmName(sizes[0])
  const sizeWithoutLimits = sizes.find(size => computeLimitsFound(size) === null)
  if (sizeWithoutLimits) {
    const { services } = sizeWithoutLimits
    return `${name}: no limits were found${services.length > 0 ? ` for ${services.join(', ')}` : ''}`
  }
  const limits = sumLimits(sizes)
  const { count, limit, byCpu, byMemory } = computeNodeFit(limits, left)
  const cpu = `${Math.round(1000 * left.cores)}m / ${limits.millicores}m = ${byCpu.toFixed(1)}`
  const memory = `${left.bytes / MIB} / ${limits.mebibytes} MiB = ${byMemory.toFixed(1)}`
  const hasServices = sizes[0].services.length > 0
  const uncheckedNote = sizes.every(size => size.isChecked) ? '' : '; some of these limits did NOT pass their check'
  const countText = hasServices ? `the sidecars of all services together fit ${count} times` : `${count} sidecars fit`
  return `${name}: ${countText}, by ${limit} (CPU ${cpu}; memory ${memory})${uncheckedNote}`
}

/**
 * Renders the size of a node, and what is left of it for sidecars.
 * @param {ReturnType<typeof parseNodeOptions>} node
 * @returns {string}
 */
function renderNodeSize({ name, cores, bytes, left }) {
  const renderCoresAndMemory = (/** @type {{ cores: number, bytes: number }} */ resources) =>
    `${resources.cores} cores and ${resources.bytes / MIB} MiB`
  const isWhole = left.cores === cores && left.bytes === bytes
  const reserveNote = isWhole
    ? 'applications and the system are not counted: --reserve keeps room for them'
    : `${renderCoresAndMemory(left)} without what is reserved`
  return `node ${name}, ${renderCoresAndMemory({ cores, bytes })}; ${reserveNote}:`
}

/**
 * Renders that the speed of cores was not converted to that of the node.
 * @param {ReturnType<typeof parseNodeOptions>} node
 * @param {Summary['machine']} machine
 * @returns {string}
 */
function renderSpeedNote({ name, cpu }, { cpuModel, architecture }) {
  const nodeCpu = cpu === null ? `${name} may have another CPU` : `${name} has another (${cpu})`
  return `  Cores are counted, speed is not converted: this was measured on ${cpuModel} (${architecture}), and ${nodeCpu}. Where a core does half the work, a sidecar needs twice the CPU limit, and half as many fit by CPU. For that answer run size on the node itself.`
}
