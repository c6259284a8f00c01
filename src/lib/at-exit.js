/** @type {Set<() => void>} */
const actions = new Set()

/**
 * Does something when this process exits. All of it has one listener: runs that take turns have one each, and Node
 * takes more than ten for a leak.
 * @param {() => void} act @returns {() => void} takes it back
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
