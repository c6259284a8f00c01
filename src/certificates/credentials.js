import { readFileSync } from 'node:fs'
import path from 'node:path'
import { renderSpiffeId } from '../model/sidecar-contract.js'

/** @import { CertificateFlaws } from '../lib/certificates.js' */
/** A certificate and its key, as PEM. @typedef {{ cert: string, key: string }} Credentials */

/** The services of the rig that have a certificate. */
export const SERVICES = ['client', 'server']
/** The folder of the flawed certificates, below that of the services'. */
export const REFUSED_FOLDER = 'refused'
/** The identity that the flawed certificates claim, unless they name another. */
export const CLIENT = renderSpiffeId('client')

/**
 * Certificates with one flaw each: a sidecar that accepts the client must refuse them (parity/beside/peers.js).
 * @type {Record<string, CertificateFlaws & { identity?: string, isOfAnother?: boolean }>} identity absent: the client's;
 *   isOfAnother: issued by another authority with the same name
 */
export const FLAWED = {
  'self-signed': { isSelfSigned: true },
  'another-ca': { isOfAnother: true },
  expired: { validIn: 'past' },
  'not-yet-valid': { validIn: 'future' },
  'no-client-auth': { usages: ['serverAuth'] },
  'no-server-auth': { usages: ['clientAuth'] },
  'another-identity': { identity: renderSpiffeId('stranger') },
  prefix: { identity: CLIENT.slice(0, -1) },
  suffix: { identity: CLIENT.slice('spiffe://'.length) },
  'begins-alike': { identity: `${CLIENT}-2` },
  'ends-alike': { identity: `https://another.example/${CLIENT}` },
}

/**
 * Reads the certificates and keys of the rig's peers, by name, and the certificate of their authority, all as PEM.
 * @param {string} folder
 * @throws {Error} if a file cannot be read
 * @returns {{ ca: string, credentials: Record<string, Credentials> }}
 */
export function readCredentials(folder) {
  const read = (/** @type {string} */ name) => readFileSync(path.join(folder, `${name}.pem`), 'utf8')
  const readPair = (/** @type {string} */ at) => ({ cert: read(at), key: read(`${at}-key`) })
  const trusted = SERVICES.map(name => [name, readPair(name)])
  const flawed = Object.keys(FLAWED).map(name => [name, readPair(path.join(REFUSED_FOLDER, name))])
  return { ca: read('ca'), credentials: Object.fromEntries([...trusted, ...flawed]) }
}
