import { extension } from './shared.js'

/** @import { SidecarModel } from '../../model/types.ts' */

const NOBODY = 'spiffe://sidecar-bench/nobody'

/** The TLS of one end of connections. @param {'Upstream' | 'Downstream'} end @param {object} context */
export function renderTransport(end, context) {
  return extension('envoy.transport_sockets.tls', `envoy.extensions.transport_sockets.tls.v3.${end}TlsContext`, context)
}

/** @param {SidecarModel} model @param {string[] | null} acceptedIdentities */
export function renderTls({ tls, trust }, acceptedIdentities) {
  return {
    tls_params: {
      tls_minimum_protocol_version: 'TLSv1_3',
      tls_maximum_protocol_version: 'TLSv1_3',
      ecdh_curves: [tls.group],
    },
    tls_certificates: [
      { certificate_chain: { filename: trust.certificatePath }, private_key: { filename: trust.keyPath } },
    ],
    validation_context: {
      trusted_ca: { filename: trust.caPath },
      ...(acceptedIdentities ? { match_typed_subject_alt_names: renderAccepted(acceptedIdentities) } : {}),
    },
  }
}

/**
 * An empty list would accept everybody: to accept nobody, it names an identity that nobody has.
 * @param {string[]} identities
 */
function renderAccepted(identities) {
  const named = identities.length > 0 ? identities : [NOBODY]
  return named.map(exact => ({ san_type: 'URI', matcher: { exact } }))
}
