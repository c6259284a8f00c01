import { measureRounds } from '../run/rounds.js'
import { startServices } from '../run/start-services.js'
import { growth } from './growth/course.js'
import { rollout } from './rollout/course.js'
import { measureSearches } from './search/course.js'

/**
 * The kinds of trials by their names. A new one is a folder, its name in model/types/plan.ts, and a line here, in
 * plans.js and in sections.js; run/kind.js has the contract.
 */
/** @import { Kind } from '../run/kind.js' @import { TrialKind } from '../model/types.ts' */

/** @type {Record<TrialKind, Kind>} */
export const kinds = {
  cost: { name: 'cost', start: startServices, measure: measureRounds },
  capacity: { name: 'capacity', start: startServices, measure: measureRounds },
  search: { name: 'search', start: startServices, measure: measureSearches },
  rollout,
  growth,
}
