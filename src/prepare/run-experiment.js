import path from 'node:path'
import { loadPlanes } from '../dataplanes/registry.js'
import { EXIT } from '../lib/errors.js'
import { locateCacheFolder } from '../lib/paths.js'
import { listArms } from '../model/results.js'
import { measurePreparation } from './measure.js'
import { announceLacks, announceRun, prepareRun } from './preparation.js'
import { withSite } from './site.js'
import { assertKnownPlanes } from './supported.js'

/**
 * @import { Site, Summary } from '../model/types.ts'
 * @import { Execution, Preparation } from '../run/execute.js'
 * @import { Context } from '../verbs/program.js'
 */
/**
 * A run of a verb.
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

/**
 * Runs an experiment: opens a site and the views, measures, reports, and closes both, even after an error.
 * @param {ExperimentRun} options
 * @param {Context} context
 * @returns {Promise<void>} resolves when the site and the views are closed
 * @throws any error of the run; the signal's reason if it is interrupted
 */
export async function runExperiment({ experiment, options, interrupted, ...hooks }, context) {
  const { planes = [], threshold: thresholds, retain, out = null, recheck: isRechecked } = options
  // A wrong name is refused before the machine is examined.
  assertKnownPlanes(await loadPlanes(planes.map(({ plane }) => plane)), planes)
  return withSite(options, context, async (site, keep) => {
    const watchers = await context.watch(options)
    let isReported = true
    /** @type {{ summary: Summary, folder: string } | null} */
    let documented = null
    try {
      const preparation = await prepareRun({ experiment, options, site }, context)
      announceRun({ plan: preparation.plan, options, interrupted }, context)
      // On a cluster nothing is cached: its nodes may be other machines in each run.
      const { openParityCache } = await import('../parity/cache.js')
      const parityCache =
        options.target === 'kubernetes'
          ? undefined
          : openParityCache({ folder: path.join(locateCacheFolder(), 'equal-work'), isRechecked })
      const reusable = await hooks.findReusable?.(preparation, site)
      const { summary, folder } = await measurePreparation({
        preparation,
        site,
        out,
        execution: { command: process.argv.slice(2), thresholds, retain, interrupted, reusable, parityCache },
        watcher: watchers,
        signal: context.signal,
        finish: async (folder, summary) => {
          isReported = await hooks.writeDocuments(folder, context)
          documented = { summary, folder }
        },
      })
      if (retain) keep()
      await watchers.close()
      const status = await hooks.report({ summary, folder, isInterrupted: false })
      context.end(isReported ? status : EXIT.failed)
      documented = null
      hooks.announceResults(folder, context)
      announceLacks(preparation, context)
    } catch (error) {
      if (context.signal.aborted && documented !== null) {
        await watchers.close()
        const { summary, folder } = /** @type {{ summary: Summary, folder: string }} */ (documented)
        // The status of this report is ignored: the signal sets the exit status.
        if (listArms(summary).some(({ trials }) => trials.completed + trials.invalid > 0))
          await hooks.report({ summary, folder, isInterrupted: true })
        else context.say('interrupted before the first repeat was measured')
        hooks.announceResults(folder, context)
      }
      throw error
    } finally {
      await watchers.close()
    }
  })
}
