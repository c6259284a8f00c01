import { listProcEntries } from '../../node/kernel/proc-files.js'

/** The names of network namespaces, by which `cleanup` finds those of ended runs. */

// The bridge's namespace has the run's id after it; the others have `.SERVICE` or `.START.SERVICE` after that.
export const PREFIX = 'sidecar-bench.'
// The folder of `ip netns`.
export const FOLDER = '/run/netns'

/** Lists the runs that have namespaces on this machine, for `cleanup`. */
export function listNetworkRuns() {
  const names = listProcEntries(FOLDER).filter(name => name.startsWith(PREFIX))
  return [...new Set(names.map(name => name.slice(PREFIX.length).split('.')[0]))]
}
