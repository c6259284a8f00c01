import { listCalledClusters } from '../../model/routes.js'
import { escapePatternText, NO_ROUTE, renderClusterUrl, renderRoutes } from './routes.js'

/** @import { Cluster, Endpoint, SidecarModel } from '../../model/types.ts' */
/** @import { Directive } from './directives.js' */

const CLOSE_WITHOUT_ANSWER = 'return 444'
const ANSWER_NO_ROUTE = 'return 404 "no route matches"'
// No certificate has this name.
const NOBODY = 'nobody.invalid'

/**
 * Renders the server of a listener, with the maps that it uses.
 * @param {'inbound' | 'outbound'} name of a listener that the model has
 * @param {{ model: SidecarModel, listens?: string[] }} options listens: `listen` lines with their flags; absent: that of its address
 * @returns {Directive[]} of `http`
 */
export function renderListener(name, { model, listens }) {
  const { inbound, carriesGrpc } = model
  const listener = /** @type {NonNullable<SidecarModel['inbound' | 'outbound']>} */ (model[name])
  const peerCheck = listener === inbound && inbound.mtls !== 'disabled' ? renderPeerCheck(inbound, model) : null
  const clusters = listCalledClusters(listener.routes, model.clusters)
  const { maps, target, isPartial } = renderRoutes(name, { routes: listener.routes, clusters, carriesGrpc })
  const upstreamTls = renderUpstreamTls(name, { model, clusters, target })
  const flags = `${peerCheck ? ' ssl' : ''}${carriesGrpc ? ' http2' : ''} reuseport`
  return [
    ...maps,
    ...(peerCheck?.maps ?? []),
    ...upstreamTls.maps,
    [
      'server',
      ...(listens ?? [`${renderListen(listener)}${flags}`]),
      ...(peerCheck?.directives ?? []),
      ...['error_page 502 = @failed', 'error_page 504 = @late'],
      ['location @failed', 'return 503 "the upstream cannot be connected, or closed without an answer"'],
      ['location @late', 'return 504 "no answer from the upstream in time"'],
      target === NO_ROUTE
        ? ['location /', ANSWER_NO_ROUTE]
        : [
            'location /',
            ...(isPartial ? [[`if (${target} = "")`, ANSWER_NO_ROUTE]] : []),
            `${carriesGrpc ? 'grpc' : 'proxy'}_pass ${target}`,
            ...upstreamTls.directives,
          ],
    ],
  ]
}

/** Renders a `listen` line, to which its flags can be added. @param {Endpoint} endpoint */
export function renderListen({ address, port }) {
  return `listen ${address}:${port}`
}

/**
 * Renders the TLS of a listener, and the check of its peers: nginx completes the handshake with a refused peer, and closes the
 * connection without an answer.
 * @param {NonNullable<SidecarModel['inbound']>} inbound whose mTLS is strict or permissive
 * @param {SidecarModel} model
 * @returns maps: of `http`; []: any identity of the authority is accepted; directives: of the server
 */
function renderPeerCheck({ acceptedIdentities }, { trust, tls }) {
  // `~` heeds case. nginx shows the subject of a certificate, but no URI names; plaintext of a permissive listener has no subject.
  const accepted = acceptedIdentities?.map(identity => `"~^on:CN=${escapePatternText(identity)}\\z" ""`)
  return {
    maps: accepted ? [['map "$https:$ssl_client_s_dn" $is_refused', 'default 1', '":" ""', ...accepted]] : [],
    directives: [
      ...renderServerTls({ trust, tls }),
      // nginx's own statuses: a certificate is wrong (495) or missing (496), or there is no TLS at all (497).
      ...['error_page 495 496 497 = @refused', ['location @refused', CLOSE_WITHOUT_ANSWER]],
      ...(accepted ? [['if ($is_refused)', CLOSE_WITHOUT_ANSWER]] : []),
    ],
  }
}

/**
 * Renders the mTLS of calls to the clusters of a listener. nginx compares only the DNS name of an upstream: a list of identities has an
 * effect only if it is empty, and then no upstream is accepted.
 * @param {string} name of the listener
 * @param {{ model: SidecarModel, clusters: Cluster[], target: string }} options target: of the listener's `proxy_pass` or `grpc_pass`
 * @returns maps: of `http`; directives: of the location; both []: no cluster has mTLS
 */
function renderUpstreamTls(name, { model: { trust, tls, carriesGrpc }, clusters, target }) {
  const secured = clusters.flatMap(cluster =>
    cluster.mtls ? [{ url: renderClusterUrl(cluster, carriesGrpc), dnsName: chooseCertificateName(cluster.mtls) }] : [],
  )
  if (secured.length === 0) return { maps: [], directives: [] }
  return {
    maps: [[`map ${target} $${name}_name`, ...secured.map(({ url, dnsName }) => `"${url}" ${dnsName}`)]],
    directives: renderClientTls({ trust, tls }, { dnsName: `$${name}_name`, module: carriesGrpc ? 'grpc' : 'proxy' }),
  }
}

/**
 * Renders the mTLS of a listener.
 * @param {Pick<SidecarModel, 'trust' | 'tls'>} model
 * @returns {string[]} directives without semicolons
 */
export function renderServerTls({ trust, tls }) {
  return [
    `ssl_certificate ${trust.certificatePath}`,
    `ssl_certificate_key ${trust.keyPath}`,
    `ssl_client_certificate ${trust.caPath}`,
    'ssl_verify_client on',
    'ssl_protocols TLSv1.3',
    `ssl_conf_command Ciphersuites ${tls.suite}`,
    `ssl_ecdh_curve ${tls.groups.join(':')}`,
    // Even without tickets that hold a session, OpenSSL sends two that name one.
    ...['ssl_session_cache off', 'ssl_session_tickets off', 'ssl_conf_command NumTickets 0'],
  ]
}

/**
 * Renders the mTLS of calls to upstreams.
 * @param {Pick<SidecarModel, 'trust' | 'tls'>} model
 * @param {{ dnsName: string, module?: 'proxy' | 'grpc' }} options dnsName: of the upstream, or a variable; module: of nginx, which
 *   calls it: `proxy` by default
 * @returns {string[]} directives without semicolons
 */
export function renderClientTls({ trust, tls }, { dnsName, module = 'proxy' }) {
  return [
    `certificate ${trust.certificatePath}`,
    `certificate_key ${trust.keyPath}`,
    `trusted_certificate ${trust.caPath}`,
    'verify on',
    `name ${dnsName}`,
    'server_name on',
    'protocols TLSv1.3',
    `conf_command Ciphersuites ${tls.suite}`,
    `conf_command Groups ${tls.groups.join(':')}`,
    'session_reuse off',
  ].map(directive => `${module}_ssl_${directive}`)
}

/**
 * Chooses the DNS name that the certificate of an upstream must have.
 * @param {NonNullable<Cluster['mtls']>} mtls
 * @returns {string} the server name; if no identity is accepted, one that no certificate has
 */
export function chooseCertificateName({ serverName, acceptedIdentities }) {
  return acceptedIdentities?.length === 0 ? NOBODY : serverName
}
