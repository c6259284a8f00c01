import path from 'node:path'
import { readKit } from '../lib/kit.js'
import { ROOT } from '../lib/paths.js'
import { METHOD_VERSION, SCHEMA_VERSION } from '../model/versions.js'
import { openScratch } from './certificates.js'
import { observeIdle } from './idle-machine.js'
import { runPlan } from './run.js'

/**
 * @import { Layout, Plan, Programs, Site } from '../model/types.ts'
 * @import { Watcher } from './events.js'
 * @import { GateParity } from './parity/gate.js'
 * @import { Turns } from './rounds.js'
 * @import { Reusable } from './search.js'
 */

/**
 * What a verb makes of an experiment: every trial, and all that they need but a place to run.
 * @typedef {object} Preparation
 * @property {Plan & { notes: string[] }} plan
 * @property {Programs} programs
 * @property {Layout} layout
 */

/**
 * How a plan is to be run.
 * @typedef {object} Execution
 * @property {string[]} command the words of the command line, for the manifest
 * @property {string[]} [thresholds] ratios that must hold, for the manifest
 * @property {boolean} [retain] leave the services of the last trial running
 * @property {Reusable} [reusable] trials of earlier runs that a search may take
 * @property {Turns} [turns]
 * @property {string} [echoScripts] applications to measure with instead of the kit's
 */

/**
 * Runs what was prepared. It leaves the manifest and the records in the folder, also when it is cut short.
 * @param {{ preparation: Preparation, site: Site, folder: string, execution: Execution, watcher: Watcher,
 *   signal: AbortSignal, gate?: GateParity }} options folder: of the results, empty; gate: instead of the kit's
 */
export async function executePlan({ preparation, site, folder, execution, watcher, signal, gate }) {
  const { plan, programs, layout } = preparation
  const { command, thresholds = [], retain = false, echoScripts = path.join(ROOT, 'echo'), turns, reusable } = execution
  const startedAt = new Date().toISOString()
  const { certificates, close } = await openScratch({ runId: site.runId, plan, topologies: layout.topologies })
  try {
    const before = await observeIdle({ site, say: watcher.say, signal })
    const manifest = { ...(await describeRun({ preparation, site, startedAt, before })), thresholds, command }
    const folders = {
      results: folder,
      raw: path.join(folder, 'raw'),
      certificates,
      pipyScripts: path.join(ROOT, 'pipy-scripts'),
      echo: echoScripts,
      k6: path.join(ROOT, 'bench/k6'),
    }
    const testbed = { site, programs, layout, folders, settings: plan.settings }
    await runPlan({ plan, testbed, manifest, watcher, signal, retain, turns, reusable, gate })
  } finally {
    close({ retain })
  }
}

/**
 * The manifest, as far as it is known before anything ran.
 * @param {{ preparation: Preparation, site: Site, startedAt: string, before: Awaited<ReturnType<typeof observeIdle>> }} options
 */
async function describeRun({ preparation: { plan, programs, layout }, site, startedAt, before }) {
  // A search chooses its arms as it goes: each of its records says its placement.
  const placed = plan.search ? [] : [...plan.arms, ...plan.calibrations]
  return {
    schemaVersion: SCHEMA_VERSION,
    methodVersion: METHOD_VERSION,
    run: { id: site.runId, startedAt, experiment: plan.experiment, seed: plan.seed },
    question: plan.question,
    claims: plan.claims,
    kit: await readKit(),
    target: site.target.name,
    machine: { ...site.machine, before },
    tools: programs.tools,
    settings: plan.settings,
    rounds: plan.rounds,
    arms: plan.arms,
    search: plan.search,
    calibrations: [],
    placements: Object.fromEntries(placed.map(arm => [arm.id, layout.placementOf(arm)])),
    notMeasured: plan.notMeasured,
    topologies: layout.topologies,
  }
}
