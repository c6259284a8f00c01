import { mkdtempSync, readFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { pollInTime } from '../../src/lib/wait.js'
import { writeParityCertificates } from '../../src/parity/try-plane.js'
import { makeFolder } from '../fakes/scratch.js'
import { createLocalRig } from './local-rig.js'
import { sidecarPlanes } from './real-tools.js'

/** @import { DataPlane, Endpoint, Tool } from '../../src/model/types.ts' */

const folder = makeFolder('access-log-test')
const certificates = path.join(folder, 'certificates')
const LOG_SECONDS = 20
const ANSWER_MS = 5000

const BYTES = Array.from({ length: 256 }, (_, byte) => byte)
// What a header may hold (RFC 9110, 5.5). A plane may refuse the others, and log those that it does not.
const VISIBLE = BYTES.filter(byte => byte > 0x20 && byte < 0x7f)
const OBSOLETE = BYTES.filter(byte => byte > 0x7f)
const ASKS = BYTES.flatMap(byte => {
  const odd = String.fromCharCode(byte)
  return [
    { id: `agent-${byte}`, path: '/', agent: `a${odd}b` },
    { id: `path-${byte}`, path: `/a${odd}b`, agent: 'a' },
  ]
})

beforeAll(() => writeParityCertificates(certificates))

it.for(
  sidecarPlanes.filter(({ plane }) => plane.features?.includes('access-log')),
)('each line that $plane.name logs is JSON in UTF-8, whatever bytes a client sends', async ({
  plane,
  tool,
}, context) => {
  if (!tool) return context.skip(`needs ${plane.name}, which cannot be had here`)
  const { taken, lines } = await logAll({ plane, tool })
  const logged = new Map(lines.map(readStrictly).map(line => [line.request_id, line]))
  for (const id of taken) expect(logged.has(id), id).toBe(true)
  for (const byte of VISIBLE) expect(logged.get(`agent-${byte}`)?.user_agent).toBe(`a${String.fromCharCode(byte)}b`)
  for (const byte of OBSOLETE) expect(logged.get(`agent-${byte}`)?.user_agent).toMatch(/^a.b$/u)
})

/** @param {Buffer} line @throws where it is not JSON in UTF-8 */
function readStrictly(line) {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line))
}

/**
 * @param {{ plane: DataPlane, tool: Tool }} options
 * @returns {Promise<{ taken: string[], lines: Buffer[] }>} taken: the requests that were answered with 200, by their ids
 */
async function logAll({ plane, tool }) {
  const planeFolder = mkdtempSync(path.join(folder, `${plane.name}-`))
  const rig = await createLocalRig({
    plane,
    tool,
    certificates,
    folder: planeFolder,
    measured: { tls: 'plaintext', protocol: 'http/1.1', trafficPolicy: 'listed', features: 'access-log' },
  })
  try {
    /** @type {string[]} */
    const taken = []
    for (const ask of ASKS) if (await isTaken(rig.permissive, ask)) taken.push(ask.id)
    const readLines = () => split(readFileSync(path.join(planeFolder, 'permissive-sidecar.log')))
    const areThere = () => taken.every(id => readLines().some(line => line.includes(`"${id}"`)))
    await pollInTime(areThere, { deadlineSeconds: LOG_SECONDS, intervalMs: 200 })
    return { taken, lines: readLines() }
  } finally {
    await rig.close()
  }
}

/**
 * Whether a request is answered with 200. Clients that check what they send cannot send it.
 * @param {Endpoint} endpoint @param {typeof ASKS[number]} ask @returns {Promise<boolean>}
 */
function isTaken({ address, port }, { id, path, agent }) {
  return new Promise(resolve => {
    const socket = net.connect({ host: address, port, timeout: ANSWER_MS }, () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: echo\r\nuser-agent: ${agent}\r\nx-request-id: ${id}\r\n\r\n`,
        'latin1',
      ),
    )
    const end = (/** @type {boolean} */ isIt) => {
      socket.destroy()
      resolve(isIt)
    }
    socket.on('data', data => end(data.toString('latin1').startsWith('HTTP/1.1 200')))
    for (const event of ['timeout', 'error', 'close']) socket.on(event, () => end(false))
  })
}

/** @param {Buffer} log */
function split(log) {
  return Array.from(log.toString('latin1').matchAll(/.+/g), ([line]) => Buffer.from(line, 'latin1'))
}
