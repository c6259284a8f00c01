import { searchPlan, searchSchema } from './plan.js'

/**
 * Searches: the limits of each trial follow from the outcomes before it. Pure.
 * @import { KindOfTrials } from '../registry.js'
 */

/** @satisfies {KindOfTrials} */
export const search = {
  ...searchPlan,
  name: 'search',
  fields: { search: searchSchema.nullable().default(null) },
  loadCourse: async () => (await import('./course.js')).kind,
  loadSections: async () => (await import('./sections.js')).searchSections,
}
