import { listCalledClusters } from '../../model/routes.js'
import { convertToNanoseconds, renderProxy } from './proxy.js'
import { ABORT, renderRoutes } from './routes.js'

/** @import { SidecarModel } from '../../model/types.ts' */

const MOST_HEADER_BYTES = 64 * 1024

/**
 * Renders the configuration of a sidecar: its certificate, and a server for each direction that it has.
 * @param {SidecarModel} model
 * @param {{ hasAdmin?: boolean }} [options] hasAdmin: the administration port is open, for changes of the configuration; false by default
 * @returns an object of Caddy's JSON
 */
export function renderConfig(model, { hasAdmin = false } = {}) {
  const { inbound, outbound, admin, trust } = model
  return {
    admin: {
      // The administration port accepts requests that name its address as their host, and no others.
      ...(hasAdmin ? { listen: `${admin.address}:${admin.port}`, origins: [admin.address] } : { disabled: true }),
      config: { persist: false },
    },
    // The errors of requests are in their answers: the log has only Caddy's own.
    logging: { logs: { default: { level: 'ERROR', exclude: ['http.log.error'] } } },
    apps: {
      http: {
        servers: {
          ...(inbound && { inbound: renderServer('inbound', { model, listener: inbound }) }),
          ...(outbound && { outbound: renderServer('outbound', { model, listener: outbound }) }),
        },
      },
      tls: {
        certificates: { load_files: [{ certificate: trust.certificatePath, key: trust.keyPath }] },
        session_tickets: { disabled: true },
        disable_ocsp_stapling: true,
        disable_storage_check: true,
        disable_storage_clean: true,
      },
    },
  }
}

/**
 * Renders the server of a listener, with a named route for each cluster that its routes lead to. It speaks mTLS if it is inbound and
 * strict, and else plaintext alone, also where plaintext and mTLS are permitted.
 * @param {'inbound' | 'outbound'} name
 * @param {{ model: SidecarModel, listener: NonNullable<SidecarModel['inbound' | 'outbound']> }} options listener: the model's of
 *   that name
 */
function renderServer(name, { model, listener: { address, port, routes } }) {
  const { timeouts, clusters } = model
  const inbound = name === 'inbound' ? model.inbound : null
  return {
    listen: [`${address}:${port}`],
    protocols: listProtocols(inbound, model),
    // Caddy would get certificates of its own, and open a port for plaintext beside.
    automatic_https: { disable: true },
    ...(inbound?.mtls === 'strict' && renderStrictTls(model)),
    idle_timeout: convertToNanoseconds(timeouts.idleSeconds),
    read_header_timeout: convertToNanoseconds(timeouts.idleSeconds),
    max_header_bytes: MOST_HEADER_BYTES,
    enable_full_duplex: true,
    // A cluster has one pool of connections, however many routes go there.
    named_routes: Object.fromEntries(
      listCalledClusters(routes, clusters).map(cluster => [cluster.name, { handle: [renderProxy(cluster, model)] }]),
    ),
    routes: [
      ...(inbound?.mtls === 'strict' ? renderIdentityCheck(inbound.acceptedIdentities) : []),
      ...renderRoutes(routes),
    ],
    errors: { routes: ERRORS },
  }
}

/**
 * Lists the protocols of a listener: HTTP/1.1, and HTTP/2 if it may be spoken there.
 * @param {SidecarModel['inbound']} inbound null: the listener is the outbound one
 * @param {SidecarModel} model
 * @returns names of Caddy: h2c is HTTP/2 in plaintext
 */
function listProtocols(inbound, { carriesGrpc }) {
  if (!carriesGrpc && inbound?.protocol !== 'http/2') return ['h1']
  return ['h1', inbound?.mtls === 'strict' ? 'h2' : 'h2c']
}

/**
 * Renders the TLS of a strict listener, which closes plaintext connections and requires a certificate of clients.
 * @param {SidecarModel} model with an inbound listener
 * @returns fields of a server
 */
function renderStrictTls({ trust, tls, inbound, identity }) {
  const serviceAccount = identity.slice(identity.lastIndexOf('/') + 1)
  return {
    // Go would answer plaintext with 400. The first wrapper closes such a connection, since every head is longer than its 1 byte.
    listener_wrappers: [{ wrapper: 'http_redirect', max_header_bytes: 1 }, { wrapper: 'tls' }],
    strict_sni_host: false,
    tls_connection_policies: [
      {
        alpn: inbound?.protocol === 'http/2' ? ['h2', 'http/1.1'] : ['http/1.1'],
        protocol_min: 'tls1.3',
        curves: tls.groups.map(group => group.toLowerCase()),
        client_authentication: { mode: 'require_and_verify', ca: { provider: 'file', pem_files: [trust.caPath] } },
        // Caddy shows its one certificate also to a caller that names no server, or an unknown one.
        default_sni: serviceAccount,
        fallback_sni: serviceAccount,
      },
    ],
  }
}

/**
 * Renders the route that closes the connection of other identities at their first request: Caddy checks no names in the handshake.
 * @param {string[] | null} identities null: any of the authority; []: none
 * @returns routes that come before all others; []: any identity is accepted
 */
function renderIdentityCheck(identities) {
  if (identities === null) return []
  return [
    {
      match: [{ not: [{ vars: { '{http.request.tls.client.san.uris.0}': identities } }] }],
      handle: [ABORT],
      terminal: true,
    },
  ]
}

/** Routes of errors: Caddy's own status is 502 if a connect timed out, was refused, or the connection broke. */
const ERRORS = [
  {
    match: [
      { vars_regexp: { '{http.error.message}': { pattern: '^dial .*i/o timeout$' } } },
      { vars: { '{http.error.status_code}': ['504'] } },
    ],
    handle: [{ handler: 'static_response', status_code: 504, body: 'no answer from the upstream in time' }],
    terminal: true,
  },
  {
    match: [{ vars: { '{http.error.status_code}': ['502'] } }],
    handle: [
      {
        handler: 'static_response',
        status_code: 503,
        body: 'the upstream cannot be connected, or closed without an answer',
      },
    ],
    terminal: true,
  },
]
