import { listVariedAxes, renderArmLabel, renderAxes } from '../model/arms.js'
import { listArms } from '../model/results.js'
import { renderGate } from './fired-gates.js'
import { escapeMarkup } from './markup.js'

/**
 * Renders thresholds and gates as JUnit XML, which CI shows as test results. Pure.
 * @import { AxisName, Summary, SummaryArm, ThresholdResult } from '../model/types.ts'
 */

/**
 * A test case. It passed if it neither failed nor was skipped.
 * @typedef {object} TestCase
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
  const variedAxes = listVariedAxes(arms)
  const suites = [
    renderSuite(
      `${run.experiment}.thresholds`,
      thresholds.map(threshold => createThresholdCase(threshold, variedAxes)),
    ),
    renderSuite(
      `${run.experiment}.gates`,
      arms.map(arm => createArmCase(arm, variedAxes)),
    ),
  ]
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escapeXml(run.id)}">\n${suites.join('')}</testsuites>\n`
}

/**
 * Creates the case of a threshold: it fails if the threshold was crossed, and is skipped if it was not tested.
 * @param {ThresholdResult} threshold
 * @param {AxisName[]} variedAxes their values are in the name
 * @returns {TestCase}
 */
function createThresholdCase({ expression, value, held, ...arm }, variedAxes) {
  return {
    name: [expression, renderAxes(arm, variedAxes)].filter(Boolean).join(' at '),
    failure: held === false ? `crossed: the median ratio is ${value?.toFixed(3)}` : undefined,
    skipped: held === null ? 'not tested: its quantity was excluded, or not measured' : undefined,
  }
}

/**
 * Creates the case of the gates on an arm, which never fails: it is skipped if a gate spoiled a trial, or it has no trial.
 * @param {SummaryArm} arm
 * @param {AxisName[]} variedAxes their values are in the name
 * @returns {TestCase}
 */
function createArmCase(arm, variedAxes) {
  const { completed, failed, invalid } = arm.trials
  const total = completed + failed + invalid
  const reasons = arm.spoiled.map(
    spoil => `${renderGate(spoil)} in ${spoil.trials} of ${total} trials: ${spoil.reason}`,
  )
  if (reasons.length === 0 && total === 0) reasons.push('not measured')
  return { name: renderArmLabel(arm, variedAxes), skipped: reasons.length > 0 ? reasons.join('; ') : undefined }
}

/**
 * Renders a suite. `errors` is 0, since a case either fails or is skipped.
 * @param {string} name
 * @param {TestCase[]} cases
 * @returns {string} XML
 */
function renderSuite(name, cases) {
  const failureCount = cases.filter(({ failure }) => failure !== undefined).length
  const skippedCount = cases.filter(({ skipped }) => skipped !== undefined).length
  const lines = cases.map(testCase => {
    const children = [
      testCase.skipped === undefined ? '' : `<skipped message="${escapeXml(testCase.skipped)}"/>`,
      testCase.failure === undefined
        ? ''
        : `<failure message="${escapeXml(testCase.failure)}">${escapeXml(testCase.failure)}</failure>`,
    ]
    return `    <testcase classname="${escapeXml(name)}" name="${escapeXml(testCase.name)}">${children.join('')}</testcase>\n`
  })
  return `  <testsuite name="${escapeXml(name)}" tests="${cases.length}" failures="${failureCount}" errors="0" skipped="${skippedCount}">\n${lines.join('')}  </testsuite>\n`
}

/**
 * Escapes a text for elements and attributes. Characters that XML 1.0 cannot contain even if they are escaped are removed.
 * @param {string} text
 * @returns {string}
 */
function escapeXml(text) {
  const allowedText = [...text]
    .filter(c => /[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(c))
    .join('')
  return escapeMarkup(allowedText)
}
