import { existsSync, rmdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { KINDS } from '../kinds/registry.js'
import { callSafely } from '../lib/call-safely.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { renderTimestamp } from '../lib/timestamp.js'
import { createResultsFolder } from '../records/write.js'

/**
 * @import { Precision, Site, Summary } from '../model/types.ts'
 * @import { Watcher } from '../run/events.js'
 * @import { Execution, Preparation } from '../run/execute.js'
 * @import { GateParity } from '../run/kind.js'
 */

/** @typedef {(folder: string, summary: Summary) => Promise<void>} Finish is called with the summary, once it is written */

/**
 * Runs a preparation, writes its records into a folder, and summarises them, even if the run fails or is interrupted; if they
 * then cannot be summarised, it prints why. The folder of a run that has no manifest yet is removed, unless it was there before
 * or has other files. The folder is claimed in the site's ledger meanwhile.
 * @param {object} options
 * @param {Preparation} options.preparation
 * @param {Site} options.site
 * @param {string | null} options.out a folder that does not exist or is empty; null: a new one below results/
 * @param {Execution} options.execution if it resumes a run, the folder is that of the run
 * @param {Watcher} options.watcher
 * @param {AbortSignal} options.signal
 * @param {Finish} [options.finish]
 * @param {GateParity} [options.gate] the check of equal work; the kit's by default
 * @returns {Promise<{ folder: string, summary: Summary }>} folder: its absolute path
 * @throws {UsageError} if another run writes into the folder, it is not empty, or the run cannot be resumed; any error of the run or
 *   of `finish`; the signal's reason when it aborts
 */
export async function measurePreparation({ preparation, site, out, execution, watcher, signal, ...options }) {
  const { finish = async () => {}, gate } = options
  const { plan } = preparation
  const { interrupted } = execution
  const namedFolder = interrupted?.folder ?? out
  const folder = path.resolve(namedFolder ?? path.join('results', `${renderTimestamp()}-${plan.experiment}`))
  const holder = site.ledger.claim('results', folder)
  if (holder !== null) throw new UsageError(`${holder} writes into ${folder}: wait until it has ended`)
  try {
    const isNew = !existsSync(folder)
    if (interrupted) (await import('../run/resume.js')).prepareToResume(interrupted)
    else createResultsFolder(folder)
    try {
      const { executePlan } = await import('../run/execute.js')
      await executePlan({
        preparation,
        kinds: await Promise.all(plan.parts.map(({ kind }) => KINDS[kind].loadCourse())),
        site,
        folder,
        execution: { assess: plan.precision && (await loadAssess()), ...execution },
        watcher,
        signal,
        gate: gate ?? (await import('../parity/check-equal-work.js')).checkEqualWork,
      })
    } catch (error) {
      // A run whose resumption was refused stays as it is.
      const isRefused = interrupted !== undefined && error instanceof UsageError
      const announceFailure = (/** @type {Error} */ { message }) =>
        watcher.say(`no summary was made of ${folder}: ${message}`)
      if (!existsSync(path.join(folder, 'manifest.json'))) removeEmptyRun(folder, isNew)
      else if (!isRefused && existsSync(path.join(folder, 'trials.jsonl')))
        await finishRun(folder, finish).catch(announceFailure)
      throw error
    }
    return { folder, summary: await finishRun(folder, finish) }
  } finally {
    site.ledger.release('results', folder)
  }
}

/**
 * Removes the files of a run that measured nothing, then its folder, unless that was there before or has other files. If there are raw
 * files, all stays.
 * @param {string} folder of the run
 * @param {boolean} isNew the run created the folder
 */
function removeEmptyRun(folder, isNew) {
  // `rmdir` fails for a folder that is not empty, and the rest then stays.
  callSafely(() => {
    rmdirSync(path.join(folder, 'raw'))
    rmSync(path.join(folder, 'trials.jsonl'))
    if (isNew) rmdirSync(folder)
  }, null)
}

/**
 * Writes summary.json, and calls `finish`.
 * @param {string} folder of the run
 * @param {Finish} finish
 * @returns {Promise<Summary>}
 * @throws {BenchError} if the code cannot be loaded, the records cannot be read, or the file cannot be written; an error of `finish`
 */
async function finishRun(folder, finish) {
  // The code that summarises is loaded after the run, to leave the memory to what is measured.
  const { writeSummary } = await loadAfterRun(folder, () => import('./write-summary.js'))
  const summary = writeSummary(folder)
  await finish(folder, summary)
  return summary
}

/**
 * Loads a module after a run, to leave the memory to what is measured.
 * @template T
 * @param {string} folder of the run, for the error
 * @param {() => Promise<T>} load imports the module
 * @returns {Promise<T>} the module
 * @throws {BenchError} if it cannot be loaded: the code may have changed during the run
 */
export function loadAfterRun(folder, load) {
  return load().catch(cause => {
    throw new BenchError(
      `cannot load the modules that report ${folder}: ${cause.message}; its records are there: ${renderCommand('report', folder)}`,
      { cause },
    )
  })
}

/**
 * Loads the function that computes how precise a run is. Only runs with a precision need it, and pay for its memory while they
 * measure; others load the code that summarises after the run.
 * @returns {Promise<import('../run/stopping-rule.js').Assess>} it must get only runs with a precision
 */
async function loadAssess() {
  const { summarise } = await import('../analysis/summarise.js')
  const { summarisePrecision } = await import('../report/precision.js')
  return run => summarisePrecision(/** @type {Precision} */ (summarise(run).precision))
}
