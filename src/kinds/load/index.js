import { measureRounds } from '../../run/rounds.js'
import { startServices } from '../../run/start-services.js'

/**
 * A window under load, or of idle services.
 * @import { Kind } from '../../run/kind.js'
 */

/** @type {Kind} */
export const load = { name: 'load', start: startServices, measure: measureRounds }
