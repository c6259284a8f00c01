import { measureRounds } from '../../run/rounds.js'
import { startServices } from '../../run/start-services.js'

/** Arms that stand at once and get the load in turn, some milliseconds each: docs/method.md. */
/** @import { Kind } from '../../run/kind.js' */

/** @type {Kind} */
export const turns = { name: 'turns', start: startServices, measure: measureRounds }
