import { UsageError } from '../lib/errors.js'
import { nameOf } from '../model/arms.js'
import { CONTROL_PLANE_AXES } from '../model/axes/control-plane.js'
import { AXES } from '../model/axes.js'
import { assertGrowth } from './growth.js'
import { assertRollout } from './rollout.js'

/**
 * Whether an experiment is asked what it can be. Pure.
 * @import { AxisName, PlaneChoice } from '../model/types.ts'
 * @import { TrialKind } from '../model/kinds.js'
 * @import { Question } from './question.js'
 */

// All are made before the first runs.
export const TRIALS_MOST = 100_000

/** @typedef {{ planes: PlaneChoice[], hasSidecars: (plane: string) => boolean }} Chosen the planes that were chosen */

/** @type {Record<TrialKind, (question: Question, chosen: Chosen) => void>} */
const CHECKS = {
  turns: assertAlone,
  load: assertAlone,
  search(question, chosen) {
    assertSearchable(question, chosen)
    assertAlone(question, chosen)
  },
  rollout: assertRollout,
  growth: assertGrowth,
}

/**
 * @param {Question} question
 * @param {Chosen} chosen
 * @throws {UsageError} for what trials of its kind cannot be
 */
export function assertAskable(question, chosen) {
  CHECKS[question.kind](question, chosen)
}

/**
 * @param {number} trials
 * @param {Question['experiment']} experiment
 * @throws {UsageError} before so many are made
 */
export function assertFew(trials, { name }) {
  if (trials <= TRIALS_MOST) return
  throw new UsageError(`${name} would be ${trials} trials, at most ${TRIALS_MOST}: ask for fewer values or rounds`)
}

/**
 * @param {Question} question
 * @param {Chosen} chosen
 * @throws {UsageError} for a search for a limit that a plane has no sidecars to give to
 */
function assertSearchable({ experiment: { name, search } }, { planes, hasSidecars }) {
  if (search?.kind === 'knee') return
  const without = planes.find(({ plane }) => !hasSidecars(plane))
  if (!without) return
  throw new UsageError(
    `--planes ${without.plane}: ${name} looks for a limit of sidecars, and it has none: leave it out`,
  )
}

/**
 * @param {Question} question
 * @param {Chosen} chosen
 * @throws {UsageError} for what only a control plane of many sidecars has
 */
function assertAlone({ experiment: { name }, overrides, axes }, { planes }) {
  // A sidecar that is changed while it serves has a control, too.
  const isChanged = axes.changesPerMinute !== undefined
  const controlled = planes.find(({ control }) => control !== undefined)
  const own = /** @type {(keyof typeof CONTROL_PLANE_AXES)[]} */ (Object.keys(CONTROL_PLANE_AXES))
  const asked = own.find(axis => overrides.axes[axis])
  const option = asked
    ? AXES[asked].option?.flags.split(' ')[0]
    : !isChanged && ((overrides.controls && '--control') || (controlled && `--planes ${nameOf(controlled)}`))
  if (option)
    throw new UsageError(
      `${option} needs an experiment with a control plane of many sidecars, such as rollout: ${name} has none`,
    )
  const alone = Object.keys(axes).find(axis => (axis === 'control' && !isChanged) || axis in CONTROL_PLANE_AXES)
  if (alone) throw new UsageError(`${name} has the axis ${alone}, and no axis sidecars: give it that, too`)
}
