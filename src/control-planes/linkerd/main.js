// The control plane runs in a process of its own beside its proxy. Its first argument is a JSON file with a Configuration.
import { readFileSync } from 'node:fs'
import { serveControlPlane } from './server.js'

/** @import { Tables } from './server.js' */

/**
 * @typedef {object} Configuration
 * @property {{ address: string, port: number, socket: string }} listen socket: a path, relative to the working directory
 * @property {string} workload the name by which the proxy identifies itself
 * @property {{ identity: string, certificatePath: string, keyPath: string, authorityPath: string }} credentials
 * @property {Tables} tables
 */

const { listen, workload, credentials, tables } = /** @type {Configuration} */ (
  JSON.parse(readFileSync(process.argv[2], 'utf8'))
)
const readText = (/** @type {string} */ file) => readFileSync(file, 'utf8')
const { close } = await serveControlPlane(
  {
    workload,
    tables,
    credentials: {
      identity: credentials.identity,
      certificatePem: readText(credentials.certificatePath),
      keyPem: readText(credentials.keyPath),
      authorityPem: readText(credentials.authorityPath),
    },
  },
  listen,
)
// When both servers are closed, the socket is gone and nothing keeps Node running.
process.once('SIGTERM', close)
