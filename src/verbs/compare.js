import { Option } from 'commander'
import { chooseCompareStatus, compareRuns } from '../analysis/compare-runs.js'
import { summarise } from '../analysis/summarise.js'
import { collectValues } from '../prepare/options.js'
import { readRun } from '../records/records.js'
import { renderAnswerText } from '../report/answer/text.js'
import { createComparisonAnswer, renderComparisonDetails } from '../report/comparison.js'
import { withRuns } from './open-runs.js'

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
        const result = compareRuns({ old, new: next }, { thresholds: options.threshold })
        const render = options.details
          ? renderComparisonDetails
          : (/** @type {Parameters<typeof createComparisonAnswer>} */ ...compared) =>
              renderAnswerText(createComparisonAnswer(...compared), { more: ['More numbers: --details'] })
        print(options.json ? JSON.stringify(result, null, 2) : render(result, { old, new: next }))
        const { status, reasons } = chooseCompareStatus(result)
        reasons.forEach(say)
        end(status)
      }),
    )
}
