import { listProcEntries } from '../../node/kernel/proc-files.js'

/** The names of network namespaces begin with the id of their run, by which `cleanup` finds those of ended runs. */

// The bridge's namespace has the run's id after it; the others have `.SERVICE` or `.START.SERVICE` after that.
export const NETNS_PREFIX = 'sidecar-bench.'
// In this folder `ip netns` keeps namespaces.
export const NETNS_FOLDER = '/run/netns'

/** Lists the runs that have network namespaces on this machine. @returns {string[]} ids, each once; []: there are none */
export function listNetworkRuns() {
  const names = listProcEntries(NETNS_FOLDER).filter(name => name.startsWith(NETNS_PREFIX))
  return [...new Set(names.map(name => name.slice(NETNS_PREFIX.length).split('.')[0]))]
}
