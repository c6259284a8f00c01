import { EXIT } from '../lib/exit-status.js'
import { measure } from './measure.js'
import { announce, prepareWith, sayLacks } from './preparation.js'
import { withSite } from './site.js'

/**
 * The one lifecycle of a run, whatever its kind.
 * @import { Site, Summary } from '../model/types.ts'
 * @import { Experiment } from '../plan/experiment.js'
 * @import { Execution, Preparation } from '../run/execute.js'
 * @import { Interrupted } from '../run/resume.js'
 * @import { Context } from '../verbs/program.js'
 * @import { RunOptions } from './options.js'
 */

/**
 * What a verb makes of a run. findReusable: trials of earlier runs; writeDocuments: whether it could; report: prints the
 * answer, and returns an exit status; sayWhere: the results are.
 * @typedef {{ experiment: Experiment, options: RunOptions, interrupted?: Interrupted,
 *   findReusable?: (preparation: Preparation, site: Site) => Promise<Execution['reusable']>,
 *   writeDocuments: (folder: string, context: Context) => Promise<boolean>,
 *   report: (run: { summary: Summary, folder: string }) => Promise<number> | number,
 *   sayWhere: (folder: string, context: Context) => void }} Asked
 */

/**
 * Opens a site, lets others watch, measures, reports, and closes the site.
 * @param {Asked} asked
 * @param {Context} context
 */
export function runExperiment(asked, context) {
  const { options, report, sayWhere } = asked
  return withSite(options, context, async (site, keep) => {
    const { preparation, isReported, folder, summary } = await runWatched({ ...asked, site, keep }, context)
    const status = await report({ summary, folder })
    context.end(isReported ? status : EXIT.failed)
    sayWhere(folder, context)
    sayLacks(preparation, context)
  })
}

/**
 * @param {Asked & { site: Site, keep: () => void }} asked keep: leaves the services running
 * @param {Context} context
 */
async function runWatched({ site, keep, interrupted, findReusable, writeDocuments, ...asked }, context) {
  const { options } = asked
  const watchers = await context.watch(options)
  let isReported = true
  try {
    const preparation = await prepareWith({ ...asked, site }, context)
    const { size: trials } = interrupted?.records ?? { size: 0 }
    const recorded = interrupted && `${trials} trials are recorded in ${interrupted.folder} and not run again`
    announce({ plan: preparation.plan, options, recorded }, context)
    const { threshold: thresholds, retain } = options
    const reusable = await findReusable?.(preparation, site)
    const measured = await measure({
      preparation,
      site,
      out: options.out ?? null,
      execution: { command: process.argv.slice(2), thresholds, retain, interrupted, reusable },
      watcher: watchers,
      signal: context.signal,
      finish: async folder => {
        isReported = await writeDocuments(folder, context)
      },
    })
    if (retain) keep()
    return { ...measured, preparation, isReported }
  } finally {
    await watchers.close()
  }
}
