/** @type {Set<() => void>} */
const actions = new Set()

/** Does something when this process exits, until taken back. All share a listener. @param {() => void} act */
export function atExit(act) {
  if (actions.size === 0) process.on('exit', actAll)
  actions.add(act)
  return () => {
    actions.delete(act)
    if (actions.size === 0) process.off('exit', actAll)
  }
}

function actAll() {
  for (const act of actions) act()
}
