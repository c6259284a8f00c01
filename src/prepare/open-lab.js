import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { loadPlanes } from '../dataplanes/registry.js'
import { computeCpuPerRequestMicros, listSidecars } from '../judge/record/measures.js'
import { KINDS } from '../kinds/registry.js'
import { countCalls, countInstructions } from '../lab/count.js'
import { assertSamples } from '../lab/perf.js'
import { CALLERS } from '../lab/profile.js'
import { joinWindows, sampleTrial } from '../lab/sample.js'
import { assertServes } from '../lab/serves.js'
import { chooseOldSide, findOldSide } from '../lab/sides.js'
import { BenchError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { loadGenerators } from '../loads/registry.js'
import { assertVersion } from '../model/pipeline.js'
import { hasFixedPorts, hasServerTls } from '../model/pipeline-traffic.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'
import { probeConfiguration } from '../parity/gate.js'
import { probeLoadAnswers } from '../parity/own-answers.js'
import { listPipelineTlsNotes } from '../parity/own-tls.js'
import { isWrong } from '../parity/verdict/rows.js'
import { writeAtomically } from '../records/files.js'
import { parseExperiment } from '../request/experiment.js'
import { openCertificates } from '../run/certificates.js'
import { locateKitScripts } from '../run/execute.js'
import { findTool } from '../tools/find.js'
import { perfTool, straceTool, valgrindTool } from '../tools/profilers.js'
import { createPipeline, readPipeline } from '../tools/read-pipeline.js'
import { draftPipeline } from './draft-pipeline.js'
import { assertOneScheme, chooseTls, createNamespacesError } from './own-pipelines.js'
import { planRun } from './prepare.js'

const PROBE_MS = 20_000

/**
 * The two sides of `lab`, from its options: they can be tried, counted and sampled.
 * @import { Planes } from './programs.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Sides } from '../lab/comparison.js'
 * @import { RequestOptions } from '../model/requests.js'
 * @import { Arm, LoadGenerator, Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 */
/**
 * @typedef {object} Rig both sides, ready to start
 * @property {Record<SideName, Arm[]>} arms of the same links on both sides
 * @property {Record<SideName, Testbed>} testbeds
 * @property {Tool} profiler valgrind, or perf
 * @property {Tool | null} strace counts system calls; null: they are not counted
 * @property {string} folder of the lab
 * @property {() => number} nextStart numbers each start
 */

const SIDES = /** @type {const} */ (['old', 'new'])
// The window under load is long enough for some thousand samples of each sidecar.
const SAMPLED = { rounds: 1, warmupSeconds: 2, windowSeconds: 8 }
/** The file with the differences of a refused side, a line each. */
const REFUSED = 'results/lab-refused.txt'
// Sides alternate, so that a drift affects both alike. Two windows of a side show how much windows vary.
const TURNS = /** @type {const} */ (['old', 'new', 'new', 'old'])

/**
 * @typedef {'old' | 'new'} SideName
 * @typedef {Awaited<ReturnType<typeof openLab>>} Lab
 */

/**
 * Opens both sides, ready to start.
 * @param {object} options
 * @param {Site} options.site
 * @param {Side} options.side the new one
 * @param {string | null} options.against the old side, as the user named it; null: the default
 * @param {string} [options.into] the folder for old scripts of git; absent: one of the lab
 * @param {string[]} options.link
 * @param {number} [options.payload] bytes
 * @param {RequestOptions} [options.requestAxes]
 * @param {string} [options.features]
 * @param {string[]} options.pipy the paths of Pipy programs, at most two
 * @param {number} options.requests to count on each side
 * @param {boolean} options.hasHandshakes new mTLS connections are counted, too
 * @param {boolean} options.hasCalls system calls are counted
 * @param {boolean} [options.isSampled] the sides are sampled under load, instead of counted
 * @param {boolean} [options.isPlaintext] the sidecars speak no TLS
 * @param {AbortSignal} options.signal
 * @returns notes: limits of the numbers; isAlone: no side is compared with the new one; pipeline: of the new side;
 *   labels: of both sides; checkProfiler, assertServes, checkParity, count, sample: the steps of a comparison; close:
 *   removes the certificates
 * @throws {BenchError} if a tool, a side or a network namespace is missing
 */
export async function openLab({
  site,
  side,
  against,
  into,
  link,
  payload,
  requestAxes,
  features,
  pipy,
  isSampled = false,
  isPlaintext = false,
  signal,
  ...counted
}) {
  const loads = await loadGenerators()
  const load = loads[DEFAULT_GENERATOR]
  const profiler = isSampled
    ? await findLabTool(perfTool, 'a load cannot be sampled')
    : await findLabTool(valgrindTool, 'instructions cannot be counted')
  const loadTools = isSampled ? [await findLabTool(load.tool, 'no load can be made', site.findTool)] : []
  const strace = counted.hasCalls ? await findStrace() : null
  const pipys = await findPipys(pipy)
  const { ledger } = site
  const labFolder = path.join(ledger.folder, 'lab')
  const look = { site, pipy: pipys.new, folder: labFolder, signal }
  const { sides, isAlone } = await openSides({
    side,
    against,
    into: into ?? path.join(labFolder, 'old-scripts'),
    hasTwoPipys: pipy.length === 2,
    look,
  })
  const pipelines = [sides.old.pipeline, sides.new.pipeline].filter(
    pipeline => typeof pipeline === 'object' && pipeline !== null,
  )
  const profiles = [sides.old.profile, side.profile]
  const isRedirected = profiles.some(profile => profile !== null)
  const hasNamespaces = pipelines.some(hasFixedPorts)
  assertOneScheme(pipelines)
  for (const name of SIDES) {
    const { pipeline } = sides[name]
    if (pipeline !== null && pipeline !== 'unknown') assertVersion(pipeline, pipys[name])
  }
  if (isRedirected || hasNamespaces)
    await site.assertInterception().catch(error => {
      throw createNamespacesError(Object.fromEntries(pipelines.map(pipeline => [pipeline.file, pipeline])), error)
    })
  const planes = await loadPlanes(['pipy'])
  const { plan, layout } = planLab({
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
  // The connections of sidecars in network namespaces are not seen from here.
  const counting = {
    ...counted,
    hasHandshakes: counted.hasHandshakes && !isRedirected && !isPlaintext && pipelines.length === 0,
  }
  const { certificates, close } = await openCertificates({ ledger, plan, topologies: layout.topologies })
  const capacity = await KINDS.capacity.loadCourse()
  /**
   * @param {SideName} name
   * @returns {Testbed}
   */
  const createTestbed = name => {
    const tools = Object.fromEntries([pipys[name], ...loadTools].map(tool => [tool.name, tool]))
    const { pipeline } = sides[name]
    const programs = {
      planes,
      load,
      tools,
      appRuntime: pipys.old,
      ...(pipeline !== null && pipeline !== 'unknown' && { pipelines: { '': pipeline } }),
    }
    const folders = { results: labFolder, raw: path.join(labFolder, name), certificates }
    return {
      site,
      layout,
      settings: plan.settings,
      kind: capacity,
      programs,
      folders: { ...locateKitScripts(programs), ...folders, pipyScripts: sides[name].scripts },
    }
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
    folder: labFolder,
    nextStart: () => starts++,
  }
  const renderSideLabel = (/** @type {SideName} */ name) => `${sides[name].label}, Pipy ${pipys[name].version}`
  return {
    notes: strace && 'missing' in strace ? [`system calls are not counted: ${strace.missing}`] : [],
    isAlone,
    pipeline: side.pipeline,
    labels: { old: renderSideLabel('old'), new: renderSideLabel('new') },
    /**
     * Checks before anything starts that perf can sample.
     * @param {AbortSignal} signal
     * @throws {BenchError} if the kernel does not let it sample
     */
    async checkProfiler(signal) {
      if (isSampled) await assertSamples({ perf: profiler, folder: ledger.folder, signal })
    },
    /**
     * Starts a side with the scripts that are saved now, and sends it requests.
     * @param {SideName} name
     * @param {AbortSignal} signal
     * @param {(line: string) => void} say
     * @returns {Promise<string[]>} its answer on each link
     * @throws {BenchError} if it does not serve
     */
    assertServes: (name, signal, say) => {
      rereadPipeline(sides[name].pipeline)
      return assertSideServes(rig, { name, requests: counted.requests, signal, say: createSay({ name, isAlone, say }) })
    },
    /**
     * Runs the equal-work check. Old scripts are checked only with features, which they may lack: then a count would
     * compare unequal work.
     * @throws {BenchError} if a side does other work
     */
    async checkParity(/** @type {AbortSignal} */ signal) {
      // Pipelines are compared by their answers, when they start.
      if (pipelines.length > 0) return
      if (features !== undefined) await checkParity(rig, { name: 'old', label: sides.old.label, signal })
      await checkParity(rig, { name: 'new', label: side.label, signal })
    },
    /**
     * Counts a side.
     * @param {SideName} name
     * @param {AbortSignal} signal
     */
    count: (name, signal) => countSide(rig, { name, ...counting, signal }),
    sample: (/** @type {AbortSignal} */ signal) => sampleSides(rig, signal),
    close: () => close({ retain: false }),
  }
}

/**
 * Finds both sides, and drafts the pipeline of scripts that have none. Two programs of Pipy run the same scripts,
 * unless `against` names others.
 * @param {object} options
 * @param {Side} options.side the new one; its pipeline is set if it is unknown
 * @param {string | null} options.against
 * @param {string} options.into the folder for old scripts of git
 * @param {boolean} options.hasTwoPipys
 * @param {Omit<Parameters<typeof draftPipeline>[0], 'scripts'>} options.look how to draft a pipeline
 * @returns {Promise<{ sides: Record<SideName, Side>, isAlone: boolean }>} isAlone: no side is compared with the new
 *   one
 * @throws {BenchError} if a side is missing, or cannot be drafted
 */
async function openSides({ side, against, into, hasTwoPipys, look }) {
  const draft = async (/** @type {Side} */ draftedSide) => {
    if (draftedSide.pipeline === 'unknown')
      draftedSide.pipeline = await draftPipeline({ scripts: draftedSide.scripts, ...look })
  }
  await draft(side)
  const { scripts } = side
  const isAlone = side.pipeline !== null && against === null && !hasTwoPipys
  // Two programs of Pipy are compared with the same scripts, unless --against names others.
  const isOneSide = isAlone || (hasTwoPipys && against === null)
  const old = isOneSide ? side : await findOldSide({ against: chooseOldSide(against, scripts), scripts, into })
  await draft(old)
  return { sides: { old, new: side }, isAlone }
}

/**
 * Creates a `say` that prefixes each line with the side's name, if there are two sides.
 * @param {{ name: SideName, isAlone: boolean, say: (line: string) => void }} options
 * @returns {(line: string) => void}
 */
export function createSay({ name, isAlone, say }) {
  return isAlone ? say : (/** @type {string} */ line) => say(`${name}: ${line}`)
}

/**
 * Finds strace and tries it, before a count takes minutes.
 * @returns {Promise<Tool | { missing: string }>} missing: the reason why it is not found, or cannot trace
 */
async function findStrace() {
  const strace = await findTool(straceTool)
  if ('missing' in strace) return strace
  const { failed, stderr } = await execa(strace.path, ['-f', '-o', '/dev/null', 'true'], {
    reject: false,
    timeout: PROBE_MS,
  })
  return failed ? { missing: `${strace.path} traces no process here: ${stderr.split('\n')[0]}` } : strace
}

/**
 * Starts a side without a counter, on each of its links, and sends it requests.
 * @param {Rig} rig
 * @param {{ name: SideName, requests: number, signal: AbortSignal, say: (line: string) => void }} options requests:
 *   their number on each link
 * @returns {Promise<string[]>} its answer on each link
 * @throws {BenchError} if it does not serve
 */
async function assertSideServes({ arms, testbeds, folder: labFolder, nextStart }, { name, ...options }) {
  const answers = []
  for (const arm of arms[name]) {
    const start = nextStart()
    const folder = path.join(labFolder, `${start}-${name}-${arm.link}-plain`)
    const probe = { testbed: testbeds[name], arm, start, folder, ...options }
    answers.push(
      await assertServes(probe, async services => {
        for (const note of await listPipelineTlsNotes({ ...probe, services })) options.say(note)
        return await probeLoadAnswers({ ...probe, services })
      }),
    )
  }
  return answers.map(({ found }) => found)
}

/**
 * Runs the equal-work check on the first arm of a side. Shortfalls that its plane declares are accepted.
 * @param {Rig} rig
 * @param {{ name: SideName, label: string, signal: AbortSignal }} options label: of the side, for errors
 * @throws {BenchError} if the side does other work
 */
async function checkParity({ testbeds, arms, nextStart }, { name, label, signal }) {
  // One arm is enough: arms differ in their links, which the corpus does not use; each starts when it is counted.
  const rows = await probeConfiguration({
    testbed: testbeds[name],
    alike: arms[name].slice(0, 1),
    index: nextStart(),
    signal,
  })
  const wrongRows = rows.filter(row => isWrong(row) && !row.lacks)
  if (wrongRows.length === 0) return
  const lines = wrongRows.flatMap(({ name, found, expected, differences }) => [
    `${name}: ${found} (${expected} is expected)`,
    ...differences.map(difference => `  ${difference}`),
  ])
  const file = path.resolve(REFUSED)
  mkdirSync(path.dirname(file), { recursive: true })
  writeAtomically(path.dirname(file), path.basename(file), `${label}\n${lines.join('\n')}\n`)
  const names = wrongRows.map(row => row.name.replace('parity-', '')).join(', ')
  throw new BenchError(
    `${label} does not do the work of a sidecar, so its instructions cannot be compared: it falls short in ${names} (each line: ${path.relative('', file)}); --no-parity counts them anyway`,
  )
}

/**
 * Replaces the content of a pipeline by its files as they are now: they may have changed since the last start.
 * @param {Side['pipeline']} pipeline is changed; null or `unknown`: stays
 */
export function rereadPipeline(pipeline) {
  if (pipeline === null || pipeline === 'unknown') return
  Object.assign(pipeline, readPipeline(pipeline.scripts) ?? createPipeline(pipeline))
}

/**
 * Counts the instructions of a side, then its system calls, with another tool.
 * @param {Rig} rig
 * @param {{ name: SideName, requests: number, hasHandshakes: boolean, signal: AbortSignal }} options requests: to
 *   count; hasHandshakes: new mTLS connections are counted, too
 * @returns {Promise<import('../lab/comparison.js').Costs[]>} of each sidecar of each link
 */
async function countSide({ arms, testbeds, profiler, strace, folder: labFolder, nextStart }, { name, ...options }) {
  const counts = []
  for (const arm of arms[name]) {
    const createCountOptions = () => {
      const start = nextStart()
      const folder = path.join(labFolder, `${start}-${name}-${arm.link}`)
      // The requests are counted in two halves, so their number is even.
      const requests = 2 * Math.ceil(options.requests / 2)
      return { ...options, requests, testbed: testbeds[name], arm, start, folder }
    }
    const counted = await countInstructions({ ...createCountOptions(), valgrind: profiler, callers: CALLERS })
    const calls = strace ? await countCalls({ ...createCountOptions(), strace }) : []
    counts.push(
      ...counted.map(sidecar => ({ ...sidecar, ...calls.find(({ service }) => service === sidecar.service) })),
    )
  }
  return counts
}

/**
 * Samples both sides under load.
 * @param {Rig} rig
 * @param {AbortSignal} signal
 * @returns {Promise<Sides & { notes: string[] }>} notes: the numbers of samples, and what is missing in them
 */
async function sampleSides({ arms, testbeds, profiler: perf, nextStart }, signal) {
  /** @type {Sides} */
  const sides = { old: [], new: [] }
  let hasKernel = true
  for (const [i, { link }] of arms.new.entries()) {
    const samples = []
    for (const [turn, name] of TURNS.entries()) {
      const arm = arms[name][i]
      const trial = { id: `${turn}-${name}-${link}`, kind: 'capacity', round: 1, arm, repeats: null, searchOf: null }
      const sampled = await sampleTrial({ testbed: testbeds[name], trial, start: nextStart(), perf, signal })
      samples.push({ name, ...sampled })
    }
    hasKernel &&= samples.every(sample => sample.hasKernel)
    for (const name of /** @type {const} */ (['old', 'new'])) {
      const sideSamples = samples.filter(sample => sample.name === name)
      for (const service of Object.keys(sideSamples[0].profiles)) {
        const windows = sideSamples.map(({ record, profiles }) => ({
          profile: profiles[service],
          nanos: 1000 * (computeCpuPerRequestMicros(record, listSidecars(record, service)) ?? Number.NaN),
        }))
        sides[name].push(joinWindows({ link, service }, windows))
      }
    }
  }
  const counts = sides.new.map(({ link, service, samples }) => {
    const old = sides.old.find(costs => costs.link === link && costs.service === service)
    return `${service} of ${link} ${old?.samples} and ${samples}`
  })
  const notes = [
    `samples of perf, old and new: ${counts.join(', ')}; a function with n of them is uncertain by the root of n`,
    ...(hasKernel
      ? []
      : ['the kernel showed perf no samples of its own: its share is spread over the rest; run as root']),
  ]
  return { ...sides, notes }
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
 * @param {Side['profile'][]} options.profiles
 * @param {boolean} options.isRedirected
 * @param {boolean} options.hasNamespaces
 * @param {boolean} options.isPlaintext
 * @param {boolean} options.hasCertificate
 * @returns {ReturnType<typeof planRun>}
 * @throws {UsageError} if an arm cannot be measured
 */
function planLab({ loads, planes, link, payload, requestAxes = {}, features, site, pipy, profiles, ...network }) {
  const { isRedirected, hasNamespaces, isPlaintext, hasCertificate } = network
  const names = new Set(profiles.map(profile => (profile === null ? 'pipy' : `pipy:${profile}`)))
  const axes = `{ plane: ${JSON.stringify([...names])}, link: [${link.join(', ')}], cpuLimitCores: [1] }`
  const experiment = `name: lab\nquestion: What does a change cost?\naxes: ${axes}\nprofiles: { smoke: ${JSON.stringify(SAMPLED)} }\n`
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
        interception: isRedirected ? ['redirect'] : hasNamespaces ? ['none'] : undefined,
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
 * @param {string[]} paths of at most two programs
 * @returns {Promise<Record<SideName, Tool>>}
 * @throws {UsageError} for more than two paths; {MissingPlaneError} if a program is missing
 */
async function findPipys(paths) {
  if (paths.length > 2)
    throw new UsageError(`--pipy was given ${paths.length} times: give it twice, to compare two versions`)
  const environments = paths.length === 0 ? [process.env] : paths.map(named => ({ ...process.env, PIPY: named }))
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
 * @param {string} lack what is impossible without it, for the error
 * @param {Site['findTool']} [look] finds it; by default findTool
 * @returns {Promise<Tool>}
 * @throws {BenchError} if it is missing
 */
async function findLabTool(spec, lack, look = spec => findTool(spec)) {
  const tool = await look(spec)
  if ('missing' in tool) throw new BenchError(`${lack}: ${tool.missing}`)
  return tool
}
