// A process of its own. It reads an `Issue` (issue-certificates.js) as JSON from stdin, and writes its certificates and the flawed ones.
// Its parent reads an error from stderr.
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
