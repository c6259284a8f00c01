import { existsSync, rmdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { KINDS } from '../kinds/registry.js'
import { callSafely } from '../lib/call-safely.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { createResultsFolder } from '../records/write.js'
import { renderTimestamp } from './site.js'

/**
 * @import { Precision, Site, Summary } from '../model/types.ts'
 * @import { Watcher } from '../run/events.js'
 * @import { Execution, Preparation } from '../run/execute.js'
 * @import { GateParity } from '../run/kind.js'
 */

/**
 * Runs a preparation, writes its records into a folder, and summarises them, even if the run is interrupted. The
 * folder of a run that measured nothing is removed, unless it contains other files.
 * @param {object} options
 * @param {Preparation} options.preparation
 * @param {Site} options.site
 * @param {string | null} options.out a folder that does not exist or is empty; null: a new one below results/
 * @param {Execution} options.execution if it resumes a run, the folder is that of the run
 * @param {Watcher} options.watcher
 * @param {AbortSignal} options.signal
 * @param {(folder: string, summary: Summary) => Promise<void>} [options.finish] called with the summary, once it is
 *   written
 * @param {GateParity} [options.gate] the check of equal work; the kit's by default
 * @returns {Promise<{ folder: string, summary: Summary }>} folder: its absolute path
 * @throws {UsageError} if another run writes into the folder; any error of the run
 */
export async function measurePreparation({ preparation, site, out, execution, watcher, signal, ...options }) {
  const { finish = async () => {}, gate } = options
  const { plan } = preparation
  const { interrupted } = execution
  const started = interrupted?.folder ?? out
  const folder = path.resolve(started ?? path.join('results', `${renderTimestamp()}-${plan.experiment}`))
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
        gate: gate ?? (await import('../parity/gate.js')).gateParity,
      })
    } catch (error) {
      // A run whose resumption was refused stays as it is.
      const isTouched = !(interrupted && error instanceof UsageError)
      const announceFailure = (/** @type {Error} */ { message }) =>
        watcher.say(`no summary was made of ${folder}: ${message}`)
      if (!existsSync(path.join(folder, 'manifest.json'))) {
        // The run has measured nothing: remove its files. `rmdir` leaves a folder with files of others.
        callSafely(() => {
          rmdirSync(path.join(folder, 'raw'))
          rmSync(path.join(folder, 'trials.jsonl'))
          if (isNew) rmdirSync(folder)
        }, null)
      } else if (isTouched && existsSync(path.join(folder, 'trials.jsonl')))
        await finishRun(folder, finish).catch(announceFailure)
      throw error
    }
    return { folder, summary: await finishRun(folder, finish) }
  } finally {
    site.ledger.release('results', folder)
  }
}

/**
 * Writes summary.json, and calls `finish`.
 * @param {string} folder of the run
 * @param {(folder: string, summary: Summary) => Promise<void>} finish
 * @returns {Promise<Summary>}
 */
async function finishRun(folder, finish) {
  // The code that summarises is loaded after the run, to leave the memory to what is measured.
  const { writeSummary } = await loadAfterRun(folder, () => import('./write-summary.js'))
  const summary = writeSummary(folder)
  await finish(folder, summary)
  return summary
}

/**
 * Loads code after a run.
 * @template T
 * @param {string} folder of the run
 * @param {() => Promise<T>} load imports the module
 * @returns {Promise<T>} the module
 * @throws {BenchError} if it fails: the code may have changed during the run
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
 * Loads the function that says whether a run is precise enough.
 * @returns {Promise<import('../run/rounds.js').Assess>}
 */
async function loadAssess() {
  const { summarise } = await import('../analysis/summarise.js')
  const { summarisePrecision } = await import('../report/notes.js')
  return run => summarisePrecision(/** @type {Precision} */ (summarise(run).precision))
}
