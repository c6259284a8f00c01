import { findQuantity } from '../../judge/quantities.js'
import { listVariedAxes, renderArmLabel } from '../../model/arms.js'
import { answerRollouts } from './answer.js'
import { hasValidTimes, isCoarse, listPhaseTimes } from './gates.js'
import { computeControlNeeds, renderControlNeed } from './needs.js'
import { BOUND_LEAST } from './numbers.js'

/** Sections of rollouts: how soon sidecars have their configuration, and what bound that. Pure. */
/** @import { ResultOf, SummaryArm } from '../../model/types.ts' */
/** @import { Drawn, KindChart, Sections } from '../sections.js' */

/** Clauses by the phases that the control plane bound, joined by a comma. @type {Record<string, string>} */
const BOUND = {
  '': 'the control plane was not the limit',
  rollout: 'the control plane was the limit of the rollout',
  change: 'the control plane was the limit of the change, and not of the rollout',
  'rollout,change': 'the control plane was the limit of rollout and change',
}

const PHASES = /** @type {const} */ ([
  ['first', 'Sidecars that have their first configuration'],
  ['change', 'Sidecars that have a change of it'],
  ['withdrawal', 'Sidecars that no longer know the services of the change'],
  ['removal', 'Sidecars that moved and have the configuration of their new shard'],
])

/** @type {Sections<ResultOf<'rollout'>>} */
export const rolloutSections = {
  kind: 'rollout',
  hasSeries: false,
  summarise({ manifest: { settings }, records }) {
    const { sizesControlOf: sidecars } = settings
    return { controlNeeds: sidecars === undefined ? [] : computeControlNeeds({ records, sidecars }) }
  },
  createAnswer: answered => answerRollouts({ ...answered, renderBinding }),
  renderFindings: ({ controlNeeds }) => controlNeeds.flatMap(renderControlNeed),
  drawCharts: drawConfiguredShares,
  renderBound(arm) {
    const phases = listBoundPhases(arm)
    return phases === null || phases.length === 0 ? null : `control: ${phases.join(', ')}`
  },
}

/**
 * Lists the phases that an arm's control plane bound: it was at its limit for BOUND_LEAST of their time.
 * @param {SummaryArm} arm
 * @returns {string[] | null} of `rollout` and `change`, the latter only if its share is known; []: it bound none; null: no control plane
 *   runs, or its share at the limit in the rollout is unknown
 */
function listBoundPhases(arm) {
  const rollout = findQuantity(arm, 'controlAtLimitRollout').median
  const change = findQuantity(arm, 'controlAtLimitChange').median
  if (rollout === null) return null
  return Object.entries({ rollout, change }).flatMap(([phase, share]) => (Number(share) >= BOUND_LEAST ? [phase] : []))
}

/**
 * Renders the phases that the control plane bound, or that it bound none.
 * @param {SummaryArm} arm
 * @returns {string} a clause; empty: no control plane runs, or its share at the limit in the rollout is unknown
 */
function renderBinding(arm) {
  const phases = listBoundPhases(arm)
  return phases === null ? '' : BOUND[phases.join()]
}

/**
 * Draws the share of configured sidecars over time, from each arm's last round that did not fail. Phases whose times
 * are all too coarse, or were stretched by probes, are left out.
 * @param {Drawn} drawn
 * @returns {KindChart[]} one for each phase with a line; []: there is none
 */
function drawConfiguredShares({ arms, records }) {
  const varied = listVariedAxes(arms)
  const rollouts = arms.flatMap(arm => {
    const rollout = records.findLast(
      ({ trial, rollout, outcome }) => trial.arm.id === arm.id && rollout && outcome !== 'failed',
    )?.rollout
    return rollout ? [{ label: renderArmLabel(arm, varied), rollout }] : []
  })
  return PHASES.flatMap(([phase, title]) => {
    const lines = rollouts.flatMap(({ label, rollout }, i) => {
      const numbers = rollout[phase]
      return numbers && hasValidTimes(rollout, phase) && !listPhaseTimes(numbers).every(isCoarse)
        ? [{ label, colour: i + 1, curve: numbers.curve }]
        : []
    })
    return lines.length > 0 ? [{ form: 'overShare', id: `over-share-${phase}`, title, lines }] : []
  })
}
