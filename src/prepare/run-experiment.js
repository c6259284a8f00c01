import path from 'node:path'
import { loadPlanes } from '../dataplanes/registry.js'
import { EXIT } from '../lib/errors.js'
import { locateCacheFolder } from '../lib/paths.js'
import { listArms } from '../model/results.js'
import { measurePreparation } from './measure.js'
import { announceLacks, announceRun, assertMaxMinutes, prepareRun } from './prepare-run.js'
import { withSite } from './site.js'
import { assertPlaneChoices } from './supported.js'

/**
 * @import { Site, Summary } from '../model/types.ts'
 * @import { Execution, Preparation } from '../run/execute.js'
 * @import { Context } from '../verbs/program.js'
 */
/**
 * An experiment to run, with the functions by which a verb reports it.
 * @typedef {object} ExperimentRun
 * @property {import('../request/experiment.js').Experiment} experiment
 * @property {import('./options.js').RunOptions} options
 * @property {Execution['interrupted']} [interrupted] the run that it resumes
 * @property {(preparation: Preparation, site: Site) => Promise<Execution['reusable']>} [findReusable] finds trials of earlier runs
 * @property {(folder: string, context: Context) => Promise<boolean>} writeDocuments resolves to false if it could not
 * @property {(run: { summary: Summary, folder: string, isInterrupted: boolean }) => Promise<number> | number} report prints the answer,
 *   which is of what was measured so far if the run was interrupted, and returns an exit status
 * @property {(folder: string, context: Context) => void} announceResults prints where the results are
 */

/** @typedef {{ summary: Summary, folder: string }} MeasuredRun */

/**
 * Runs an experiment: opens a site and the views, measures, reports, sets the exit status, and closes both, even after an error.
 * @param {ExperimentRun} run
 * @param {Context} context
 * @returns {Promise<void>} resolves when the site and the views are closed, or the run in a systemd scope has ended (`withSite`)
 * @throws {UsageError} for an unknown plane; any error of the run; the signal's reason if it is interrupted
 */
export async function runExperiment(run, context) {
  const { planes = [] } = run.options
  // A wrong name is refused before the machine is examined.
  assertPlaneChoices(await loadPlanes(planes.map(({ plane }) => plane)), planes)
  return withSite(run.options, context, async (site, keep) => {
    const watchers = await context.watch(run.options)
    try {
      await runOnSite(run, { site, keep, watchers }, context)
    } finally {
      await watchers.close()
    }
  })
}

/**
 * Measures an experiment on an open site, reports it, and sets the exit status. What an interrupted run has measured is reported,
 * too.
 * @param {ExperimentRun} run
 * @param {{ site: Site, keep: () => void, watchers: Awaited<ReturnType<Context['watch']>> }} opened keep: makes the services stay
 * @param {Context} context
 * @throws any error of the run; the signal's reason if it is interrupted
 */
async function runOnSite({ experiment, options, interrupted, ...hooks }, { site, keep, watchers }, context) {
  const { threshold: thresholds, retain, out = null } = options
  let areDocumentsWritten = true
  /** @type {MeasuredRun | null} */
  let unreported = null
  try {
    const preparation = await prepareRun({ experiment, options, site }, context)
    announceRun({ plan: preparation.plan, interrupted }, context)
    assertMaxMinutes(preparation.plan, options)
    const parityCache = await openLocalParityCache(options)
    const reusable = await hooks.findReusable?.(preparation, site)
    const { summary, folder } = await measurePreparation({
      preparation,
      site,
      out,
      execution: { command: process.argv.slice(2), thresholds, retain, interrupted, reusable, parityCache },
      watcher: watchers,
      signal: context.signal,
      finish: async (folder, summary) => {
        areDocumentsWritten = await hooks.writeDocuments(folder, context)
        unreported = { summary, folder }
      },
    })
    if (retain) keep()
    await watchers.close()
    const status = await hooks.report({ summary, folder, isInterrupted: false })
    context.end(areDocumentsWritten ? status : EXIT.failed)
    unreported = null
    hooks.announceResults(folder, context)
    announceLacks(preparation, context)
  } catch (error) {
    if (context.signal.aborted && unreported !== null) {
      await watchers.close()
      await reportInterrupted(/** @type {MeasuredRun} */ (unreported), hooks, context)
    }
    throw error
  }
}

/**
 * Opens the cache of equal-work checks that passed on this machine.
 * @param {Pick<ExperimentRun['options'], 'target' | 'recheck'>} options
 * @returns {Promise<Execution['parityCache']>} undefined: the run is on a cluster, whose nodes may be other machines in each run
 */
async function openLocalParityCache({ target, recheck: isRechecked }) {
  if (target === 'kubernetes') return undefined
  const { openParityCache } = await import('../parity/cache.js')
  return openParityCache({ folder: path.join(locateCacheFolder(), 'equal-work'), isRechecked })
}

/**
 * Reports what an interrupted run has measured, or prints that it is nothing. The status that `report` returns is not used: that of the
 * signal counts.
 * @param {MeasuredRun} run
 * @param {Pick<ExperimentRun, 'report' | 'announceResults'>} hooks
 * @param {Context} context
 */
async function reportInterrupted({ summary, folder }, { report, announceResults }, context) {
  if (listArms(summary).some(({ trials }) => trials.completed + trials.invalid > 0))
    await report({ summary, folder, isInterrupted: true })
  else context.say('interrupted before the first repeat was measured')
  announceResults(folder, context)
}
