import { growsSchema, growthPlan } from './plan.js'

/**
 * Growths: sidecars are added to a control plane step by step. Pure.
 * @import { KindOfTrials } from '../registry.js'
 */

/** @satisfies {KindOfTrials} */
export const growth = {
  ...growthPlan,
  name: 'growth',
  fields: {
    /** Sidecars are added step by step until a step takes longer than this; null: they are not. */
    grows: growsSchema.nullable().default(null),
  },
  loadCourse: async () => (await import('./course.js')).kind,
  loadSections: async () => (await import('./sections.js')).growthSections,
}
