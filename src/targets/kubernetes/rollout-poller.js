import { READER } from './agents.js'

/**
 * @import { RolloutPoller, ConfigurationTimes } from '../../model/types.ts'
 * @import { Agents } from './agents.js'
 */

/**
 * Lets the reader of a node poll the sidecars of a rollout there, since it sees their processes start (agent/rollout-prober.js).
 * @param {{ agents: Pick<Agents, 'openSession'>, node: string }} options node: on which all sidecars run
 * @returns {Promise<RolloutPoller>} its functions reject as `call` of the session; `expect` needs the address that `expectFirst` has
 *   seen
 * @throws {import('../../lib/errors.js').BenchError} if the node has no ready reader, or its session cannot be opened or is lost
 */
export async function openRolloutPoller({ agents, node }) {
  const session = await agents.openSession(READER, node)
  await session.call('openRolloutPoller', null)
  /** Addresses of the sidecars by name, as the reader has seen them. @type {Map<string, string>} */
  const addresses = new Map()
  let waiting = 0
  /** @type {<T>(answer: Promise<T>) => Promise<T>} */
  const trackWaiting = answer => {
    waiting++
    return answer.finally(() => waiting--)
  }
  return {
    async expectFirst({ pod, spec: { program } }, expected) {
      /** @type {{ address: string, times: ConfigurationTimes } | null} */
      const first = await trackWaiting(session.call('expectFirst', { uid: pod?.uid, program, expected }))
      if (first === null) return null
      addresses.set(expected.name, first.address)
      return first.times
    },
    expect(expected) {
      const endpoint = { ...expected.endpoint, address: addresses.get(expected.name) }
      return trackWaiting(session.call('expect', { ...expected, endpoint }))
    },
    countWaiting: () => waiting,
    giveUp: () => session.call('giveUp', null),
    perform: (actions, signal) => session.call('bringConfiguration', { actions }, { signal }),
    readCosts: () => session.call('readCosts', null),
    close: () => void session.call('closeRolloutPoller', null).catch(() => {}),
  }
}
