import path from 'node:path'
import { execa } from 'execa'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { loadPlanes } from '../dataplanes/registry.js'
import { KINDS } from '../kinds/registry.js'
import { assertCanSample } from '../lab/perf.js'
import { chooseOldSide, openOldSide } from '../lab/sides.js'
import { BenchError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { findFailureReason } from '../lib/programs.js'
import { loadGenerators } from '../loads/registry.js'
import { assertPipelineVersion } from '../model/pipeline.js'
import { hasFixedPorts, hasServerTls } from '../model/pipeline-traffic.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'
import { parseExperiment } from '../request/experiment.js'
import { issueRunCertificates } from '../run/certificates.js'
import { locateKitScripts } from '../run/scripts.js'
import { findTool } from '../tools/find.js'
import { perfTool, straceTool, valgrindTool } from '../tools/profilers.js'
import { draftPipeline } from './draft-pipeline.js'
import {
  assertSideParity,
  assertSideServes,
  countSide,
  createSideSay,
  rereadPipeline,
  SIDES,
  sampleSides,
} from './lab-steps.js'
import { assertOneScheme, chooseTls, createNamespacesError } from './own-pipelines.js'
import { planRun } from './plan-run.js'

const PROBE_MS = 20_000

/**
 * Opens the two sides of `lab` by its options: they can then be tried, counted and sampled.
 * @import { Planes } from './programs.js'
 * @import { Rig, SideName } from './lab-steps.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Pipeline } from '../model/pipeline.js'
 * @import { RequestOptions } from '../model/requests.js'
 * @import { LoadGenerator, Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 */

// The window under load is long enough for some thousand samples of each sidecar.
const SAMPLED = { rounds: 1, warmupSeconds: 2, windowSeconds: 8 }

/** @typedef {Awaited<ReturnType<typeof openLab>>} Lab */

/**
 * Opens both sides, ready to start. The caller closes the lab, which removes the certificates.
 * @param {object} options
 * @param {Site} options.site
 * @param {Side} options.side the new one; its pipeline is set if it is unknown
 * @param {string | null} options.against the old side, as the user named it; null: the default
 * @param {string} [options.into] the folder for old scripts of git; absent: one in that of the lab
 * @param {string[]} options.link
 * @param {number} [options.payload] bytes
 * @param {RequestOptions} [options.requestAxes]
 * @param {string} [options.features]
 * @param {string[]} options.pipy the paths of Pipy programs, at most two
 * @param {number} options.requests to count on each side
 * @param {boolean} options.hasHandshakes new mTLS connections are counted, too
 * @param {boolean} options.hasCalls system calls are counted
 * @param {boolean} [options.isSampled] the sides are sampled under load, instead of counted
 * @param {boolean} [options.isPlaintext] the sidecars speak no TLS; pipelines say so themselves
 * @param {AbortSignal} options.signal
 * @returns the steps of a comparison, as `createLab`
 * @throws {UsageError} for sides that cannot be compared or measured; {BenchError} if a tool, a side or a network namespace is missing,
 *   or certificates cannot be written; as `draftPipeline`
 */
export async function openLab({ site, side, against, into, pipy, signal, ...options }) {
  const { link, payload, requestAxes, features, isSampled = false, isPlaintext = false } = options
  const loads = await loadGenerators()
  const load = loads[DEFAULT_GENERATOR]
  const tools = await findLabTools({ load, isSampled, hasCalls: options.hasCalls, site })
  const pipys = await findPipys(pipy)
  const folder = path.join(site.ledger.folder, 'lab')
  const { sides, isAlone } = await openSides({
    side,
    against,
    into: into ?? path.join(folder, 'old-scripts'),
    hasTwoPipys: pipy.length === 2,
    draftOptions: { site, pipy: pipys.new, folder, signal },
  })
  const pipelines = SIDES.flatMap(name => findSidePipeline(sides[name]) ?? [])
  const profiles = SIDES.map(name => sides[name].profile)
  const isRedirected = profiles.some(profile => profile !== null)
  const hasNamespaces = pipelines.some(hasFixedPorts)
  assertOneScheme(pipelines)
  assertSideVersions(sides, pipys)
  if (isRedirected || hasNamespaces)
    await site.assertInterception().catch(error => {
      throw createNamespacesError(Object.fromEntries(pipelines.map(pipeline => [pipeline.file, pipeline])), error)
    })
  const planes = await loadPlanes(['pipy'])
  const planned = planLab({
    loads,
    planes,
    link,
    payload,
    requestAxes,
    features,
    site,
    pipy: pipys.new,
    profiles,
    isRedirected,
    hasNamespaces,
    isPlaintext: pipelines.length > 0 ? chooseTls(pipelines)[0] === 'plaintext' : isPlaintext,
    hasCertificate: pipelines.some(hasServerTls),
  })
  const { rig, close } = await openRig({ site, planned, sides, pipys, planes, load, tools, folder })
  // The connections of sidecars in network namespaces are not seen from here.
  const areHandshakesSeen = !isRedirected && !isPlaintext && pipelines.length === 0
  return createLab(rig, {
    sides,
    pipys,
    isAlone,
    isSampled,
    hasPipelines: pipelines.length > 0,
    hasFeatures: features !== undefined,
    requests: options.requests,
    hasHandshakes: options.hasHandshakes && areHandshakesSeen,
    notes: tools.strace && 'missing' in tools.strace ? [`system calls are not counted: ${tools.strace.missing}`] : [],
    perfFolder: site.ledger.folder,
    close,
  })
}

/**
 * Creates the certificates and the testbeds of both sides.
 * @param {object} options
 * @param {Site} options.site
 * @param {Pick<ReturnType<typeof planRun>, 'plan' | 'layout'>} options.planned
 * @param {Record<SideName, Side>} options.sides
 * @param {Record<SideName, Tool>} options.pipys
 * @param {Planes} options.planes
 * @param {LoadGenerator} options.load
 * @param {Awaited<ReturnType<typeof findLabTools>>} options.tools
 * @param {string} options.folder of the lab
 * @returns {Promise<{ rig: Rig, close: () => void }>} close: removes the certificates
 * @throws {BenchError} if the certificates cannot be written
 */
async function openRig({ site, planned: { plan, layout }, sides, pipys, planes, load, tools, folder }) {
  const { profiler, strace, loadTools } = tools
  const { certificates, close } = await issueRunCertificates({
    ledger: site.ledger,
    plan,
    topologies: layout.topologies,
  })
  const shared = { site, layout, settings: plan.settings, kind: await KINDS.capacity.loadCourse() }
  const createTestbed = (/** @type {SideName} */ name) => {
    const programs = { planes, load, tools: [pipys[name], ...loadTools], appRuntime: pipys.old }
    return createSideTestbed(sides[name], { shared, programs, folder, raw: path.join(folder, name), certificates })
  }
  const listSideArms = (/** @type {SideName} */ name) =>
    plan.arms.filter(({ profile }) => profile === sides[name].profile)
  let starts = 0
  /** @type {Rig} */
  const rig = {
    arms: { old: listSideArms('old'), new: listSideArms('new') },
    testbeds: { old: createTestbed('old'), new: createTestbed('new') },
    profiler,
    strace: strace && 'path' in strace ? strace : null,
    folder,
    nextStart: () => starts++,
  }
  return { rig, close: () => close({ retain: false }) }
}

/**
 * Creates the steps of a comparison.
 * @param {Rig} rig
 * @param {object} options
 * @param {Record<SideName, Side>} options.sides
 * @param {Record<SideName, Tool>} options.pipys
 * @param {boolean} options.isAlone no side is compared with the new one
 * @param {boolean} options.isSampled
 * @param {boolean} options.hasPipelines the sides are pipelines
 * @param {boolean} options.hasFeatures the sidecars have other features than by default
 * @param {number} options.requests to count on each side
 * @param {boolean} options.hasHandshakes
 * @param {string[]} options.notes limits of the numbers
 * @param {string} options.perfFolder for the file by which `assertProfiler` tries perf
 * @param {() => void} options.close removes the certificates
 */
function createLab(rig, { sides, pipys, isAlone, isSampled, hasPipelines, hasFeatures, ...options }) {
  const { requests, hasHandshakes, notes, perfFolder, close } = options
  const renderSideLabel = (/** @type {SideName} */ name) => `${sides[name].label}, Pipy ${pipys[name].version}`
  return {
    notes,
    isAlone,
    /** The pipeline of the new side. */
    pipeline: sides.new.pipeline,
    labels: { old: renderSideLabel('old'), new: renderSideLabel('new') },
    /**
     * Asserts before anything starts that perf can sample. A count needs no perf.
     * @param {AbortSignal} signal
     * @throws as `assertCanSample`
     */
    async assertProfiler(signal) {
      if (isSampled) await assertCanSample({ perf: rig.profiler, folder: perfFolder, signal })
    },
    /**
     * Starts a side with the scripts that are saved now, and sends it requests.
     * @param {SideName} name
     * @param {AbortSignal} signal
     * @param {(line: string) => void} say
     * @returns {Promise<string[]>} as `assertSideServes`
     * @throws {BenchError} if it does not serve; as `rereadPipeline` and `assertSideServes`
     */
    assertServes: (name, signal, say) => {
      rereadPipeline(sides[name].pipeline)
      return assertSideServes(rig, { name, requests, signal, say: createSideSay({ name, isAlone, say }) })
    },
    /**
     * Asserts that both sides do equal work. Old scripts are checked only with features, which they may lack: then a count would
     * compare unequal work. Pipelines are not checked here: they are compared by their answers, when they start.
     * @param {AbortSignal} signal
     * @throws {BenchError} if a side does other work; as `assertSideParity`
     */
    async assertParity(signal) {
      if (hasPipelines) return
      if (hasFeatures) await assertSideParity(rig, { name: 'old', label: sides.old.label, signal })
      await assertSideParity(rig, { name: 'new', label: sides.new.label, signal })
    },
    count: (/** @type {SideName} */ name, /** @type {AbortSignal} */ signal) =>
      countSide(rig, { name, requests, hasHandshakes, signal }),
    sample: (/** @type {AbortSignal} */ signal) => sampleSides(rig, signal),
    close,
  }
}

/**
 * Creates the testbed of a side.
 * @param {Side} side
 * @param {object} options
 * @param {Pick<Testbed, 'site' | 'layout' | 'settings' | 'kind'>} options.shared by both sides
 * @param {{ planes: Planes, load: LoadGenerator, tools: Tool[], appRuntime: Tool }} options.programs
 * @param {string} options.folder of the lab
 * @param {string} options.raw the folder for the raw files of this side
 * @param {string} options.certificates their folder
 * @returns {Testbed}
 */
function createSideTestbed(side, { shared, programs: { tools, ...others }, folder, raw, certificates }) {
  const pipeline = findSidePipeline(side)
  const programs = {
    ...others,
    tools: Object.fromEntries(tools.map(tool => [tool.name, tool])),
    ...(pipeline && { pipelines: { '': pipeline } }),
  }
  const folders = { ...locateKitScripts(programs), results: folder, raw, certificates, pipyScripts: side.scripts }
  return { ...shared, programs, folders }
}

/**
 * Finds the pipeline of a side.
 * @param {Pick<Side, 'pipeline'>} side
 * @returns {Pipeline | null} null: its scripts read the kit's configuration, or no pipeline.yaml says how they are run
 */
function findSidePipeline({ pipeline }) {
  return pipeline === 'unknown' ? null : pipeline
}

/**
 * Asserts that the Pipy of each side has the version that its pipeline needs.
 * @param {Record<SideName, Side>} sides
 * @param {Record<SideName, Tool>} pipys
 * @throws {UsageError} if one has another version
 */
function assertSideVersions(sides, pipys) {
  for (const name of SIDES) {
    const pipeline = findSidePipeline(sides[name])
    if (pipeline) assertPipelineVersion(pipeline, pipys[name])
  }
}

/**
 * Finds both sides, and drafts the pipeline of scripts that have none. Two programs of Pipy run the same scripts,
 * unless `against` names others. A pipeline is alone unless `against` or two programs name what it is compared with.
 * @param {object} options
 * @param {Side} options.side the new one; its pipeline is set if it is unknown
 * @param {string | null} options.against the old side, as the user named it; null: the default
 * @param {string} options.into the folder for old scripts of git
 * @param {boolean} options.hasTwoPipys
 * @param {Omit<Parameters<typeof draftPipeline>[0], 'scripts'>} options.draftOptions
 * @returns {Promise<{ sides: Record<SideName, Side>, isAlone: boolean }>} isAlone: no side is compared with the new
 *   one
 * @throws {BenchError} if a side is missing, or cannot be drafted; as `openOldSide` and `draftPipeline`
 */
async function openSides({ side, against, into, hasTwoPipys, draftOptions }) {
  const setPipeline = async (/** @type {Side} */ openedSide) => {
    if (openedSide.pipeline === 'unknown')
      openedSide.pipeline = await draftPipeline({ scripts: openedSide.scripts, ...draftOptions })
  }
  await setPipeline(side)
  const { scripts } = side
  const isAlone = side.pipeline !== null && against === null && !hasTwoPipys
  const isOneSide = isAlone || (hasTwoPipys && against === null)
  const old = isOneSide ? side : await openOldSide({ against: chooseOldSide(against, scripts), scripts, into })
  await setPipeline(old)
  return { sides: { old, new: side }, isAlone }
}

/**
 * Finds the tools of a count, or of samples under load.
 * @param {{ load: LoadGenerator, isSampled: boolean, hasCalls: boolean, site: Site }} options
 * @returns {Promise<{ profiler: Tool, loadTools: Tool[], strace: Tool | { missing: string } | null }>} profiler: valgrind, or perf;
 *   loadTools: [] for a count, which sends its own requests; strace: null: no system calls are counted
 * @throws {BenchError} if the profiler or the generator is missing; as `findTool`
 */
async function findLabTools({ load, isSampled, hasCalls, site }) {
  const profiler = isSampled
    ? await findLabTool(perfTool, 'a load cannot be sampled')
    : await findLabTool(valgrindTool, 'instructions cannot be counted')
  const loadTools = isSampled ? [await findLabTool(load.tool, 'no load can be made', site.findTool)] : []
  return { profiler, loadTools, strace: hasCalls ? await findStrace() : null }
}

/**
 * Finds strace and tries it, before a count takes minutes.
 * @returns {Promise<Tool | { missing: string }>} missing: the reason why it is not found, or cannot trace
 * @throws as `findTool`
 */
export async function findStrace() {
  const strace = await findTool(straceTool)
  if ('missing' in strace) return strace
  const argv = ['-f', '-o', '/dev/null', 'true']
  const result = await execa(strace.path, argv, { reject: false, timeout: PROBE_MS })
  return result.failed ? { missing: `${strace.path} traces no process here: ${findFailureReason(result)}` } : strace
}

/**
 * Plans an arm without a CPU limit for each profile and link.
 * @param {object} options
 * @param {Record<string, LoadGenerator>} options.loads
 * @param {Planes} options.planes
 * @param {string[]} options.link names of links
 * @param {number} [options.payload] bytes
 * @param {RequestOptions} [options.requestAxes]
 * @param {string} [options.features]
 * @param {Site} options.site
 * @param {Tool} options.pipy
 * @param {Side['profile'][]} options.profiles null: the scripts are of no mesh
 * @param {boolean} options.isRedirected rules redirect connections, as the scripts of a mesh need
 * @param {boolean} options.hasNamespaces each start has network namespaces, as scripts with fixed ports need
 * @param {boolean} options.isPlaintext the sidecars speak no TLS
 * @param {boolean} options.hasCertificate the load speaks TLS to the sidecars
 * @returns {ReturnType<typeof planRun>}
 * @throws {UsageError} if an arm cannot be measured
 */
function planLab({ loads, planes, link, payload, requestAxes = {}, features, site, pipy, profiles, ...network }) {
  const { isRedirected, hasNamespaces, isPlaintext, hasCertificate } = network
  const names = new Set(profiles.map(profile => (profile === null ? 'pipy' : `pipy:${profile}`)))
  // An experiment has a CPU limit; the overrides take it away.
  const axes = `{ plane: ${JSON.stringify([...names])}, link: [${link.join(', ')}], cpuLimitCores: [1] }`
  const experiment = `name: lab\nquestion: What does a change cost?\naxes: ${axes}\nprofiles: { smoke: ${JSON.stringify(SAMPLED)} }\n`
  const plainInterception = hasNamespaces ? ['none'] : undefined
  const planned = planRun({
    loads,
    planes,
    experiment: parseExperiment(experiment, 'lab'),
    overrides: {
      planes: null,
      cpuLimits: 'none',
      rounds: null,
      profile: 'smoke',
      seed: 1,
      app: 'pipy',
      isPinned: false,
      axes: {
        payloadBytes: payload === undefined ? undefined : [payload],
        ...Object.fromEntries(Object.entries(requestAxes).map(([axis, value]) => [axis, [value]])),
        features: features === undefined ? undefined : [features],
        workers: [1],
        interception: isRedirected ? ['redirect'] : plainInterception,
        tls: isPlaintext ? ['plaintext'] : undefined,
      },
      ...(hasNamespaces && { hasNamespaces }),
      ...(hasCertificate && { hasCertificate }),
    },
    site,
    tools: { pipy },
  })
  for (const { plane, reason } of planned.plan.notMeasured) throw new UsageError(`${plane}: ${reason}`)
  return planned
}

/**
 * Finds the Pipy of each side: the named programs, else the kit's. One program runs both sides.
 * @param {string[]} paths of at most two programs: the old side's first
 * @returns {Promise<Record<SideName, Tool>>}
 * @throws {UsageError} for more than two paths; {MissingPlaneError} if a program is missing; as `findTool`
 */
async function findPipys(paths) {
  if (paths.length > 2)
    throw new UsageError(`--pipy was given ${paths.length} times: give it twice, to compare two versions`)
  const environments = paths.length === 0 ? [process.env] : paths.map(program => ({ ...process.env, PIPY: program }))
  const [old, next] = await Promise.all(
    environments.map(async environment => {
      const pipy = await findTool(pipyTool, { environment, ...(paths.length > 0 && { option: '--pipy' }) })
      if ('missing' in pipy) throw new MissingPlaneError(`${pipy.missing}; ${pipyTool.ifMissing?.advice}`)
      return pipy
    }),
  )
  return { old, new: next ?? old }
}

/**
 * Finds a tool that the lab needs.
 * @param {ToolSpec} spec
 * @param {string} lack the beginning of the error: a sentence on what is impossible without it
 * @param {Site['findTool']} [find] finds it; by default findTool
 * @returns {Promise<Tool>}
 * @throws {BenchError} if it is missing; an error of `find`
 */
async function findLabTool(spec, lack, find = spec => findTool(spec)) {
  const tool = await find(spec)
  if ('missing' in tool) throw new BenchError(`${lack}: ${tool.missing}`)
  return tool
}
