/** @import { Cluster } from '../../model/types.ts' @import { Block } from './directives.js' */

/** Lists a cluster's endpoints, of requests or bytes. @param {Pick<Cluster, 'name' | 'endpoints' | 'balancing'>} cluster @param {number} retries @returns {Block} */
export function renderUpstream({ name, endpoints, balancing }, retries) {
  // nginx tries each entry once: a lone endpoint is entered as often as it may be tried.
  const tried = endpoints.length === 1 ? Array(retries + 1).fill(endpoints[0]) : endpoints
  return [
    `upstream ${name}`,
    ...(balancing === 'least-requests' ? ['least_conn'] : []),
    // No endpoint is left out for having failed.
    ...tried.map(({ address, port }) => `server ${address}:${port} max_fails=0`),
  ]
}
