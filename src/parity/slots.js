/**
 * The slot of a check among those that run at the same time. A slot starts its processes while no other does, and has a part
 * beside which nothing may run, once.
 * @typedef {object} Slot
 * @property {<T>(act: () => Promise<T>) => Promise<T>} runInTurn calls `act` when no other slot does; settles as `act`
 * @property {<T>(act: () => Promise<T>) => Promise<T>} runAlone waits until every other slot is here too, or has ended; calls
 *   `act` in turn; and settles as `act` when all have done so or ended; a slot calls it at most once
 * @property {() => void} end says that the check has ended, so that no other waits for it
 */

/**
 * Creates slots that wait for each other.
 * @param {number} count of slots
 * @returns {Slot[]}
 */
export function createSlots(count) {
  const arrival = createBarrier(count)
  const departure = createBarrier(count)
  /** @type {Promise<unknown>} */
  let lastTurn = Promise.resolve()
  /** @type {Slot['runInTurn']} */
  const runInTurn = act => {
    const turn = lastTurn.then(act)
    // A turn that fails must not keep the next one from its own.
    lastTurn = turn.catch(() => {})
    return turn
  }
  return Array.from({ length: count }, () => {
    const arrive = callOnce(arrival.pass)
    const depart = callOnce(departure.pass)
    return {
      runInTurn,
      async runAlone(act) {
        arrive()
        await arrival.opened
        try {
          return await runInTurn(act)
        } finally {
          depart()
          await departure.opened
        }
      },
      end() {
        arrive()
        depart()
      },
    }
  })
}

/**
 * Creates a barrier that opens at the last of `count` calls of `pass`.
 * @param {number} count at least 1: without a call it never opens
 * @returns {{ opened: Promise<void>, pass: () => void }} opened: resolves when the barrier opens
 */
function createBarrier(count) {
  let missing = count
  let resolveOpened = () => {}
  /** @type {Promise<void>} */
  const opened = new Promise(resolve => {
    resolveOpened = resolve
  })
  return {
    opened,
    pass() {
      missing--
      if (missing === 0) resolveOpened()
    },
  }
}

/**
 * Creates a function that calls another one on its first call only.
 * @param {() => void} act
 * @returns {() => void}
 */
function callOnce(act) {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}
