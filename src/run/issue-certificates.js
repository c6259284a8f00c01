import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'

/**
 * @import { KeyType } from '../lib/certificates.js'
 */

const ISSUER = path.join(ROOT, 'src/run/issuer.js')

/**
 * What to write.
 * @typedef {object} Issue
 * @property {string} certificates the folder of all key types, as in lib/certificate-files.js
 * @property {string[]} names of services
 * @property {readonly KeyType[]} keyTypes
 * @property {number} [lifeMs] a day unless given
 */

/**
 * Writes the certificates of services, and beside them those that sidecars must refuse. A process of its own does it: what
 * issues certificates takes 20 MiB, which would be the kit's in every window.
 * @param {Issue} issue
 * @throws {BenchError} where they cannot be written
 */
export async function issueCertificates(issue) {
  const input = JSON.stringify(issue)
  const { failed, stderr, shortMessage } = await execa(process.execPath, [ISSUER], { input, reject: false })
  if (!failed) return
  const why = findReason(stderr) ?? shortMessage
  throw new BenchError(`cannot make certificates in ${issue.certificates}: ${why}`)
}

/**
 * The line of stderr that says why, without the stack.
 * @param {string} stderr
 */
export function findReason(stderr) {
  return /^(?:\w*Error|DOMException)(?: \[\w+\])?: .*/m.exec(stderr)?.[0]
}
