import { formatValue, QUANTITIES, quantityOf } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { describeAxes, findVaried, labelOf, nameOf } from '../../model/arms.js'
import { findControlNeeds, renderNeed, tellNeed } from './needs.js'
import { isCoarse, isMeasured, listBound, timesOf } from './numbers.js'

/** Rollouts: how soon sidecars have their configuration, and what bound that. Pure. */
/** @import { AxisName, SummaryArm } from '../../model/types.ts' */
/** @import { Drawn, OwnChart, Sections } from '../sections.js' */

/** Sentences by the phases that the control plane bound. @type {Record<string, string>} */
const BOUND = {
  '': 'the control plane did not bind',
  rollout: 'the control plane bound the rollout',
  change: 'the control plane did not bind the rollout, but the change',
  'rollout,change': 'the control plane bound rollout and change',
}

const PHASES = /** @type {const} */ ([
  ['first', 'Sidecars that have their first configuration'],
  ['change', 'Sidecars that have a change of it'],
  ['withdrawal', 'Sidecars that no longer know the services of the change'],
  ['removal', 'Sidecars that moved and have the configuration of their new shard'],
])

/** @type {Sections} */
export const rolloutSections = {
  isOf: ({ conditions }) => conditions.sidecars !== undefined,
  hasSeries: false,
  summarise({ manifest: { settings }, records }) {
    const { sizesControlOf: sidecars } = settings
    return sidecars === undefined ? {} : { controlNeeds: findControlNeeds({ records, sidecars }) }
  },
  answer({ summary: { shows, controlNeeds = [] }, measured }) {
    if (measured.length > 0 && controlNeeds.length > 0) return controlNeeds.map(tellNeed)
    return [...groupBy(measured, nameOf).values()].map(own => {
      const varied = findVaried(own)
      const isOfNumbers = varied.every(name => name === 'sidecars')
      return isOfNumbers ? tellMost(own) : tellEach(own, { varied, quantity: shows.quantities[0] })
    })
  },
  findings: ({ controlNeeds = [] }) => controlNeeds.flatMap(renderNeed),
  charts: drawShares,
  boundOf(arm) {
    const phases = listBoundOf(arm)
    return phases === null || phases.length === 0 ? null : `control: ${phases.join(', ')}`
  },
}

/** Lists the phases that an arm's control plane bound; null where none runs. @param {SummaryArm} arm */
function listBoundOf(arm) {
  const [rollout, change] = ['controlAtLimitRollout', 'controlAtLimitChange'].map(name => quantityOf(arm, name).median)
  return rollout === null ? null : listBound({ rollout, change })
}

/** @param {SummaryArm[]} arms @param {{ varied: AxisName[], quantity: string }} options */
function tellEach(arms, { varied, quantity }) {
  const row = QUANTITIES[quantity]
  const told = arms.map(arm => {
    const { median } = quantityOf(arm, quantity)
    return `${describeAxes(arm, varied)} ${median === null ? '-' : formatValue(row, median)}${sayBound(arm, ', ')}`
  })
  return `${nameOf(arms[0])}, ${row.label}: ${told.join('; ')}`
}

/** @param {SummaryArm[]} arms */
function tellMost(arms) {
  const [most] = arms.toSorted((a, b) => Number(b.conditions.sidecars) - Number(a.conditions.sidecars))
  const tell = (/** @type {string} */ name, /** @type {string} */ words) => {
    const { median } = quantityOf(most, name)
    return median === null ? [] : [words.replace('%', formatValue(QUANTITIES[name], median))]
  }
  const { sidecars, simulated } = most.conditions
  const real = Number(sidecars) - (simulated ?? 0)
  const asked = quantityOf(most, 'changeAsked').median ?? real
  const isPartReal = real < Number(sidecars)
  const told = [
    ...tell(
      'podReadyMax',
      isPartReal ? `were configured, ${real} of them ready pods within % s` : 'were ready pods within % s',
    ),
    ...tell('rolloutSeconds', 'had their first configuration within % s'),
    ...tell('changeAllSeconds', `a change of it within % s${asked < real ? ` (${asked} of ${real} asked)` : ''}`),
  ]
  const untold = simulated === undefined ? 'were started, and no time counts' : 'were configured'
  const peak = tell('controlPeak', 'from a control plane of at most % MiB')
  const all = [...(told.length > 0 ? told : [untold]), ...peak].join(', ')
  return `${nameOf(most)}: ${sidecars} sidecars ${all}${sayBound(most, '; ')}`
}

/** @param {SummaryArm} arm @param {string} before what it says */
function sayBound(arm, before) {
  const phases = listBoundOf(arm)
  return phases === null ? '' : `${before}${BOUND[phases.join()]}`
}

/** Draws configured sidecars in the last round of each arm that counts. @param {Drawn} drawn @returns {OwnChart[]} */
function drawShares({ arms, records }) {
  const varied = findVaried(arms)
  const own = arms.flatMap(arm => {
    const rollout = records.findLast(
      ({ trial, rollout, outcome }) => trial.arm.id === arm.id && rollout && outcome !== 'failed',
    )?.rollout
    return rollout ? [{ label: labelOf(arm, varied), rollout }] : []
  })
  return PHASES.flatMap(([phase, title]) => {
    const lines = own.flatMap(({ label, rollout }, i) => {
      const numbers = rollout[phase]
      return numbers && isMeasured(rollout, phase) && !timesOf(numbers).every(isCoarse)
        ? [{ label, colour: i + 1, curve: numbers.curve }]
        : []
    })
    return lines.length > 0 ? [{ form: 'overShare', id: `over-share-${phase}`, title, lines }] : []
  })
}
