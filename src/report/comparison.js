import { PRIMARY } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { joinParts } from '../lib/text-table.js'
import { percent } from '../lib/units.js'
import { describeAxes, findVaried, groupOf } from '../model/arms.js'
import { renderVerdict, SECONDARY } from './verdicts.js'

/**
 * Renders the comparison of two runs for the terminal. Pure.
 * @import { Comparison } from '../model/types.ts'
 * @import { ComparedRun, HeldThreshold, RunComparison } from '../analysis/compare-runs.js'
 * @typedef {Pick<ComparedRun, 'folder' | 'manifest'>} Named
 */

/** Renders a comparison. @param {RunComparison} result @param {{ old: Named, new: Named }} runs */
export function renderComparison({ comparisons, controls, refused, warnings, thresholds }, runs) {
  return joinParts([
    [`old: ${nameRun(runs.old)}`, `new: ${nameRun(runs.new)}`],
    warnings.map(warning => `warning: ${warning}`),
    refused.map(({ arm, differing }) => `not compared: ${arm}: ${differing.join('; ')}`),
    ...renderArms(comparisons.filter(c => c.service === null)),
    controls.map(control => renderControl(control, controls)),
    thresholds.map(renderThreshold),
  ])
}

/** @param {Named} run */
function nameRun({ folder, manifest: { run, kit } }) {
  const version = [kit.version, kit.git].filter(Boolean).join(' ')
  return `${folder} (experiment ${run.experiment}, started ${run.startedAt}, kit ${version})`
}

/** Renders the verdicts of each arm, primary quantity first. @param {Comparison[]} comparisons over all sidecars */
function renderArms(comparisons) {
  const keyOf = (/** @type {Comparison} */ c) => JSON.stringify([c.a, c.b, groupOf(c)])
  const arms = [...groupBy(comparisons, keyOf).values()]
  const varied = findVaried(comparisons)
  return arms.map(own => {
    const heading = [`${own[0].a} and ${own[0].b}`, describeAxes(own[0], varied)].filter(Boolean).join(', ')
    const primary = own.filter(c => c.quantity === PRIMARY.name)
    const secondary = own.filter(c => c.quantity !== PRIMARY.name)
    return [
      ...(arms.length > 1 ? [`${heading}:`] : []),
      ...primary.map(renderVerdict),
      ...(secondary.length > 0 ? [`${SECONDARY}:`, ...secondary.map(c => `  ${renderVerdict(c)}`)] : []),
    ]
  })
}

/** Says how CPU changed without sidecars. @param {Comparison} control @param {Comparison[]} controls */
function renderControl(control, controls) {
  const { ratio, reasons } = control
  const where = describeAxes(control, findVaried(controls))
  const without = `Without sidecars${where ? ` (${where})` : ''}`
  const notes = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
  if (ratio.median === null) return `${without} it is not known what the applications' CPU per request did${notes}`
  const gap = `${percent(Math.abs(ratio.median - 1), 1)} ${ratio.median < 1 ? 'less' : 'more'}`
  return `${without} the applications used ${gap} CPU per request in new${notes}`
}

/** @param {HeldThreshold} threshold */
function renderThreshold({ expression, arm, value, held }) {
  if (arm === null) return `Threshold ${expression}: not tested: no arm that has its quantity was compared`
  const result = held === null ? 'not tested: spoiled' : `${held ? 'held' : 'CROSSED'}: ${value?.toFixed(3)}`
  return `Threshold ${expression} (${arm}): ${result}`
}
