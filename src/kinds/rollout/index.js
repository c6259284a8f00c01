import { CONTROL_PLANE_AXES } from '../../model/axes/control-plane.js'

/** Rollouts: a control plane configures many sidecars. Pure. @import { KindOfTrials } from '../registry.js' */

/** @satisfies {KindOfTrials} */
export const rollout = {
  name: 'rollout',
  fields: {
    /** The needs of the control plane of so many sidecars are computed from its rollouts. */
    sizesControlOf: CONTROL_PLANE_AXES.sidecars.schema.nullable().default(null),
  },
  isRequested: ({ axes }) => axes.sidecars !== undefined,
  hasControlPlane: true,
  isAllReal: ({ sizesControlOf }) => sizesControlOf !== null,
  settings: ({ sizesControlOf }) => (sizesControlOf === null ? {} : { sizesControlOf }),
  loadCourse: async () => (await import('./course.js')).kind,
  loadSections: async () => (await import('./sections.js')).rolloutSections,
}
