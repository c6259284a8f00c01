import path from 'node:path'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { dataPlanes } from '../dataplanes/registry.js'
import { isWrong } from '../judge/parity-rows.js'
import { countInstructions } from '../lab/count.js'
import { CALLERS } from '../lab/profile.js'
import { chooseAgainst, findAgainst } from '../lab/sides.js'
import { BenchError, MissingPlaneError, UsageError } from '../lib/errors.js'
import { findLoad } from '../loads/registry.js'
import { parseExperiment } from '../plan/experiment.js'
import { openCertificates } from '../run/certificates.js'
import { findScriptFolders } from '../run/execute.js'
import { gateParity } from '../run/parity/gate.js'
import { findTool } from '../tools/find.js'
import { valgrindTool } from '../tools/valgrind.js'
import { planRun } from './prepare.js'

/**
 * From the words of `lab` to two sides that can be tried and counted.
 * @import { SidecarCount } from '../lab/count.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Site, Tool, ToolSpec } from '../model/types.ts'
 * @import { Testbed } from '../run/testbed.js'
 */

/** @typedef {'old' | 'new'} SideName */
/** @typedef {Awaited<ReturnType<typeof openLab>>} Lab */

/**
 * @param {{ site: Site, side: Side, against: string | null, link: string[], payload?: number, pipy: string[], requests: number,
 *   hasHandshakes: boolean }} asked
 *   side: the new one; pipy: paths
 */
export async function openLab({ site, side, against, link, payload, pipy, requests, hasHandshakes }) {
  const valgrind = await find(valgrindTool)
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
  const load = findLoad()
  const programs = { planes: Object.fromEntries(dataPlanes.map(plane => [plane.name, plane])), load }
  /** @param {SideName} name @returns {Testbed} */
  const testbedOf = name => ({
    ...{ site, layout, settings: plan.settings },
    programs: { ...programs, tools: { pipy: pipys[name] }, appRuntime: pipys.old },
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
     * Tries the new side with the parity corpus.
     * @param {AbortSignal} signal
     * @throws {BenchError} where it does other work than a sidecar has to
     */
    async checkParity(signal) {
      const arms = plan.arms.slice(0, 1)
      const rows = await gateParity({ testbed: testbedOf('new'), arms, nextIndex, signal, say: () => {} })
      const wrong = rows.filter(isWrong)
      if (wrong.length === 0) return
      const told = wrong.map(({ name, found, expected }) => `${name}: ${found} (${expected} is expected)`)
      throw new BenchError(
        `${side.label} does other work than a sidecar has to, so its instructions cannot be compared: ${told.join('; ')}; --no-parity counts them nevertheless`,
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
        counts.push(...(await countInstructions({ ...given, valgrind, callers: CALLERS, requests, hasHandshakes })))
      }
      return counts
    },

    close: () => close({ retain: false }),
  }
}

/**
 * An arm for each link: no cap, one worker.
 * @param {{ link: string[], payload?: number, site: Site, pipy: Tool }} asked
 */
function planLab({ link, payload, site, pipy }) {
  const axes = `{ plane: [pipy], link: [${link.join(', ')}], capCores: [1] }`
  return planRun({
    experiment: parseExperiment(`name: lab\nquestion: What does a change cost?\naxes: ${axes}\n`, 'lab'),
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
  if (paths.length > 2) throw new UsageError(`--pipy was given ${paths.length} times: two are held against each other`)
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

/** @param {ToolSpec} spec */
async function find(spec) {
  const found = await findTool(spec)
  if ('missing' in found) throw new BenchError(`instructions cannot be counted: ${found.missing}`)
  return found
}
