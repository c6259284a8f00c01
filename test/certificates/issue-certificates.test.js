import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { findErrorLine, issueCertificates } from '../../src/certificates/issue-certificates.js'
import { makeFolder } from '../fakes/scratch.js'

describe('issueCertificates', () => {
  it('replaces the certificates of a folder that has some, the flawed ones with the others', async () => {
    const certificates = path.join(makeFolder('issue-certificates-test'), 'keys')
    const issue = { certificates, names: ['client'], keyTypes: /** @type {const} */ (['ecdsa-p256']) }
    await issueCertificates(issue)
    await issueCertificates(issue)
    const [authority, client, expired] = ['ca', 'client', 'refused/expired'].map(
      name => new X509Certificate(readFileSync(path.join(certificates, `${name}.pem`))),
    )
    for (const certificate of [client, expired]) expect(certificate.verify(authority.publicKey)).toBe(true)
  })
})

describe('findErrorLine', () => {
  it.each([
    'Error: ENOTDIR: not a directory',
    "TypeError: Cannot read properties of undefined (reading 'x')",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'",
    'DOMException [OperationError]: The operation failed',
  ])('finds the line that says why: %s', line => {
    expect(findErrorLine(`node:internal/x:1\n  throw it\n\n${line}\n    at a (b.js:1:1)\n`)).toBe(line)
  })

  it('finds none where a signal ended it', () => {
    expect(findErrorLine('')).toBeUndefined()
  })
})
