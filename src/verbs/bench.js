import { findStatus } from '../analysis/status.js'
import { EXIT } from '../lib/exit-status.js'
import { sayWhere, writeDocuments } from './documents.js'
import { measure } from './measure.js'
import { collect, TARGET, withCluster, withExperiment } from './options.js'
import { announce, assertShort, openSite, prepareWith, sayLacks, toolSpecs } from './preparation.js'
import { readExperiment } from './read-experiment.js'
import { renderText } from './report.js'
import { withWatchers } from './watchers.js'

/**
 * `bench`: runs an experiment, and reports it.
 * @import { Command } from 'commander'
 * @import { Context } from './program.js'
 */

/**
 * @param {Command} program
 * @param {Context} context
 */
export function addBench(program, context) {
  const { print, say, end, signal } = context
  const toolNames = toolSpecs().map(t => t.name)
  withWatchers(
    withCluster(
      withExperiment(
        program.command('bench').description('measure data planes, and report what they deliver and cost'),
      ),
      toolNames,
    ),
  )
    .option('--out <dir>', 'results folder; must not exist or be empty')
    .option('--json', 'print summary.json instead of the table')
    .option('--threshold <expr>', "a ratio that must hold, such as 'pipy/envoy cpuPerRequest <= 0.6'", collect, [])
    .option('--require-verdict', 'status 3 where no verdict is reached')
    .option('--retain', 'leave the services of the last trial running')
    .addOption(TARGET())
    .action(async (experimentName, options) => {
      const site = await openSite(options, context)
      if (site === null) return
      /** @type {Awaited<ReturnType<typeof context.watch>> | null} */
      let watchers = null
      let isWhole = false
      let isReported = true
      try {
        watchers = await context.watch(options)
        const experiment = readExperiment(experimentName)
        const preparation = await prepareWith({ experiment, options, site }, context)
        for (const note of announce(preparation.plan)) say(note)
        assertShort(preparation.plan, options)
        const { summary, folder } = await measure({
          preparation,
          site,
          out: options.out ?? null,
          execution: { command: process.argv.slice(2), thresholds: options.threshold, retain: options.retain },
          watcher: watchers,
          signal,
          finish: async folder => {
            isReported = await writeDocuments(folder, context)
          },
        })
        isWhole = true
        await watchers.close()
        print(options.json ? JSON.stringify(summary, null, 2) : renderText(summary, { folder }))
        const { status, reasons } = findStatus(summary, { isVerdictRequired: options.requireVerdict ?? false })
        for (const reason of reasons) say(reason)
        end(isReported ? status : EXIT.failed)
        sayWhere(folder, context)
        sayLacks(preparation, context)
      } finally {
        await watchers?.close()
        const left = await site.target.close({ retain: isWhole && (options.retain ?? false) })
        if (left.length > 0) {
          const where = options.target === 'kubernetes' ? ' -- --target kubernetes' : ''
          say(`retained: ${left.join(', ')}; remove them with: npm run cleanup${where}`)
        }
      }
    })
}
