import { measureRounds } from '../../run/rounds.js'
import { startServices } from '../../run/start-services.js'

/** Windows of one arm under its CPU limit. @type {import('../../run/kind.js').Kind} */
export const kind = { name: 'capacity', start: startServices, measure: measureRounds }
