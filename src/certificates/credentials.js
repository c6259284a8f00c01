import { readFileSync } from 'node:fs'
import path from 'node:path'
import { renderSpiffeId } from '../model/sidecar-contract.js'

/** @import { CertificateFlaws } from '../lib/certificates.js' */
/** A certificate and its key, as PEM. @typedef {{ cert: string, key: string }} Credentials */

/** The services of the rig that have a certificate. */
export const SERVICES = ['client', 'server']
/** The folder of the flawed certificates, below that of the services'. */
export const REFUSED_FOLDER = 'refused'
/** The identity that a flawed certificate claims unless it names another. */
export const CLIENT_IDENTITY = renderSpiffeId('client')

/**
 * Certificates with one flaw each, by name: a sidecar that accepts the client must refuse them (parity/beside/peers.js).
 * @type {Record<string, CertificateFlaws & { identity?: string, isOfAnotherCa?: boolean }>} identity absent: the client's;
 *   isOfAnotherCa: issued by another authority with the same name
 */
export const FLAWED_CERTIFICATES = {
  'self-signed': { isSelfSigned: true },
  'another-ca': { isOfAnotherCa: true },
  expired: { validIn: 'past' },
  'not-yet-valid': { validIn: 'future' },
  'no-client-auth': { usages: ['serverAuth'] },
  'no-server-auth': { usages: ['clientAuth'] },
  'another-identity': { identity: renderSpiffeId('stranger') },
  prefix: { identity: CLIENT_IDENTITY.slice(0, -1) },
  suffix: { identity: CLIENT_IDENTITY.slice('spiffe://'.length) },
  'begins-alike': { identity: `${CLIENT_IDENTITY}-2` },
  'ends-alike': { identity: `https://another.example/${CLIENT_IDENTITY}` },
}

/**
 * Reads the certificates and keys of the rig's peers, by name, and the certificate of their authority, all as PEM.
 * @param {string} folder of the services' certificates
 * @returns {{ ca: string, credentials: Record<string, Credentials> }} credentials: of the services and the flawed ones
 * @throws {Error} the system's, if a file cannot be read
 */
export function readCredentials(folder) {
  const readPem = (/** @type {string} */ name) => readFileSync(path.join(folder, `${name}.pem`), 'utf8')
  const readPair = (/** @type {string} */ name) => ({ cert: readPem(name), key: readPem(`${name}-key`) })
  const trusted = SERVICES.map(name => [name, readPair(name)])
  const flawed = Object.keys(FLAWED_CERTIFICATES).map(name => [name, readPair(path.join(REFUSED_FOLDER, name))])
  return { ca: readPem('ca'), credentials: Object.fromEntries([...trusted, ...flawed]) }
}
