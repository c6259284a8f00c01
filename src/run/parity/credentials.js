import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createAuthority, createKeys, issueCertificate } from '../../lib/certificates.js'
import { identityOf } from '../../model/sidecar-contract.js'

/**
 * @import { Authority, CertificateFlaws } from '../../lib/certificates.js'
 * @import { Credentials } from '../../node/parity/upstreams.js'
 */

/** The services of the rig that have a certificate. */
export const SERVICES = ['client', 'server']
const FOLDER = 'refused'
const CLIENT = identityOf('client')

/**
 * Certificates that sidecars must refuse in place of the client's, each for one reason (node/parity/peers.js).
 * @type {Record<string, CertificateFlaws & { identity?: string, isOfAnother?: boolean }>} isOfAnother: of another authority of the same name
 */
const FLAWED = {
  'self-signed': { isSelfSigned: true },
  'another-ca': { isOfAnother: true },
  expired: { validIn: 'past' },
  'not-yet-valid': { validIn: 'future' },
  'no-client-auth': { usages: ['serverAuth'] },
  'no-server-auth': { usages: ['clientAuth'] },
  'another-identity': { identity: identityOf('stranger') },
  prefix: { identity: CLIENT.slice(0, -1) },
  suffix: { identity: CLIENT.slice('spiffe://'.length) },
  'begins-alike': { identity: `${CLIENT}-2` },
  'ends-alike': { identity: `https://another.example/${CLIENT}` },
}

/**
 * Writes the flawed certificates beside those of the services. They have one key: an RSA key takes half a second.
 * @param {{ folder: string, authority: Authority }} options folder: of the services' certificates, and of their authority
 */
export async function writeFlawedCertificates({ folder, authority }) {
  const own = path.join(folder, FOLDER)
  mkdirSync(own, { mode: 0o700 })
  const { keyType } = authority
  const [another, keys] = await Promise.all([createAuthority('sidecar-bench', { keyType }), createKeys(keyType)])
  await Promise.all(
    Object.entries(FLAWED).map(async ([name, { identity = CLIENT, isOfAnother, ...flaws }]) => {
      const issuer = isOfAnother ? another : authority
      const issued = await issueCertificate({ authority: issuer, identity, dnsName: 'client', keys, ...flaws })
      writeFileSync(path.join(own, `${name}.pem`), issued.certificatePem, { mode: 0o600 })
      writeFileSync(path.join(own, `${name}-key.pem`), issued.keyPem, { mode: 0o600 })
    }),
  )
}

/**
 * What the rig's peers show, by name.
 * @param {string} folder of certificates
 * @returns {{ ca: string, credentials: Record<string, Credentials> }}
 */
export function readCredentials(folder) {
  const read = (/** @type {string} */ name) => readFileSync(path.join(folder, `${name}.pem`), 'utf8')
  const readPair = (/** @type {string} */ at) => ({ cert: read(at), key: read(`${at}-key`) })
  const own = SERVICES.map(name => [name, readPair(name)])
  const flawed = Object.keys(FLAWED).map(name => [name, readPair(path.join(FOLDER, name))])
  return { ca: read('ca'), credentials: Object.fromEntries([...own, ...flawed]) }
}
