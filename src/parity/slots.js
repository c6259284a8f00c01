/**
 * The slot of a check among those that run at the same time. A slot starts its processes while no other does, and has a part
 * beside which nothing may run, once.
 * @typedef {object} Slot
 * @property {<T>(act: () => Promise<T>) => Promise<T>} inTurn acts when no other slot acts in turn; settles as `act`
 * @property {<T>(act: () => Promise<T>) => Promise<T>} alone waits until every other slot is here too, or has ended; acts in
 *   turn; and settles as `act` when all have acted or ended
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
  /** @type {Slot['inTurn']} */
  const runInTurn = act => {
    const turn = lastTurn.then(act)
    lastTurn = turn.catch(() => {})
    return turn
  }
  return Array.from({ length: count }, () => {
    const arrive = callOnce(arrival.pass)
    const depart = callOnce(departure.pass)
    return {
      inTurn: runInTurn,
      async alone(act) {
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
 * Creates a barrier.
 * @param {number} count of calls
 * @returns {{ opened: Promise<void>, pass: () => void }} opened: resolves when `pass` was called `count` times
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
      if (--missing === 0) resolveOpened()
    },
  }
}

/**
 * Creates a function that calls another one on its first call only.
 * @param {() => void} act is called without arguments
 * @returns {() => void}
 */
function callOnce(act) {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}
