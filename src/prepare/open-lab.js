import path from 'node:path'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { dataPlanes } from '../dataplanes/registry.js'
import { cpuPerRequestMicros, sidecarsOf } from '../judge/measures.js'
import { kinds } from '../kinds/registry.js'
import { countInstructions } from '../lab/count.js'
import { assertSamples } from '../lab/perf.js'
import { CALLERS } from '../lab/profile.js'
import { joinWindows, sampleTrial } from '../lab/sample.js'
import { chooseAgainst, findAgainst } from '../lab/sides.js'
import { BenchError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { findLoad } from '../loads/registry.js'
import { tryPlane } from '../parity/gate.js'
import { isWrong } from '../parity/verdict/rows.js'
import { parseExperiment } from '../plan/experiment.js'
import { openCertificates } from '../run/certificates.js'
import { findScriptFolders } from '../run/execute.js'
import { findTool } from '../tools/find.js'
import { perfTool, valgrindTool } from '../tools/profilers.js'
import { planRun } from './prepare.js'

/**
 * From the words of `lab` to two sides that can be tried and counted.
 * @import { SidecarCount } from '../lab/count.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Sides } from '../lab/comparison.js'
 * @import { LoadGenerator, Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { Testbed } from '../run/testbed.js'
 */

// Of the load that is sampled: long enough for some thousand samples of each sidecar.
const SAMPLED = { rounds: 1, warmupSeconds: 2, windowSeconds: 8 }
// In turns, so that what drifts meets both sides alike; twice, to see how far two windows of a side are apart.
const TURNS = /** @type {const} */ (['old', 'new', 'new', 'old'])

/** @typedef {'old' | 'new'} SideName */
/** @typedef {Awaited<ReturnType<typeof openLab>>} Lab */

/**
 * @param {{ site: Site, side: Side, against: string | null, link: string[], payload?: number, pipy: string[], requests: number,
 *   hasHandshakes: boolean, isSampled?: boolean }} asked
 *   side: the new one; pipy: paths; isSampled: under load, instead of counted
 */
export async function openLab({
  site,
  side,
  against,
  link,
  payload,
  pipy,
  requests,
  hasHandshakes,
  isSampled = false,
}) {
  const load = findLoad()
  const profiler = await find(isSampled ? perfTool : valgrindTool)
  const loadTool = isSampled ? await findGenerator(load, site) : null
  const pipys = await findPipys(pipy)
  const { plan, layout } = planLab({ link, payload, site, pipy: pipys.new })
  const own = path.join(site.ledger.folder, 'lab')
  // Two programs run the same scripts, unless others were named.
  const old =
    pipy.length === 2 && against === null
      ? side
      : await findAgainst({
          against: chooseAgainst(against, side.scripts),
          ...{ scripts: side.scripts, into: path.join(own, 'old-scripts') },
        })
  const sides = { old, new: side }
  const { certificates, close } = await openCertificates({ ledger: site.ledger, plan, topologies: layout.topologies })
  const programs = { planes: Object.fromEntries(dataPlanes.map(plane => [plane.name, plane])), load }
  /** @param {SideName} name @returns {Testbed} */
  const testbedOf = name => ({
    site,
    layout,
    settings: plan.settings,
    kind: kinds.load,
    programs: {
      ...programs,
      tools: { pipy: pipys[name], ...(loadTool && { [loadTool.name]: loadTool }) },
      appRuntime: pipys.old,
    },
    folders: {
      ...findScriptFolders({ ...programs, tools: {}, appRuntime: pipys.old }),
      ...{ pipyScripts: sides[name].scripts, results: own, raw: path.join(own, name), certificates },
    },
  })
  let starts = 0
  const nextIndex = () => starts++
  const labelOf = (/** @type {SideName} */ name) => `${sides[name].label}, Pipy ${pipys[name].version}`

  return {
    labels: { old: labelOf('old'), new: labelOf('new') },

    /**
     * Tries the profiler, so that a refusal is told before anything starts.
     * @param {AbortSignal} signal
     * @throws {BenchError} where the kernel does not let perf sample
     */
    async checkProfiler(signal) {
      if (isSampled) await assertSamples({ perf: profiler, folder: site.ledger.folder, signal })
    },

    /**
     * Tries the new side with the parity corpus.
     * @param {AbortSignal} signal
     * @throws {BenchError} where it does other work than a sidecar has to
     */
    async checkParity(signal) {
      // Its links start as they are counted.
      const rows = await tryPlane({ testbed: testbedOf('new'), arm: plan.arms[0], index: nextIndex(), signal })
      const wrong = rows.filter(isWrong)
      if (wrong.length === 0) return
      const told = wrong.map(({ name, found, expected, differences }) =>
        [`${name}: ${found} (${expected} is expected)`, ...differences].join(', '),
      )
      throw new BenchError(
        `${side.label} does not do the work of a sidecar, so its instructions cannot be compared: ${told.join('; ')}; --no-parity counts them anyway`,
      )
    },

    /**
     * @param {SideName} name
     * @param {AbortSignal} signal
     * @returns {Promise<SidecarCount[]>}
     */
    async count(name, signal) {
      const counts = []
      for (const arm of plan.arms) {
        const start = nextIndex()
        const folder = path.join(own, `${start}-${name}-${arm.link}`)
        const given = { testbed: testbedOf(name), arm, start, folder, signal }
        const how = { valgrind: profiler, callers: CALLERS, requests, hasHandshakes }
        counts.push(...(await countInstructions({ ...given, ...how })))
      }
      return counts
    },

    /**
     * Samples both sides under load.
     * @param {AbortSignal} signal
     * @returns {Promise<Sides & { notes: string[] }>} notes: what the samples do not say
     */
    async sample(signal) {
      /** @type {Sides} */
      const sides = { old: [], new: [] }
      let hasKernel = true
      for (const arm of plan.arms) {
        const taken = []
        for (const [turn, name] of TURNS.entries()) {
          const trial = {
            id: `${turn}-${name}-${arm.link}`,
            round: 1,
            arm,
            repeats: null,
            searchOf: null,
          }
          const given = { testbed: testbedOf(name), trial, start: nextIndex(), perf: profiler, signal }
          taken.push({ name, ...(await sampleTrial(given)) })
        }
        hasKernel &&= taken.every(one => one.hasKernel)
        for (const name of /** @type {const} */ (['old', 'new'])) {
          const own = taken.filter(one => one.name === name)
          for (const service of Object.keys(own[0].profiles)) {
            const windows = own.map(({ record, profiles }) => ({
              profile: profiles[service],
              nanos: 1000 * (cpuPerRequestMicros(record, sidecarsOf(record, service)) ?? Number.NaN),
            }))
            sides[name].push(joinWindows({ link: arm.link, service }, windows))
          }
        }
      }
      return { ...sides, notes: describeSamples(sides, hasKernel) }
    },

    close: () => close({ retain: false }),
  }
}

/**
 * @param {Sides} sides
 * @param {boolean} hasKernel
 */
function describeSamples(sides, hasKernel) {
  const told = sides.new.map(({ link, service, samples }) => {
    const old = sides.old.find(one => one.link === link && one.service === service)
    return `${service} of ${link} ${old?.samples} and ${samples}`
  })
  return [
    `samples of perf, old and new: ${told.join(', ')}; a function with n of them is uncertain by the root of n`,
    ...(hasKernel
      ? []
      : ['the kernel showed perf no samples of its own: its share is spread over the rest; run as root']),
  ]
}

/**
 * An arm for each link: no cap, one worker.
 * @param {{ link: string[], payload?: number, site: Site, pipy: Tool }} asked
 */
function planLab({ link, payload, site, pipy }) {
  const axes = `{ plane: [pipy], link: [${link.join(', ')}], capCores: [1] }`
  return planRun({
    experiment: parseExperiment(
      `name: lab\nquestion: What does a change cost?\naxes: ${axes}\nprofiles: { smoke: ${JSON.stringify(SAMPLED)} }\n`,
      'lab',
    ),
    overrides: {
      ...{
        planes: null,
        caps: 'none',
        axes: { payloadBytes: payload === undefined ? undefined : [payload], workers: [1] },
      },
      ...{ rounds: null, profile: 'smoke', seed: 1, app: 'pipy', isPinned: false },
      ...{ warmupLeastSeconds: 0, windowLeastSeconds: 0 },
    },
    site,
    tools: { pipy },
  })
}

/**
 * @param {string[]} paths those that were named; none: as the kit finds it
 * @returns {Promise<Record<SideName, Tool>>}
 */
async function findPipys(paths) {
  if (paths.length > 2)
    throw new UsageError(`--pipy was given ${paths.length} times: give it twice, to compare two versions`)
  const environments = paths.length === 0 ? [process.env] : paths.map(named => ({ ...process.env, PIPY: named }))
  const [old, next] = await Promise.all(
    environments.map(async environment => {
      const found = await findTool(pipyTool, { environment })
      if ('missing' in found) throw new MissingPlaneError(`${found.missing}; ${pipyTool.ifMissing?.advice}`)
      return found
    }),
  )
  return { old, new: next ?? old }
}

/** @param {ToolSpec} spec of a profiler */
async function find(spec) {
  const found = await findTool(spec)
  const what = spec === perfTool ? 'a load cannot be sampled' : 'instructions cannot be counted'
  if ('missing' in found) throw new BenchError(`${what}: ${found.missing}`)
  return found
}

/** @param {LoadGenerator} load @param {Site} site */
async function findGenerator(load, site) {
  const found = await site.findTool(load.tool)
  if ('missing' in found) throw new BenchError(`no load can be made: ${found.missing}`)
  return found
}
