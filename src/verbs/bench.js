import { Command } from 'commander'
import { findStatus } from '../analysis/status.js'
import { UsageError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { takeEvery } from '../lib/take-every.js'
import { loadAfter, measure } from '../prepare/measure.js'
import { collect, TARGET, withCluster, withExperiment, withLoadHost, withPrecision } from '../prepare/options.js'
import { announce, assertShort, openSite, prepareWith, sayLacks, toolSpecs } from '../prepare/preparation.js'
import { readAnyExperiment } from '../prepare/read-experiment.js'
import { openInterrupted } from '../run/resume.js'
import { sayWhere, writeDocuments } from './documents.js'
import { withWatchers } from './watchers.js'

/**
 * `bench`: runs an experiment, and reports it.
 * @import { Context } from './program.js'
 */

// What may be said anew of a run that goes on: it changes no number.
const BESIDE_RESUME = ['resume', 'live', 'metrics', 'json', 'yes', 'maxMinutes', 'retain']

/**
 * @param {Command} verb
 * @param {Context} context
 */
export function addBench(verb, context) {
  const { print, say, end, signal } = context
  defineBench(verb).action(async (named, given, command) => {
    const interrupted = given.resume ? openInterrupted(given.resume) : undefined
    const { experimentName, options } = interrupted
      ? askAgain({ interrupted, command })
      : { experimentName: named, options: given }
    for (const warning of interrupted?.warnings ?? []) say(`warning: ${warning}`)
    const experiment = readAnyExperiment(experimentName)
    if ('kind' in experiment) {
      const { benchBalance } = await import('./balance.js')
      return benchBalance({ experiment, command }, context)
    }
    const site = await openSite(options, context)
    if (site === null) return
    /** @type {Awaited<ReturnType<typeof context.watch>> | null} */
    let watchers = null
    let isWhole = false
    let isReported = true
    try {
      watchers = await context.watch(options)
      const preparation = await prepareWith({ experiment, options, site }, context)
      for (const note of announce(preparation.plan)) say(note)
      if (interrupted) say(`${interrupted.records.size} trials are recorded in ${interrupted.folder} and not run again`)
      assertShort(preparation.plan, options)
      const { summary, folder } = await measure({
        preparation,
        site,
        out: options.out ?? null,
        execution: {
          ...{ command: process.argv.slice(2), thresholds: options.threshold, retain: options.retain },
          interrupted,
        },
        watcher: watchers,
        signal,
        finish: async folder => {
          isReported = await writeDocuments(folder, context)
        },
      })
      isWhole = true
      await watchers.close()
      // Not before: what writes the table would be in memory beside what is measured.
      const { renderText } = await loadAfter(folder, () => import('./report.js'))
      print(options.json ? JSON.stringify(summary, null, 2) : renderText(summary, { folder }))
      const { status, reasons } = findStatus(summary, { isVerdictRequired: options.requireVerdict ?? false })
      for (const reason of reasons) say(reason)
      end(isReported ? status : EXIT.failed)
      sayWhere(folder, context)
      sayLacks(preparation, context)
    } finally {
      const closeSite = async () => {
        const left = await site.target.close({ retain: isWhole && (options.retain ?? false) })
        if (left.length === 0) return
        const where = options.target === 'kubernetes' ? ' --target kubernetes' : ''
        say(`retained: ${left.join(', ')}; remove them with: npm run cleanup -- ${site.runId}${where}`)
      }
      await takeEvery([() => watchers?.close(), closeSite])
    }
  })
}

/** @param {Command} command */
function defineBench(command) {
  const toolNames = toolSpecs().map(t => t.name)
  return withWatchers(withCluster(withLoadHost(withPrecision(withExperiment(command))), toolNames))
    .option('--out <dir>', 'results folder; must not exist or be empty')
    .option('--resume <results>', 'go on with a run that was cut short: measure what it lacks')
    .option('--json', 'print summary.json instead of the table')
    .option('--threshold <expr>', "a ratio that must hold, such as 'pipy/envoy cpuPerRequest <= 0.6'", collect, [])
    .option('--require-verdict', 'status 3 where no verdict is reached')
    .option('--retain', 'leave the services of the last trial running')
    .addOption(TARGET())
}

/**
 * What a run was asked, from its own command line.
 * @param {{ interrupted: import('../run/resume.js').Interrupted, command: Command }} options command: that resumes it
 * @returns {{ experimentName: string, options: any }}
 * @throws {UsageError} when something else is asked beside
 */
function askAgain({ interrupted: { folder, manifest }, command }) {
  const given = Object.keys(command.opts()).filter(name => command.getOptionValueSource(name) === 'cli')
  const others = given.filter(name => !BESIDE_RESUME.includes(name))
  if (command.args.length > 0 || others.length > 0) {
    throw new UsageError(
      `--resume ${folder} measures what that run was asked: ${manifest.command.join(' ')}; leave out the rest`,
    )
  }
  const [verb, ...words] = manifest.command
  if (verb !== 'bench')
    throw new UsageError(`--resume ${folder}: a run of ${verb} cannot be resumed, only one of bench`)
  const first = defineBench(new Command(verb).copyInheritedSettings(/** @type {Command} */ (command.parent))).parse(
    words,
    {
      from: 'user',
    },
  )
  const own = Object.fromEntries(given.map(name => [name, command.opts()[name]]))
  return {
    experimentName: first.processedArgs[0],
    options: { ...first.opts(), seed: manifest.run.seed, ...own, out: undefined },
  }
}
