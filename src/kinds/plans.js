import { UsageError } from '../lib/errors.js'
import { assertAlone, assertManySidecars, assertSharded } from '../model/asked.js'
import { growthPlan } from './growth/plan.js'

/** The plan of each kind of trial, and what it can be asked. Pure. @import { TrialKind } from '../model/kinds.js' */
/** @import { Arm, PlaneChoice } from '../model/types.ts' */
/** @import { Asked, Chosen } from '../model/asked.js' */

/**
 * @typedef {object} KindPlan
 * @property {(asked: Asked, chosen: Chosen) => void} assertAskable throws UsageError for what its trials cannot be
 * @property {(arms: Arm[], runsControl: (choice: PlaneChoice) => boolean) => string[]} [noteArms] notes of a plan
 * @property {true} [hasControlPlane] many sidecars have one, whose name is part of an arm's
 * @property {true} [hasUncontrolled] an arm without a control plane has no conditions of one
 * @property {true} [isAllReal] no sidecar is simulated
 */

/** @type {Record<TrialKind, KindPlan>} */
export const PLANS = {
  turns: { assertAskable: assertAlone },
  load: { assertAskable: assertAlone },
  search: {
    assertAskable(asked, chosen) {
      assertSearchable(asked, chosen)
      assertAlone(asked, chosen)
    },
  },
  rollout: {
    hasControlPlane: true,
    assertAskable(asked, chosen) {
      assertSharded(asked)
      assertManySidecars(asked, chosen)
    },
  },
  growth: growthPlan,
}

/** Throws for a limit of sidecars that a plane does not have. @param {Asked} asked @param {Chosen} chosen */
function assertSearchable({ experiment: { name, search } }, { planes, hasSidecars }) {
  if (search?.kind === 'knee') return
  const without = planes.find(({ plane }) => !hasSidecars(plane))
  if (!without) return
  throw new UsageError(
    `--planes ${without.plane}: ${name} looks for a limit of sidecars, and it has none: leave it out`,
  )
}
