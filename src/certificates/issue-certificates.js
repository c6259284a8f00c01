import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'

/** @import { KeyType } from '../lib/certificates.js' */

const ISSUER = path.join(ROOT, 'src/certificates/issuer.js')
// RSA keys of hundreds of services take a minute on a slow machine.
const DEADLINE_MS = 600_000

/**
 * @typedef {object} IssueOptions
 * @property {string} certificates the folder of ECDSA certificates, from which model/certificate-files.js locates those of RSA
 * @property {string[]} names of services
 * @property {string[]} [rotated] services that get a second certificate; absent: none
 * @property {readonly KeyType[]} keyTypes of which each gets a folder and an authority of its own
 * @property {number} [lifeMs] absent: a day
 * @property {boolean} [hasAuthorityKey] write the private key of each authority, too; absent: no
 */

/**
 * Writes the certificates of services, and the flawed ones, in a process of its own: the code for it takes 20 MiB of memory. Those that a
 * folder has are replaced by ones of a new authority.
 * @param {IssueOptions} options
 * @throws {BenchError} if that process fails, as when a folder cannot be written, or takes more than DEADLINE_MS; what it has written by
 *   then stays, also in place of older certificates
 */
export async function issueCertificates(options) {
  const input = JSON.stringify(options)
  const { failed, stderr, shortMessage } = await execa(process.execPath, [ISSUER], {
    input,
    reject: false,
    timeout: DEADLINE_MS,
  })
  if (!failed) return
  const why = findErrorLine(stderr) ?? shortMessage
  throw new BenchError(`cannot make certificates in ${options.certificates}: ${why}`)
}

/**
 * Finds the line of stderr that has the name and the message of an error: the first, above its stack.
 * @param {string} stderr
 * @returns {string | undefined} undefined: no line has them
 */
export function findErrorLine(stderr) {
  return /^(?:\w*Error|DOMException)(?: \[\w+\])?: .*/m.exec(stderr)?.[0]
}
