/** @type {Set<() => void>} */
const actions = new Set()

/**
 * Calls `act` when this process exits. All calls share one listener: Node warns of more than ten.
 * @param {() => void} act
 * @returns a function after which `act` is not called any more
 */
export function runAtExit(act) {
  if (actions.size === 0) process.on('exit', runAllActions)
  actions.add(act)
  return () => {
    actions.delete(act)
    if (actions.size === 0) process.off('exit', runAllActions)
  }
}

function runAllActions() {
  for (const act of actions) act()
}
