import { measureRounds } from '../../run/rounds.js'
import { startGrowth } from './course.js'
import { judgeGrowth } from './numbers.js'

/**
 * Sidecars are added to a control plane until a step fails. A failed step is the finding; no window follows it.
 * @import { Kind } from '../../run/kind.js'
 */

/** @type {Kind} */
export const growth = {
  name: 'growth',
  async start(asked) {
    const { growth: seen, ended, ...started } = await startGrowth(asked)
    return {
      ...started,
      seen: {
        observed: { own: { growth: seen } },
        record: { outcome: 'completed', growth: judgeGrowth(seen), ended },
        isOver: true,
        assertWhole: async () => {},
      },
    }
  },
  measure: measureRounds,
}
