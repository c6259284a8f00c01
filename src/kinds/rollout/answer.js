import { renderContrasts } from '../../answer/contrasts.js'
import { renderPairs } from '../../answer/pairs.js'
import { dropEmptyRowsAndColumns } from '../../answer/picture.js'
import { chooseQuantities, drawProxies, drawQuantityCell } from '../../answer/proxies.js'
import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { capitalise, joinWords } from '../../lib/letters.js'
import { listVariedAxes, renderArmName, renderContenderName } from '../../model/arms.js'
import { roundLimitsUp } from '../../model/container-limits.js'
import { renderLackOfLimits } from './needs.js'

/** The answer of rollouts: how soon sidecars had their configuration, and what the control plane took. Pure. */
/**
 * @import { ControlNeed, ResultOf, SummaryArm } from '../../model/types.ts'
 * @import { Answered } from '../sections.js'
 */
/** @import { Cell, Column, KindAnswer, NotMeasured, Picture } from '../../answer/picture.js' */

/** The quantities of a row with their headings; `dropEmptyRowsAndColumns` leaves out those that no arm has. */
const COLUMNS = /** @type {const} */ ([
  ['podReadyMax', 'all pods ready'],
  ['rolloutSeconds', 'all configured'],
  ['changeAllSeconds', 'all changed'],
  ['controlPeak', 'control plane, peak'],
  ['controlPerSidecar', 'of it per sidecar'],
  ['sidecarPss', 'memory of a sidecar'],
])

/**
 * Creates the answer: the needs of control planes if the run sizes them, else the rollouts. If arms differ in nothing
 * but the plane and the number of sidecars, each rollout is a row, and the largest of each proxy a sentence; else the
 * chosen quantities are drawn.
 * @param {Answered<ResultOf<'rollout'>> & { renderBinding: (arm: SummaryArm) => string }} answered renderBinding: gives
 *   a clause about the phases that the control plane bound; empty: none runs, or it is not known
 * @returns {KindAnswer | null} null: nothing was measured
 */
export function answerRollouts({ result, summary, measured, renderBinding }) {
  const { controlNeeds, comparisons, arms } = result
  if (measured.length === 0) return null
  if (controlNeeds.length > 0)
    return { pictures: [drawNeeds(controlNeeds)], verdicts: controlNeeds.map(renderNeedSentence) }
  const firstArms = measured.filter(arm => arm.repeatOf === null)
  const [primary] = summary.shows.quantities
  const comparisonVerdicts =
    primary === undefined
      ? []
      : [...renderPairs({ comparisons, primary, others: [] }), ...renderContrasts({ comparisons, primary })]
  const boundVerdicts = [...groupBy(firstArms, renderBinding)].flatMap(([binding, boundArms]) =>
    renderControlBound(binding, boundArms, firstArms),
  )
  if (listVariedAxes(firstArms).every(name => name === 'sidecars')) {
    const armsByProxy = [...groupBy(firstArms, renderContenderName).values()]
    return {
      pictures: [drawRolloutRows(firstArms)],
      verdicts: [...comparisonVerdicts, ...armsByProxy.map(renderLargestRollout), ...boundVerdicts],
      notMeasured: listUntimedRollouts(firstArms),
    }
  }
  const quantities = chooseQuantities(summary, ['rolloutSeconds'])
  return {
    pictures: drawProxies({ arms, comparisons, primary, quantities }),
    verdicts: [...comparisonVerdicts, ...boundVerdicts],
  }
}

/**
 * Draws a row for each arm, which is a proxy with a number of sidecars. Columns that no arm has are left out.
 * @param {SummaryArm[]} arms
 * @returns {Picture}
 */
function drawRolloutRows(arms) {
  return dropEmptyRowsAndColumns({
    isOfProxies: true,
    columns: [
      /** @type {Column} */ ({ heading: 'sidecars' }),
      ...COLUMNS.map(([, heading]) => /** @type {Column} */ ({ heading })),
    ],
    rows: arms.map(arm => ({
      label: renderArmName(arm),
      cells: [{ text: `${arm.conditions.sidecars}` }, ...COLUMNS.map(([name]) => drawValueWithUnit(arm, name))],
    })),
  })
}

/**
 * Draws the median of a quantity as a cell, with its unit even if columns usually have it in their heading.
 * @param {SummaryArm} arm
 * @param {string} name of the quantity
 * @returns {Cell | null} null: the arm has no value
 */
function drawValueWithUnit(arm, name) {
  const cell = drawQuantityCell(arm, name)
  const { unit } = QUANTITIES[name]
  return cell && { ...cell, text: cell.text.endsWith(unit) ? cell.text : `${cell.text} ${unit}` }
}

/**
 * Renders how soon the sidecars of a proxy's largest rollout were configured; without a time, only that they were.
 * @param {SummaryArm[]} arms of one proxy
 * @returns {string} a sentence
 */
function renderLargestRollout(arms) {
  const [largest] = arms.toSorted((a, b) => Number(b.conditions.sidecars) - Number(a.conditions.sidecars))
  const { sidecars, simulated = 0 } = largest.conditions
  const real = Number(sidecars) - simulated
  const probed = findQuantity(largest, 'changeAsked').median ?? real
  const phrases = [
    ...renderMedianPhrase(
      largest,
      'podReadyMax',
      simulated > 0 ? `${real} of them were ready pods within %` : 'were ready pods within %',
    ),
    ...renderMedianPhrase(largest, 'rolloutSeconds', 'had their first configuration within %'),
    ...renderMedianPhrase(
      largest,
      'changeAllSeconds',
      `a change of it within %${probed < real ? ` (${probed} of ${real} asked)` : ''}`,
    ),
  ]
  const fallbackPhrase = simulated > 0 ? 'were configured' : 'were started'
  return `${renderArmName(largest)}: ${sidecars} sidecars ${phrases.length > 0 ? joinWords(phrases) : fallbackPhrase}.`
}

/**
 * Lists the time of the largest rollouts, if they were too fast to be timed on this machine.
 * @param {SummaryArm[]} arms
 * @returns {NotMeasured[]} one; []: no arm with the most sidecars was too fast, or they are simulated
 */
function listUntimedRollouts(arms) {
  const sidecars = Math.max(...arms.map(({ conditions }) => Number(conditions.sidecars)))
  const largest = arms.filter(({ conditions }) => conditions.sidecars === sidecars && !conditions.simulated)
  const untimed = largest.filter(arm => findQuantity(arm, 'rolloutSeconds').median === null && wasTooFast(arm))
  if (untimed.length === 0) return []
  const why = `${sidecars} sidecars are configured too soon for this machine to time: take more with --sidecars`
  return [{ what: `time of the rollout of ${joinWords(untimed.map(renderArmName))}`, why, commands: [] }]
}

/**
 * Says whether the rollout of an arm was too fast to be timed, and nothing else took its time away.
 * @param {SummaryArm} arm
 */
function wasTooFast({ spoiled }) {
  const gates = spoiled.filter(({ part }) => part === 'rollout').map(({ gate }) => gate)
  return gates.includes('resolution') && !gates.includes('probe-cost')
}

/**
 * Renders a phrase with a median in the place of `%`.
 * @param {SummaryArm} arm
 * @param {string} name of a quantity in seconds
 * @param {string} words the phrase, with `%`
 * @returns {string[]} one phrase; []: the quantity has no value
 */
function renderMedianPhrase(arm, name, words) {
  const { median } = findQuantity(arm, name)
  return median === null ? [] : [words.replace('%', `${formatValue(QUANTITIES[name], median)} s`)]
}

/**
 * Renders for how many arms the control plane bound the same phases.
 * @param {string} binding a clause of `renderBinding`
 * @param {SummaryArm[]} boundArms the arms for which it holds
 * @param {SummaryArm[]} allArms
 * @returns {string[]} one sentence; []: the clause is empty
 */
function renderControlBound(binding, boundArms, allArms) {
  if (binding === '') return []
  if (boundArms.length === allArms.length) return [`${capitalise(binding)}.`]
  return [`In ${boundArms.length} of ${allArms.length} rows ${binding}.`]
}

/**
 * Draws a row for each control plane.
 * @param {ControlNeed[]} needs
 * @returns {Picture} a cell is null if the need lacks its limit or memory
 */
function drawNeeds(needs) {
  return {
    isOfProxies: true,
    columns: [
      { heading: 'sidecars' },
      { heading: 'CPU limit' },
      { heading: 'memory limit' },
      { heading: 'memory a sidecar' },
    ],
    rows: needs.map(need => {
      const limits = need.limits && roundLimitsUp(need.limits)
      return {
        label: renderArmName(need),
        cells: [
          { text: `${need.sidecars}` },
          limits && { text: `${limits.millicores}m` },
          limits && { text: `${limits.mebibytes}Mi` },
          need.memory && { text: `${(need.memory.bytesPerSidecar / 1000).toFixed(0)} kB` },
        ],
      }
    }),
  }
}

/**
 * Renders the limits of a control plane as a sentence, or why it has none.
 * @param {ControlNeed} need
 * @returns {string}
 */
function renderNeedSentence(need) {
  const { sidecars, measuredMost, limits, ...choice } = need
  if (limits === null) return `${renderLackOfLimits(need)}.`
  const name = renderArmName(choice)
  const { millicores, mebibytes } = roundLimitsUp(limits)
  const basis =
    measuredMost < sidecars
      ? `EXTRAPOLATED from at most ${measuredMost} sidecars`
      : `measured with ${measuredMost} sidecars`
  return `${name}: the control plane of ${sidecars} sidecars needs ${millicores}m CPU and ${mebibytes}Mi memory, with room; ${basis}.`
}
