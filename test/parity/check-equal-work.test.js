import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SERVICES } from '../../src/certificates/credentials.js'
import { writeFlawedCertificates } from '../../src/certificates/flawed-certificates.js'
import { none } from '../../src/dataplanes/none/index.js'
import { writeCertificates } from '../../src/lib/certificates.js'
import { AgentError, BenchError, EndedError } from '../../src/lib/errors.js'
import { locateCertificates } from '../../src/model/certificate-files.js'
import { createCheckRequest, createRequestKind } from '../../src/model/requests.js'
import { createPlace, PROBER, renderSpiffeId } from '../../src/model/sidecar-contract.js'
import { SERVERS } from '../../src/parity/beside/peers.js'
import { openParityCache } from '../../src/parity/cache.js'
import { checkEqualWork } from '../../src/parity/check-equal-work.js'
import { renderWrongRows } from '../../src/parity/verdict/rows.js'
import { createFakePlane, createFakeTarget, fakeTool } from '../fakes/fake-bench.js'
import { createArm, DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { Arm, DataPlane, ParityRow, SidecarOptions } from '../../src/model/types.ts' */
/** @import { ParityCache } from '../../src/parity/cache.js' */

const folder = makeFolder('gate-test')
const certificates = path.join(folder, 'certificates')

beforeAll(async () => {
  const services = SERVICES.map(name => ({ name, identity: renderSpiffeId(name) }))
  // Nothing here looks at the type of a key, and RSA keys take seconds.
  for (const keyType of /** @type {const} */ (['ecdsa-p256', 'rsa-2048'])) {
    const folder = locateCertificates(certificates, keyType)
    await writeFlawedCertificates({ folder, authority: await writeCertificates({ folder, services }) })
  }
})

/**
 * A testbed of one plane whose tool has another name, and a prober that finds what it is asked to open.
 * @param {{ trafficPolicy?: 'listed' | 'open', look?: () => Promise<never>, probeAnswers?: () => any,
 *   findLacks?: DataPlane['findLacks'] }} [options]
 */
async function createTestbed({ trafficPolicy = 'listed', look, probeAnswers, findLacks } = {}) {
  const fake = await createFakeTarget()
  /** @type {any[]} */
  const opened = []
  /** @type {SidecarOptions[]} */
  const rendered = []
  const plane = createFakePlane('cheap')
  /** @type {Record<string, (args: any) => unknown>} */
  const procedures = {
    open: args => void opened.push(args),
    close: () => {},
    reach: () => {},
    probeAnswers: probeAnswers ?? (() => [{ name: 'parity-tls', found: 'x', expected: 'x', differences: [] }]),
    probeLoneRetry: () => ({ name: 'parity-answers', found: 'x', expected: 'x', differences: [] }),
    probePooling: () => ({ row: { name: 'parity-pooling', found: 'x', expected: 'x', differences: [] }, requests: 1 }),
  }
  const target = {
    ...fake,
    placesFor: async (/** @type {number} */ index, /** @type {string[]} */ services) => ({
      ...(await fake.placesFor(index, services)),
      [PROBER]: createPlace('127.251.250.1'),
    }),
    call: async (/** @type {string} */ name, /** @type {any} */ args) =>
      name in procedures ? procedures[name](args) : fake.call(/** @type {any} */ (name), args),
    look: look ?? fake.look,
  }
  const client = { name: 'client', application: null, calls: ['echo'] }
  const echo = { name: 'echo', application: 'echo', calls: [] }
  const topologies = {
    link: { name: 'link', services: [echo], entry: { service: 'echo', listener: 'inbound' } },
    strict: { name: 'strict', services: [client, echo], entry: { service: 'client', listener: 'outbound' } },
  }
  const testbed = /** @type {any} */ ({
    settings: { trafficPolicy, relaxes: [] },
    site: { target, cpus: 4 },
    programs: {
      planes: {
        cheap: {
          ...plane,
          findLacks,
          tool: { ...plane.tool, name: 'proxy' },
          createSidecar: (/** @type {SidecarOptions} */ options) => {
            rendered.push(options)
            const { inbound, outbound } = options.model
            const listens = [inbound, outbound].flatMap(at => (at ? [{ address: at.address, port: at.port }] : []))
            return { ...plane.createSidecar?.(options), listens }
          },
        },
      },
      tools: { proxy: { ...fakeTool, name: 'proxy' } },
      appRuntime: { ...fakeTool, name: 'pipy' },
    },
    layout: { topologies, placementOf: () => null },
    folders: { pipyScripts: '/p', echo: '/e', certificates, raw: path.join(folder, 'raw') },
  })
  return { testbed, opened, rendered, running: fake.running }
}

/**
 * @param {any} testbed @param {Arm[]} arms
 * @param {Partial<Pick<import('../../src/run/kind.js').GateOptions, 'signal' | 'say' | 'leaveOut' | 'findShortage'>> & { cache?: ParityCache }} [options]
 */
function gate(testbed, arms, { signal = new AbortController().signal, say = () => {}, ...options } = {}) {
  let index = 0
  return checkEqualWork({ testbed, arms, nextIndex: () => index++, signal, say, ...options })
}

const armOf = (/** @type {Partial<Arm['conditions']>} */ conditions, fields = {}) =>
  createArm({ plane: 'cheap', ...fields, conditions: { ...DEFAULT_CONDITIONS, ...conditions } })

describe('checkEqualWork', () => {
  it('tries every configuration that is measured once, whatever the caps and users', async () => {
    const { testbed, opened, rendered } = await createTestbed({ trafficPolicy: 'open' })
    const arms = [
      armOf({}),
      armOf({}, { cpuLimitCores: 1 }),
      armOf({ tls: 'rsa-2048' }),
      armOf({ tls: 'plaintext', protocol: 'http/2' }),
      armOf({}, { repeatOf: 'link-cheap' }),
    ]
    const rows = await gate(testbed, arms)
    const { configuration } = opened[0]
    expect(configuration).toMatchObject({ tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'open' })
    expect(opened.map(o => [o.configuration.tls, o.configuration.protocol])).toEqual([
      ['ecdsa-p256', 'http/1.1'],
      ['rsa-2048', 'http/1.1'],
      ['plaintext', 'http/2'],
    ])
    expect(rows.filter(row => row.name === 'parity-tls')).toMatchObject([
      { plane: 'cheap', tls: 'ecdsa-p256', protocol: 'http/1.1', trafficPolicy: 'open', size: null },
      { tls: 'rsa-2048' },
      { tls: 'plaintext', protocol: 'http/2' },
    ])
    expect(rows.filter(row => row.name === 'parity-workers').map(row => [row.tls, row.size?.cpuLimitCores])).toEqual([
      ['ecdsa-p256', 0.25],
      ['ecdsa-p256', 1],
      ['rsa-2048', 0.25],
      ['plaintext', 0.25],
    ])
    expect(new Set(rendered.map(r => r.tool.name))).toEqual(new Set(['proxy']))
  })

  it('reads an answer in chunks, of the arm whose load has them', async () => {
    const { testbed } = await createTestbed()
    const streamed = [createRequestKind({ responseBytes: 400, chunks: '4/20ms' }, 1024)]
    const { call } = testbed.site.target
    testbed.programs.tools.node = { ...fakeTool, name: 'node' }
    testbed.site.target.call = async (/** @type {string} */ name, /** @type {any} */ args) => {
      if (name === 'stream') return { status: 200, bytes: 400, spanMs: 5 }
      const answer = await call(name, args)
      // The application of the load with chunks answers bodies of its own.
      return args?.request?.method === 'GET'
        ? { ...answer, body: createCheckRequest({ requests: streamed }, args.request.headers['x-nonce']).answer }
        : answer
    }
    const arms = [armOf({}), armOf({}, { id: 'link-streams', load: { requests: streamed } })]
    const ofChunks = (/** @type {ParityRow[]} */ rows) => rows.filter(({ name }) => name === 'parity-chunks')
    expect(ofChunks(await gate(testbed, arms))).toMatchObject([
      { found: 'kept until the last was written', size: { link: 'link' } },
    ])
    expect(ofChunks(await gate(testbed, [armOf({})]))).toEqual([])
  })

  it('tries connections as they come to sidecars, in each form that is measured', async () => {
    const { testbed, rendered } = await createTestbed()
    const forms = /** @type {const} */ (['none', 'redirect'])
    const arms = forms.map(interception => armOf({ interception }))
    const rows = (await gate(testbed, arms)).filter(row => row.name === 'parity-tls')
    expect(rows.map(row => row.interception)).toEqual(forms)
    const tried = rendered.filter(({ model }) => model.service === 'server')
    expect(tried.map(({ model }) => model.inbound?.redirectedPorts)).toEqual([undefined, [8080]])
    // A row of one form says nothing of the other; one of an older version was of both.
    const parity = [{ ...rows[1], found: 'less' }]
    const judge = (/** @type {ParityRow[]} */ judgedRows) =>
      arms.map(arm => renderWrongRows({ judged: [{ arm, rows: judgedRows }], relaxed: [] }).length)
    expect(judge(parity)).toEqual([0, 1])
    expect(judge(parity.map(({ interception: _, ...row }) => row))).toEqual([1, 1])
  })

  it('gives the sidecars what is measured', async () => {
    const { testbed, rendered } = await createTestbed({ trafficPolicy: 'open' })
    await gate(testbed, [armOf({ tls: 'rsa-2048' })])
    const models = Object.fromEntries(rendered.map(({ model }) => [model.service, model]))
    expect(models.server.inbound).toMatchObject({ mtls: 'strict', acceptedIdentities: null })
    expect(models.permissive.inbound).toMatchObject({ mtls: 'permissive', acceptedIdentities: null })
    expect(models.server.trust.certificatePath).toBe(`${certificates}-rsa/server.pem`)
    expect(models.client.clusters.map(c => c.mtls?.acceptedIdentities)).toEqual(Array(3 + SERVERS.length).fill(null))

    const listed = await createTestbed()
    await gate(listed.testbed, [armOf({ protocol: 'http/2' })])
    const [client, server, permissive] = listed.rendered.slice(-3).map(({ model }) => model)
    for (const { inbound } of [server, permissive])
      expect(inbound).toMatchObject({ protocol: 'http/2', acceptedIdentities: [renderSpiffeId('client')] })
    expect(client.clusters.map(c => [c.name, c.protocol, c.mtls?.acceptedIdentities])).toEqual([
      ['server', 'http/2', [renderSpiffeId('server')]],
      ['observed', 'http/2', [renderSpiffeId('server')]],
      ['p256', 'http/2', [renderSpiffeId('server')]],
      ...SERVERS.map(([name]) => [name, 'http/2', [renderSpiffeId('client')]]),
    ])

    const plain = await createTestbed()
    await gate(plain.testbed, [armOf({ tls: 'plaintext' })])
    expect(plain.rendered.at(-3)?.model.clusters.map(c => [c.name, c.mtls])).toEqual(
      ['server', 'observed', 'p256'].map(name => [name, null]),
    )
    expect(plain.rendered.slice(-2).map(({ model }) => model.inbound?.mtls)).toEqual(['disabled', 'disabled'])
  })

  it('judges a row of a mode on the links that have it, and gives the reasons that the plane declares', async () => {
    const probeAnswers = () => [
      { name: 'parity-permissive', mode: 'permissive', found: 'x', expected: 'y', differences: ['a peer: refused'] },
      { name: 'parity-upstreams', found: 'x', expected: 'y', differences: ['a peer: taken', 'another: taken'] },
    ]
    const findLacks = (/** @type {{ modes: string[] }} */ { modes }) => [
      ...(modes.includes('permissive') ? [{ row: 'parity-permissive', why: 'it has one mode' }] : []),
      { row: 'parity-upstreams', of: /^a peer/, why: 'it takes a peer' },
    ]
    const { testbed } = await createTestbed({ probeAnswers, findLacks })
    /** @type {string[]} */
    const said = []
    const options = { signal: new AbortController().signal, say: (/** @type {string} */ line) => void said.push(line) }
    const rows = await gate(testbed, [armOf({}), armOf({}, { link: 'strict' })], options)
    const [permissive, upstreams] = ['parity-permissive', 'parity-upstreams'].map(name =>
      rows.find(row => row.name === name),
    )
    expect(permissive).toMatchObject({ links: ['link'], lacks: ['it has one mode'] })
    // No reason covers the second peer.
    expect(upstreams?.lacks).toBeUndefined()
    // A single plane is compared with nothing.
    expect(said.join('\n')).not.toContain('unequal work')
    const strict = await gate((await createTestbed({ probeAnswers, findLacks })).testbed, [
      armOf({}, { link: 'strict' }),
    ])
    expect(strict.map(row => row.name)).not.toContain('parity-permissive')
  })

  it.each([
    ['parity-refusals', 'plaintext, in strict mode: accepted, expected refused', undefined],
    ['parity-upstreams', 'plaintext, as an upstream: accepted, expected refused', undefined],
    ['parity-refusals', 'plaintext, in strict mode: answered 403, expected refused', true],
    ['parity-refusals', 'TLS 1.2, in strict mode: accepted, expected refused', true],
    ['parity-permissive', 'plaintext, in permissive mode: refused, expected accepted', true],
  ])('excuses a plane as deployed in %s: %s', async (name, difference, isDeployed) => {
    const found = '1 peers treated otherwise'
    const probeAnswers = () => [{ name, found, expected: 'all refused', differences: [difference] }]
    const { testbed } = await createTestbed({ probeAnswers })
    const deployed = { shipped: { from: 'a mesh', deviations: [] } }
    Object.assign(testbed.programs.planes.cheap, { profiles: ['lean', 'shipped'], deployed })
    const rows = await gate(testbed, [armOf({}, { profile: 'shipped' })])
    expect(rows.find(row => row.name === name)?.isDeployed).toBe(isDeployed)
    expect(rows.find(row => row.name === 'parity-answers')?.isDeployed).toBe(true)
  })

  it("holds against a plane what its sidecars do, and no fault of the kit's", async () => {
    const failing = async (/** @type {Error} */ error) =>
      gate((await createTestbed({ probeAnswers: () => Promise.reject(error) })).testbed, [armOf({})])
    expect((await failing(new BenchError('it hung'))).map(row => row.found)).toContain(
      'does not serve the corpus: it hung',
    )
    await expect(failing(new AgentError('listen EADDRINUSE'))).rejects.toThrow('EADDRINUSE')
  })

  /**
   * A testbed whose processes of one role do not start beside a plane, arms of that plane, and what is left out.
   * @param {{ role?: string, ending?: string | null }} [options] ending: of these processes, null: they go on
   */
  async function createBroken({ role = 'sidecar', ending = null } = {}) {
    const { testbed, running } = await createTestbed()
    const { target } = testbed.site
    const crash = () => Promise.reject(new BenchError('ended with status 134'))
    const deploy = async (/** @type {any[]} */ ...args) => {
      const deployment = await target.deploy(...args)
      for (const handle of deployment.processes) {
        if (handle.spec.role !== role || !handle.spec.folder.includes('broken')) continue
        Object.assign(handle, { waitUntilReady: crash, ...(ending && { ending: () => ending }) })
      }
      return deployment
    }
    testbed.site = { ...testbed.site, target: { ...target, deploy } }
    testbed.programs.planes.broken = testbed.programs.planes.cheap
    const broken = ['broken', 'broken-1'].map(id => armOf({}, { plane: 'broken', id }))
    /** @type {any[]} */
    const failures = []
    const leaveOut = (/** @type {Arm[]} */ arms, /** @type {string} */ reason) =>
      void failures.push([arms.map(({ id }) => id), reason])
    return { testbed, running, broken, failures, leaveOut }
  }

  it('leaves out arms whose sidecars do not serve while another serves, and keeps no row of them', async () => {
    const { testbed, running, broken, failures, leaveOut } = await createBroken()
    const rows = await gate(testbed, [...broken, armOf({})], { leaveOut })
    expect(failures).toEqual([[['broken', 'broken-1'], 'ended with status 134']])
    expect(new Set(rows.map(({ plane }) => plane))).toEqual(new Set(['cheap']))
    await expect(gate(testbed, broken, { leaveOut })).rejects.toThrow('ended with status 134')
    await expect(gate(testbed, [...broken, armOf({})])).rejects.toThrow('ended with status 134')
    expect(running.size).toBe(0)
  })

  it('leaves no arm out for an application that exited, and one whose sidecar exited', async () => {
    const ending = 'status 134'
    const ofApplication = await createBroken({ role: 'application', ending })
    const arms = [...ofApplication.broken, armOf({})]
    await expect(gate(ofApplication.testbed, arms, { leaveOut: ofApplication.leaveOut })).rejects.toThrow(EndedError)
    expect(ofApplication.failures).toEqual([])
    const ofSidecar = await createBroken({ ending })
    await gate(ofSidecar.testbed, arms, { leaveOut: ofSidecar.leaveOut })
    expect(ofSidecar.failures).toHaveLength(1)
  })

  it('leaves no arm out if the machine ran out of local ports', async () => {
    const { testbed, broken, failures, leaveOut } = await createBroken()
    const findShortage = () => 'this machine ran out of local ports'
    await expect(gate(testbed, [...broken, armOf({})], { leaveOut, findShortage })).rejects.toThrow(
      'it could not be tried whether planes do equal work: this machine ran out of local ports',
    )
    expect(failures).toEqual([])
  })

  it('ends at once if it is interrupted in a call, and removes what it started', async () => {
    const abort = new AbortController()
    const probeAnswers = () => {
      setTimeout(() => abort.abort(new Error('interrupted')), 10)
      return new Promise(() => {})
    }
    const { testbed, running } = await createTestbed({ probeAnswers })
    await expect(gate(testbed, [armOf({})], abort)).rejects.toThrow('interrupted')
    expect(running.size).toBe(0)
  })

  it('removes what it started when the processes cannot be looked at', async () => {
    const { testbed, running } = await createTestbed({ look: async () => Promise.reject(new Error('no such cgroup')) })
    await expect(gate(testbed, [armOf({})])).rejects.toThrow('no such cgroup')
    expect(running.size).toBe(0)
  })
})

describe('an equal-work check that passed before', () => {
  /** @param {Awaited<ReturnType<typeof createTestbed>>} rig */
  async function createCached(rig) {
    const cacheRoot = makeFolder('gate-cache-test')
    const scripts = path.join(cacheRoot, 'scripts')
    mkdirSync(scripts)
    writeFileSync(path.join(scripts, 'main.js'), 'pipy()')
    const { testbed } = rig
    testbed.folders = { ...testbed.folders, pipyScripts: scripts, echo: scripts }
    testbed.programs.planes.cheap.hasVariants = true
    for (const tool of [testbed.programs.tools.proxy, testbed.programs.appRuntime]) tool.path = process.execPath
    const cacheAt = (isRechecked = false) =>
      openParityCache({ folder: path.join(cacheRoot, 'equal-work'), isRechecked })
    /** @type {string[]} */
    const said = []
    const run = async (arms = [armOf({})], isRechecked = false) => {
      rig.opened.length = 0
      said.length = 0
      const rows = await gate(testbed, arms, { say: line => said.push(line), cache: cacheAt(isRechecked) })
      return { rows, tried: rig.opened.length, said: [...said] }
    }
    return { run, testbed, scripts }
  }

  it('is not made again, and its rows say when it was', async () => {
    const { run } = await createCached(await createTestbed())
    const first = await run()
    expect(first).toMatchObject({ tried: 1, said: ['checking 1 arm, and that the planes do equal work'] })
    const second = await run()
    expect(second.tried).toBe(0)
    expect(second.said).toEqual([
      expect.stringMatching(/^equal work: (\d) of \1 checks passed before \(last at .* UTC\).*--recheck\)$/),
    ])
    expect(second.rows.map(({ triedAt, ...row }) => row)).toEqual(first.rows)
    expect(second.rows.every(row => /^\d{4}-/.test(`${row.triedAt}`))).toBe(true)
    expect((await run([armOf({})], true)).tried).toBe(1)
  })

  it('is all that counts: that applications start without sidecars is not tried for itself', async () => {
    const { run, testbed } = await createCached(await createTestbed())
    testbed.programs.planes.none = none
    const arms = [armOf({}), createArm({ plane: 'none', hasSidecars: false, conditions: DEFAULT_CONDITIONS })]
    expect((await run(arms)).said).toEqual(['checking 2 arms, and that the planes do equal work'])
    expect((await run(arms)).said).toEqual([
      expect.stringMatching(/^equal work: (\d) of \1 checks passed before \(last at/),
    ])
  })

  /** @type {[string, (cached: Awaited<ReturnType<typeof createCached>>) => void][]} */
  const CHANGES = [
    ['a byte of the scripts', ({ scripts }) => writeFileSync(path.join(scripts, 'main.js'), 'pipy( )')],
    ['the program', ({ testbed }) => void Object.assign(testbed.programs.tools.proxy, { sha256: 'another' })],
    ['the version of the program', ({ testbed }) => void Object.assign(testbed.programs.tools.proxy, { version: '9' })],
    [
      'a file of the system that a configuration includes',
      ({ testbed, scripts }) => {
        const included = path.join(scripts, '../included.conf')
        writeFileSync(included, 'a module')
        testbed.programs.planes.cheap.systemFiles = [included]
      },
    ],
    ['the traffic policy', ({ testbed }) => void Object.assign(testbed.settings, { trafficPolicy: 'open' })],
    [
      'the rendered configuration',
      ({ testbed }) => {
        const { createSidecar } = testbed.programs.planes.cheap
        testbed.programs.planes.cheap.createSidecar = (/** @type {SidecarOptions} */ options) => ({
          ...createSidecar(options),
          argv: ['--other'],
        })
      },
    ],
  ]
  it.each(CHANGES)('is made again if %s has changed', async (_, change) => {
    const cached = await createCached(await createTestbed())
    await cached.run()
    expect((await cached.run()).tried).toBe(0)
    change(cached)
    expect((await cached.run()).tried).toBe(1)
  })

  it('is made again in every run if connections are redirected, by programs of the system', async () => {
    const cached = await createCached(await createTestbed())
    const arms = [armOf({ interception: 'redirect' })]
    await cached.run(arms)
    expect((await cached.run(arms)).tried).toBe(1)
  })

  it.each([
    { tls: 'rsa-2048' },
    { protocol: 'http/2' },
    { tls: 'plaintext' },
  ])('is of its conditions alone: %j', async conditions => {
    const { run } = await createCached(await createTestbed())
    await run()
    expect((await run([armOf(/** @type {any} */ (conditions))])).tried).toBe(1)
  })

  it('is made again if the program is a script, which starts others', async () => {
    const { run, testbed, scripts } = await createCached(await createTestbed())
    const wrapper = path.join(scripts, '../proxy')
    writeFileSync(wrapper, '#!/bin/sh\nexec /usr/local/bin/proxy "$@"\n')
    testbed.programs.tools.proxy.path = wrapper
    await run()
    expect((await run()).tried).toBe(1)
  })

  it('is made again if it did not pass', async () => {
    const wrong = { name: 'parity-tls', found: 'x', expected: 'y', differences: [] }
    const { run } = await createCached(await createTestbed({ probeAnswers: () => [wrong] }))
    await run()
    expect((await run()).tried).toBe(1)
  })
})
