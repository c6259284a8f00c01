/**
 * Finds the path of the folder of a key type's certificates: RSA has its own.
 * @param {string} folder of the ECDSA certificates
 * @param {string} tls the key type, or `plaintext`
 */
export const locateCertificates = (folder, tls) => (tls === 'rsa-2048' ? `${folder}-rsa` : folder)

/**
 * Finds the path of the authority's private key, as PEM. It need not exist.
 * @param {string} folder of the certificates of a key type
 */
export const locateAuthorityKey = folder => `${folder}/ca-key.pem`

/**
 * Names a service's second certificate, of the same identity: a rotation changes to it, or back.
 * @param {string} name
 */
export const renderNextCertificateName = name => `${name}-next`

/**
 * Finds the paths of the PEM files of a certificate and its private key. They need not exist.
 * @param {string} name of a service, or of the load
 * @param {string} folder
 * @returns {{ certificatePath: string, keyPath: string }}
 */
export function locateCredentials(name, folder) {
  return { certificatePath: `${folder}/${name}.pem`, keyPath: `${folder}/${name}-key.pem` }
}
