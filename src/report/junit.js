import { listVariedAxes, renderArmLabel, renderAxes } from '../model/arms.js'
import { listArms } from '../model/results.js'
import { escapeMarkup } from './markup.js'
import { renderGate } from './missing.js'

/**
 * Renders thresholds and gates as JUnit XML, which CI shows as test results. Pure.
 * @import { Summary } from '../model/types.ts'
 */

/**
 * A test case. It passed if it neither failed nor was skipped.
 * @typedef {object} Case
 * @property {string} name
 * @property {string} [failure] the reason
 * @property {string} [skipped] the reason
 */

/**
 * Renders a case for each threshold and each arm. A crossed threshold fails. A threshold without a value is skipped;
 * so is an arm that a gate spoiled, or that was not measured.
 * @param {Summary} summary
 * @returns {string} XML
 */
export function renderJunit({ run, results, thresholds }) {
  const arms = listArms({ results })
  const varied = listVariedAxes(arms)
  const suites = [
    renderSuite(
      `${run.experiment}.thresholds`,
      thresholds.map(({ expression, value, held, ...arm }) => ({
        name: [expression, renderAxes(arm, varied)].filter(Boolean).join(' at '),
        failure: held === false ? `crossed: the median ratio is ${value?.toFixed(3)}` : undefined,
        skipped: held === null ? 'not tested: its quantity was spoiled, or not measured' : undefined,
      })),
    ),
    renderSuite(
      `${run.experiment}.gates`,
      arms.map(arm => {
        const { completed, failed, invalid } = arm.trials
        const total = completed + failed + invalid
        const spoilt = arm.spoiled.map(
          fired => `${renderGate(fired)} in ${fired.trials} of ${total} trials: ${fired.reason}`,
        )
        const skipped = spoilt.length > 0 ? spoilt.join('; ') : total === 0 ? 'not measured' : undefined
        return { name: renderArmLabel(arm, varied), skipped }
      }),
    ),
  ]
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escapeXml(run.id)}">\n${suites.join('')}</testsuites>\n`
}

/**
 * Renders a suite. `errors` is 0, since a case either fails or is skipped.
 * @param {string} name
 * @param {Case[]} cases
 * @returns {string} XML
 */
function renderSuite(name, cases) {
  const failures = cases.filter(c => c.failure !== undefined).length
  const skipped = cases.filter(c => c.skipped !== undefined).length
  const lines = cases.map(c => {
    const inside = [
      c.skipped === undefined ? '' : `<skipped message="${escapeXml(c.skipped)}"/>`,
      c.failure === undefined ? '' : `<failure message="${escapeXml(c.failure)}">${escapeXml(c.failure)}</failure>`,
    ]
    return `    <testcase classname="${escapeXml(name)}" name="${escapeXml(c.name)}">${inside.join('')}</testcase>\n`
  })
  return `  <testsuite name="${escapeXml(name)}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}">\n${lines.join('')}  </testsuite>\n`
}

/**
 * Escapes a text, without the characters that XML 1.0 cannot contain even if they are escaped.
 * @param {string} text
 * @returns {string}
 */
function escapeXml(text) {
  const allowed = [...text]
    .filter(c => /[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(c))
    .join('')
  return escapeMarkup(allowed)
}
