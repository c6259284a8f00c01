import { Option } from 'commander'
import { evaluateClaims } from '../analysis/claims/claims.js'
import { summarise } from '../analysis/summarise.js'
import { findComputedKind } from '../kinds/computed.js'
import { BenchError, EXIT } from '../lib/errors.js'
import { readRun } from '../records/records.js'
import { renderAnswerText } from '../report/answer/text.js'
import { createClaimsAnswer, renderClaims } from '../report/claims.js'
import { withRuns } from './open-runs.js'
import { findClaims } from './read-claims.js'

/** Adds `claims`, which compares published numbers with runs. @type {import('./program.js').AddVerb} */
export function addClaims(verb, { print, say, end }) {
  verb
    .argument('<results...>', 'results folders or bundles, oldest first')
    .option('--json', 'print the answers as JSON')
    .addOption(new Option('--details', 'print each claim, theirs and ours').conflicts('json'))
    .action((/** @type {string[]} */ results, /** @type {{ json?: boolean, details?: boolean }} */ options) =>
      withRuns(results, (folders, restoreNames) => {
        const summariseFolder = (/** @type {string} */ folder) => {
          const computed = findComputedKind(folder)
          if (computed) return computed.summarise(computed.read(folder))
          const run = readRun(folder)
          for (const warning of run.warnings) say(restoreNames(warning))
          return summarise(run)
        }
        const summaries = folders.flatMap(folder => {
          try {
            return [summariseFolder(folder)]
          } catch (error) {
            if (!(error instanceof BenchError) || folders.length === 1) throw error
            say(restoreNames(`left out: ${error.message}`))
            end(EXIT.failed)
            return []
          }
        })
        const results = evaluateClaims({ files: findClaims(), summaries })
        const experiments = summaries.map(({ run }) => run.experiment)
        const render = options.details
          ? () => renderClaims(results, experiments).join('\n')
          : () =>
              renderAnswerText(createClaimsAnswer(results, experiments), {
                more: ['Each claim, theirs and ours: --details'],
              })
        print(options.json ? JSON.stringify(results, null, 2) : render())
      }),
    )
}
