import { renderMilliseconds } from '../../lib/units.js'

/** @import { Cluster, SidecarModel } from '../../model/types.ts' */

/** The lines of a section, its head first. @typedef {string[]} Section */

const INSPECT_SECONDS = 5
const NOBODY = 'spiffe://sidecar-bench/nobody'

/**
 * Renders the frontends of an inbound listener: one, or for a permissive listener two and a backend between them. HAProxy has no listener
 * of both TLS and plaintext: the first frontend looks at the first bytes, serves plaintext, and hands TLS to one in the same process.
 * @param {SidecarModel} model with an inbound listener
 * @param {{ name: string, port: number, routing: string[], alpn?: string, plaintext?: string[] }} options routing: lines that
 *   choose the backend; alpn: absent: none is offered; plaintext: lines of a permissive listener for connections without TLS, by default
 *   none
 * @returns {Section[]}
 */
export function renderInboundFrontends(model, { name, port, routing, alpn, plaintext = [] }) {
  const inbound = { .../** @type {NonNullable<SidecarModel['inbound']>} */ (model.inbound), port }
  if (inbound.mtls === 'disabled') return [[`frontend ${name}`, ...renderBind(inbound), ...routing]]
  const tls = [
    `ssl ${renderTlsOptions(model)} curves ${model.tls.groups.join(':')} no-tls-tickets`,
    ...(alpn ? [`alpn ${alpn}`] : []),
  ].join(' ')
  const strict = [...renderIdentityCheck(inbound.acceptedIdentities), ...routing]
  if (inbound.mtls === 'strict') return [[`frontend ${name}`, ...renderBind(inbound, tls), ...strict]]
  const passage = `abns@sidecar-bench-${inbound.address}-${port}`
  // Sidecars that see requests have one such listener.
  const backend = name === 'inbound' ? 'tls_passage' : `tls_passage_${name}`
  return [
    [
      `frontend ${name}`,
      'mode tcp',
      ...renderBind(inbound),
      `tcp-request inspect-delay ${INSPECT_SECONDS}s`,
      'tcp-request content accept if { req.ssl_hello_type 1 }',
      ...plaintext,
      `use_backend ${backend} if { req.ssl_hello_type 1 }`,
      ...routing,
    ],
    [
      `backend ${backend}`,
      'mode tcp',
      `timeout server ${renderMilliseconds(model.timeouts.idleSeconds)}`,
      `server own ${passage}`,
    ],
    [`frontend ${name}_tls`, `bind ${passage} ${tls}`, ...strict],
  ]
}

/**
 * Renders the backend of a cluster, over mTLS if the cluster has it.
 * @param {SidecarModel} model
 * @param {Cluster} cluster
 * @param {{ serverOptions?: string[], alpn?: string }} options serverOptions: of each endpoint; alpn: absent: none is offered
 * @returns {Section}
 * @throws {Error} if the cluster has mTLS and accepts several identities
 */
export function renderBackend(model, { name, endpoints, balancing, mtls }, { serverOptions = [], alpn }) {
  const tlsOptions = mtls
    ? [
        `ssl ${renderTlsOptions(model)}`,
        ...(alpn ? [`alpn ${alpn}`] : []),
        'no-ssl-reuse no-tls-tickets',
        renderServerVerification(name, mtls),
      ]
    : []
  const options = [...serverOptions, ...tlsOptions].join(' ')
  return [
    `backend ${name}`,
    `balance ${balancing === 'least-requests' ? 'leastconn' : 'roundrobin'}`,
    // The address is quoted for kustomize, which finds addresses between quotation marks.
    ...endpoints.map(({ address, port }, i) => `server s${i + 1} "${address}":${port} ${options}`.trimEnd()),
  ]
}

/**
 * Renders the lines of a listener with a socket for each thread. HAProxy reads the original destination of a redirected
 * connection from the kernel by itself (sock_inet_get_dst in its src/sock_inet.c); if there are redirected ports, others are rejected.
 * @param {{ address: string, port: number, redirectedPorts?: number[] }} listener
 * @param {string} [tls] options of TLS; absent: plaintext
 * @returns {string[]} lines of a section
 */
export function renderBind({ address, port, redirectedPorts }, tls = '') {
  const portCheck = redirectedPorts
    ? [`tcp-request connection reject unless { dst_port ${redirectedPorts.join(' ')} }`]
    : []
  return [`bind ${address}:${port} shards by-thread ${tls}`.trimEnd(), ...portCheck]
}

/**
 * Quotes a word that contains a space. Paths of results have no other character that HAProxy treats specially.
 * @param {string} word
 * @returns {string}
 */
export function quoteConfigWord(word) {
  return word.includes(' ') ? `"${word}"` : word
}

/**
 * Renders the line that rejects identities that are not listed, once a connection and by the common name: HAProxy exposes no URI names.
 * @param {string[] | null} identities null: any of the authority; []: none
 * @returns []: no identity is rejected
 */
function renderIdentityCheck(identities) {
  if (identities === null) return []
  return [`tcp-request session reject unless { ssl_c_s_dn(cn) -m str -- ${[NOBODY, ...identities].join(' ')} }`]
}

/**
 * Renders the option of a `server` line that verifies the name in its certificate. With an SNI HAProxy verifies the name that it
 * sent; without one it verifies `verifyhost`, which is the listed identity, or one that no certificate has if none is listed.
 * @param {string} cluster
 * @param {NonNullable<Cluster['mtls']>} mtls acceptedIdentities: null: any of the authority; []: none
 * @throws {Error} if several identities are accepted
 */
function renderServerVerification(cluster, { serverName, acceptedIdentities }) {
  if (acceptedIdentities === null) return `sni str(${serverName})`
  if (acceptedIdentities.length > 1)
    throw new Error(
      `HAProxy verifies one identity of a server, and ${cluster} accepts ${acceptedIdentities.join(', ')}`,
    )
  return `verifyhost ${acceptedIdentities[0] ?? NOBODY}`
}

/** Renders the options of a `bind` or `server` line that both have for mTLS. @param {SidecarModel} model */
function renderTlsOptions({ trust, tls }) {
  const files = `crt ${quoteConfigWord(trust.combinedPath)} ca-file ${quoteConfigWord(trust.caPath)} verify required`
  return `${files} ssl-min-ver TLSv1.3 ssl-max-ver TLSv1.3 ciphersuites ${tls.suite}`
}
