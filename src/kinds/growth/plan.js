import { z } from 'zod'
import { UsageError } from '../../lib/errors.js'
import { AXES, AXIS_NAMES, nameOf } from '../../model/arms.js'
import { assertManySidecars, assertSharded } from '../../model/asked.js'
import { lengthSeconds } from '../../model/bounds.js'

/** The plan of an experiment whose sidecars grow, and what it can be asked. Pure. */
/** @import { Values } from '../../model/asked.js' @import { KindPlan } from '../plans.js' */

const OF_ROLLOUTS_ALONE = /** @type {(keyof Values)[]} */ (
  AXIS_NAMES.filter(name => AXES[name].kinds.includes('rollout') && !AXES[name].kinds.includes('growth'))
)

/** A step, as in OSM's "scale and limits". */
export const FORM = { clients: 2, copiesOfClient: 5, servers: 5, copiesOfServer: 2 }
export const STEP_SIDECARS = FORM.clients * FORM.copiesOfClient + FORM.servers * FORM.copiesOfServer

export const growsSchema = z.strictObject({ deadlineSeconds: lengthSeconds })

/** @type {KindPlan} */
export const growthPlan = {
  isAsked: ({ grows }) => grows !== null,
  hasControlPlane: true,
  hasUncontrolled: true,
  isAllReal: () => true,
  settings: ({ grows }) => (grows === null ? {} : { grows }),
  assertAskable(question, chosen) {
    const { experiment, overrides, axes } = question
    const { name, targets } = experiment
    const sidecars = axes.sidecars && (overrides.axes.sidecars ?? axes.sidecars)
    if (!sidecars) throw new UsageError(`${name} grows, and does not say up to how many: add the axis sidecars: [400]`)
    assertSharded(question)
    if (targets.some(target => target !== 'local'))
      throw new UsageError(`${name} grows, which runs on this machine only: give it targets: [local]`)
    const unheard = OF_ROLLOUTS_ALONE.find(axis => overrides.axes[axis] ?? axes[axis])
    if (unheard) throw new UsageError(`${name} grows one control plane, and says nothing of ${unheard}: leave that out`)
    const uneven = sidecars.find(count => count % STEP_SIDECARS !== 0)
    if (uneven)
      throw new UsageError(`--sidecars ${uneven}: ${name} adds ${STEP_SIDECARS} at a time: give a multiple of that`)
    assertManySidecars(question, chosen)
  },
  noteArms(arms, runsControl) {
    const names = new Set(arms.filter(arm => !runsControl(arm)).map(nameOf))
    return [...names].map(
      name => `${name}: its sidecars grow without a control plane, each from files of its own, and nothing is limited`,
    )
  },
}
