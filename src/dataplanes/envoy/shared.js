/** The type of every message begins with it. */
export const TYPE = 'type.googleapis.com/'
export const BUFFER_BYTES = 1024 * 1024
// Both planes are given Pipy's windows: Envoy's own are 16 and 24 MiB.
export const HTTP2_OPTIONS = { initial_stream_window_size: 1024 * 1024, initial_connection_window_size: 1024 * 1024 }

/** @param {{ address: string, port: number }} endpoint */
export function socketAddress({ address, port }) {
  return { socket_address: { address, port_value: port } }
}

/** @param {number} value */
export function seconds(value) {
  return `${value}s`
}
