// x509 needs the metadata polyfill before it loads.
import 'reflect-metadata'

import { webcrypto } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as x509 from '@peculiar/x509'

x509.cryptoProvider.set(/** @type {Crypto} */ (webcrypto))

/** @type {Record<KeyType, { key: EcKeyGenParams | RsaHashedKeyGenParams, signing: { name: string, hash: string } }>} */
const ALGORITHMS = {
  'ecdsa-p256': { key: { name: 'ECDSA', namedCurve: 'P-256' }, signing: { name: 'ECDSA', hash: 'SHA-256' } },
  'rsa-2048': {
    key: { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' },
    signing: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  },
}
const LIFETIME_MS = 24 * 3600 * 1000
// The clock of another machine may be behind by this much: a certificate is valid from before it is made.
const CLOCK_SKEW_MS = 300 * 1000

/**
 * An authority's leaf certificates have its key type and its lifetime. Flaws are reasons for a peer to refuse a certificate.
 * @typedef {{ certificate: x509.X509Certificate, keys: CryptoKeyPair, keyType: KeyType, lifeMs: number }} Authority
 * @typedef {'ecdsa-p256' | 'rsa-2048'} KeyType
 * @typedef {{ usages?: readonly ('serverAuth' | 'clientAuth')[], validIn?: 'past' | 'future',
 *   isSelfSigned?: boolean }} CertificateFlaws
 */

/**
 * Creates a self-signed certificate authority, CN=`name`. It and its leaves are valid for `lifeMs`, by default a day.
 * @param {string} name
 * @param {{ keyType?: KeyType, lifeMs?: number }} [options]
 * @returns {Promise<Authority>}
 */
export async function createAuthority(name, { keyType = 'ecdsa-p256', lifeMs = LIFETIME_MS } = {}) {
  const keys = await createKeys(keyType)
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    ...computeValidity({ lifeMs }),
    keys,
    signingAlgorithm: ALGORITHMS[keyType].signing,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate, keys, keyType, lifeMs }
}

/**
 * Reads an authority from the PEM of its certificate and of its private key.
 * @param {object} written
 * @param {string} written.certificatePem
 * @param {string} written.keyPem PKCS #8
 * @param {KeyType} [written.keyType] that of the key; ecdsa-p256 by default
 * @param {number} [written.lifeMs] that of its new leaves; a day by default
 * @returns {Promise<Authority>}
 * @throws if either cannot be read, or a key is of another type
 */
export async function readAuthority({ certificatePem, keyPem, keyType = 'ecdsa-p256', lifeMs = LIFETIME_MS }) {
  const certificate = new x509.X509Certificate(certificatePem)
  const { key } = ALGORITHMS[keyType]
  const [der] = x509.PemConverter.decode(keyPem)
  const privateKey = await webcrypto.subtle.importKey('pkcs8', der, key, false, ['sign'])
  const publicKey = await certificate.publicKey.export(key, ['verify'])
  return { certificate, keys: /** @type {CryptoKeyPair} */ ({ privateKey, publicKey }), keyType, lifeMs }
}

/**
 * Reads a certificate signing request.
 * @param {string} pem
 * @returns publicKey: to certify; identities: the URIs of its subject alternative name; []: it requests none
 * @throws if it is no such request, or was not signed with its own key
 */
export async function readSigningRequest(pem) {
  const request = new x509.Pkcs10CertificateRequest(pem)
  if (!(await request.verify())) throw new Error('its signature is not of its own key')
  const names = request.extensions.flatMap(e =>
    e instanceof x509.SubjectAlternativeNameExtension ? e.names.items : [],
  )
  return {
    publicKey: await request.publicKey.export(),
    identities: names.filter(({ type }) => type === 'url').map(({ value }) => value),
  }
}

/**
 * Issues a leaf certificate for a SPIFFE identity, and its key. By default it has both usages and new keys, and is valid now. The
 * identity is the URI subject alternative name, as SPIFFE's X.509-SVID requires, and the common name too: Pipy 1.5.18 and 2.0.2
 * show scripts only the DNS names (src/api/crypto.cpp, Certificate::subject_alt_names).
 * @param {{ authority: Authority, identity: string, dnsName: string, keys?: CryptoKeyPair } & CertificateFlaws} request keys: as
 *   `createKeys` creates them for the authority's key type
 * @returns certificatePem, and keyPem in PKCS #8
 */
export async function issueCertificate({ authority, keys, isSelfSigned, ...request }) {
  const leafKeys = keys ?? (await createKeys(authority.keyType))
  const signer = isSelfSigned ? leafKeys : authority.keys
  const certificatePem = await signCertificate({
    ...request,
    authority,
    publicKey: leafKeys.publicKey,
    signer,
    isSelfSigned,
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', leafKeys.privateKey)
  return { certificatePem, keyPem: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n` }
}

/**
 * Signs a leaf certificate of a public key.
 * @param {{ authority: Authority, identity: string, dnsName: string, publicKey: CryptoKey,
 *   signer?: CryptoKeyPair } & CertificateFlaws} request signer: by default the authority; isSelfSigned only names the
 *   subject as issuer, so `signer` must be the subject's keys
 * @returns {Promise<string>} PEM
 */
export async function signCertificate({ authority, identity, dnsName, publicKey, ...options }) {
  const { usages = /** @type {const} */ (['serverAuth', 'clientAuth']), validIn, isSelfSigned } = options
  const { signer = authority.keys } = options
  const subject = new x509.Name([{ CN: [{ utf8String: identity }] }])
  const certificate = await x509.X509CertificateGenerator.create({
    issuer: isSelfSigned ? subject : authority.certificate.subjectName,
    subject,
    ...computeValidity({ validIn, lifeMs: authority.lifeMs }),
    publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: ALGORITHMS[authority.keyType].signing,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages.map(usage => x509.ExtendedKeyUsage[usage])),
      new x509.SubjectAlternativeNameExtension([
        { type: 'url', value: identity },
        { type: 'dns', value: dnsName },
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(signer.publicKey),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

/**
 * Writes a fresh authority's certificate and one certificate and key per service into a folder, which it creates with mode 0700 if
 * it is missing (files: 0600): `ca.pem`, `<service>.pem`, `<service>-key.pem`, and both as `<service>-combined.pem`.
 * @param {object} options
 * @param {string} options.folder
 * @param {{ name: string, identity: string, dnsName?: string }[]} options.services dnsName: the name by default
 * @param {boolean} [options.hasAuthorityKey] the authority's key is written, too, as `ca-key.pem`
 * @param {KeyType} [options.keyType] of the authority and of all keys; ecdsa-p256 by default
 * @param {number} [options.lifeMs] of all certificates; a day by default
 * @returns {Promise<Authority>}
 * @throws the system's error if a file cannot be written
 */
export async function writeCertificates({ folder, services, hasAuthorityKey = false, ...life }) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const authority = await createAuthority('sidecar-bench', life)
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFile(path.join(folder, name), text, { mode: 0o600 })
  await write('ca.pem', `${authority.certificate.toString('pem')}\n`)
  if (hasAuthorityKey) {
    const key = await webcrypto.subtle.exportKey('pkcs8', authority.keys.privateKey)
    await write('ca-key.pem', `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n`)
  }
  for (const { name, identity, dnsName = name } of services) {
    const { certificatePem, keyPem } = await issueCertificate({ authority, identity, dnsName })
    await write(`${name}.pem`, certificatePem)
    await write(`${name}-key.pem`, keyPem)
    await write(`${name}-combined.pem`, `${certificatePem}${keyPem}`)
  }
  return authority
}

/**
 * Generates a key pair for signatures, whose private key can be exported.
 * @param {KeyType} keyType
 * @returns {Promise<CryptoKeyPair>}
 */
export function createKeys(keyType) {
  return /** @type {Promise<CryptoKeyPair>} */ (
    webcrypto.subtle.generateKey(ALGORITHMS[keyType].key, true, ['sign', 'verify'])
  )
}

/**
 * Computes a validity, which begins CLOCK_SKEW_MS earlier than the lifetime: one in the past ended one lifetime ago, and one in the
 * future begins in two.
 * @param {{ validIn?: CertificateFlaws['validIn'] | 'now', lifeMs: number }} options validIn: `now` by default
 * @returns {{ notBefore: Date, notAfter: Date }}
 */
function computeValidity({ validIn = 'now', lifeMs }) {
  const now = Date.now() + { now: 0, past: -2, future: 2 }[validIn] * lifeMs
  return { notBefore: new Date(now - CLOCK_SKEW_MS), notAfter: new Date(now + lifeMs) }
}
