/**
 * Makes parties that take turns: each waits until the one before it in the circle has passed its turn on, or has left.
 * @param {number} count @returns {{ awaitTurn: () => Promise<void>, endTurn: () => void, leave: () => void }[]}
 */
export function createTurns(count) {
  /** @type {(() => void)[]} */
  const waiting = []
  // The first has the turn.
  let circle = Array.from({ length: count }, (_, i) => i)
  const begin = () => waiting[circle[0]]?.()
  return circle.map(party => ({
    awaitTurn: () =>
      circle[0] === party ? Promise.resolve() : new Promise(resolve => (waiting[party] = () => resolve())),
    endTurn() {
      if (circle[0] !== party) return
      circle = [...circle.slice(1), party]
      begin()
    },
    leave() {
      const hadTurn = circle[0] === party
      circle = circle.filter(other => other !== party)
      if (hadTurn) begin()
    },
  }))
}
