/**
 * Slots for checks that go on at the same time. Each starts its processes while no other does, and does alone what nothing
 * may go on beside.
 * @typedef {object} Slot
 * @property {<T>(act: () => Promise<T>) => Promise<T>} inTurn does something while no other slot does something in turn
 * @property {<T>(act: () => Promise<T>) => Promise<T>} alone the same, once every other slot has come so far or has ended; it
 *   goes on once all have done theirs
 * @property {() => void} end its check has ended
 */

/** @param {number} count @returns {Slot[]} */
export function createSlots(count) {
  const arrival = createBarrier(count)
  const departure = createBarrier(count)
  /** @type {Promise<unknown>} */
  let last = Promise.resolve()
  /** @type {Slot['inTurn']} */
  const inTurn = act => {
    const next = last.then(act)
    last = next.catch(() => {})
    return next
  }
  return Array.from({ length: count }, () => {
    const arrive = once(arrival.pass)
    const depart = once(departure.pass)
    return {
      inTurn,
      async alone(act) {
        arrive()
        await arrival.opened
        try {
          return await inTurn(act)
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

/** Opens once so many have passed. @param {number} count */
function createBarrier(count) {
  let missing = count
  let open = () => {}
  /** @type {Promise<void>} */
  const opened = new Promise(resolve => {
    open = resolve
  })
  return {
    opened,
    pass() {
      if (--missing === 0) open()
    },
  }
}

/** @param {() => void} act */
function once(act) {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}
