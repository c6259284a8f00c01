import { renderCertificate, renderTls } from '../tls.js'

/** TLS as Istio has it: from 1.2 on, with ALPN by which proxies know each other. */
/** @import { SidecarModel } from '../../../model/types.ts' */

export const TLS_VERSIONS = { tls_minimum_protocol_version: 'TLSv1_2', tls_maximum_protocol_version: 'TLSv1_3' }

/**
 * Renders a TLS context with the certificate of a sidecar.
 * @param {SidecarModel} model
 * @param {{ tls_params: object, alpn_protocols: string[], sans?: object[] }} options sans: matchers of the peer's names; absent:
 *   any
 * @returns a CommonTlsContext of Envoy's v3 API
 */
export function renderContext(model, { tls_params, alpn_protocols, sans }) {
  const { validation_context } = renderTls(model, null)
  return {
    tls_params,
    alpn_protocols,
    tls_certificates: [renderCertificate(model.trust)],
    validation_context: { ...validation_context, ...(sans ? { match_typed_subject_alt_names: sans } : {}) },
  }
}
