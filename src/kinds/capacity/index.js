/**
 * The kind `capacity` measures what one arm delivers in a window under load, or holds in one without. Pure.
 * @import { KindOfTrials } from '../registry.js'
 */

/** @satisfies {KindOfTrials} */
export const capacity = {
  name: 'capacity',
  loadCourse: async () => (await import('./course.js')).kind,
  loadSections: async () => (await import('./sections.js')).capacitySections,
}
