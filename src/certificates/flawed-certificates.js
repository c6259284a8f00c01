import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createAuthority, createKeys, issueCertificate } from '../lib/certificates.js'
import { CLIENT_IDENTITY, FLAWED_CERTIFICATES, REFUSED_FOLDER } from './credentials.js'

/** @import { Authority } from '../lib/certificates.js' */

/**
 * Writes the flawed certificates below the folder of the services' certificates. They share one key, as creating an RSA key takes half a
 * second. Those that the folder has are replaced.
 * @param {{ folder: string, authority: Authority }} options folder: of the services' certificates
 * @throws {Error} the system's, if the folder cannot be written
 */
export async function writeFlawedCertificates({ folder, authority }) {
  const refusedFolder = path.join(folder, REFUSED_FOLDER)
  mkdirSync(refusedFolder, { recursive: true, mode: 0o700 })
  const { keyType } = authority
  const [otherAuthority, keys] = await Promise.all([createAuthority('sidecar-bench', { keyType }), createKeys(keyType)])
  await Promise.all(
    Object.entries(FLAWED_CERTIFICATES).map(async ([name, { identity = CLIENT_IDENTITY, isOfAnotherCa, ...flaws }]) => {
      const issuer = isOfAnotherCa ? otherAuthority : authority
      const issued = await issueCertificate({ authority: issuer, identity, dnsName: 'client', keys, ...flaws })
      writeFileSync(path.join(refusedFolder, `${name}.pem`), issued.certificatePem, { mode: 0o600 })
      writeFileSync(path.join(refusedFolder, `${name}-key.pem`), issued.keyPem, { mode: 0o600 })
    }),
  )
}
