import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { formatValue as format, quantityOf } from '../judge/quantity.js'
import { splitByKind } from '../kinds/sections.js'
import { nameOf } from '../model/arms.js'
import { findDiffering } from '../parity/verdict/rows.js'
import { tellVerdicts } from './verdicts.js'

const UNEQUAL = 'Unequal or untried work, so what it costs cannot be held against other planes'

/** Tells the answer of a run in one sentence. Pure. @import { Comparison, Summary, SummaryArm } from '../model/types.ts' */

/** Joins the answers of a run's kinds of trials. @param {Summary} summary @returns {string} */
export function answerOf(summary) {
  const parts = splitByKind(summary)
  const told = parts.flatMap(({ sections, summary: own }) => {
    const measured = own.arms.filter(arm => arm.trials.completed > 0)
    const cost = measured.length > 0 ? tellCost(own, measured) : []
    const isAlone = parts.every(part => part.sections === sections || !hasMeasured(part.summary))
    return sections.answer({ summary: own, measured, cost, isAlone })
  })
  if (told.length === 0) return 'Nothing was measured.'
  return join([...(findDiffering(summary).wrong.length > 0 ? [UNEQUAL] : []), ...told])
}

/** @param {Summary} summary */
const hasMeasured = ({ arms }) => arms.some(arm => arm.trials.completed > 0)

/** Tells verdicts on the primary quantity, or values. @param {Summary} summary @param {SummaryArm[]} measured */
function tellCost(summary, measured) {
  const primary = summary.comparisons.filter(
    c => c.quantity === PRIMARY.name && c.service === null && c.contrast === null && !c.isControl,
  )
  const verdicts = primary.length > 0 ? tellPrimary(summary, primary) : []
  return verdicts.length > 0 ? verdicts : [tellValues(measured)]
}

/** Tells the verdicts of one group, or counts those of many. @param {Summary} summary @param {Comparison[]} primary */
function tellPrimary(summary, primary) {
  const groups = tellVerdicts(summary)
  if (groups.length === 1) return groups[0].primary
  const pairs = [...new Set(primary.map(c => JSON.stringify([c.a, c.b])))]
  return pairs.map(pair => {
    const own = primary.filter(c => JSON.stringify([c.a, c.b]) === pair)
    const [a, b] = JSON.parse(pair)
    const counts = ['lower', 'higher', 'no-difference-shown', 'indicative', 'invalid'].flatMap(verdict => {
      const count = own.filter(c => c.verdict === verdict).length
      return count > 0 ? [`${verdict.replaceAll('-', ' ')} at ${count}`] : []
    })
    const ratios = own.flatMap(c => (c.verdict === 'invalid' ? [] : (c.ratio.median ?? []))).sort((x, y) => x - y)
    const range = ratios.length > 0 ? `; ${ratios[0].toFixed(2)} to ${ratios.at(-1)?.toFixed(2)} : 1` : ''
    return `CPU per request of ${a} against ${b} at ${own.length} points: ${counts.join(', ')}${range}`
  })
}

/** @param {SummaryArm[]} arms that were measured */
function tellValues(arms) {
  const [{ load }] = arms
  const [name, unit] = load.kind === 'idle' ? ['cpuCores', 'cores when idle'] : ['cpuPerRequest', 'µs CPU per request']
  const values = arms.flatMap(arm => {
    const median = quantityOf(arm, name).median
    return median === null || arm.repeatOf !== null ? [] : [{ plane: nameOf(arm), median }]
  })
  const planes = [...new Set(values.map(v => v.plane))]
  const told = planes.map(plane => {
    const own = values.filter(v => v.plane === plane).map(v => v.median)
    const [low, high] = [Math.min(...own), Math.max(...own)].map(value => format(QUANTITIES[name], value))
    return `${plane}: ${low === high ? low : `${low} to ${high}`} ${unit}`
  })
  return told.length > 0 ? told.join('; ') : 'No sidecar was measured'
}

/** @param {string[]} parts */
function join(parts) {
  const text = parts.join('; ')
  return /[.!]$/.test(text) ? text : `${text}.`
}
