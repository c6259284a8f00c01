/**
 * Makes parties that take turns: each waits until the one before it in the circle has passed its turn on, or has left.
 * @param {number} count @returns {{ take: () => Promise<void>, pass: () => void, leave: () => void }[]}
 */
export function createTurns(count) {
  /** @type {(() => void)[]} */
  const waiting = []
  const isGone = Array(count).fill(false)
  let current = 0
  const advance = () => {
    for (let step = 1; step <= count; step++) {
      const next = (current + step) % count
      if (isGone[next]) continue
      current = next
      waiting[next]?.()
      return
    }
  }
  return Array.from({ length: count }, (_, own) => ({
    take: () =>
      current === own
        ? Promise.resolve()
        : new Promise(resolve => {
            waiting[own] = () => resolve()
          }),
    pass: () => current === own && advance(),
    leave() {
      isGone[own] = true
      if (current === own) advance()
    },
  }))
}
