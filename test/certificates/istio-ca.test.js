import 'reflect-metadata'

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import grpc from '@grpc/grpc-js'
import * as x509 from '@peculiar/x509'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveAuthority } from '../../src/certificates/istio-ca/server.js'
import { createKeys, readAuthority, writeCertificates } from '../../src/lib/certificates.js'
import { bytesOf, decodeMessage, varintOf } from '../fakes/protobuf.js'
import { makeFolder } from '../fakes/scratch.js'

// The client writes and reads the messages by the numbers that Istio publishes (istio.io/api, security/v1alpha1/ca.proto),
// and shares no code with the server: csr is field 1, validity_duration 3, and each cert_chain 1.
const METHOD = '/istio.v1.auth.IstioCertificateService/CreateCertificate'
const IDENTITY = 'spiffe://sidecar-bench/ns/bench/sa/client'
const TOKEN = 'of-a-test'

const folder = path.join(makeFolder('istio-ca'), 'c')
const read = (/** @type {string} */ name) => readFileSync(path.join(folder, name), 'utf8')
/** @type {Awaited<ReturnType<typeof serveAuthority>>} */
let server

beforeAll(async () => {
  await writeCertificates({ folder, services: [{ name: 'client', identity: IDENTITY }], hasAuthorityKey: true })
  const authorityPem = read('ca.pem')
  server = await serveAuthority(
    {
      authority: await readAuthority({ certificatePem: authorityPem, keyPem: read('ca-key.pem') }),
      authorityPem,
      credentials: { certificatePem: read('client.pem'), keyPem: read('client-key.pem') },
      ...{ certifies: [{ identity: IDENTITY, dnsName: 'client' }], token: TOKEN },
    },
    { address: '127.0.0.1', port: 0 },
  )
})
afterAll(() => server.close())

/** @param {string[]} identities */
async function createRequest(identities) {
  const keys = await createKeys('ecdsa-p256')
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new x509.SubjectAlternativeNameExtension(
        identities.map(value => ({ type: /** @type {const} */ ('url'), value })),
        true,
      ),
    ],
  })
  return { pem: request.toString('pem'), publicKey: await crypto.subtle.exportKey('spki', keys.publicKey) }
}

/** @param {{ csr: string, seconds: number }} request */
const encode = ({ csr, seconds }) => Buffer.concat([bytesOf(1, csr), varintOf(3, seconds)])

/** @param {Buffer} bytes @returns {string[]} */
function decode(bytes) {
  const { 1: chain, ...others } = decodeMessage(bytes)
  expect(others).toEqual({})
  return chain.map(String)
}

/** @param {{ csr: string, seconds?: number, token?: string }} options @returns {Promise<string[]>} */
function ask({ csr, seconds = 3600, token = TOKEN }) {
  const client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createSsl(Buffer.from(read('ca.pem'))), {
    'grpc.ssl_target_name_override': 'client',
  })
  const metadata = new grpc.Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  return new Promise((resolve, reject) =>
    client.makeUnaryRequest(METHOD, encode, decode, { csr, seconds }, metadata, (error, chain) => {
      client.close()
      if (error) reject(error)
      else resolve(chain ?? [])
    }),
  )
}

describe('the certificate authority of proxies of Istio', () => {
  it('certifies the key of a request for its identity, for the time asked, and ends the chain with its root', async () => {
    const { pem, publicKey } = await createRequest([IDENTITY])
    const chain = await ask({ csr: pem, seconds: 7200 })
    expect(chain).toHaveLength(2)
    const [leaf, root] = chain.map(text => new X509Certificate(text))
    expect(root.raw).toEqual(new X509Certificate(read('ca.pem')).raw)
    expect([leaf.verify(root.publicKey), leaf.checkIssued(root), leaf.ca]).toEqual([true, true, false])
    expect(leaf.subjectAltName).toBe(`URI:${IDENTITY}, DNS:client`)
    expect(leaf.publicKey.export({ type: 'spki', format: 'der' })).toEqual(Buffer.from(publicKey))
    const seconds = (Date.parse(leaf.validTo) - Date.now()) / 1000
    expect(Math.abs(seconds - 7200)).toBeLessThan(60)
  })

  it.each([
    ['another identity', ['spiffe://sidecar-bench/ns/bench/sa/server']],
    ['two identities', [IDENTITY, 'spiffe://sidecar-bench/ns/bench/sa/server']],
  ])('refuses a request for %s', async (_, identities) => {
    const { pem } = await createRequest(identities)
    await expect(ask({ csr: pem })).rejects.toThrow(/PERMISSION_DENIED: the signing request is for .*sa\/server/)
  })

  it('refuses a lifetime that no certificate can have, and goes on', async () => {
    const { pem } = await createRequest([IDENTITY])
    await expect(ask({ csr: pem, seconds: 1e15 })).rejects.toThrow(
      'INVALID_ARGUMENT: a certificate is valid for 1 to 7776000 s',
    )
    expect(await ask({ csr: pem })).toHaveLength(2)
  })

  it('refuses a caller without its token', async () => {
    const { pem } = await createRequest([IDENTITY])
    await expect(ask({ csr: pem, token: 'of-another' })).rejects.toThrow('UNAUTHENTICATED: the bearer token')
  })

  it('refuses what is no signing request, and one whose signature is of another key', async () => {
    await expect(ask({ csr: 'nothing' })).rejects.toThrow('INVALID_ARGUMENT: the signing request cannot be read')
    const [request, other] = [await createRequest([IDENTITY]), await createRequest([IDENTITY])]
    const [a, b] = [request, other].map(({ pem }) => Buffer.from(x509.PemConverter.decode(pem)[0]))
    // The end of another signature: the request keeps its form.
    const forged = Buffer.concat([a.subarray(0, a.length - 8), b.subarray(b.length - 8)])
    const csr = x509.PemConverter.encode(forged, 'CERTIFICATE REQUEST')
    await expect(ask({ csr })).rejects.toThrow('INVALID_ARGUMENT: the signing request cannot be read: its signature')
  })
})
