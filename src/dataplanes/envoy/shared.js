/** The prefix of the type URL of every message. */
export const TYPE = 'type.googleapis.com/'
export const BUFFER_BYTES = 1024 * 1024
// The windows of Pipy, for equal work: Envoy's own are 16 and 24 MiB.
export const HTTP2_OPTIONS = { initial_stream_window_size: 1024 * 1024, initial_connection_window_size: 1024 * 1024 }

/**
 * Renders an extension with its configuration.
 * @param {string} name
 * @param {string} type
 * @param {object} [config]
 */
export function renderExtension(name, type, config) {
  return { name, typed_config: { '@type': `${TYPE}${type}`, ...config } }
}

/** Renders the HTTP protocol options of a cluster. @param {object} options */
export function renderUpstreamHttp(options) {
  const type = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions'
  return { typed_extension_protocol_options: { [type]: { '@type': `${TYPE}${type}`, ...options } } }
}

/**
 * Copies chains for each port, so that they take connections whose original destination has one of these ports, and no others.
 * @param {{ filter_chain_match?: object, filters: object[] }[]} chains
 * @param {number[]} ports
 */
export function matchPorts(chains, ports) {
  return ports.flatMap(destination_port =>
    chains.map(({ filter_chain_match, ...chain }) => ({
      filter_chain_match: { ...filter_chain_match, destination_port },
      ...chain,
    })),
  )
}

/** @param {{ address: string, port: number }} endpoint */
export function renderSocketAddress({ address, port }) {
  return { socket_address: { address, port_value: port } }
}

/** @param {number} seconds */
export function renderProtoDuration(seconds) {
  return `${seconds}s`
}
