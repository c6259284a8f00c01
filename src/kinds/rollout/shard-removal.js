import { askInTurns } from '../../node/ask-in-turns.js'
import { readNowMs } from '../../node/convergence.js'
import { LANES } from '../../run/control-plane.js'
import { inLanes } from '../../run/lanes.js'
import { passPhase } from '../../run/phase.js'
import { startSidecars } from '../../run/start-sidecars.js'

/** Removes a shard. A sidecar knows its control plane from its start, so a sidecar that moves is ended and started anew. */
/** @import { ProcessSpec } from '../../model/types.ts' @import { Batch } from '../../services/batches.js' */
/** @import { Rollout } from './services.js' @import { Given } from '../../run/phase.js' */
/** @import { Deploy } from '../../run/start-sidecars.js' */

/**
 * Ends a shard and moves its sidecars; batches: all; moves: at their new shards; readControl: of the shards left.
 * @param {Given & { shard: ProcessSpec, batches: Rollout['batches'], moves: Batch[], deploy: Deploy,
 *   end: (specs: ProcessSpec[]) => Promise<void> }} options
 */
export async function removeShard({ shard, batches, moves, deploy, end, ...given }) {
  const { asking, signal } = given
  const leaving = batches.filter(({ members }) => members.some(({ moved }) => moved))
  const staying = batches.filter(batch => !leaving.includes(batch)).flatMap(({ members }) => members)
  const failing = new AbortController()
  const turns = askInTurns(
    staying.map(({ name, changeTo }) => ({ ...changeTo(1), name })),
    { signal: AbortSignal.any([signal, failing.signal]) },
  )
  let endedMs = Number.NaN
  const passing = passPhase(given, async () => {
    await end([shard])
    endedMs = readNowMs()
    const members = moves.flatMap(batch => batch.members)
    await inLanes({ items: members, lanes: LANES, signal }, ({ enrolment }, signal) =>
      asking.perform(enrolment, signal),
    )
    await end(leaving.map(({ spec }) => spec))
    return (await startSidecars({ ...given, batches: moves, deploy, arePods: false, fail: () => {} })).asked
  })
  passing.catch(error => failing.abort(error))
  const { times, phase } = await passing
  return { times, turns: await turns.end(), phase: { ...phase, endedMs } }
}
