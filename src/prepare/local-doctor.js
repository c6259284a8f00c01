import os from 'node:os'
import { renderCommand } from '../lib/render-command.js'
import { GIB } from '../lib/units.js'
import { findLargestBindingCpuLimit } from '../model/cpu-limits.js'
import { readMachine } from '../node/machine.js'
import { createFinding } from '../targets/doctor-finding.js'
import { findCapWay, MEMORY_OFF } from '../targets/local/cgroups.js'
import { findSmallestQuota, probeLargestCap } from '../targets/local/quota.js'
import { checkMemory, checkPorts } from './memory-and-ports.js'

/**
 * Checks this machine for what runs need: programs, memory, local ports, and a way to limit CPU.
 * @import { Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { CapWay } from '../targets/local/cgroups.js'
 * @import { DoctorFinding } from '../targets/doctor-finding.js'
 */

/**
 * A program that only the runs with an option need.
 * @typedef {object} OptionalProgram
 * @property {ToolSpec} spec
 * @property {string} option
 * @property {boolean} [isLater] the first run that needs it builds it, so it may be missing now; false by default
 */

/**
 * Checks everything that a default run needs on this machine.
 * @param {object} options
 * @param {ToolSpec[]} options.specs the programs of every run; of two with the same name, the last counts
 * @param {OptionalProgram[]} options.others
 * @param {Site['findTool']} options.findTool
 * @param {Site['findTool']} options.findBuilt finds a program, but does not build it
 * @param {typeof findCapWay} [options.findWay] finds how CPU limits can be set
 * @returns {Promise<DoctorFinding[]>} findings in the order of the printed lines
 * @throws as `findSmallestQuota` and `probeLargestCap`
 */
export async function checkMachine({ specs, others, findTool, findBuilt, findWay = findCapWay }) {
  const { kernel, cpuModel, cpus, memoryBytes, node } = readMachine()
  const gibibytes = (memoryBytes / GIB).toFixed(1)
  const findings = [
    createFinding('ok', `machine: ${cpus} CPUs (${cpuModel}), ${gibibytes} GiB, ${kernel}, Node ${node}`),
  ]
  const uniqueSpecs = new Map(specs.map(spec => [spec.name, spec])).values()
  for (const spec of uniqueSpecs) findings.push(await checkProgram(spec, findTool))
  const memory = checkMemory()
  findings.push(createFinding(memory.isEnough ? 'ok' : 'missing', memory.text))
  const ports = checkPorts()
  const portLevel = ports.isEnoughForChurn ? 'ok' : 'warning'
  findings.push(createFinding(ports.isEnough ? portLevel : 'missing', ports.text))
  for (const program of others) findings.push(await checkOptionalProgram(program, { findTool, findBuilt }))
  const largest = findLargestBindingCpuLimit(os.availableParallelism())
  return [
    ...findings,
    ...checkCpuLimits(await findWay()),
    createFinding('ok', `largest cap that two sidecars can use up on ${cpus} CPUs: ${largest} cores`),
  ]
}

/**
 * Creates the finding of a program that is there: its version, path and source.
 * @param {Tool} tool
 * @returns {DoctorFinding}
 */
function createToolFinding({ name, version, path, source }) {
  return createFinding('ok', `${name} ${version}: ${path} (${source})`)
}

/**
 * Checks whether a program of every run is there. An error of the search counts as a missing program.
 * @param {ToolSpec} spec
 * @param {Site['findTool']} findTool
 * @returns {Promise<DoctorFinding>} ok, or missing, with advice in `more`
 */
async function checkProgram(spec, findTool) {
  const { name, wanted, variable, ifMissing } = spec
  const tool = await findTool(spec).catch(error => ({ missing: error.message }))
  if (!('missing' in tool)) return createToolFinding(tool)
  const advice = ifMissing?.advice ?? `install ${name} ${wanted} on PATH, or set ${variable} to its path`
  return { ...createFinding('missing', `${name}: ${tool.missing}`), more: [advice] }
}

/**
 * Checks whether an optional program is there. One that a later run builds may be missing, but must not be broken.
 * @param {OptionalProgram} program
 * @param {{ findTool: Site['findTool'], findBuilt: Site['findTool'] }} options findBuilt: does not build it
 * @returns {Promise<DoctorFinding>} at worst a warning
 */
async function checkOptionalProgram({ spec, option, isLater }, { findTool, findBuilt }) {
  const find = isLater ? findBuilt : findTool
  const tool = await find(spec).catch(error => ({ missing: error.message, isRefused: true }))
  if (!('missing' in tool)) return createToolFinding(tool)
  if (!isLater || 'isRefused' in tool)
    return createFinding('warning', `${spec.name}, for ${option} only: ${tool.missing}`)
  const command = renderCommand('doctor', option)
  return createFinding('ok', `${spec.name}: the first run with ${option} builds it (${command} does it now)`)
}

/**
 * Checks how the CPU of sidecars can be limited.
 * @param {CapWay} way
 * @returns {DoctorFinding[]} the way, and warnings if it lacks the memory controller or a quota lies above it
 * @throws as `findSmallestQuota` and `probeLargestCap`
 */
function checkCpuLimits(way) {
  const lacksMemory = 'lacksMemory' in way ? [createFinding('warning', MEMORY_OFF)] : []
  return [checkCapWay(way), ...lacksMemory, ...checkQuota(way)]
}

/** @param {CapWay} way @returns {DoctorFinding} */
function checkCapWay(way) {
  if (way.how === 'none') return createFinding('missing', `CPU caps: ${way.reason}`)
  if (way.how === 'systemd-run') return createFinding('ok', 'CPU caps: cgroup v2 in a scope of systemd-run --user')
  const delegation = way.isRoot ? '' : ', delegated'
  return createFinding('ok', `CPU caps: cgroup ${way.how}${delegation}, under ${way.parents.cpu}`)
}

/**
 * Checks whether this job or container has a CPU quota, visible or not.
 * @param {CapWay} way
 * @returns {DoctorFinding[]} one warning; []: there is no quota below all CPUs
 * @throws as `findSmallestQuota` and `probeLargestCap`
 */
function checkQuota(way) {
  const cpus = os.availableParallelism()
  const quota = findSmallestQuota(way)
  if (quota) {
    const text = `CPU quota: this job or container may use ${quota.cores} cores in all (${quota.folder}), which sidecars, applications and the load share`
    return [createFinding('warning', text)]
  }
  const largestLimitCores = probeLargestCap(way, cpus)
  if (largestLimitCores >= cpus) return []
  const text = `CPU quota: the kernel takes no cap above ${largestLimitCores} cores: a group that is not visible from here, of this job or container, has that quota`
  return [createFinding('warning', text)]
}
