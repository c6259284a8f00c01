import { Option } from 'commander'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { loadPlanes } from '../dataplanes/registry.js'
import { EXIT } from '../lib/errors.js'
import { loadGenerator, loadGenerators } from '../loads/registry.js'
import { checkMachine } from '../prepare/local-doctor.js'
import { addSharedOptions } from '../prepare/options.js'
import { assertImageTools, loadToolSpecs } from '../prepare/programs.js'
import { readExperiment } from '../prepare/read-experiment.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { createApiClient } from '../targets/kubernetes/api.js'
import { checkCluster } from '../targets/kubernetes/doctor.js'
import { checkLoadHost } from '../targets/load-host/doctor.js'
import { findTool } from '../tools/find.js'

/**
 * @import { DataPlane, ToolSpec } from '../model/types.ts'
 * @import { OptionalProgram } from '../prepare/local-doctor.js'
 * @import { DoctorFinding } from '../targets/doctor-finding.js'
 * @import { Context } from './program.js'
 * @typedef {{ name: string, tool: ToolSpec }} ControlProgram name: of the control plane
 */

/**
 * Adds `doctor`, which lists what a run needs, and what is missing: then the exit status is EXIT.failed.
 * @type {import('./program.js').AddVerb}
 */
export async function addDoctor(verb, context) {
  const dataPlanes = Object.values(await loadPlanes())
  const controlPrograms = listControlPrograms(dataPlanes)
  const help = 'look for the program of this control plane, too, or its image; on this machine it is built'
  addSharedOptions(verb, 'loadHost', 'address', 'target', 'context', 'node', 'loadNode', 'image')
    .addOption(new Option('--control <name>', help).choices(controlPrograms.map(({ name }) => name)))
    .action(async options => {
      assertCombination(SITE_OPTIONS, verb.opts())
      await assertImageTools(options.image)
      const controlTool = controlPrograms.find(({ name }) => name === options.control)?.tool
      const findings =
        options.target === 'kubernetes'
          ? await checkChosenCluster(options, controlTool)
          : await checkThisMachine({ dataPlanes, controlPrograms, controlTool, hasLoad: !options.loadHost }, context)
      if (options.loadHost) findings.push(...(await checkChosenLoadHost(options, context)))
      context.signal.throwIfAborted()
      const isReady = findings.every(({ level }) => level !== 'missing')
      const verdict = isReady ? 'Everything a default run needs is here.' : 'A default run needs what is missing above.'
      context.print([...findings.flatMap(renderFinding), verdict].join('\n'))
      if (!isReady) context.end(EXIT.failed)
    })
}

/**
 * Lists the control planes with a program of their own: only that needs to be found.
 * @param {DataPlane[]} dataPlanes
 * @returns {ControlProgram[]} two control planes may share a program; []: none has one
 */
function listControlPrograms(dataPlanes) {
  const controls = dataPlanes.flatMap(({ controls = [] }) => controls)
  return controls.flatMap(({ name, tool }) => (tool ? [{ name, tool }] : []))
}

/**
 * Checks the cluster that the options name.
 * @param {{ context?: string | null, node?: string | null, loadNode?: string | null, image: Record<string, string> }} options
 * @param {ToolSpec | undefined} controlTool the program of --control; undefined: it is not set
 * @returns {Promise<DoctorFinding[]>}
 * @throws {UsageError} as `createApiClient`; as `checkCluster`
 */
async function checkChosenCluster({ context = null, node = null, loadNode = null, image: images }, controlTool) {
  const api = await createApiClient({ context })
  const specs = [...(await loadToolSpecs()), ...(controlTool ? [controlTool] : [])]
  return checkCluster({ api, node, loadNode, images, specs })
}

/**
 * Checks this machine, with the programs of a default run and those that other runs need.
 * @param {object} options
 * @param {DataPlane[]} options.dataPlanes
 * @param {ControlProgram[]} options.controlPrograms
 * @param {ToolSpec} [options.controlTool] the program of --control, which is built if it is missing; absent: it is not set
 * @param {boolean} options.hasLoad false: another machine makes the load, and needs the generator
 * @param {Context} context
 * @returns {Promise<DoctorFinding[]>}
 * @throws as `checkMachine`
 */
async function checkThisMachine({ dataPlanes, controlPrograms, controlTool, hasLoad }, { say, signal }) {
  const defaultPlanes = readExperiment('cap').axes.plane
  const planeTools = dataPlanes.flatMap(({ name, tool }) => (tool && defaultPlanes.includes(name) ? tool : []))
  const generators = hasLoad ? [(await loadGenerator()).tool] : []
  const optionalPlanes = dataPlanes.filter(({ name }) => !defaultPlanes.includes(name))
  return checkMachine({
    specs: [pipyTool, ...planeTools, ...generators],
    others: [
      ...optionalPlanes.flatMap(({ name, tool }) => (tool ? [{ spec: tool, option: `--planes ${name}` }] : [])),
      ...dataPlanes.flatMap(listProfileRuntimes),
      ...listOptionalControlPrograms(controlPrograms, controlTool),
    ],
    findTool: spec => findTool(spec, { say, signal }),
    findBuilt: spec => findTool(spec, { say, signal, fetch: null }),
  })
}

/**
 * Lists the programs that the profiles of a plane run beside its own, each with the option that needs it.
 * @param {DataPlane} plane
 * @returns {OptionalProgram[]} []: no profile has one
 */
function listProfileRuntimes({ name, deployed = {} }) {
  return Object.entries(deployed).flatMap(([profile, { runtime }]) =>
    runtime ? [{ spec: runtime, option: `--planes ${name}:${profile}` }] : [],
  )
}

/**
 * Lists the programs of control planes, each once, with the first option that needs it.
 * @param {ControlProgram[]} controlPrograms
 * @param {ToolSpec | undefined} controlTool the program of --control, which is built now; the others are left to the first run that
 *   needs them
 * @returns {OptionalProgram[]} []: there are none
 */
function listOptionalControlPrograms(controlPrograms, controlTool) {
  return controlPrograms
    .filter(({ tool }, i) => controlPrograms.findIndex(other => other.tool === tool) === i)
    .map(({ name, tool }) => ({ spec: tool, option: `--control ${name}`, isLater: tool !== controlTool }))
}

/**
 * Checks the machine of --load-host, and that it reaches this one.
 * @param {{ loadHost: string, address?: string | null }} options
 * @param {Context} context
 * @returns {Promise<DoctorFinding[]>}
 * @throws {import('../lib/errors.js').BenchError} if this run's ledger cannot be written; the signal's reason when it aborts
 */
async function checkChosenLoadHost({ loadHost: host, address: requestedAddress = null }, { say, signal }) {
  const loads = Object.values(await loadGenerators())
  const findHere = (/** @type {ToolSpec} */ spec) => findTool(spec, { say, signal })
  return checkLoadHost({ host, requestedAddress, loads, findHere, say, signal })
}

/** Renders a finding, with its further lines indented under its text. @param {DoctorFinding} finding @returns {string[]} lines */
function renderFinding({ level, text, more = [] }) {
  return [`${level.padEnd(8)} ${text}`, ...more.map(line => `${' '.repeat(9)}${line}`)]
}
