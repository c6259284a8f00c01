import os from 'node:os'
import { largestBindingCap } from '../model/caps.js'
import { readMachine } from '../node/machine.js'
import { findCapWay } from '../targets/local/cgroups.js'
import { describeRoom } from './room.js'

/**
 * @import { Tool, ToolSpec } from '../model/types.ts'
 * @import { Finding } from '../targets/kubernetes/doctor.js'
 * @import { CapWay } from '../targets/local/cgroups.js'
 */

/**
 * @typedef {(spec: ToolSpec) => Promise<Tool | { missing: string }>} Find
 * @typedef {{ spec: ToolSpec, option: string, isLater?: boolean }} Other isLater: the first run that needs it builds it
 */

/**
 * Looks for everything that a default run needs on this machine.
 * @param {{ specs: ToolSpec[], others?: Other[], findTool: Find, findBuilt?: Find }} options
 *   others: of planes and control planes that are measured only where they are named; findBuilt builds nothing
 * @returns {Promise<Finding[]>}
 */
export async function examineMachine({ specs, others = [], findTool, findBuilt = findTool }) {
  const { kernel, cpuModel, cpus, memoryBytes, node } = readMachine()
  /** @type {Finding[]} */
  const findings = []
  const ok = (/** @type {string} */ text) => findings.push({ level: 'ok', text })
  ok(`machine: ${cpus} CPUs (${cpuModel}), ${(memoryBytes / 2 ** 30).toFixed(1)} GiB, ${kernel}, Node ${node}`)
  for (const spec of new Map(specs.map(s => [s.name, s])).values()) {
    const found = await findTool(spec).catch(error => ({ missing: error.message }))
    if (!('missing' in found)) ok(`${spec.name} ${found.version}: ${found.path} (${found.source})`)
    else {
      findings.push({
        level: 'missing',
        text: `${spec.name}: ${found.missing}`,
        more: [
          spec.ifMissing?.advice ?? `install ${spec.name} ${spec.wanted} on PATH, or set ${spec.variable} to its path`,
        ],
      })
    }
  }
  const { isEnough, text } = describeRoom()
  findings.push({ level: isEnough ? 'ok' : 'missing', text })
  for (const { spec, option, isLater } of others) {
    const found = await (isLater ? findBuilt : findTool)(spec).catch(error => ({
      missing: error.message,
      isRefused: true,
    }))
    if (!('missing' in found)) ok(`${spec.name} ${found.version}: ${found.path} (${found.source})`)
    else if (isLater && !('isRefused' in found))
      ok(`${spec.name}: the first run with ${option} builds it (npm run doctor -- ${option} does it now)`)
    else findings.push({ level: 'warning', text: `${spec.name}, for ${option} only: ${found.missing}` })
  }
  findings.push(describeWay(await findCapWay()))
  ok(`largest cap that two sidecars can use up on ${cpus} CPUs: ${largestBindingCap(os.availableParallelism())} cores`)
  return findings
}

/**
 * @param {CapWay} way
 * @returns {Finding}
 */
function describeWay(way) {
  if (way.how === 'none') return { level: 'missing', text: `CPU caps: ${way.reason}` }
  if (way.how === 'systemd-run') return { level: 'ok', text: 'CPU caps: cgroup v2 in a scope of systemd-run --user' }
  return {
    level: 'ok',
    text: `CPU caps: cgroup ${way.how}${way.isRoot ? '' : ', delegated'}, under ${way.parents.cpu}`,
  }
}
