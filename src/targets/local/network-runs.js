import { listProcEntries } from '../../node/kernel/proc-files.js'

/** The names of network namespaces, by which `cleanup` finds those of ended runs. */

// The bridge's namespace has the run's id after it; the others have `.SERVICE` or `.START.SERVICE` after that.
export const PREFIX = 'sidecar-bench.'
// The folder in which `ip netns` keeps namespaces.
export const FOLDER = '/run/netns'

/** Lists the runs that have network namespaces on this machine, for `cleanup`. @returns {string[]} ids, each once */
export function listNetworkRuns() {
  const names = listProcEntries(FOLDER).filter(name => name.startsWith(PREFIX))
  return [...new Set(names.map(name => name.slice(PREFIX.length).split('.')[0]))]
}
