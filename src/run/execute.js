import path from 'node:path'
import { readKit } from '../lib/kit.js'
import { ROOT } from '../lib/paths.js'
import { METHOD_VERSION, SCHEMA_VERSION } from '../model/versions.js'
import { OBSERVE_SECONDS } from '../plan/rounds.js'
import { dropCutLines } from '../records/write.js'
import { listDeployed } from '../services/specs.js'
import { openCertificates } from './certificates.js'
import { runPlan } from './run.js'
import { hashScripts } from './scripts.js'

/**
 * @import { Layout, Manifest, Plan, Programs, Site } from '../model/types.ts' @import { Watcher } from './events.js'
 * @import { GateParity } from './kind.js' @import { Interrupted } from './resume.js'
 * @import { Kind } from './kind.js' @import { Reusable } from './reusable.js'
 */

const IDLE_LEAST = 0.8

/** Finds the kit's own scripts. @param {Programs} programs */
export function findScriptFolders({ load }) {
  return {
    pipyScripts: path.join(ROOT, 'pipy-scripts'),
    echo: path.join(ROOT, 'echo'),
    load: path.join(ROOT, load.scripts),
  }
}

/**
 * Preparation: every trial, and all that they need but a place to run. Execution: command, thresholds: for the manifest;
 * retain: leave the services of the last trial running; reusable: trials of earlier runs that a search may take;
 * interrupted: the run to go on with, whose trials are not run again; assess: after a round of a run that goes on until it
 * is precise; echoScripts: applications to measure with instead of the kit's; parityCache: of equal-work checks that passed.
 * @typedef {{ plan: Plan & { notes: string[] }, programs: Programs, layout: Layout }} Preparation
 * @typedef {{ command: string[], thresholds?: string[], retain?: boolean, reusable?: Reusable, interrupted?: Interrupted,
 *   parityCache?: import('./kind.js').ParityCache, turns?: import('./rounds.js').Turns, assess?: import('./stopping.js').Assess, echoScripts?: string }} Execution
 */

/**
 * Runs what was prepared. It leaves the manifest and the records in the folder, also when it is cut short.
 * @param {{ preparation: Preparation, kinds: Kind[], site: Site, folder: string, execution: Execution, watcher: Watcher,
 *   signal: AbortSignal, gate: GateParity }} options kinds: of the plan's trials, in their order; folder: empty
 */
export async function executePlan({ preparation, kinds, site, folder, execution, watcher, signal, gate }) {
  const { programs, layout } = preparation
  const { command, thresholds = [], retain = false, echoScripts, interrupted } = execution
  const resume = interrupted && (await import('./resume.js'))
  const plan = resume ? resume.leaveOutAgain(preparation.plan, interrupted.manifest) : preparation.plan
  const startedAt = new Date().toISOString()
  const { certificates, close } = await openCertificates({
    ledger: site.ledger,
    plan,
    topologies: layout.topologies,
    hasAuthorityKey: plan.arms.some(arm => programs.planes[arm.plane].isCertified),
  })
  let isWhole = false
  try {
    const before = await observeIdle({ site, say: watcher.say, signal })
    const scriptFolders = findScriptFolders(programs)
    const scripts = { ...scriptFolders, echo: echoScripts ?? scriptFolders.echo }
    const described = await describeRun({ preparation: { plan, programs, layout }, site, scripts, startedAt, before })
    const now = { ...described, layout }
    const known = { ...described, thresholds, command }
    /** @type {typeof known} */
    let manifest = known
    if (resume) {
      resume.assertSame({ interrupted, plan, now })
      dropCutLines(folder)
      manifest = resume.continueManifest({ interrupted, known })
    }
    const folders = { ...scripts, results: folder, raw: path.join(folder, 'raw'), certificates }
    const testbed = { site, programs, layout, folders, settings: plan.settings }
    await runPlan({
      plan,
      testbed,
      kinds,
      manifest,
      execution,
      watcher,
      signal,
      gate,
    })
    isWhole = true
  } finally {
    // A run that was cut short has removed its services: nothing needs its keys.
    close({ retain: retain && isWhole })
  }
}

/**
 * Makes the manifest, as far as it is known before anything ran.
 * @param {{ preparation: Omit<Preparation, 'plan'> & { plan: Plan }, site: Site, scripts: ReturnType<typeof findScriptFolders>, startedAt: string,
 *   before: Awaited<ReturnType<typeof observeIdle>> }} options
 * @returns {Promise<Omit<Manifest, 'parity' | 'thresholds' | 'command'>>}
 */
async function describeRun({ preparation: { plan, programs, layout }, site, scripts, startedAt, before }) {
  // A kind that chooses its trials as it goes has a placement in each record.
  const deployed = listDeployed(programs.planes, plan.arms)
  const placed = plan.trials.length === 0 ? [] : [...plan.arms, ...plan.calibrations]
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
    // Calibrations are listed until each has run; a run that is cut short before has records of them.
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

/** Reads how idle the machine is. @param {{ site: Site, say: (line: string) => void, signal: AbortSignal }} options */
async function observeIdle({ site, say, signal }) {
  // The kubelet's counters are renewed too seldom for a window of seconds.
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
