import { measureRounds } from '../../run/rounds.js'
import { startServices } from '../../run/start-services.js'

/** Windows of one arm at a time. @type {import('../../run/kind.js').Kind} */
export const kind = { name: 'capacity', start: startServices, measure: measureRounds }
