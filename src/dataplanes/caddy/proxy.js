/** @import { Cluster, SidecarModel } from '../../model/types.ts' */

const MOST_IDLE_CONNECTIONS = 65_536
// No certificate has this name.
const NOBODY = 'nobody.invalid'

/**
 * Renders the handler that sends requests to the endpoints of a cluster, over mTLS if the cluster has it.
 * @param {Cluster} cluster
 * @param {SidecarModel} model
 * @returns an object of Caddy's JSON, with the handler `reverse_proxy`
 */
export function renderProxy(cluster, { timeouts, retries, trust, tls }) {
  const { endpoints, balancing, mtls, protocol } = cluster
  const [connect, request] = [timeouts.connectSeconds, timeouts.requestSeconds].map(convertToNanoseconds)
  return {
    handler: 'reverse_proxy',
    upstreams: endpoints.map(({ address, port }) => ({ dial: `${address}:${port}` })),
    load_balancing: {
      selection_policy: { policy: balancing === 'least-requests' ? 'least_conn' : 'round_robin' },
      retries,
      // A request is sent again only if the connection was refused: no request matches the method NONE.
      retry_match: [{ method: ['NONE'] }],
    },
    // Caddy keeps the forwarding headers of a trusted proxy before it, and adds itself.
    trusted_proxies: ['0.0.0.0/0'],
    // Over TLS, Caddy would replace the host of the request by that of the endpoint.
    ...(mtls && { headers: { request: { set: { Host: ['{http.request.hostport}'] } } } }),
    transport: {
      protocol: 'http',
      versions: protocol === 'http/2' ? [mtls ? '2' : 'h2c'] : ['1.1'],
      compression: false,
      dial_timeout: connect,
      response_header_timeout: request,
      keep_alive: { max_idle_conns_per_host: MOST_IDLE_CONNECTIONS, idle_timeout: request },
      // The proxy that the environment names is not used.
      network_proxy: { from: 'none' },
      ...(mtls && {
        tls: {
          ca: { provider: 'file', pem_files: [trust.caPath] },
          client_certificate_file: trust.certificatePath,
          client_certificate_key_file: trust.keyPath,
          // Caddy compares this name and no identity. An empty list of identities becomes a name that no certificate has.
          server_name: mtls.acceptedIdentities?.length === 0 ? NOBODY : mtls.serverName,
          curves: tls.groups.map(group => group.toLowerCase()),
          handshake_timeout: connect,
        },
      }),
    },
  }
}

/**
 * Converts seconds to nanoseconds, the unit of Caddy's durations.
 * @param {number} seconds
 * @returns {number} whole nanoseconds
 */
export function convertToNanoseconds(seconds) {
  return Math.round(seconds * 1e9)
}
