import os from 'node:os'
import { renderCommand } from '../lib/render-command.js'
import { findLargestBindingCpuLimit } from '../model/cpu-limits.js'
import { readMachine } from '../node/machine.js'
import { findCapWay, MEMORY_OFF } from '../targets/local/cgroups.js'
import { findLargestCap, findQuota } from '../targets/local/quota.js'
import { checkPorts, checkRoom } from './room.js'

/**
 * @import { Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { Finding } from '../targets/kubernetes/doctor.js'
 * @typedef {{ spec: ToolSpec, option: string, isLater?: boolean }} Other isLater: the first run that needs it builds it
 */

/**
 * Checks everything that a default run needs on this machine.
 * @param {object} options
 * @param {ToolSpec[]} options.specs the programs of every run; of two with the same name, the last counts
 * @param {Other[]} options.others programs of the runs that name them only
 * @param {Site['findTool']} options.findTool
 * @param {Site['findTool']} options.findBuilt finds a program, but does not build it
 * @param {typeof findCapWay} [options.findWay] finds how CPU limits can be set
 * @returns {Promise<Finding[]>} findings in the order of the printed lines
 */
export async function checkMachine({ specs, others, findTool, findBuilt, findWay = findCapWay }) {
  const { kernel, cpuModel, cpus, memoryBytes, node } = readMachine()
  /** @type {Finding[]} */
  const findings = []
  const add = (/** @type {Finding['level']} */ level, /** @type {string} */ text) => findings.push({ level, text })
  const addTool = (/** @type {Tool} */ { name, version, path, source }) =>
    add('ok', `${name} ${version}: ${path} (${source})`)
  add('ok', `machine: ${cpus} CPUs (${cpuModel}), ${(memoryBytes / 2 ** 30).toFixed(1)} GiB, ${kernel}, Node ${node}`)
  for (const spec of new Map(specs.map(s => [s.name, s])).values()) {
    const { name, wanted, variable, ifMissing } = spec
    const tool = await findTool(spec).catch(error => ({ missing: error.message }))
    const advice = ifMissing?.advice ?? `install ${name} ${wanted} on PATH, or set ${variable} to its path`
    if ('missing' in tool) findings.push({ level: 'missing', text: `${name}: ${tool.missing}`, more: [advice] })
    else addTool(tool)
  }
  const { isEnough, text } = checkRoom()
  add(isEnough ? 'ok' : 'missing', text)
  const ports = checkPorts()
  add(ports.isEnough ? (ports.isEnoughForChurn ? 'ok' : 'warning') : 'missing', ports.text)
  for (const { spec, option, isLater } of others) {
    const find = isLater ? findBuilt : findTool
    const tool = await find(spec).catch(error => ({ missing: error.message, isRefused: true }))
    if (!('missing' in tool)) addTool(tool)
    else if (!isLater || 'isRefused' in tool) add('warning', `${spec.name}, for ${option} only: ${tool.missing}`)
    else
      add('ok', `${spec.name}: the first run with ${option} builds it (${renderCommand('doctor', option)} does it now)`)
  }
  const way = await findWay()
  if (way.how === 'none') add('missing', `CPU caps: ${way.reason}`)
  else if (way.how === 'systemd-run') add('ok', 'CPU caps: cgroup v2 in a scope of systemd-run --user')
  else add('ok', `CPU caps: cgroup ${way.how}${way.isRoot ? '' : ', delegated'}, under ${way.parents.cpu}`)
  if ('lacksMemory' in way) add('warning', MEMORY_OFF)
  findings.push(...checkQuota(way))
  const largest = findLargestBindingCpuLimit(os.availableParallelism())
  add('ok', `largest cap that two sidecars can use up on ${cpus} CPUs: ${largest} cores`)
  return findings
}

/**
 * Checks whether this job or container has a CPU quota, visible or not.
 * @param {import('../targets/local/cgroups.js').CapWay} way
 * @returns {Finding[]} one warning; []: there is no quota
 */
function checkQuota(way) {
  const cpus = os.availableParallelism()
  const quota = findQuota(way)
  if (quota) {
    const text = `CPU quota: this job or container may use ${quota.cores} cores in all (${quota.folder}), which sidecars, applications and the load share`
    return [{ level: 'warning', text }]
  }
  const largestLimitCores = findLargestCap(way, cpus)
  if (largestLimitCores >= cpus) return []
  const text = `CPU quota: the kernel takes no cap above ${largestLimitCores} cores: a group that is not visible from here, of this job or container, has that quota`
  return [{ level: 'warning', text }]
}
