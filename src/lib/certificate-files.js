/** Names a key type's folder; plaintext needs none. @param {string} folder of all certificates @param {string} tls */
export const certificatesFolder = (folder, tls) => (tls === 'rsa-2048' ? `${folder}-rsa` : folder)

/** Names the key of the authority. @param {string} folder of the certificates of a key type */
export const authorityKeyOf = folder => `${folder}/ca-key.pem`

/** Names the second certificate of a service, of the same identity: to it and back is a rotation. @param {string} name */
export const nextCertificateOf = name => `${name}-next`

/** @param {string} name of a service, or of the load @param {string} folder */
export function credentialsOf(name, folder) {
  return { certificatePath: `${folder}/${name}.pem`, keyPath: `${folder}/${name}-key.pem` }
}
