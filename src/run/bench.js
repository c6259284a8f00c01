import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseThreshold } from '../analysis/thresholds.js'
import { certificatesFolder } from '../lib/certificate-files.js'
import { writeCertificates } from '../lib/certificates.js'
import { BenchError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { readKit } from '../lib/kit.js'
import { suggest } from '../lib/nearest.js'
import { ROOT } from '../lib/paths.js'
import { GENERATOR, identityOf } from '../model/sidecar-contract.js'
import { METHOD_VERSION, SCHEMA_VERSION } from '../model/versions.js'
import { processStartTicks } from '../node/kernel/proc-files.js'
import { parseExperiment } from '../plan/experiment.js'
import { choosePlanes, createPlan } from '../plan/plan.js'
import { createResultsFolder } from '../records/records.js'
import { placeArms } from '../services/placement.js'
import { parseTopology } from '../services/topology.js'
import { gateParity } from './parity/gate.js'
import { SERVICES as PARITY_SERVICES } from './parity/rig.js'
import { runPlan } from './run.js'

/**
 * @import { DataPlane, LoadGenerator, Placement, Plan, PlaneChoice, Site, Summary, Tool, ToolSpec, Topology } from '../model/types.ts'
 * @import { Experiment } from '../plan/experiment.js'
 * @import { Overrides } from '../plan/plan.js'
 * @import { Reusable } from './run.js'
 * @import { RunEvent } from '../live/state.js'
 */

const OBSERVE_SECONDS = 3
const IDLE_LEAST = 0.8

/**
 * What `plan` and `bench` share: the experiment, the tools, and every trial.
 * @typedef {object} Preparation
 * @property {Plan & { notes: string[] }} plan
 * @property {Record<string, Topology>} topologies
 * @property {Record<string, Tool>} tools by name
 * @property {Tool} appRuntime
 * @property {Record<string, Placement | null>} placements by the arm's id
 */

/**
 * @param {{ experiment: Experiment, overrides: Overrides, thresholds: string[], app: 'pipy' | 'node' | null,
 *   dataPlanes: DataPlane[], load: LoadGenerator, site: Pick<Site, 'cpus' | 'cores' | 'findTool'>, pipyTool: ToolSpec,
 *   nodeTool: ToolSpec, say: (line: string) => void }} options
 * @returns {Promise<Preparation>}
 */
export async function prepare({ experiment, overrides, thresholds, app, dataPlanes, load, ...options }) {
  const { site, pipyTool, nodeTool, say } = options
  const { cpus, findTool } = site
  const chosen = choosePlanes(experiment, overrides)
  for (const choice of chosen) assertKnown(choice, dataPlanes)
  const hasSidecars = (/** @type {string} */ name) => dataPlanes.find(p => p.name === name)?.createSidecar !== null
  // What was asked is judged before anything is looked for, or fetched.
  const asked = createPlan({ experiment, overrides, cpus, missing: [], hasSidecars })
  const topologies = Object.fromEntries(asked.arms.map(({ link }) => [link, readTopology(link)]))
  const services = Object.values(topologies).flatMap(t => t.services.map(s => s.name))
  const check = (/** @type {Plan} */ { arms }) => {
    for (const expression of thresholds) parseThreshold(expression, arms, services)
  }
  check(asked)

  /** @type {Record<string, Tool>} */
  const tools = {}
  const missing = []
  const wanted = dataPlanes.filter(p => p.tool && chosen.some(c => c.plane === p.name))
  const [generator, ...founds] = await Promise.all([load.tool, ...wanted.flatMap(p => p.tool ?? [])].map(findTool))
  for (const [i, { name }] of wanted.entries()) {
    const found = founds[i]
    if (!('missing' in found)) {
      tools[found.name] = found
    } else {
      if (overrides.planes)
        throw new MissingPlaneError(`the plane ${name} cannot be measured: ${found.missing}${advise(wanted[i].tool)}`)
      missing.push({ plane: name, reason: found.missing })
    }
  }
  if ('missing' in generator) throw new BenchError(`no load can be made: ${generator.missing}`)
  tools[generator.name] = generator

  const appRuntime = await findAppRuntime({ app, tools, findTool, pipyTool, nodeTool, say })
  const plan = createPlan({
    experiment,
    overrides: { ...overrides, app: appRuntime.name === 'pipy' ? 'pipy' : 'node' },
    cpus,
    missing,
    hasSidecars,
    findUnsupported: ({ plane, conditions }) => {
      const { findUnsupported, reloads, tool } = /** @type {DataPlane} */ (dataPlanes.find(p => p.name === plane))
      if (conditions.changesPerMinute !== null && reloads === null)
        return 'it takes no other configuration while it serves'
      return findUnsupported({ conditions, version: tool ? tools[tool.name].version : '', cpus })
    },
  })
  check(plan)
  const placements = placeArms({ arms: plan.arms, topologies, cores: plan.settings.isPinned ? site.cores : [] })
  if (plan.settings.isPinned && Object.values(placements).includes(null)) {
    const why =
      site.cores.length > 0 ? `${cpus} CPUs are too few to give each its own` : 'they cannot be given out here'
    plan.notes.push(`generator, applications and sidecars share all CPUs: ${why}`)
  }
  return { plan, topologies, tools, appRuntime, placements }
}

/**
 * @param {PlaneChoice} choice
 * @param {DataPlane[]} dataPlanes
 * @throws {UsageError} for a plane, profile or variant that the kit does not have
 */
function assertKnown({ plane, profile, variant }, dataPlanes) {
  const known = dataPlanes.find(p => p.name === plane)
  if (!known) {
    const names = dataPlanes.map(p => p.name)
    throw new UsageError(`unknown plane "${plane}"${suggest(plane, names)}`)
  }
  if (variant && !known.hasVariants) throw new UsageError(`the plane ${plane} has no variants: write it without "="`)
  if (profile === null || known.profiles.slice(1).includes(profile)) return
  if (known.profiles.length === 0) throw new UsageError(`the plane ${plane} has no profiles: write it without ":"`)
  if (profile === known.profiles[0])
    throw new UsageError(`"${plane}:${profile}" is what "${plane}" alone means: write that`)
  throw new UsageError(`the plane ${plane} has no profile "${profile}"${suggest(profile, known.profiles)}`)
}

/**
 * Runs what was prepared, into a results folder.
 * @param {{ preparation: Preparation, site: Site, dataPlanes: DataPlane[], load: LoadGenerator, out: string | null,
 *   thresholds: string[], retain: boolean, command: string[], echoScripts?: string, reusable?: Reusable,
 *   turns?: { take: () => Promise<void>, pass: () => void }, writeDocuments?: (folder: string) => Promise<void>,
 *   watch?: (event: RunEvent) => void,
 *   signal: AbortSignal, say: (line: string) => void }} options echoScripts: applications to measure with instead of the kit's;
 *   writeDocuments: called when there is a summary, also of a run that was cut short; watch: is told what happens
 * @returns {Promise<{ summary: Summary, folder: string }>}
 */
export async function runBench({ preparation, site, dataPlanes, load, out, thresholds, retain, command, ...options }) {
  const { echoScripts = path.join(ROOT, 'echo'), turns, reusable, writeDocuments, watch, signal, say } = options
  const { plan, topologies, tools, appRuntime, placements } = preparation
  const startedAt = new Date().toISOString()
  const stamp = startedAt.slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  const folder = path.resolve(out ?? path.join('results', `${stamp}-${plan.experiment}`))
  createResultsFolder(folder)

  const scratch = path.join(os.tmpdir(), `sidecar-bench.${site.runId}`)
  mkdirSync(scratch, { mode: 0o700 })
  const removeScratch = () => rmSync(scratch, { recursive: true, force: true })
  process.on('exit', removeScratch)
  writeFileSync(path.join(scratch, 'owner'), `${process.pid} ${processStartTicks(process.pid)}`)
  const certificates = path.join(scratch, 'certificates')
  const names = new Set([GENERATOR, ...PARITY_SERVICES])
  for (const { services } of Object.values(topologies)) for (const { name } of services) names.add(name)
  const services = [...names].map(name => ({ name, identity: identityOf(name) }))
  await writeCertificates({ folder: certificates, services })
  if (plan.arms.some(arm => arm.conditions.tls === 'rsa-2048')) {
    await writeCertificates({ folder: certificatesFolder(certificates, 'rsa-2048'), services, keyType: 'rsa-2048' })
  }

  try {
    const manifest = {
      schemaVersion: SCHEMA_VERSION,
      methodVersion: METHOD_VERSION,
      run: { id: site.runId, startedAt, experiment: plan.experiment, seed: plan.seed },
      question: plan.question,
      claims: plan.claims,
      command,
      kit: await readKit(),
      target: site.target.name,
      machine: { ...site.machine, before: await observeIdle({ site, signal, say }) },
      tools,
      settings: plan.settings,
      thresholds,
      rounds: plan.rounds,
      arms: plan.arms,
      search: plan.search,
      calibrations: [],
      placements,
      notMeasured: plan.notMeasured,
      topologies,
    }
    const summary = await runPlan({
      plan,
      bench: {
        settings: plan.settings,
        target: site.target,
        load,
        loadTool: tools[load.tool.name],
        planes: Object.fromEntries(dataPlanes.map(p => [p.name, p])),
        tools,
        appRuntime,
        topologies,
        cpus: site.cpus,
        sampleSource: site.sampleSource,
        placements,
        folders: {
          pipyScripts: path.join(ROOT, 'pipy-scripts'),
          echo: echoScripts,
          k6: path.join(ROOT, 'bench/k6'),
          certificates,
          raw: path.join(folder, 'raw'),
        },
        retain,
        watch,
      },
      gateParity,
      folder,
      manifest,
      signal,
      say,
      turns,
      reusable,
    })
    return { summary, folder }
  } finally {
    if (existsSync(path.join(folder, 'summary.json'))) await writeDocuments?.(folder)
    process.off('exit', removeScratch)
    if (!retain) removeScratch()
  }
}

/**
 * How idle the machine of the services is while nothing of ours runs; said when it is not.
 * @param {{ site: Site, signal: AbortSignal, say: (line: string) => void }} options
 */
async function observeIdle({ site, signal, say }) {
  // The kubelet counts too seldom for a look of seconds.
  if (site.sampleSource === 'kubelet') return null
  const startMs = Date.now() + 100
  const window = { startMs, endMs: startMs + OBSERVE_SECONDS * 1000 }
  const { start, end } = await site.target.observe([], { window, signal })
  signal.throwIfAborted()
  if (start === null || end === null) return null
  const total = end.host.total - start.host.total
  const idleFraction = (end.host.idle - start.host.idle) / total
  const stealFraction = (end.host.steal - start.host.steal) / total
  if (idleFraction < IDLE_LEAST) {
    const stolen = stealFraction > 0.01 ? `, ${Math.round(100 * stealFraction)} % stolen by its host` : ''
    say(`note: this machine is ${Math.round(100 * idleFraction)} % idle before the run${stolen}: expect wide intervals`)
  }
  return { seconds: OBSERVE_SECONDS, idleFraction, stealFraction }
}

/**
 * @param {string} name of an experiment of the kit, or the path of a file
 * @throws {UsageError} where there is none, or it says what no experiment can
 */
export function readExperiment(name) {
  const isFile = /\.ya?ml$/.test(name)
  const file = isFile ? name : path.join(ROOT, 'bench/experiments', `${name}.yaml`)
  return parseExperiment(
    readOrSuggest({ file, name, what: 'experiment', folder: 'bench/experiments' }),
    isFile ? name : `bench/experiments/${name}.yaml`,
  )
}

/** @param {ToolSpec | null} tool that is missing */
function advise(tool) {
  return tool?.ifMissing ? `; ${tool.ifMissing.advice}` : ''
}

/** The names of the kit's own experiments. */
export function listExperiments() {
  return readdirSync(path.join(ROOT, 'bench/experiments')).map(file => file.replace(/\.yaml$/, ''))
}

/** @param {string} link */
function readTopology(link) {
  const file = path.join(ROOT, 'bench/topologies', `${link}.yaml`)
  return parseTopology(
    readOrSuggest({ file, name: link, what: 'link', folder: 'bench/topologies' }),
    `bench/topologies/${link}.yaml`,
  )
}

/** @param {{ file: string, name: string, what: string, folder: string }} options */
function readOrSuggest({ file, name, what, folder }) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    const names = readdirSync(path.join(ROOT, folder)).map(f => f.replace(/\.yaml$/, ''))
    throw new UsageError(`unknown ${what} "${name}"${suggest(name, names)}`)
  }
}

/**
 * Pipy serves the applications where it is to be had, else Node; said when it was not asked for.
 * @param {{ app: 'pipy' | 'node' | null, tools: Record<string, Tool>, findTool: (spec: ToolSpec) => Promise<Tool | { missing: string }>,
 *   pipyTool: ToolSpec, nodeTool: ToolSpec, say: (line: string) => void }} options
 * @returns {Promise<Tool>}
 */
async function findAppRuntime({ app, tools, findTool, pipyTool, nodeTool, say }) {
  const pipy = app === 'node' ? null : (tools.pipy ?? (await findTool(pipyTool)))
  if (pipy !== null && !('missing' in pipy)) {
    tools.pipy = pipy
    return pipy
  }
  if (app === 'pipy' && pipy !== null) throw new BenchError(`--app pipy: ${pipy.missing}`)
  if (app === null) {
    say('no Pipy: the applications are served by Node (their CPU is not comparable with runs served by Pipy)')
  }
  const node = await findTool(nodeTool)
  if ('missing' in node) throw new BenchError(`nothing can serve the applications: ${node.missing}`)
  tools.node = node
  return node
}
