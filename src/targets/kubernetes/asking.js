import { READER } from './agents.js'

/** Asks the sidecars of a rollout from the reader of their node, which sees their processes start. */
/** @import { Expected } from '../../model/types.ts' */

/**
 * @param {{ agents: Pick<import('./agents.js').Agents, 'session'>, node: string }} options node: of all the sidecars
 * @returns {Promise<import('../../model/types.ts').Asking>}
 */
export async function openAsking({ agents, node }) {
  const session = await agents.session(READER, node)
  await session.call('openAsking', null)
  /** The node of each sidecar. @type {Map<string, string>} */
  const addresses = new Map()
  let waiting = 0
  /** @type {<T>(answer: Promise<T>) => Promise<T>} */
  const counted = answer => {
    waiting++
    return answer.finally(() => waiting--)
  }
  return {
    async expectFirst({ pod, spec: { program } }, expected) {
      /** @type {{ address: string, told: import('../../model/types.ts').Told } | null} */
      const found = await counted(session.call('expectFirst', { uid: pod?.uid, program, expected }))
      if (found === null) return null
      addresses.set(expected.name, found.address)
      return found.told
    },
    expect(expected) {
      const endpoint = { ...expected.endpoint, address: addresses.get(expected.name) }
      return counted(session.call('expect', { ...expected, endpoint }))
    },
    countWaiting: () => waiting,
    giveUp: () => session.call('giveUp', null),
    perform: (actions, signal) => session.call('bring', { actions }, { signal }),
    readCosts: () => session.call('readCosts', null),
    close: () => void session.call('closeAsking', null).catch(() => {}),
  }
}
