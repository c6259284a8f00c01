import { measureRounds } from '../../../src/run/rounds.js'
import { startServices } from '../../../src/run/start-services.js'

/**
 * A kind of trial that starts services, and wants to know no more than that they start.
 * @import { Kind } from '../../../src/run/kind.js'
 */

/** @type {Kind} */
export const tiny = {
  name: 'tiny',
  async start(request) {
    const started = await startServices(request)
    const result = { observed: {}, record: { outcome: /** @type {const} */ ('completed') }, isOver: true }
    return { ...started, findings: { ...result, assertWhole: async () => {} } }
  },
  measure: measureRounds,
}
