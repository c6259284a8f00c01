import { renderCertificate, renderTlsContext } from '../tls.js'

/** @import { SidecarModel } from '../../../model/types.ts' */

/** Istio allows TLS 1.2, too. */
export const TLS_VERSIONS = { tls_minimum_protocol_version: 'TLSv1_2', tls_maximum_protocol_version: 'TLSv1_3' }

/** The ALPN of connections to upstreams, by which proxies know each other. */
export const UPSTREAM_ALPN = { HTTP11: ['istio-http/1.1', 'istio', 'http/1.1'], HTTP2: ['istio-h2', 'istio', 'h2'] }

/**
 * Renders a TLS context with the certificate of a sidecar, for peers with a certificate of its authority.
 * @param {SidecarModel} model
 * @param {{ tls_params: object, alpn_protocols: string[], sans?: object[] }} options sans: matchers of the peer's names, at least
 *   one; absent: any
 * @returns a CommonTlsContext of Envoy's v3 API
 */
export function renderIstioTlsContext(model, { tls_params, alpn_protocols, sans }) {
  const { validation_context } = renderTlsContext(model, null)
  return {
    tls_params,
    alpn_protocols,
    tls_certificates: [renderCertificate(model.trust)],
    validation_context: { ...validation_context, ...(sans ? { match_typed_subject_alt_names: sans } : {}) },
  }
}
