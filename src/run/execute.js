import path from 'node:path'
import { readKit } from '../lib/kit.js'
import { ROOT } from '../lib/paths.js'
import { METHOD_VERSION, SCHEMA_VERSION } from '../model/versions.js'
import { listDeployed } from '../services/deployed.js'
import { openCertificates } from './certificates.js'
import { observeIdle } from './idle-machine.js'
import { assertSame, continueManifest } from './resume.js'
import { runPlan } from './run.js'
import { hashScripts } from './scripts.js'

/**
 * @import { Layout, Manifest, Plan, Programs, Site } from '../model/types.ts'
 * @import { Watcher } from './events.js'
 * @import { GateParity } from '../parity/gate.js'
 * @import { Interrupted } from './resume.js'
 * @import { Turns } from './rounds.js'
 * @import { Kind } from './kind.js'
 * @import { Reusable } from './reusable.js'
 * @import { Assess } from './stopping.js'
 */

/**
 * The kit's own scripts.
 * @param {Programs} programs
 */
export function findScriptFolders({ load }) {
  return {
    pipyScripts: path.join(ROOT, 'pipy-scripts'),
    echo: path.join(ROOT, 'echo'),
    load: path.join(ROOT, load.scripts),
  }
}

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
 * @property {Interrupted} [interrupted] the run to go on with, whose trials are not run again
 * @property {Turns} [turns]
 * @property {Assess} [assess] after a round of a run that goes on until it is precise
 * @property {string} [echoScripts] applications to measure with instead of the kit's
 */

/**
 * Runs what was prepared. It leaves the manifest and the records in the folder, also when it is cut short.
 * @param {{ preparation: Preparation, kinds: Kind[], site: Site, folder: string, execution: Execution, watcher: Watcher,
 *   signal: AbortSignal, gate?: GateParity }} options kinds: of the plan's trials, in their order; folder: of the results, empty; gate: instead
 *   of the kit's
 */
export async function executePlan({ preparation, kinds, site, folder, execution, watcher, signal, gate }) {
  const { plan, programs, layout } = preparation
  const { command, thresholds = [], retain = false, echoScripts, ...continued } = execution
  const { turns, reusable, interrupted, assess } = continued
  const startedAt = new Date().toISOString()
  const { certificates, close } = await openCertificates({ ledger: site.ledger, plan, topologies: layout.topologies })
  let isWhole = false
  try {
    const before = await observeIdle({ site, say: watcher.say, signal })
    const own = findScriptFolders(programs)
    const scripts = { ...own, echo: echoScripts ?? own.echo }
    const described = await describeRun({ preparation, site, scripts, startedAt, before })
    const now = { ...described, layout }
    if (interrupted) assertSame({ interrupted, plan, now })
    const known = { ...described, thresholds, command }
    const folders = { ...scripts, results: folder, raw: path.join(folder, 'raw'), certificates }
    const testbed = { site, programs, layout, folders, settings: plan.settings }
    await runPlan({
      plan,
      testbed,
      kinds,
      manifest: interrupted ? continueManifest({ interrupted, known }) : known,
      watcher,
      signal,
      retain,
      turns,
      reusable,
      recorded: interrupted?.records,
      assess,
      gate,
    })
    isWhole = true
  } finally {
    // A run that was cut short has removed its services: nothing needs its keys.
    close({ retain: retain && isWhole })
  }
}

/**
 * The manifest, as far as it is known before anything ran.
 * @param {{ preparation: Preparation, site: Site, scripts: ReturnType<typeof findScriptFolders>, startedAt: string,
 *   before: Awaited<ReturnType<typeof observeIdle>> }} options
 * @returns {Promise<Omit<Manifest, 'parity' | 'thresholds' | 'command'>>}
 */
async function describeRun({ preparation: { plan, programs, layout }, site, scripts, startedAt, before }) {
  // A search chooses its arms as it goes: each of its records says its placement.
  const deployed = listDeployed(programs.planes, plan.arms)
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
    scripts: hashScripts({ arms: plan.arms, programs, folders: scripts }),
    ...(deployed.length > 0 && { deployed }),
    settings: plan.settings,
    ...(plan.precision
      ? { rounds: 1, precision: { width: plan.precision.width, mostRounds: plan.rounds, ended: null } }
      : { rounds: plan.rounds }),
    arms: plan.arms,
    search: plan.search,
    // Until each has run; a run that is cut short before has records of them.
    calibrations: plan.calibrations.map(({ id }) => ({
      armId: id,
      ratePerSecond: null,
      boundBy: null,
      trialId: `r1-${id}`,
    })),
    placements: Object.fromEntries(placed.map(arm => [arm.id, layout.placementOf(arm)])),
    notMeasured: plan.notMeasured,
    topologies: layout.topologies,
  }
}
