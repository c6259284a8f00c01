import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { formatValue as format, quantityOf } from '../judge/quantity.js'
import { recommendedBytes } from '../kinds/search/memory-floor.js'
import { groupBy } from '../lib/group-by.js'
import { mib } from '../lib/units.js'
import { nameOf } from '../model/arms.js'
import { tellControlNeeds } from './control-needs.js'
import { tellEstimates } from './estimates.js'
import { tellGrowths } from './growths.js'
import { tellRollout } from './rollouts.js'
import { formatValue } from './searches.js'
import { tellVerdicts } from './verdicts.js'

/**
 * The answer of a run in one sentence. Pure.
 * @import { Comparison, SearchResult, SizeResult, Summary, SummaryArm } from '../model/types.ts'
 */

const LOOKED_FOR = { knee: 'holds', cpu: 'holds with', memory: 'survives with' }

/**
 * The verdict on the primary quantity with its interval, and what bound the run; of a search what it found.
 * @param {Summary} summary
 * @returns {string}
 */
export function answerOf(summary) {
  const { arms, sizes, searches, comparisons } = summary
  const measured = arms.filter(arm => arm.trials.completed > 0)
  if (sizes.length > 0) return join(sizes.map(tellSize))
  if (searches.length > 0) return join(searches.map(tellSearch))
  if (measured.length === 0) return 'Nothing was measured.'
  if (summary.controlNeeds?.length) return join(tellControlNeeds(summary))
  if (summary.growths) return join(tellGrowths(summary))
  const rollouts = measured.filter(arm => arm.conditions.sidecars !== undefined)
  if (rollouts.length > 0)
    return join([...groupBy(rollouts, nameOf).values()].map(own => tellRollout(summary.shows, own)))
  const primary = comparisons.filter(
    c => c.quantity === PRIMARY.name && c.service === null && c.contrast === null && !c.isControl,
  )
  const verdicts = primary.length > 0 ? tellPrimary(summary, primary) : []
  return join(
    [...(verdicts.length > 0 ? verdicts : [tellValues(measured)]), tellBound(measured), tellEstimates(summary)].filter(
      Boolean,
    ),
  )
}

/**
 * One group of arms: its verdicts. More of them: how many have which, pair by pair.
 * @param {Summary} summary
 * @param {Comparison[]} primary
 */
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

/**
 * Without two planes to compare: what was measured.
 * @param {SummaryArm[]} arms
 */
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

/** @param {SummaryArm[]} arms */
function tellBound(arms) {
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.repeatOf === null && arm.boundBy !== null)
  const limits = [...new Set(sidecars.map(arm => arm.boundBy))]
  if (limits.length === 0) return ''
  if (limits.length === 1) return sayLimit(limits[0])
  return limits
    .map(limit => {
      const names = [...new Set(sidecars.filter(arm => arm.boundBy === limit).map(nameOf))]
      return `${names.join(', ')} ${sayLimit(limit)}`
    })
    .join(', ')
}

/** @param {SummaryArm['boundBy']} limit */
function sayLimit(limit) {
  if (limit === 'users') return 'bound by the number of users, so no capacity was measured'
  if (limit === 'rate') return 'with nothing saturated at the rate'
  return `bound by the ${limit}`
}

/** @param {SizeResult} size */
function tellSize(size) {
  const { cpu, memory, isChecked, p99Ms, services } = size
  const load = services.length > 0 ? `that of ${services.join(', ')}` : 'the load'
  if (cpu.steps.some(step => step.held === null) && !cpu.isFound)
    return `${nameOf(size)}: no answer: not every CPU limit could be judged`
  if (!cpu.isFound || cpu.held === null) return `${nameOf(size)}: no CPU limit of this machine holds ${load}`
  const bytes = memory?.isFound ? ` and ${mib(recommendedBytes(memory))} MiB` : ''
  const p99 = p99Ms === null ? '' : `, p99 ${p99Ms.toFixed(1)} ms`
  return `${nameOf(size)} holds ${load} with ${cpu.held} cores${bytes}${p99}${isChecked ? '' : ', NOT confirmed by its own check'}`
}

/** @param {SearchResult} search */
function tellSearch(search) {
  const { held, failed, isFound, looksFor } = search
  if (!isFound || held === null) return `${nameOf(search)}: its limit is not reachable on this machine`
  const but = failed === null ? '' : `, and not ${looksFor === 'knee' ? '' : 'with '}${formatValue(failed, search)}`
  return `${nameOf(search)} ${LOOKED_FOR[looksFor]} ${formatValue(held, search)}${but}`
}

/** @param {string[]} parts */
function join(parts) {
  const text = parts.join('; ')
  return /[.!]$/.test(text) ? text : `${text}.`
}
