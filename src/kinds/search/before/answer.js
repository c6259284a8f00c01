import { joinWords } from '../../../lib/letters.js'
import { renderNounCount } from '../../../lib/units.js'
import { renderArmName } from '../../../model/arms.js'
import { renderMillicores } from '../../../model/container-limits.js'
import { computeLimitsFound, renderSaving } from '../found-limits.js'

/** The answer of older searches for limits, which have no `answer`. Pure. */
/** @import { SizeResult } from '../../../model/types.ts' */
/** @import { Cell, Picture } from '../../../answer/picture.js' */

/**
 * Draws the limits of older searches.
 * @param {SizeResult[]} sizes
 * @returns {Picture[]} one; []: there are none
 */
export function drawOlderSizes(sizes) {
  if (sizes.length === 0) return []
  const isOfServices = sizes.some(({ services }) => services.length > 0)
  const [{ p99LimitMs }] = sizes
  const isSameLimit = sizes.every(size => size.p99LimitMs === p99LimitMs)
  const columns = [
    { heading: 'CPU limit' },
    { heading: 'memory limit' },
    { heading: isSameLimit ? `p99 there (at most ${p99LimitMs} ms)` : 'p99 there' },
  ]
  return [
    {
      isOfProxies: !isOfServices,
      columns: isOfServices ? [{ heading: 'load' }, ...columns] : columns,
      rows: sizes.map(size => {
        const cells = drawOlderCells(size, isSameLimit)
        if (!isOfServices) return { label: renderArmName(size), cells }
        return {
          label: `${size.services.join(', ')}, ${renderArmName(size)}`,
          cells: [{ text: `${size.ratePerSecond} req/s` }, ...cells],
        }
      }),
    },
  ]
}

/**
 * Draws the limits of an older search, and its p99.
 * @param {SizeResult} size
 * @param {boolean} isSameLimit all sizes have the same p99 limit
 * @returns {(Cell | null)[]} three cells; null: the limit was not found, or no p99 was measured
 */
function drawOlderCells(size, isSameLimit) {
  const { cpu, p99Ms, p99LimitMs } = size
  const limits = computeLimitsFound(size)
  return [
    cpu.isFound && cpu.held !== null ? { text: renderMillicores(cpu.held) } : null,
    limits === null ? null : { text: `${limits.mebibytes}Mi` },
    p99Ms === null ? null : { text: `${p99Ms.toFixed(1)} ms${isSameLimit ? '' : ` of ${p99LimitMs}`}` },
  ]
}

/**
 * Renders how many trials checked the limits of older searches.
 * @param {SizeResult[]} sizes
 * @returns {string[]} one sentence; []: no limits passed their check
 */
export function renderOlderChecks(sizes) {
  const checked = sizes.filter(({ isChecked }) => isChecked)
  if (checked.length === 0) return []
  const trials = checked.map(({ checks }) => {
    const trialsOfChecks = checks.filter(({ mustHold }) => mustHold).map(check => check.trials.length)
    return trialsOfChecks.reduce((sum, n) => sum + n, 0)
  })
  const [least, most] = [Math.min(...trials), Math.max(...trials)]
  const subject =
    checked.length === sizes.length ? 'These limits' : `The limits of ${joinWords(checked.map(renderArmName))}`
  const count = least === most ? renderNounCount(most, 'trial') : `${least} to ${most} trials`
  return [`${subject} met the p99 in each of ${count} that checked them.`]
}

/**
 * Renders how the needs of the first proxy compare to those of the others, for older searches.
 * @param {SizeResult[]} sizes those of a file of services are ignored
 * @returns {string[]} a sentence for each other proxy with limits; []: there is none, or the first has no limits
 */
export function renderOlderSavings(sizes) {
  const [first, ...others] = sizes.filter(({ services }) => services.length === 0)
  const firstLimits = first && computeLimitsFound(first)
  if (!firstLimits) return []
  return others.flatMap(other => {
    const limits = computeLimitsFound(other)
    if (!limits) return []
    const cpu = renderSaving(limits.millicores - firstLimits.millicores, 'm')
    const memory = renderSaving(limits.mebibytes - firstLimits.mebibytes, 'Mi')
    return [
      `A sidecar of ${renderArmName(first)} needs ${cpu} CPU and ${memory} memory than one of ${renderArmName(other)}.`,
    ]
  })
}

/**
 * Renders the warning of an older search: its limits are extrapolated, were not found, or failed their check.
 * @param {SizeResult} size
 * @returns {string[]} one sentence; []: they passed
 */
export function warnOfOlderSize(size) {
  const { cpu, memory, isChecked, extrapolated } = size
  const name = renderArmName(size)
  if (extrapolated !== null)
    return [`${name}: EXTRAPOLATED from lower rates, not measured: about ${extrapolated.cores.toFixed(2)} cores.`]
  if (!cpu.isFound && cpu.steps.some(step => step.held === null))
    return [`${name}: no answer, for not every CPU limit could be judged: ${cpu.why}.`]
  if (!cpu.isFound || cpu.held === null) return [`${name}: no CPU limit of this machine meets the p99: ${cpu.why}.`]
  if (computeLimitsFound(size) === null)
    return [
      `${name}: no limits are given, for no memory limit was ${memory === null ? 'tried' : `found: ${memory.why}`}.`,
    ]
  return isChecked ? [] : [`${name}: these limits did NOT pass their own check.`]
}
