/** Where certificates and keys are: a folder of each key type. Pure. */

/**
 * @param {string} folder of all certificates of a run
 * @param {string} tls a key type; plaintext needs no certificates: any folder will do
 */
export function certificatesFolder(folder, tls) {
  return tls === 'rsa-2048' ? `${folder}-rsa` : folder
}

/** @param {string} name of a service, or of the load @param {string} folder */
export function credentialsOf(name, folder) {
  return { certificatePath: `${folder}/${name}.pem`, keyPath: `${folder}/${name}-key.pem` }
}
