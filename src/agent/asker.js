import { createAsking, readCosts } from '../node/asking.js'
import { createStarts } from './starts.js'

/** Asks the sidecars of its node for their configuration (../node/asking.js), and sees them start before the API server tells it. */
/** @import { Expected } from '../model/types.ts' */

/** Creates the agent's procedures for a rollout. Those that need `openAsking` throw before it is called. @returns the procedures */
export function createAsker() {
  /** @type {{ asking: ReturnType<typeof createAsking>, starts: ReturnType<typeof createStarts> } | null} */
  let open = null
  const opened = () => {
    if (open === null) throw new Error('nobody is asked yet: openAsking comes first')
    return open
  }
  const close = () => {
    open?.starts.close()
    open?.asking.close()
    open = null
  }
  return {
    /** Opens the asking; one that is open already is closed before. */
    openAsking() {
      close()
      open = { asking: createAsking(), starts: createStarts() }
    },

    /**
     * Waits for the process of a sidecar to start, then asks that sidecar for its first configuration.
     * @param {{ uid: string, program: string, expected: Expected }} args uid: of the pod; program: the first word of the
     *   container's command; expected: its endpoint's address is replaced by that of the pod
     * @returns the pod's address, and the times of the answers; null: asking ended before the process started
     */
    async expectFirst({ uid, program, expected }) {
      const { asking, starts } = opened()
      const started = await starts.find({ uid, program })
      if (started === null) return null
      const { address, startedMs } = started
      const endpoint = { ...expected.endpoint, address }
      const convergence = await asking.expect({ ...expected, endpoint, isStarting: true, sinceMs: startedMs })
      return { address, times: convergence }
    },

    /** Asks from now on until the expected answer comes, or asking ends (convergence.js). @param {Expected} expected */
    expect: expected => opened().asking.expect(expected),

    /** Ends all waits: those for a start with null, those for an answer with the times so far. */
    giveUp() {
      opened().starts.giveUp()
      return opened().asking.giveUp()
    },

    /** Performs the actions that bring a configuration. @param {{ actions: import('../model/types.ts').ReloadAction[] }} args @param {AbortSignal} signal */
    bring: ({ actions }, signal) => opened().asking.perform(actions, signal),

    readCosts,
    closeAsking: close,
  }
}
