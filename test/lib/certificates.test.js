import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeCertificates } from '../../src/lib/certificates.js'
import { makeFolder } from '../fakes/scratch.js'

describe('writeCertificates', () => {
  it('issues leaf certificates of a fresh authority that no other user can read', async () => {
    const folder = path.join(makeFolder('certificates'), 'c')
    await writeCertificates({ folder, services: [{ name: 'gateway', identity: 'spiffe://a/b' }] })
    const ca = new X509Certificate(readFileSync(`${folder}/ca.pem`))
    const leaf = new X509Certificate(readFileSync(`${folder}/gateway.pem`))
    expect(leaf.verify(ca.publicKey)).toBe(true)
    expect(leaf.checkIssued(ca)).toBe(true)
    expect([ca.ca, leaf.ca]).toEqual([true, false])
    expect(leaf.subjectAltName).toBe('URI:spiffe://a/b, DNS:gateway')
    expect(leaf.subject).toBe('CN=spiffe://a/b')
    expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(`${folder}/gateway-key.pem`).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).not.toContain('ca-key.pem')
  })

  it("writes the authority's key if it is asked to", async () => {
    const folder = path.join(makeFolder('certificates'), 'c')
    await writeCertificates({ folder, services: [], hasAuthorityKey: true })
    const ca = new X509Certificate(readFileSync(`${folder}/ca.pem`))
    const key = createPublicKey(createPrivateKey(readFileSync(`${folder}/ca-key.pem`)))
    expect(key.export({ type: 'spki', format: 'der' })).toEqual(ca.publicKey.export({ type: 'spki', format: 'der' }))
    expect(statSync(`${folder}/ca-key.pem`).mode & 0o777).toBe(0o600)
  })
})
