import { EXIT } from '../lib/errors.js'
import { measure } from './measure.js'
import { announce, prepareWith, sayLacks } from './preparation.js'
import { withSite } from './site.js'

/**
 * A run as a verb asks for it. findReusable: trials of earlier runs; writeDocuments: whether it could; report: prints the
 * answer, and returns an exit status; sayWhere: the results are.
 * @import { Site, Summary } from '../model/types.ts' @import { Execution, Preparation } from '../run/execute.js'
 * @import { Context } from '../verbs/program.js'
 * @typedef {{ experiment: import('../plan/experiment.js').Experiment, options: import('./options.js').RunOptions,
 *   interrupted?: Execution['interrupted'],
 *   findReusable?: (preparation: Preparation, site: Site) => Promise<Execution['reusable']>,
 *   writeDocuments: (folder: string, context: Context) => Promise<boolean>,
 *   report: (run: { summary: Summary, folder: string }) => Promise<number> | number,
 *   sayWhere: (folder: string, context: Context) => void }} Asked
 */

/** Opens a site, lets others watch, measures, reports, and closes the site. @param {Asked} asked @param {Context} context */
export function runExperiment({ experiment, options, interrupted, ...asked }, context) {
  const { threshold: thresholds, retain, out = null } = options
  return withSite(options, context, async (site, keep) => {
    const watchers = await context.watch(options)
    let isReported = true
    /** @type {string | null} */
    let documented = null
    try {
      const preparation = await prepareWith({ experiment, options, site }, context)
      announce({ plan: preparation.plan, options, interrupted }, context)
      const reusable = await asked.findReusable?.(preparation, site)
      const { summary, folder } = await measure({
        preparation,
        site,
        out,
        execution: { command: process.argv.slice(2), thresholds, retain, interrupted, reusable },
        watcher: watchers,
        signal: context.signal,
        finish: async folder => {
          isReported = await asked.writeDocuments(folder, context)
          documented = folder
        },
      })
      if (retain) keep()
      await watchers.close()
      const status = await asked.report({ summary, folder })
      context.end(isReported ? status : EXIT.failed)
      documented = null
      asked.sayWhere(folder, context)
      sayLacks(preparation, context)
    } catch (error) {
      if (context.signal.aborted && documented !== null) asked.sayWhere(documented, context)
      throw error
    } finally {
      await watchers.close()
    }
  })
}
