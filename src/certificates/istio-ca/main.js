// The certificate authority runs in a process of its own beside a proxy. Its first argument is a JSON file with a Configuration.
import { readFileSync } from 'node:fs'
import { readAuthority } from '../../lib/certificates.js'
import { serveAuthority } from './server.js'

/**
 * @typedef {object} Configuration
 * @property {{ address: string, port: number }} listen
 * @property {{ certificatePath: string, keyPath: string }} authority whose key is ECDSA P-256
 * @property {{ certificatePath: string, keyPath: string }} credentials that the server shows
 * @property {{ identity: string, dnsName: string }[]} certifies as in server.js
 * @property {string} token as in server.js
 */

const { listen, authority, credentials, ...options } = /** @type {Configuration} */ (
  JSON.parse(readFileSync(process.argv[2], 'utf8'))
)
const readText = (/** @type {string} */ file) => readFileSync(file, 'utf8')
const authorityPem = readText(authority.certificatePath)
await serveAuthority(
  {
    ...options,
    authority: await readAuthority({ certificatePem: authorityPem, keyPem: readText(authority.keyPath) }),
    authorityPem,
    credentials: { certificatePem: readText(credentials.certificatePath), keyPem: readText(credentials.keyPath) },
  },
  listen,
)
