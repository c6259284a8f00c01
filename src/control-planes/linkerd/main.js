// Runs in a process of its own beside a proxy: the control plane that the file of its first argument configures.
import { readFileSync } from 'node:fs'
import { serveControlPlane } from './server.js'

/** @import { Tables } from './server.js' */

/**
 * @typedef {object} Configuration
 * @property {{ address: string, port: number, socket: string }} listen socket: a path, from the folder in which it runs
 * @property {string} workload
 * @property {{ identity: string, certificatePath: string, keyPath: string, authorityPath: string }} credentials
 * @property {Tables} tables
 */

const { listen, workload, credentials, tables } = /** @type {Configuration} */ (
  JSON.parse(readFileSync(process.argv[2], 'utf8'))
)
const read = (/** @type {string} */ file) => readFileSync(file, 'utf8')
const { close } = await serveControlPlane(
  {
    workload,
    tables,
    credentials: {
      identity: credentials.identity,
      certificatePem: read(credentials.certificatePath),
      keyPem: read(credentials.keyPath),
      authorityPem: read(credentials.authorityPath),
    },
  },
  listen,
)
// The process ends when it serves nothing more, and its socket is gone.
process.once('SIGTERM', close)
