import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import tls from 'node:tls'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCredentials, SERVICES } from '../../src/certificates/credentials.js'
import { writeFlawedCertificates } from '../../src/certificates/flawed-certificates.js'
import { writeCertificates } from '../../src/lib/certificates.js'
import { renderSpiffeId } from '../../src/model/sidecar-contract.js'
import { listAccessDifferences } from '../../src/parity/beside/access.js'
import { PEERS } from '../../src/parity/beside/peers.js'
import { chooseInterception, listDeclaredLacks } from '../../src/parity/try-plane.js'
import { sortDifferences } from '../../src/parity/verdict/lacks.js'
import { makeFolder } from '../fakes/scratch.js'
import { createLocalRig } from './local-rig.js'
import { sidecarPlanes } from './real-tools.js'

/**
 * Tries every peer of node/parity/peers.js at the real planes, and the inbound ones with openssl too. MTLS_TABLE names
 * a file for the results, as Markdown.
 * @import { Rig } from '../../src/parity/rig.js' @import { Peer } from '../../src/parity/beside/peers.js'
 */

/** @typedef {{ plane: string, policy: string, peer: string, direction: string, outcome: string }} Attempt */

const folder = makeFolder('mtls-test')
const certificates = path.join(folder, 'certificates')
const measured = /** @type {const} */ ({ tls: 'ecdsa-p256', protocol: 'http/1.1' })
const openssl = await execa('openssl', ['version'], { reject: false })
/** @type {Attempt[]} */
const all = []

// No weak suite, and yet not the one that is configured.
const STRONG_SUITE = 'TLS_AES_256_GCM_SHA384'
const ROWS = {
  'in strict mode': 'parity-refusals',
  'in permissive mode': 'parity-permissive',
  'as an upstream': 'parity-upstreams',
}

beforeAll(async () => {
  const services = SERVICES.map(name => ({ name, identity: renderSpiffeId(name) }))
  const authority = await writeCertificates({ folder: certificates, services })
  await writeFlawedCertificates({ folder: certificates, authority })
  for (const [name, { cert, key }] of Object.entries(readCredentials(certificates).credentials))
    writeFileSync(path.join(folder, `${name}.pem`), `${cert}${key}`, { mode: 0o600 })
})

afterAll(() => {
  if (process.env.MTLS_TABLE) writeFileSync(process.env.MTLS_TABLE, renderTable(all))
})

// The corpus tries the same peers with bytes, and with redirected connections.
const cases = sidecarPlanes
  .filter(({ plane }) => !plane.carriesBytesOnly && chooseInterception(plane, null) === undefined)
  .flatMap(plane => /** @type {const} */ (['listed', 'open']).map(trafficPolicy => ({ ...plane, trafficPolicy })))

describe.each(cases)('the sidecar of $plane.name under the policy $trafficPolicy', ({ plane, tool, trafficPolicy }) => {
  const label = `${tool?.name} ${tool?.version}`
  /** @type {Rig} */
  let rig

  beforeAll(async () => {
    if (!tool) return
    const rigFolder = path.join(folder, `${plane.name}-${trafficPolicy}`)
    rig = await createLocalRig({
      plane,
      tool,
      certificates,
      folder: rigFolder,
      measured: { ...measured, trafficPolicy },
    })
  })

  afterAll(() => rig?.close())

  it('accepts and refuses the peers that it must, as a server and as a client', async context => {
    if (!tool) context.skip(`needs ${plane.name}, which cannot be had here`)
    const tried = await rig.call('probeAccess', undefined)
    all.push(
      ...tried.map(({ peer, direction, found: outcome }) => ({
        plane: label,
        policy: trafficPolicy,
        peer,
        direction,
        outcome,
      })),
    )
    const lacks = listDeclaredLacks(plane, { ...measured, trafficPolicy })
    const held = Object.entries(ROWS).map(([direction, name]) => {
      const differences = listAccessDifferences(tried.filter(one => one.direction === direction))
      return sortDifferences({ name, found: '', expected: '', differences }, lacks)
    })
    expect(held.flatMap(({ undeclared, stale }) => [...undeclared, ...stale])).toEqual([])
    expect(tried.length).toBeGreaterThan(40)
  })

  it('treats the clients of openssl alike, and takes another strong suite only if it cannot leave it out', async context => {
    if (!tool) context.skip(`needs ${plane.name}, which cannot be had here`)
    if (openssl.failed) context.skip('needs openssl, which cannot be had here')
    const [endpoint] = rig.sidecars.processes.flatMap(({ spec }) => (spec.service === 'server' ? spec.listens : []))
    const clients = Object.values(PEERS).filter(({ ends, options }) => ends.includes('client') && options !== null)
    const results = await Promise.all(clients.map(peer => callByOpenssl(endpoint, peer)))
    expect(clients.map(({ name }, i) => [name, results[i]])).toEqual(
      clients.map(({ name, acceptedUnder }) => [name, acceptedUnder.includes(trafficPolicy) ? 'accepted' : 'refused']),
    )
    const isLacking = listDeclaredLacks(plane, { ...measured, trafficPolicy }).some(
      ({ row }) => row === 'parity-suites',
    )
    const strong = await callByOpenssl(endpoint, { ...PEERS.listed, options: { ciphers: STRONG_SUITE } })
    all.push({ plane: label, policy: trafficPolicy, peer: STRONG_SUITE, direction: 'in strict mode', outcome: strong })
    expect(strong).toBe(isLacking ? 'accepted' : 'refused')
  })

  it('sends no session tickets, which would be work and bytes of each handshake', async context => {
    if (!tool) context.skip(`needs ${plane.name}, which cannot be had here`)
    const [endpoint] = rig.sidecars.processes.flatMap(({ spec }) => (spec.service === 'server' ? spec.listens : []))
    const { cert, key } = readCredentials(certificates).credentials[PEERS.listed.credential ?? '']
    const socket = tls.connect({
      ...endpoint,
      host: endpoint.address,
      servername: 'server',
      rejectUnauthorized: false,
      cert,
      key,
    })
    let tickets = 0
    socket.on('session', () => tickets++).write('GET / HTTP/1.1\r\nhost: echo\r\n\r\n')
    // Tickets come before what is answered.
    const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(10_000) })
    socket.destroy()
    expect([`${answer}`.slice(0, 12), tickets]).toEqual(['HTTP/1.1 200', 0])
  })
})

/** @param {{ address: string, port: number }} endpoint @param {Peer} peer */
async function callByOpenssl({ address, port }, { credential, options }) {
  const { maxVersion, ciphers } = options ?? {}
  const pem = path.join(folder, `${credential}.pem`)
  const argv = ['s_client', '-quiet', '-connect', `${address}:${port}`, '-servername', 'server']
  if (credential !== null) argv.push('-cert', pem, '-key', pem)
  if (maxVersion === 'TLSv1.2') argv.push('-tls1_2')
  if (ciphers) argv.push('-ciphersuites', ciphers.split(':')[0])
  const input = 'GET / HTTP/1.1\r\nhost: echo\r\n\r\n'
  const child = execa('openssl', argv, { input, reject: false, timeout: 10_000, stderr: 'ignore' })
  // The connection stays open after an answer.
  for await (const line of child) {
    child.kill()
    return line.startsWith('HTTP/1.1 200') ? 'accepted' : `answered ${line}`
  }
  return (await child).timedOut ? 'no answer within 10 s' : 'refused'
}

/** A row for each peer and what it met; directions with equal cells share it. @param {Attempt[]} attempts */
function renderTable(attempts) {
  const planes = [...new Set(attempts.map(f => f.plane))]
  const cellOf = (/** @type {Attempt} */ { plane, peer, direction }) => {
    const matching = attempts.filter(f => f.plane === plane && f.peer === peer && f.direction === direction)
    const [listed, open] = ['listed', 'open'].map(
      policy => matching.find(f => f.policy === policy)?.outcome ?? 'not tried',
    )
    return listed === open ? listed : `${listed}; ${open}: open policy`
  }
  /** @type {Map<string, { peer: string, cells: string[], directions: string[] }>} */
  const rows = new Map()
  for (const one of attempts.filter(f => f.plane === planes[0] && f.policy === 'listed')) {
    const cells = planes.map(plane => cellOf({ ...one, plane }))
    const key = JSON.stringify([one.peer, cells])
    const row = rows.get(key) ?? { peer: one.peer, cells, directions: [] }
    rows.set(key, { ...row, directions: [...row.directions, one.direction] })
  }
  const lines = [...rows.values()].map(({ peer, cells, directions }) => [peer, directions.join(', '), ...cells])
  const head = ['the peer', 'tried', ...planes]
  return [head, head.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |\n`).join('')
}
