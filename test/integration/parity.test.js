import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeCertificates } from '../../src/lib/certificates.js'
import { identityOf, PORTS } from '../../src/model/sidecar-contract.js'
import { LEFT_OUT } from '../../src/node/parity/corpus.js'
import { ADMISSIONS, ANSWERS, REFUSALS } from '../../src/node/parity/probe.js'
import { send } from '../../src/node/send.js'
import { probeRig } from '../../src/run/parity/gate.js'
import { createRig, SERVICES } from '../../src/run/parity/rig.js'
import { createLocalTarget } from '../../src/targets/local/index.js'
import { capWay, sidecarPlanes } from './real-tools.js'

const folder = mkdtempSync(path.join(os.tmpdir(), 'parity-test-'))
const { signal } = new AbortController()

describe.each(sidecarPlanes)('the sidecar of $plane.name', ({ plane, tool }) => {
  /** @type {Awaited<ReturnType<typeof createLocalTarget>>} */
  let target
  /** @type {import('../../src/run/parity/rig.js').Rig} */
  let rig

  beforeAll(async () => {
    if (!tool) return
    await writeCertificates({
      folder: path.join(folder, 'certificates'),
      services: SERVICES.map(name => ({ name, identity: identityOf(name) })),
    })
    target = await createLocalTarget({ runId: `test-${process.pid}-${Date.now()}`, way: capWay })
    rig = await createRig({
      ...{ target, index: 0, plane, tool, scripts: path.resolve('pipy-scripts'), signal },
      ...{ certificates: path.join(folder, 'certificates'), folder: path.join(folder, plane.name) },
      profile: null,
    })
  })

  afterAll(async () => {
    await rig?.close()
    await target?.close()
    rmSync(folder, { recursive: true, force: true })
    console.log(`The parity corpus leaves out:\n  ${LEFT_OUT.join('\n  ')}`)
  })

  it.for(ANSWERS)('answers $name', async ({ name }, context) => {
    needTool(context)
    expect(await rig.call('check', { name })).toBe('')
  })

  it.for(ADMISSIONS)('lets in $name', async ({ name }, context) => {
    needTool(context)
    expect(await rig.call('check', { name })).toBe('')
  })

  it.for(REFUSALS)('refuses $name', async ({ name }, context) => {
    needTool(context)
    expect(await rig.call('check', { name })).toBe('')
  })

  it('negotiates TLS 1.3 with the pinned suite and group, though a peer would rather have another', async context => {
    needTool(context)
    expect(await rig.call('negotiateAsServer', null)).toBe('TLSv1.3 TLS_AES_128_GCM_SHA256 X25519')
    expect(await rig.call('negotiateAsServer', { options: { ecdhCurve: 'P-256' } })).toMatch(/^no TLS/)
  })

  it('is found to do what it must in every row, its connections to the application kept', async context => {
    needTool(context)
    const rows = await probeRig(rig)
    expect(rows.map(row => row.found)).toEqual(rows.map(row => row.expected))
    expect(rows.map(row => row.name)).toEqual([
      'parity-answers',
      'parity-refusals',
      'parity-tls',
      'parity-pooling',
      'parity-logging',
    ])
    expect(await rig.call('listNegotiated', undefined)).toContainEqual(
      expect.objectContaining({ serverName: 'server' }),
    )
  })

  it('keeps connections alive on both sides, one request at a time', async context => {
    needTool(context)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const client = { address: rig.places.client.reach, port: PORTS.outbound }
    const before = await rig.call('countConnections', undefined)
    const ports = new Set()
    for (let i = 0; i < 50; i++) ports.add((await send(client, { host: 'echo' }, { agent })).localPort)
    agent.destroy()
    expect(ports.size).toBe(1)
    expect((await rig.call('countConnections', undefined)) - before).toBeLessThanOrEqual(1)
  })

  it('is still the processes that were started', context => {
    needTool(context)
    expect(rig.sidecars.processes.map(p => p.ending())).toEqual([null, null, null])
  })

  /** @param {import('vitest').TestContext} context */
  function needTool(context) {
    if (!tool) context.skip(`needs ${plane.name}, which cannot be had here`)
  }
})
