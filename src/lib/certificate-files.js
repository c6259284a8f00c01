/**
 * Where certificates and keys are: a folder of each key type. Pure.
 * @import { Tls } from '../model/types.ts'
 */

/**
 * @param {string} folder of all certificates of a run
 * @param {Tls} tls plaintext needs none: any will do
 */
export function certificatesFolder(folder, tls) {
  return tls === 'rsa-2048' ? `${folder}-rsa` : folder
}

/**
 * @param {string} name of a service, or of the load
 * @param {string} folder
 */
export function credentialsOf(name, folder) {
  return { certificatePath: `${folder}/${name}.pem`, keyPath: `${folder}/${name}-key.pem` }
}
