import { startServices } from '../../run/start-services.js'
import { measureSearches } from './course.js'

/**
 * Windows under load, each chosen by what the one before has shown.
 * @import { Kind } from '../../run/kind.js'
 */

/** @type {Kind} */
export const search = { name: 'search', start: startServices, measure: measureSearches }
