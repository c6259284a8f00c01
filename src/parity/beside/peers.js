/** Peers by which a sidecar's mTLS is tried. Each but the last differs in one thing from the peer that is accepted. Pure data. */
/** @import { SecureContextOptions } from 'node:tls' */
/** @import { TrafficPolicy } from '../../model/types.ts' */

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {string | null} credential its name among the rig's credentials; null: no certificate
 * @property {SecureContextOptions | null} options null: no TLS
 * @property {('client' | 'server')[]} ends of the connection that it can be
 * @property {TrafficPolicy[]} acceptedUnder
 */

const ANY_END = /** @type {Peer['ends']} */ (['client', 'server'])
// In TLS 1.2 the groups limit the curve of a certificate, too: without P-256 the handshake would fail for that.
const TLS_1_2 = /** @type {const} */ ({ maxVersion: 'TLSv1.2', ecdhCurve: 'X25519:P-256' })
// BoringSSL has no such suite, and OpenSSL since 3.2 offers it only at security level 0. Node accepts a level in `ciphers` only
// beside a suite of TLS 1.2.
const WEAK_SUITE = /** @type {const} */ ({
  minVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_128_CCM_8_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:@SECLEVEL=0',
})

/** The peers, by the name of the upstream that each is as a server. @type {Record<string, Peer>} */
export const PEERS = {
  plaintext: createRefusedPeer('plaintext', null, { options: null }),
  'no-certificate': createRefusedPeer('no certificate', null, { ends: ['client'] }),
  'self-signed': createRefusedPeer('self-signed', 'self-signed'),
  'another-ca': createRefusedPeer('another CA', 'another-ca'),
  expired: createRefusedPeer('expired', 'expired'),
  'not-yet-valid': createRefusedPeer('not yet valid', 'not-yet-valid'),
  'no-client-auth': createRefusedPeer('without clientAuth', 'no-client-auth', { ends: ['client'] }),
  'no-server-auth': createRefusedPeer('without serverAuth', 'no-server-auth', { ends: ['server'] }),
  'tls-1-2': createRefusedPeer('TLS 1.2', 'client', { options: TLS_1_2 }),
  'weak-suite': createRefusedPeer('a weak suite', 'client', { options: WEAK_SUITE }),
  'another-identity': createUnlistedPeer('another identity', 'another-identity'),
  prefix: createUnlistedPeer('a prefix of the identity', 'prefix'),
  suffix: createUnlistedPeer('a suffix of the identity', 'suffix'),
  'begins-alike': createUnlistedPeer('an identity that begins with it', 'begins-alike'),
  'ends-alike': createUnlistedPeer('an identity that ends with it', 'ends-alike'),
  listed: {
    name: 'the listed identity',
    credential: 'client',
    options: {},
    ends: ANY_END,
    acceptedUnder: ['listed', 'open'],
  },
}

/** The peers that can be upstreams, each with the name of its upstream. */
export const SERVERS = Object.entries(PEERS).filter(([, { ends }]) => ends.includes('server'))

/**
 * Creates a peer that no configuration with TLS accepts.
 * @param {string} name in rows
 * @param {string | null} credential its name among the rig's credentials; null: no certificate
 * @param {Partial<Peer>} [fields] in which it is unlike a peer of TLS 1.3 that can be either end
 * @returns {Peer}
 */
function createRefusedPeer(name, credential, fields) {
  return { name, credential, options: {}, ends: ANY_END, acceptedUnder: [], ...fields }
}

/**
 * Creates a peer of the mesh's CA whose identity is not listed.
 * @param {string} name in rows
 * @param {string} credential its name among the rig's credentials
 * @returns {Peer} accepted under the open policy alone
 */
function createUnlistedPeer(name, credential) {
  return createRefusedPeer(name, credential, { acceptedUnder: ['open'] })
}
