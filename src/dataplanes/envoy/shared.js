/** The prefix of the type URL of every message. */
export const TYPE = 'type.googleapis.com/'
export const BUFFER_BYTES = 1024 * 1024
// Every plane has windows of this size, for equal work: Envoy's own are 16 and 24 MiB.
export const HTTP2_OPTIONS = { initial_stream_window_size: 1024 * 1024, initial_connection_window_size: 1024 * 1024 }

/**
 * Renders an extension, such as a filter: its name, and its configuration with the URL of the type.
 * @param {string} name
 * @param {string} type of its message, such as `envoy.extensions.filters.http.rbac.v3.RBAC`
 * @param {object} [config] absent: the defaults of the extension
 */
export function renderExtension(name, type, config) {
  return { name, typed_config: { '@type': `${TYPE}${type}`, ...config } }
}

/**
 * Renders the HTTP protocol options of a cluster.
 * @param {object} options fields of HttpProtocolOptions
 * @returns the field `typed_extension_protocol_options` of a cluster
 */
export function renderHttpProtocolOptions(options) {
  const type = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions'
  return { typed_extension_protocol_options: { [type]: { '@type': `${TYPE}${type}`, ...options } } }
}

/**
 * Copies filter chains for each port, so that they take connections whose original destination has one of these ports, and no others.
 * @param {{ filter_chain_match?: object, filters: object[] }[]} chains
 * @param {number[]} ports
 * @returns copies of all chains for the first port, then for the next; []: there are no ports
 */
export function copyChainsForPorts(chains, ports) {
  return ports.flatMap(destination_port =>
    chains.map(({ filter_chain_match, ...chain }) => ({
      filter_chain_match: { ...filter_chain_match, destination_port },
      ...chain,
    })),
  )
}

/**
 * Renders an Address of Envoy's v3 API.
 * @param {{ address: string, port: number }} endpoint
 */
export function renderSocketAddress({ address, port }) {
  return { socket_address: { address, port_value: port } }
}

/**
 * Renders a duration as the JSON of Protocol Buffers has it, such as `0.5s`.
 * @param {number} seconds
 * @returns {string}
 */
export function renderProtoDuration(seconds) {
  return `${seconds}s`
}
