// mTLS on both sides: one suite, TLS 1.3, and the peer's identity checked once a connection.

import config from './config.js'

// Pipy verifies nothing at all when the list of authorities is empty.
if (!config.trust.caPath) throw 'no certificate authority: refusing to start without one'

var certificate = {
  cert: new crypto.CertificateChain(os.read(config.trust.certificatePath)),
  key: new crypto.PrivateKey(os.read(config.trust.keyPath)),
}
var trusted = [new crypto.Certificate(os.read(config.trust.caPath))]

// identities: the SPIFFE URIs accepted, or null for any that the authority signed.
// The URI is read from the common name: Pipy shows scripts no URI names (src/lib/certificates.js).
function createVerifier(identities) {
  if (identities === null) return ok => ok
  var accepted = new Map(identities.map(i => [i, true]))
  return (ok, cert) => ok && accepted.has(cert.subject.commonName)
}

export function createTLSOptions(identities) {
  return {
    certificate,
    trusted,
    verify: createVerifier(identities),
    minVersion: 'TLS1.3',
    maxVersion: 'TLS1.3',
    ciphers: config.tls.suite,
  }
}
