import os from 'node:os'
import { largestBindingCap } from '../model/caps.js'
import { readMachine } from '../node/machine.js'
import { findCapWay } from '../targets/local/cgroups.js'

/**
 * @import { Tool, ToolSpec } from '../model/types.ts'
 * @import { CapWay } from '../targets/local/cgroups.js'
 */

/**
 * Looks for everything that a default run needs.
 * @param {{ specs: ToolSpec[], findTool: (spec: ToolSpec) => Promise<Tool | { missing: string }> }} options
 * @returns {Promise<{ text: string, isReady: boolean }>}
 */
export async function runDoctor({ specs, findTool }) {
  const lines = []
  let isReady = true
  const { kernel, cpuModel, cpus, memoryBytes, node } = readMachine()
  lines.push(
    `ok       machine: ${cpus} CPUs (${cpuModel}), ${(memoryBytes / 2 ** 30).toFixed(1)} GiB, ${kernel}, Node ${node}`,
  )
  for (const spec of new Map(specs.map(s => [s.name, s])).values()) {
    const found = await findTool(spec).catch(error => ({ missing: error.message }))
    if ('missing' in found) {
      isReady = false
      lines.push(
        `missing  ${spec.name}: ${found.missing}`,
        `         install ${spec.name} ${spec.wanted} on PATH, or set ${spec.variable} to its path`,
      )
    } else {
      lines.push(`ok       ${spec.name} ${found.version}: ${found.path} (${found.source})`)
    }
  }
  const way = await findCapWay()
  if (way.how === 'none') isReady = false
  lines.push(describeWay(way))
  lines.push(
    `ok       largest cap at which two sidecars can bind on ${cpus} CPUs: ${largestBindingCap(os.availableParallelism())} cores`,
  )
  lines.push(conclude(isReady))
  return { text: lines.join('\n'), isReady }
}

/** @param {boolean} isReady */
export function conclude(isReady) {
  return isReady ? 'Everything a default run needs is here.' : 'A default run needs what is missing above.'
}

/** @param {CapWay} way */
function describeWay(way) {
  if (way.how === 'none') return `missing  CPU caps: ${way.reason}`
  if (way.how === 'systemd-run') return 'ok       CPU caps: cgroup v2 in a scope of systemd-run --user'
  return `ok       CPU caps: cgroup ${way.how}${way.isRoot ? '' : ', delegated'}, under ${way.parents.cpu}`
}
