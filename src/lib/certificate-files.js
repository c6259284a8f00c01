/** A folder for each key type; plaintext needs none. @param {string} folder of all certificates @param {string} tls */
export const certificatesFolder = (folder, tls) => (tls === 'rsa-2048' ? `${folder}-rsa` : folder)

/** @param {string} name of a service, or of the load @param {string} folder */
export function credentialsOf(name, folder) {
  return { certificatePath: `${folder}/${name}.pem`, keyPath: `${folder}/${name}-key.pem` }
}
