/** @type {Set<() => void>} */
const actions = new Set()

/**
 * Calls `act` when this process exits, also after an error, unless a signal kills it. All calls share one listener: Node warns of
 * more than ten.
 * @param {() => void} act not async; if it throws, actions that were added later are not called
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

/** Calls all actions, in the order in which they were added. */
function runAllActions() {
  for (const act of actions) act()
}
