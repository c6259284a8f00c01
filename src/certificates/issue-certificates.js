import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'

/** @import { KeyType } from '../lib/certificates.js' */

const ISSUER = path.join(ROOT, 'src/certificates/issuer.js')
// RSA keys of hundreds of services take a minute on a slow machine.
const DEADLINE_MS = 600_000

/**
 * certificates: the folder of all key types, as in lib/certificate-files.js; names: of services; rotated: those that get
 * a second one; lifeMs: a day unless given; hasAuthorityKey: the authority's key is written, too.
 * @typedef {{ certificates: string, names: string[], rotated?: string[], keyTypes: readonly KeyType[], lifeMs?: number,
 *   hasAuthorityKey?: boolean }} Issue
 */

/**
 * Writes the certificates of services, and those to refuse, in a process of its own, whose code takes 20 MiB.
 * @param {Issue} issue @throws {BenchError} where they cannot be written
 */
export async function issueCertificates(issue) {
  const input = JSON.stringify(issue)
  const { failed, stderr, shortMessage } = await execa(process.execPath, [ISSUER], {
    input,
    reject: false,
    timeout: DEADLINE_MS,
  })
  if (!failed) return
  const why = findReason(stderr) ?? shortMessage
  throw new BenchError(`cannot make certificates in ${issue.certificates}: ${why}`)
}

/** Finds the line of stderr that says why, without the stack. @param {string} stderr */
export function findReason(stderr) {
  return /^(?:\w*Error|DOMException)(?: \[\w+\])?: .*/m.exec(stderr)?.[0]
}
