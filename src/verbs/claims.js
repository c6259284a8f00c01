import { Option } from 'commander'
import { evaluateClaims } from '../analysis/claims/claims.js'
import { summarise } from '../analysis/summarise.js'
import { findComputedKind } from '../kinds/computed.js'
import { BenchError, EXIT } from '../lib/errors.js'
import { readRun } from '../records/records.js'
import { renderAnswerText } from '../report/answer/text.js'
import { createClaimsAnswer, renderClaims } from '../report/claims.js'
import { withRuns } from './open-runs.js'
import { readKitClaims } from './read-claims.js'

/** @import { BalanceSummary, Summary } from '../model/types.ts' */

/**
 * Adds `claims`, which compares published numbers with runs. Of several runs, one that cannot be read is left out with a warning, and the
 * exit status is then EXIT.failed.
 * @type {import('./program.js').AddVerb}
 */
export function addClaims(verb, { print, say, end }) {
  verb
    .argument('<results...>', 'results folders or bundles, oldest first')
    .option('--json', 'print the answers as JSON')
    .addOption(new Option('--details', 'print each claim, theirs and ours').conflicts('json'))
    .action((/** @type {string[]} */ names, /** @type {{ json?: boolean, details?: boolean }} */ options) =>
      withRuns(names, (folders, restoreNames) => {
        const warn = (/** @type {string} */ line) => say(restoreNames(line))
        const summaries = folders.flatMap(folder => {
          try {
            return [summariseFolder(folder, warn)]
          } catch (error) {
            if (!(error instanceof BenchError) || folders.length === 1) throw error
            warn(`left out: ${error.message}`)
            end(EXIT.failed)
            return []
          }
        })
        const results = evaluateClaims({ files: readKitClaims(), summaries })
        const experiments = summaries.map(({ run }) => run.experiment)
        print(renderClaimResults(results, { experiments, ...options }))
      }),
    )
}

/**
 * Summarises a run of any kind.
 * @param {string} folder of the run
 * @param {(line: string) => void} warn gets the warnings about damaged records
 * @returns {Summary | BalanceSummary}
 * @throws {BenchError} if the folder holds no run, or a file of it cannot be read; as `summarise`
 */
function summariseFolder(folder, warn) {
  const computed = findComputedKind(folder)
  if (computed) return computed.summarise(computed.read(folder))
  const run = readRun(folder)
  run.warnings.forEach(warn)
  return summarise(run)
}

/**
 * Renders the results of claims as JSON, as a list of all claims or as the answer.
 * @param {ReturnType<typeof evaluateClaims>} results
 * @param {{ experiments: string[], json?: boolean, details?: boolean }} options experiments: of the runs
 * @returns {string}
 */
function renderClaimResults(results, { experiments, json, details }) {
  if (json) return JSON.stringify(results, null, 2)
  if (details) return renderClaims(results, experiments).join('\n')
  const more = ['Each claim, theirs and ours: --details']
  return renderAnswerText(createClaimsAnswer(results, experiments), { more })
}
