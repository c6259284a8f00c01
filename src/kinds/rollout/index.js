import { CONTROL_PLANE_AXES } from '../../model/axes/control-plane.js'

/**
 * Rollouts: a control plane configures many sidecars. Pure.
 * @import { KindOfTrials } from '../registry.js'
 */

/** @satisfies {KindOfTrials} */
export const rollout = {
  name: 'rollout',
  fields: {
    /** The number of sidecars whose control plane is to be sized, from rollouts of fewer; null: none is. */
    sizesControlOf: CONTROL_PLANE_AXES.sidecars.schema.nullable().default(null),
  },
  isRequested: ({ axes }) => axes.sidecars !== undefined,
  hasControlPlane: true,
  isAllReal: ({ sizesControlOf }) => sizesControlOf !== null,
  createSettings: ({ sizesControlOf }) => (sizesControlOf === null ? {} : { sizesControlOf }),
  loadCourse: async () => (await import('./course.js')).kind,
  loadSections: async () => (await import('./sections.js')).rolloutSections,
}
