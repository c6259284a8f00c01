import { existsSync } from 'node:fs'
import path from 'node:path'
import { kinds } from '../kinds/registry.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { createResultsFolder } from '../records/records.js'
import { executePlan } from '../run/execute.js'
import { prepareToResume } from '../run/resume.js'
import { stampNow } from './preparation.js'

/**
 * @import { Site, Summary } from '../model/types.ts'
 * @import { Ledger } from '../node/ledger.js'
 * @import { Watcher } from '../run/events.js'
 * @import { Execution, Preparation } from '../run/execute.js'
 * @import { GateParity } from '../parity/gate.js'
 */

/**
 * Runs what was prepared into a folder of its own, and makes the summary of its records, also of a run that was cut
 * short: nothing measured is lost.
 * @param {{ preparation: Preparation, site: Site, out: string | null, execution: Execution, watcher: Watcher,
 *   signal: AbortSignal, finish?: (folder: string) => Promise<void>, gate?: GateParity }} options
 *   out: the folder, which must not exist or be empty; null: a new one; finish: is called when there is a summary
 * @returns {Promise<{ folder: string, summary: Summary }>}
 */
export async function measure({ preparation, site, out, execution, watcher, signal, ...options }) {
  const { finish = async () => {}, gate } = options
  const started = execution.interrupted?.folder ?? out
  const folder = path.resolve(started ?? path.join('results', `${stampNow()}-${preparation.plan.experiment}`))
  holdResults(site.ledger, folder)
  try {
    if (execution.interrupted) prepareToResume(execution.interrupted)
    else createResultsFolder(folder)
    try {
      const assess = preparation.plan.precision && (await loadAssess())
      await executePlan({
        preparation,
        kinds: preparation.plan.kinds.map(kind => kinds[kind]),
        site,
        folder,
        execution: { assess, ...execution },
        watcher,
        signal,
        gate,
      })
    } catch (error) {
      // A run that may not be resumed stays as it is.
      const isTouched = !(execution.interrupted && error instanceof UsageError)
      if (isTouched && existsSync(path.join(folder, 'trials.jsonl'))) await rescue({ folder, finish, say: watcher.say })
      throw error
    }
    const summary = await makeSummary(folder)
    await finish(folder)
    return { folder, summary }
  } finally {
    site.ledger.release('results', folder)
  }
}

/**
 * What computes it is loaded now: it would be in memory beside what is measured.
 * @param {string} folder
 */
async function makeSummary(folder) {
  const { writeSummary } = await loadAfter(folder, () => import('./write-summary.js'))
  return writeSummary(folder)
}

/**
 * Loads what a run needs only after it; the program may have been changed meanwhile.
 * @template T
 * @param {string} folder of the run
 * @param {() => Promise<T>} load
 * @returns {Promise<T>}
 */
export async function loadAfter(folder, load) {
  try {
    return await load()
  } catch (error) {
    const why = /** @type {Error} */ (error).message
    throw new BenchError(
      `cannot load the modules that report ${folder}: ${why}; its records are there: npm run report -- ${folder}`,
      {
        cause: error,
      },
    )
  }
}

/** @returns {Promise<import('../run/stopping.js').Assess>} */
async function loadAssess() {
  const [{ summarise }, { tellPrecision }] = await Promise.all([
    import('../analysis/summarise.js'),
    import('../report/precision.js'),
  ])
  return run => tellPrecision(/** @type {import('../model/types.ts').Precision} */ (summarise(run).precision))
}

/**
 * Two runs in one folder would mix their trials.
 * @param {Ledger} ledger
 * @param {string} folder
 * @throws {UsageError} where another run writes there
 */
function holdResults(ledger, folder) {
  const holder = ledger.claim('results', folder)
  if (holder !== null) throw new UsageError(`${holder} writes into ${folder}: wait until it has ended`)
}

/**
 * The summary of a run that failed; that it cannot be made must not hide why the run failed.
 * @param {{ folder: string, finish: (folder: string) => Promise<void>, say: (line: string) => void }} options
 */
async function rescue({ folder, finish, say }) {
  try {
    await makeSummary(folder)
    await finish(folder)
  } catch (error) {
    say(`no summary was made of ${folder}: ${/** @type {Error} */ (error).message}`)
  }
}
