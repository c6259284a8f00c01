import { stringify } from 'yaml'
import { computeLimitsFound } from '../kinds/search/memory-floor.js'
import { fitOnNode } from '../kinds/search/nodes.js'
import { groupBy } from '../lib/group-by.js'
import { MIB } from '../lib/units.js'
import { AXES, renderArmName } from '../model/arms.js'
import { toMillicores, toResources } from '../model/container-limits.js'
import { listSizes } from '../model/results.js'

/**
 * Renders the limits that were found, to paste, and how many of them a node holds. Pure.
 * @import { readNode } from '../kinds/search/nodes.js'
 * @import { SizeResult, Summary } from '../model/types.ts'
 * @import { Limits } from '../model/container-limits.js'
 * @typedef {{ service: string | null, limits: Limits }} Entry limits of a sidecar; service: null: any
 */

/**
 * Functions that create the documents of each format: one for each sidecar in `yaml`, one for all in the others.
 * @type {Record<string, (entries: Entry[]) => object[]>}
 */
const SHAPES = {
  yaml: entries => entries.map(({ limits }) => ({ resources: toResources(limits) })),
  helm: entries => {
    const values = entries.map(({ service, limits }) => {
      const sidecar = { sidecar: { resources: toResources(limits) } }
      return service === null ? sidecar : { [service]: sidecar }
    })
    return [Object.assign({}, ...values)]
  },
  // The m of Compose is a MiB: https://docs.docker.com/reference/compose-file/extension/#specifying-byte-values
  compose: entries => [
    {
      services: Object.fromEntries(
        entries.map(({ service, limits: { millicores, mebibytes, requestMillicores, isRequest } }) => [
          service === null ? 'sidecar' : `${service}-sidecar`,
          {
            deploy: {
              resources: {
                limits: { ...(!isRequest && { cpus: `${millicores / 1000}` }), memory: `${mebibytes}m` },
                ...(requestMillicores && { reservations: { cpus: `${requestMillicores / 1000}` } }),
              },
            },
          },
        ]),
      ),
    },
  ],
}

/** The names of the formats: `yaml` for a container in Kubernetes, `helm` for values of a chart, `compose` for a Compose file. */
export const FORMATS = Object.keys(SHAPES)

/**
 * Renders the limits of each plane as YAML documents, below comments on the loads that they hold. A plane without
 * limits has only a comment with the reason.
 * @param {SizeResult[]} sizes
 * @param {string} format one of FORMATS
 * @returns {string} YAML
 */
export function renderLimits(sizes, format) {
  const documents = [...groupBy(sizes, renderArmName).values()].flatMap(planeSizes => {
    const entries = planeSizes.flatMap(size => {
      const limits = computeLimitsFound(size)
      const services = size.services.length > 0 ? size.services : [null]
      return limits === null
        ? []
        : services.map(service => ({ service, limits: { ...limits, ...findRequest(size) }, size }))
    })
    const isEach = SHAPES[format](entries).length > 1
    const groups = isEach ? entries.map(entry => [entry]) : entries.length > 0 ? [entries] : []
    const lacks = planeSizes.filter(size => computeLimitsFound(size) === null).map(renderLackingLimits)
    const texts = groups.map(group => renderComment(group) + stringify(SHAPES[format](group)[0]).trimEnd())
    return texts.length > 0 ? [[...lacks, texts[0]].join('\n'), ...texts.slice(1)] : [lacks.join('\n')]
  })
  return documents.join('\n---\n')
}

/**
 * Finds the CPU request of a size.
 * @param {SizeResult} size
 * @returns {Pick<Limits, 'requestMillicores'>} {}: it has none, or is of an older kit
 */
function findRequest({ answer }) {
  return answer?.requestCores ? { requestMillicores: toMillicores(answer.requestCores) } : {}
}

/**
 * Renders the comment that a size has no limits.
 * @param {SizeResult} size
 * @returns {string}
 */
function renderLackingLimits(size) {
  const subject = [renderArmName(size), ...size.services].join(', ')
  return `# ${subject}: no limits for ${size.ratePerSecond} requests/s: ${(size.answer?.why ?? size.cpu.why).replaceAll('\n', ' ')}`
}

/**
 * Renders the comment above a document: the plane, the link, and the load of each entry.
 * @param {{ service: string | null, size: SizeResult }[]} entries of a plane
 * @returns {string} ends in a line end
 */
function renderComment(entries) {
  const [{ size }] = entries
  const head = `# ${renderArmName(size)}, for each sidecar of the link ${size.cpu.link}`
  return `${[head, ...entries.map(entry => `#   ${renderLoad(entry)}`)].join('\n')}\n`
}

/**
 * Renders the load that limits hold, and how trials confirmed it.
 * @param {{ service: string | null, size: SizeResult }} entry
 * @returns {string}
 */
function renderLoad({ service, size: { ratePerSecond, p99Ms, p99LimitMs, isChecked, answer, neighbourCores } }) {
  const name = service === null ? '' : `${service}: `
  if (answer) {
    const { state, met, missed, why } = answer
    const worst = p99Ms === null ? '' : `, worst p99 ${p99Ms.toFixed(1)} ms`
    const beside = neighbourCores === undefined ? '' : ` beside a ${AXES.neighbourCores.render(neighbourCores)}`
    return `${name}${ratePerSecond} requests/s${beside}, p99 at most ${p99LimitMs} ms: ${state}: met in ${met} of ${met + missed} trials${worst}${state === 'confirmed' ? '' : `; ${why.replaceAll('\n', ' ')}`}`
  }
  const p99 = p99Ms === null ? '' : `, p99 ${p99Ms.toFixed(1)} ms`
  const proof = isChecked ? 'checked' : 'NOT proven: these limits did not pass their check'
  return `${name}${ratePerSecond} requests/s${p99}; ${proof}`
}

/**
 * Renders how many sidecars of each plane fit on a node, and what is not converted.
 * @param {Pick<Summary, 'results' | 'machine'>} summary
 * @param {ReturnType<typeof readNode>} node
 * @returns {string[]} lines; []: no limits were found
 */
export function renderNodeFit({ results, machine }, node) {
  const sizes = listSizes({ results })
  if (!sizes.some(size => computeLimitsFound(size) !== null)) return []
  const planes = [...groupBy(sizes, renderArmName).values()]
  return [renderNodeSize(node), ...planes.map(plane => `  ${renderFit(plane, node)}`), renderSpeedNote(node, machine)]
}

/**
 * Sums the limits of the sidecars of all services, rounded for each.
 * @param {SizeResult[]} sizes of a plane
 * @returns {Limits | null} null: one of them has no limits
 */
function sumLimits(sizes) {
  if (sizes.some(size => computeLimitsFound(size) === null)) return null
  const sum = (/** @type {'millicores' | 'mebibytes'} */ name) =>
    sizes.reduce(
      (total, size) => total + Math.max(1, size.services.length) * Number(computeLimitsFound(size)?.[name]),
      0,
    )
  return { millicores: sum('millicores'), mebibytes: sum('mebibytes') }
}

/**
 * Renders how many times the limits fit, by CPU and by memory.
 * @param {SizeResult[]} sizes of a plane: of one load, or of all services
 * @param {ReturnType<typeof readNode>} node
 * @returns {string}
 */
function renderFit(sizes, { left }) {
  const name = renderArmName(sizes[0])
  const sizeWithoutLimits = sizes.find(size => computeLimitsFound(size) === null)
  if (sizeWithoutLimits) {
    const { services } = sizeWithoutLimits
    return `${name}: no limits were found${services.length > 0 ? ` for ${services.join(', ')}` : ''}`
  }
  const needed = /** @type {Limits} */ (sumLimits(sizes))
  const { count, limit, byCpu, byMemory } = fitOnNode(needed, left)
  const cpu = `${Math.round(1000 * left.cores)}m / ${needed.millicores}m = ${byCpu.toFixed(1)}`
  const memory = `${left.bytes / MIB} / ${needed.mebibytes} MiB = ${byMemory.toFixed(1)}`
  const isSet = sizes[0].services.length > 0
  const unproven = sizes.every(size => size.isChecked) ? '' : '; some of these limits did NOT pass their check'
  const countText = isSet ? `the sidecars of all services together fit ${count} times` : `${count} sidecars fit`
  return `${name}: ${countText}, by ${limit} (CPU ${cpu}; memory ${memory})${unproven}`
}

/**
 * Renders the size of a node, and what is left of it for sidecars.
 * @param {ReturnType<typeof readNode>} node
 * @returns {string}
 */
function renderNodeSize({ name, cores, bytes, left }) {
  const renderCoresAndMemory = (/** @type {{ cores: number, bytes: number }} */ resources) =>
    `${resources.cores} cores and ${resources.bytes / MIB} MiB`
  const isWhole = left.cores === cores && left.bytes === bytes
  const rest = isWhole
    ? 'applications and the system are not counted: --reserve keeps room for them'
    : `${renderCoresAndMemory(left)} without what is reserved`
  return `node ${name}, ${renderCoresAndMemory({ cores, bytes })}; ${rest}:`
}

/**
 * Renders that the speed of cores was not converted to that of the node.
 * @param {ReturnType<typeof readNode>} node
 * @param {Summary['machine']} machine
 * @returns {string}
 */
function renderSpeedNote({ name, cpu }, { cpuModel, architecture }) {
  const nodeCpu = cpu === null ? `${name} may have another CPU` : `${name} has another (${cpu})`
  return `  Cores are counted, speed is not converted: this was measured on ${cpuModel} (${architecture}), and ${nodeCpu}. Where a core does half the work, a sidecar needs twice the CPU limit, and half as many fit by CPU. For that answer run size on the node itself.`
}
