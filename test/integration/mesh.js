import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import tls from 'node:tls'
import { createAuthority, issueCertificate, writeCertificates } from '../../src/lib/certificates.js'
import { ROOT } from '../../src/lib/paths.js'
import { createLocalTarget } from '../../src/targets/local/index.js'
import { identityOf } from '../../src/topology.js'
import { capWay } from './real-tools.js'

/**
 * @import { DataPlane, Deployment, SidecarModel, Target, Tool } from '../../src/types.ts'
 */

export const SERVICES = ['client', 'server', 'stranger']

/**
 * A folder with certificates, a target, and upstream servers, all removed by `close`.
 */
export async function createMesh() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'mesh-test-'))
  const certificates = path.join(folder, 'certificates')
  await writeCertificates({
    folder: certificates,
    services: SERVICES.map(name => ({ name, identity: identityOf(name) })),
  })
  const target = await createLocalTarget({ runId: `test-${process.pid}-${Date.now()}`, way: capWay })
  /** @type {(() => Promise<unknown> | unknown)[]} */
  const closers = []
  let index = 0

  return {
    certificates,
    target,
    addresses: (/** @type {string[]} */ ...names) => target.addressesFor(index++, names),

    /**
     * @param {{ plane: DataPlane, tool: Tool, model: SidecarModel, cpuCores?: number | null }} options
     * @returns {Promise<Deployment>}
     */
    async startSidecar({ plane, tool, model, cpuCores = null }) {
      const spec = plane.createSidecar?.({
        ...{ model, tool, cpuCores },
        folder: path.join(folder, `${plane.name}-${model.service}-${index++}`),
        scripts: path.join(ROOT, 'pipy-scripts'),
        envoyProfile: 'lean',
        nodeCpus: os.availableParallelism(),
      })
      if (!spec) throw new Error(`${plane.name} has no sidecars`)
      const deployment = await target.deploy([spec], path.join(folder, 'logs'))
      closers.push(() => deployment.remove())
      await deployment.processes[0].waitUntilReady(new AbortController().signal)
      return deployment
    },

    /**
     * An HTTP server; counts its connections.
     * @param {string} address
     * @param {number} port
     * @param {http.RequestListener} listener
     */
    async serve(address, port, listener) {
      const server = http.createServer(listener)
      const counted = { connections: 0 }
      server.on('connection', () => counted.connections++)
      await new Promise((resolve, reject) => server.once('error', reject).listen(port, address, () => resolve(null)))
      closers.push(() => {
        server.closeAllConnections()
        server.close()
      })
      return counted
    },

    /**
     * A TCP server.
     * @param {string} address
     * @param {number} port
     * @param {(socket: net.Socket) => void} listener
     * @param {number} [backlog]
     */
    async serveTcp(address, port, listener, backlog) {
      const server = net.createServer(listener)
      await new Promise(resolve => server.listen({ port, host: address, backlog }, () => resolve(null)))
      const sockets = new Set()
      server.on('connection', socket => sockets.add(socket))
      closers.push(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
      return server
    },

    /**
     * A TLS server that notes what each connection negotiated by the client's preferences, and ends it after the answer.
     * @param {string} address
     * @param {number} port
     * @param {{ cert: Buffer, key: Buffer }} credentials
     * @param {string} ecdhCurve the only group it takes
     */
    async observeTls(address, port, credentials, ecdhCurve) {
      /** @type {Record<string, unknown>[]} */
      const seen = []
      const server = tls.createServer(
        {
          ...credentials,
          ca: readFileSync(`${certificates}/ca.pem`),
          ecdhCurve,
          requestCert: true,
          honorCipherOrder: false,
        },
        socket => {
          seen.push({
            version: socket.getProtocol(),
            suite: socket.getCipher().name,
            isResumed: socket.isSessionReused(),
            serverName: /** @type {any} */ (socket).servername,
          })
          socket.on('error', () => {})
          socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'))
        },
      )
      await new Promise(resolve => server.listen(port, address, () => resolve(null)))
      closers.push(() => server.close())
      return seen
    },

    /**
     * Makes an address that cannot be connected: its backlog is full and nobody accepts.
     * @param {string} address
     * @param {number} port
     */
    async refuseSilently(address, port) {
      const script = `import socket, time
s = socket.socket(); s.bind(('${address}', ${port})); s.listen(0)
c = [socket.socket() for _ in range(4)]
for x in c:
    x.setblocking(False)
    x.connect_ex(('${address}', ${port}))
print('full', flush=True); time.sleep(600)`
      const child = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
      closers.push(() => child.kill('SIGKILL'))
      await new Promise(resolve => child.stdout.once('data', resolve))
    },

    async close() {
      for (const close of closers.toReversed()) await close()
      await target.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A certificate for the client's identity from an authority nobody trusts. */
export async function createForeignCertificate() {
  const authority = await createAuthority('foreign')
  return issueCertificate({ authority, identity: identityOf('client'), dnsName: 'client' })
}
