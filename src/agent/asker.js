import { createAsking, readCosts } from '../node/asking.js'
import { createStarts } from './starts.js'

/** Asks the sidecars of its node (see ../asking.js), and sees them start before the API server tells it. */
/** @import { Expected } from '../model/types.ts' */

/** @returns the procedures */
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
    openAsking() {
      close()
      open = { asking: createAsking(), starts: createStarts() }
    },

    /**
     * @param {{ uid: string, program: string, expected: Expected }} args uid: of the pod; program: of its container
     * @returns where the sidecar is, and when it was answered; null: asking ended before it started
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

    /** @param {Expected} expected */
    expect: expected => opened().asking.expect(expected),

    giveUp() {
      opened().starts.giveUp()
      return opened().asking.giveUp()
    },

    /** @param {{ actions: import('../model/types.ts').ReloadAction[] }} args @param {AbortSignal} signal */
    bring: ({ actions }, signal) => opened().asking.perform(actions, signal),

    readCosts,
    closeAsking: close,
  }
}
