import { measureRounds } from '../../run/rounds.js'
import { startServices } from '../../run/start-services.js'

/** Interleaved arms: they stand at once, and one load goes to each in slices. @type {import('../../run/kind.js').Kind} */
export const kind = { name: 'cost', start: startServices, measure: measureRounds }
