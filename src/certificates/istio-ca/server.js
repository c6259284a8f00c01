import { timingSafeEqual } from 'node:crypto'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { readSigningRequest, signCertificate } from '../../lib/certificates.js'

/**
 * The kit's certificate authority behind the interface of Istio's: gRPC over TLS, a signing request in, a certificate chain out.
 * @import { Authority } from '../../lib/certificates.js'
 */

const PROTO = new URL('ca.proto', import.meta.url).pathname
// The life of a certificate if the proxy asks for none.
const DEFAULT_SECONDS = 24 * 3600
// Istio's default MAX_WORKLOAD_CERT_TTL.
const SECONDS_MOST = 90 * 24 * 3600

/**
 * @typedef {object} Options
 * @property {Authority} authority
 * @property {string} authorityPem the authority's certificate
 * @property {{ certificatePem: string, keyPem: string }} credentials that the server shows
 * @property {{ identity: string, dnsName: string }[]} certifies identities that it certifies, each with the DNS name of its certificate
 * @property {string} token that a caller must send as bearer token
 */

/**
 * Serves the authority until it is closed, which also ends the calls under way.
 * @param {Options} options
 * @param {{ address: string, port: number }} endpoint port 0: any that is free
 * @returns {Promise<{ port: number, close: () => void }>} port: the bound one
 * @throws {Error} if it cannot listen there, or a certificate or key cannot be parsed
 */
export async function serveAuthority(options, { address, port }) {
  const { credentials, authorityPem } = options
  const server = new grpc.Server()
  server.addService(loadService().service, { CreateCertificate: createHandler(options) })
  const pair = { cert_chain: Buffer.from(credentials.certificatePem), private_key: Buffer.from(credentials.keyPem) }
  const tls = grpc.ServerCredentials.createSsl(Buffer.from(authorityPem), [pair])
  const boundPort = await new Promise((resolve, reject) =>
    server.bindAsync(`${address}:${port}`, tls, (error, bound) => (error ? reject(error) : resolve(bound))),
  )
  return { port: Number(boundPort), close: () => server.forceShutdown() }
}

/** Loads the service of ca.proto, whose 64-bit integers become numbers. @returns {grpc.ServiceClientConstructor} */
function loadService() {
  const { istio } = /** @type {any} */ (grpc.loadPackageDefinition(loadSync(PROTO, { longs: Number })))
  return istio.v1.auth.IstioCertificateService
}

/**
 * Creates the handler that signs requests, for DEFAULT_SECONDS if they name no lifetime. It answers another token by UNAUTHENTICATED, a
 * request that it cannot read or a lifetime that is negative or beyond SECONDS_MOST by INVALID_ARGUMENT, and one for anything but one
 * identity that it certifies by PERMISSION_DENIED; INTERNAL: the certificate could not be signed.
 * @param {Options} options
 * @returns {grpc.handleUnaryCall<{ csr: string, validityDuration: number }, { certChain: string[] }>} certChain: the new certificate and
 *   that of the authority, as PEM
 */
function createHandler({ authority, authorityPem, certifies, token }) {
  return async ({ metadata, request }, callback) => {
    const refuse = (/** @type {grpc.status} */ code, /** @type {string} */ details) => callback({ code, details })
    if (!isEqualText(`${metadata.get('authorization')[0]}`, `Bearer ${token}`))
      return refuse(grpc.status.UNAUTHENTICATED, 'the bearer token is not that of this proxy')
    const signingRequest = await readSigningRequest(request.csr).catch(error => `${error.message}`)
    if (typeof signingRequest === 'string')
      return refuse(grpc.status.INVALID_ARGUMENT, `the signing request cannot be read: ${signingRequest}`)
    const { publicKey, identities } = signingRequest
    const certified = identities.length === 1 && certifies.find(({ identity }) => identity === identities[0])
    if (!certified) {
      const requested = identities.join(' and ') || 'no identity'
      const certifiable = certifies.map(({ identity }) => identity).join(', ')
      return refuse(
        grpc.status.PERMISSION_DENIED,
        `the signing request is for ${requested}, and this authority certifies ${certifiable}`,
      )
    }
    const lifeSeconds = request.validityDuration || DEFAULT_SECONDS
    if (lifeSeconds < 0 || lifeSeconds > SECONDS_MOST)
      return refuse(
        grpc.status.INVALID_ARGUMENT,
        `a certificate is valid for 1 to ${SECONDS_MOST} s, not ${lifeSeconds}`,
      )
    const lifeMs = lifeSeconds * 1000
    try {
      const leaf = await signCertificate({ authority: { ...authority, lifeMs }, ...certified, publicKey })
      callback(null, { certChain: [leaf, authorityPem] })
    } catch (error) {
      refuse(grpc.status.INTERNAL, `the certificate cannot be signed: ${/** @type {Error} */ (error).message}`)
    }
  }
}

/**
 * Says whether two texts are equal, in constant time for texts of one length.
 * @param {string} text
 * @param {string} other
 */
function isEqualText(text, other) {
  const [bytes, otherBytes] = [Buffer.from(text), Buffer.from(other)]
  return bytes.length === otherBytes.length && timingSafeEqual(bytes, otherBytes)
}
