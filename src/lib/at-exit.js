/** @type {Set<() => void>} */
const actions = new Set()

/**
 * Does something when this process exits, until it is taken back. All share a listener: Node takes ten for a leak.
 * @param {() => void} act
 */
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
