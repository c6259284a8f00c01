import { renderExtension } from './shared.js'

/** @import { SidecarModel } from '../../model/types.ts' */

/** The name of the sidecar's certificate as a secret. */
export const OWN_SECRET = 'own'
// No certificate has this identity.
const NOBODY = 'spiffe://sidecar-bench/nobody'

/**
 * Renders the TLS transport socket of a cluster (Upstream) or of a filter chain (Downstream).
 * @param {'Upstream' | 'Downstream'} end
 * @param {object} context fields of an UpstreamTlsContext or a DownstreamTlsContext
 * @returns a TransportSocket of Envoy's v3 API
 */
export function renderTransportSocket(end, context) {
  return renderExtension(
    'envoy.transport_sockets.tls',
    `envoy.extensions.transport_sockets.tls.v3.${end}TlsContext`,
    context,
  )
}

/**
 * Renders a TLS context: TLS 1.3 only, and only peers with a certificate of the authority.
 * @param {SidecarModel} model
 * @param {string[] | null} acceptedIdentities null: any; []: none
 * @param {unknown} [source] config source of the sidecar's certificate; absent: files that are read once
 * @returns a CommonTlsContext of Envoy's v3 API
 */
export function renderTlsContext({ tls, trust }, acceptedIdentities, source) {
  return {
    tls_params: {
      tls_minimum_protocol_version: 'TLSv1_3',
      tls_maximum_protocol_version: 'TLSv1_3',
      ecdh_curves: tls.groups,
    },
    ...(source
      ? { tls_certificate_sds_secret_configs: [{ name: OWN_SECRET, sds_config: source }] }
      : { tls_certificates: [renderCertificate(trust)] }),
    validation_context: {
      trusted_ca: { filename: trust.caPath },
      ...(acceptedIdentities ? { match_typed_subject_alt_names: renderAcceptedIdentities(acceptedIdentities) } : {}),
    },
  }
}

/**
 * Renders the certificate and key of a sidecar as files that Envoy reads.
 * @param {SidecarModel['trust']} trust
 * @returns a TlsCertificate of Envoy's v3 API
 */
export function renderCertificate({ certificatePath, keyPath }) {
  return { certificate_chain: { filename: certificatePath }, private_key: { filename: keyPath } }
}

/**
 * Renders matchers of identities. An empty list would accept every peer, so it becomes an identity that no certificate has.
 * @param {string[]} identities []: no peer is accepted
 * @returns SubjectAltNameMatchers of Envoy's v3 API, at least one
 */
export function renderAcceptedIdentities(identities) {
  const named = identities.length > 0 ? identities : [NOBODY]
  return named.map(exact => ({ san_type: 'URI', matcher: { exact } }))
}
