import { searchPlan, searchSchema } from './plan.js'

/** Searches: windows at limits that follow from those before. Pure. @import { KindOfTrials } from '../registry.js' */

/** @satisfies {KindOfTrials} */
export const search = {
  ...searchPlan,
  name: 'search',
  fields: { search: searchSchema.nullable().default(null) },
  loadCourse: async () => (await import('./course.js')).kind,
  loadSections: async () => (await import('./sections.js')).searchSections,
}
