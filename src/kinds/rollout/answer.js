import { renderContrasts } from '../../answer/contrasts.js'
import { renderPairs } from '../../answer/pairs.js'
import { dropEmptyCells } from '../../answer/picture.js'
import { chooseQuantities, drawProxies, renderQuantity } from '../../answer/proxies.js'
import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { listVariedAxes, renderArmName } from '../../model/arms.js'
import { toLimits } from '../../model/container-limits.js'

/** The answer of rollouts: how soon sidecars had their configuration, and what the control plane took. Pure. */
/**
 * @import { ControlNeed, ResultOf, SummaryArm } from '../../model/types.ts'
 * @import { Answered } from '../sections.js'
 */
/** @import { Column, KindAnswer, Picture } from '../../answer/picture.js' */

/** The quantities of a row with their headings; `dropEmptyCells` leaves out those that no arm has. */
const COLUMNS = /** @type {const} */ ([
  ['podReadyMax', 'all pods ready'],
  ['rolloutSeconds', 'all configured'],
  ['changeAllSeconds', 'all changed'],
  ['controlPeak', 'control plane, peak'],
  ['controlPerSidecar', 'of it a sidecar'],
  ['sidecarPss', 'memory of a sidecar'],
])

/**
 * Creates the answer: the needs of control planes if the run sizes them, else the rollouts, with a sentence for each.
 * @param {Answered<ResultOf<'rollout'>> & { bindingOf: (arm: SummaryArm) => string }} answered bindingOf: renders
 *   which phases the control plane bound; empty: none runs
 * @returns {KindAnswer | null} null: nothing was measured
 */
export function answerRollouts({ result, summary, measured, bindingOf }) {
  const { controlNeeds, comparisons, arms } = result
  if (measured.length === 0) return null
  if (controlNeeds.length > 0)
    return { pictures: [drawNeeds(controlNeeds)], verdicts: controlNeeds.map(renderNeedSentence) }
  const firstArms = measured.filter(arm => arm.repeatOf === null)
  const isOfNumbers = listVariedAxes(firstArms).every(name => name === 'sidecars')
  const [primary] = summary.shows.quantities
  return {
    pictures: isOfNumbers
      ? [drawNumbers(firstArms)]
      : drawProxies({ arms, comparisons, primary, quantities: chooseQuantities(summary, ['rolloutSeconds']) }),
    verdicts: [
      ...(primary === undefined ? [] : renderPairs({ comparisons, primary, others: [] })),
      ...(primary === undefined ? [] : renderContrasts({ comparisons, primary })),
      ...(isOfNumbers
        ? [...groupBy(firstArms, renderArmName).values()].map(planeArms => renderLargestRollout(planeArms, bindingOf))
        : []),
      ...(isOfNumbers
        ? []
        : [...groupBy(firstArms, bindingOf)].flatMap(([words, boundArms]) =>
            renderControlBound(words, boundArms, firstArms),
          )),
    ],
  }
}

/**
 * Draws a row for each arm, which is a proxy with a number of sidecars. Columns that no arm has are left out.
 * @param {SummaryArm[]} arms
 * @returns {Picture}
 */
function drawNumbers(arms) {
  return dropEmptyCells({
    isOfProxies: true,
    columns: [
      /** @type {Column} */ ({ heading: 'sidecars' }),
      ...COLUMNS.map(([, heading]) => /** @type {Column} */ ({ heading })),
    ],
    rows: arms.map(arm => ({
      label: renderArmName(arm),
      cells: [{ text: `${arm.conditions.sidecars}` }, ...COLUMNS.map(([name]) => renderValue(arm, name))],
    })),
  })
}

/**
 * Renders the median of a quantity with its unit, as a cell.
 * @param {SummaryArm} arm
 * @param {string} name of the quantity
 * @returns {import('../../answer/picture.js').Cell | null} null: the arm has no value
 */
function renderValue(arm, name) {
  const cell = renderQuantity(arm, name)
  const { unit } = QUANTITIES[name]
  return cell && { ...cell, text: cell.text.endsWith(unit) ? cell.text : `${cell.text} ${unit}` }
}

/**
 * Renders how soon the sidecars of a proxy's largest rollout were configured.
 * @param {SummaryArm[]} arms of one proxy
 * @param {(arm: SummaryArm) => string} bindingOf renders which phases the control plane bound; empty: none runs
 * @returns {string} a sentence
 */
function renderLargestRollout(arms, bindingOf) {
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
  const fallbackPhrase = simulated > 0 ? 'were configured' : 'were started, too fast for this machine to time'
  const bound = bindingOf(largest)
  const allPhrases =
    phrases.length > 1
      ? `${phrases.slice(0, -1).join(', ')} and ${phrases[phrases.length - 1]}`
      : (phrases[0] ?? fallbackPhrase)
  return `${renderArmName(largest)}: ${sidecars} sidecars ${allPhrases}${bound ? `; ${bound}` : ''}.`
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
 * @param {string} words the phases that it bound; empty: no control plane runs
 * @param {SummaryArm[]} boundArms the arms for which it did
 * @param {SummaryArm[]} allArms
 * @returns {string[]} one sentence; []: no control plane runs
 */
function renderControlBound(words, boundArms, allArms) {
  if (words === '') return []
  const scope = boundArms.length === allArms.length ? 'Everywhere' : `In ${boundArms.length} of ${allArms.length} rows`
  return [`${scope} ${words}.`]
}

/**
 * Draws a row for each control plane.
 * @param {ControlNeed[]} needs
 * @returns {Picture} cells of limits are null: the need has none
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
      const limits = need.limits && toLimits(need.limits)
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
 * Renders the limits of a control plane, or that there were too few rollouts.
 * @param {ControlNeed} need
 * @returns {string} a sentence
 */
function renderNeedSentence({ sidecars, measuredMost, limits, ...choice }) {
  const name = renderArmName(choice)
  if (limits === null) return `${name}: too few rollouts to say what the control plane of ${sidecars} sidecars needs.`
  const { millicores, mebibytes } = toLimits(limits)
  const basis =
    measuredMost < sidecars
      ? `EXTRAPOLATED from at most ${measuredMost} sidecars`
      : `measured with ${measuredMost} sidecars`
  return `${name}: the control plane of ${sidecars} sidecars needs ${millicores}m CPU and ${mebibytes}Mi memory, with room; ${basis}.`
}
