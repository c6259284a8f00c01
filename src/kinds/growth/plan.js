import { z } from 'zod'
import { renderArmName } from '../../model/arms.js'
import { lengthSeconds } from '../../model/bounds.js'

/** The plan of an experiment whose sidecars grow. Pure. @import { KindPlan } from '../kind.js' */

/** The services of a step and their copies, as in OSM's "scale and limits". */
export const STEP_FORM = { clients: 2, copiesOfClient: 5, servers: 5, copiesOfServer: 2 }
/** The number of sidecars that each step adds. */
export const STEP_SIDECARS = STEP_FORM.clients * STEP_FORM.copiesOfClient + STEP_FORM.servers * STEP_FORM.copiesOfServer

/** The field `grows` of an experiment. */
export const growsSchema = z.strictObject({ deadlineSeconds: lengthSeconds })

/** @type {KindPlan} */
export const growthPlan = {
  isRequested: ({ grows }) => grows !== null,
  hasControlPlane: true,
  hasUncontrolled: true,
  isAllReal: () => true,
  createSettings: ({ grows }) => (grows === null ? {} : { grows }),
  noteArms(arms, runsControl) {
    const names = new Set(arms.filter(arm => !runsControl(arm)).map(renderArmName))
    return [...names].map(
      name => `${name}: its sidecars grow without a control plane, each from files of its own, and nothing is limited`,
    )
  },
}
