/**
 * The kind `cost` measures what a request costs: arms stand at once, and one load goes to each in slices. Pure.
 * @import { KindOfTrials } from '../registry.js'
 */

/** @satisfies {KindOfTrials} */
export const cost = {
  name: 'cost',
  loadCourse: async () => (await import('./course.js')).kind,
  loadSections: async () => (await import('./sections.js')).costSections,
}
