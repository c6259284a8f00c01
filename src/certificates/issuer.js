// A process of its own. It reads `IssueOptions` (issue-certificates.js) as JSON from stdin, and writes the certificates and the flawed
// ones. Its parent reads an error from stderr.
import { json } from 'node:stream/consumers'
import { writeCertificates } from '../lib/certificates.js'
import { locateCertificates, renderNextCertificateName } from '../model/certificate-files.js'
import { renderSpiffeId } from '../model/sidecar-contract.js'
import { writeFlawedCertificates } from './flawed-certificates.js'

const options = /** @type {import('./issue-certificates.js').IssueOptions} */ (await json(process.stdin))
const { certificates, names, rotated = [], keyTypes, lifeMs, hasAuthorityKey } = options
const services = [
  ...names.map(name => ({ name, identity: renderSpiffeId(name) })),
  ...rotated.map(name => ({ name: renderNextCertificateName(name), identity: renderSpiffeId(name), dnsName: name })),
]
for (const keyType of keyTypes) {
  const folder = locateCertificates(certificates, keyType)
  const authority = await writeCertificates({ folder, services, keyType, lifeMs, hasAuthorityKey })
  await writeFlawedCertificates({ folder, authority })
}
