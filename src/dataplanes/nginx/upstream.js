/**
 * @import { Cluster } from '../../model/types.ts'
 * @import { Block } from './directives.js'
 */

/**
 * Renders the upstream of a cluster, which http and stream blocks have alike.
 * @param {Pick<Cluster, 'name' | 'endpoints' | 'balancing'>} cluster
 * @param {number} retries after the first try
 * @returns {Block}
 */
export function renderUpstream({ name, endpoints, balancing }, retries) {
  // nginx tries each entry once: a lone endpoint needs an entry for each try.
  const entries = endpoints.length === 1 ? Array(retries + 1).fill(endpoints[0]) : endpoints
  return [
    `upstream ${name}`,
    ...(balancing === 'least-requests' ? ['least_conn'] : []),
    // `max_fails=0`: no endpoint is left out after failures.
    ...entries.map(({ address, port }) => `server ${address}:${port} max_fails=0`),
  ]
}
