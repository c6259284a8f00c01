// Runs in a process of its own: writes the certificates that the JSON on stdin lists, an `Issue` of issue-certificates.js, which reads an
// error from stderr.
import { json } from 'node:stream/consumers'
import { locateCertificates, renderNextCertificateName } from '../lib/certificate-files.js'
import { writeCertificates } from '../lib/certificates.js'
import { renderSpiffeId } from '../model/sidecar-contract.js'
import { writeFlawedCertificates } from './flawed-certificates.js'

const issue = /** @type {import('./issue-certificates.js').Issue} */ (await json(process.stdin))
const { certificates, names, rotated = [], keyTypes, lifeMs, hasAuthorityKey } = issue
const services = [
  ...names.map(name => ({ name, identity: renderSpiffeId(name) })),
  ...rotated.map(name => ({ name: renderNextCertificateName(name), identity: renderSpiffeId(name), dnsName: name })),
]
for (const keyType of keyTypes) {
  const folder = locateCertificates(certificates, keyType)
  const authority = await writeCertificates({ folder, services, keyType, lifeMs, hasAuthorityKey })
  await writeFlawedCertificates({ folder, authority })
}
