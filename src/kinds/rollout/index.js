import { assertAllRun } from '../../run/alive.js'
import { measureRounds } from '../../run/rounds.js'
import { assertConverged, startRollout } from './course.js'
import { judgeRollout } from './numbers.js'

/**
 * Many sidecars get a first configuration and a change from their control plane; then an idle window.
 * @import { Kind } from '../../run/kind.js'
 */

/** @type {Kind} */
export const rollout = {
  name: 'rollout',
  async start(asked) {
    const { rollout: seen, deadlineSeconds, ...started } = await startRollout(asked)
    const judged = judgeRollout(seen)
    return {
      ...started,
      seen: {
        observed: { own: { rollout: seen } },
        record: { rollout: judged },
        isOver: false,
        async assertWhole() {
          // An ended process is named before those that wait for it.
          await assertAllRun(started.deployment.processes, 'starting')
          assertConverged(judged, deadlineSeconds)
        },
      },
    }
  },
  measure: measureRounds,
}
