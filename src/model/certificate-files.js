/** Paths of the certificates and keys that lib/certificates.js writes. The files need not exist. Pure. */

/**
 * Finds the path of the folder of a key type's certificates: RSA has its own.
 * @param {string} folder of the ECDSA certificates
 * @param {string} tls the key type, or `plaintext`
 */
export const locateCertificates = (folder, tls) => (tls === 'rsa-2048' ? `${folder}-rsa` : folder)

/**
 * Finds the path of the authority's private key, as PEM.
 * @param {string} folder of the certificates of a key type
 */
export const locateAuthorityKey = folder => `${folder}/ca-key.pem`

/**
 * Renders the name of a service's second certificate, of the same identity: a rotation changes to it, or back.
 * @param {string} name
 */
export const renderNextCertificateName = name => `${name}-next`

/**
 * Finds the paths of the PEM files of a certificate and its private key.
 * @param {string} name of a service, or of the load
 * @param {string} folder
 * @returns {{ certificatePath: string, keyPath: string }}
 */
export function locateCredentials(name, folder) {
  return { certificatePath: `${folder}/${name}.pem`, keyPath: `${folder}/${name}-key.pem` }
}

/**
 * Finds the paths of a service's PEM files, with its authority's certificate.
 * @param {string} name of the service
 * @param {string} folder
 * @returns {{ caPath: string, certificatePath: string, keyPath: string, combinedPath: string }} combinedPath: certificate and key
 */
export function locateCertificateFiles(name, folder) {
  const combinedPath = `${folder}/${name}-combined.pem`
  return { caPath: `${folder}/ca.pem`, ...locateCredentials(name, folder), combinedPath }
}
