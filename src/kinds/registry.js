import { growth } from './growth/index.js'
import { load } from './load/index.js'
import { rollout } from './rollout/index.js'
import { search } from './search/index.js'
import { turns } from './turns/index.js'

/**
 * The kinds of trials by their names. A new one is a folder and a line here; run/kind.js has the contract.
 * @import { Kind } from '../run/kind.js'
 * @import { TrialKind } from '../model/kinds.js'
 */

/** @type {Record<TrialKind, Kind>} */
export const kinds = { turns, load, search, rollout, growth }
