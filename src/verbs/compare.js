import { Option } from 'commander'
import { chooseCompareStatus, compareRuns } from '../analysis/compare-runs.js'
import { summarise } from '../analysis/summarise.js'
import { collectValues } from '../prepare/option-parsers.js'
import { readRun } from '../records/records.js'
import { renderAnswerText } from '../report/answer/text.js'
import { createComparisonAnswer, renderComparisonDetails } from '../report/comparison.js'
import { withRuns } from './open-runs.js'

/**
 * @import { RunComparison } from '../analysis/compare-runs.js'
 * @import { NamedRun } from '../report/comparison.js'
 */

/** Adds `compare`, which compares two runs as `bench` compares two planes. @type {import('./program.js').AddVerb} */
export function addCompare(verb, { print, say, end }) {
  verb
    .argument('<old>', 'a results folder, or a bundle')
    .argument('<new>', 'a results folder, or a bundle')
    .option('--threshold <expr>', "a ratio that must hold, such as 'new/old cpuPerRequest <= 1.05'", collectValues, [])
    .option('--json', 'print the comparison as JSON')
    .addOption(new Option('--details', 'print every verdict instead of the answer').conflicts('json'))
    .action((older, newer, /** @type {{ threshold: string[], json?: boolean, details?: boolean }} */ options) =>
      withRuns([older, newer], (folders, restoreNames) => {
        const [old, next] = folders.map(folder => {
          const { manifest, records, warnings } = readRun(folder)
          for (const warning of warnings) say(restoreNames(warning))
          return { folder: restoreNames(folder), manifest, records, summary: summarise({ manifest, records }) }
        })
        const runs = { old, new: next }
        const result = compareRuns(runs, { thresholds: options.threshold })
        print(renderRunComparison(result, { runs, ...options }))
        const { status, reasons } = chooseCompareStatus(result)
        reasons.forEach(say)
        end(status)
      }),
    )
}

/**
 * Renders a comparison as JSON, with --details as all verdicts, else as the answer.
 * @param {RunComparison} result
 * @param {{ runs: { old: NamedRun, new: NamedRun }, json?: boolean, details?: boolean }} options
 * @returns {string}
 */
function renderRunComparison(result, { runs, json, details }) {
  if (json) return JSON.stringify(result, null, 2)
  if (details) return renderComparisonDetails(result, runs)
  return renderAnswerText(createComparisonAnswer(result, runs), { more: ['More numbers: --details'] })
}
