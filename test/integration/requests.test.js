import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { judgeTrial } from '../../src/judge/gates.js'
import { k6 } from '../../src/loads/k6/index.js'
import { wrk } from '../../src/loads/wrk/index.js'
import { createRequestKind } from '../../src/model/requests.js'
import { readRun } from '../../src/records/records.js'
import { createApplication } from '../../src/services/applications.js'
import { createRecord } from '../fakes/fake-records.js'
import { listen } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'
import { need, tools } from './real-tools.js'

/** @import { Load, LoadGenerator, LoadResult, RequestKind } from '../../src/model/types.ts' */
/** @import { RequestOptions } from '../../src/model/requests.js' */

const folder = makeFolder('requests-test')
const GENERATORS = { k6, wrk }

/** @type {Load} */
const LOAD = {
  ...{ kind: 'closed', users: 4, warmupSeconds: 0.5, windowSeconds: 1, connections: 'kept' },
  ...{ hasCertificate: false, burst: null },
}

/**
 * The result of a load on an address.
 * @param {LoadGenerator} generator @param {{ port: number, requests: RequestKind[], load?: Partial<Load>, scheme?: string }} options
 */
async function drive(generator, { port, requests, load, scheme = 'http' }) {
  const { program, argv, env } = generator.createGenerator({
    ...{ urls: [`${scheme}://127.0.0.1:${port}/`], certificate: null, host: 'ratings', admin: null, folder },
    tool: /** @type {any} */ (tools[generator.name]),
    scripts: path.resolve(generator.scripts),
    ...{ tailMs: 300, cpus: 1, load: { ...LOAD, ...load, requests } },
  })
  const { all: log, exitCode } = await execa(program, argv, { all: true, env, reject: false })
  expect(exitCode, log).toBe(0)
  return /** @type {LoadResult} */ (generator.parseResult(log))
}

/** @param {LoadResult} load @param {RequestKind[]} requests */
function judge(load, requests) {
  const arm = { load: { ...LOAD, requests, payloadBytes: undefined } }
  const record = createRecord({ arm, load: { ...load, reportedUsers: LOAD.users } })
  return judgeTrial(/** @type {any} */ ({ ...record, processes: [] }), []).reasons.filter(reason =>
    /^(answers|errors|service-time)/.test(reason),
  )
}

/** @param {'pipy' | 'node'} name @param {{ kind: 'answer' | 'grpc-answer', requests: RequestKind[] }} options @param {(port: number) => Promise<unknown>} use */
async function withApplication(name, { kind, requests }, use) {
  const server = http.createServer()
  const { port } = await listen(server)
  await new Promise(resolve => server.close(resolve))
  const { program, argv } = createApplication({
    ...{ service: 'ratings', kind, listen: { address: '127.0.0.1', port }, next: null, requests, folder },
    runtime: /** @type {any} */ (name === 'node' ? { name, path: process.execPath, version: '' } : tools.pipy),
    scripts: path.resolve('echo'),
  })
  const child = execa(program, argv, { reject: false })
  try {
    for (let i = 0; ; i++) {
      const isUp = await fetch(`http://127.0.0.1:${port}/none`).then(
        () => true,
        error => error.cause?.code !== 'ECONNREFUSED',
      )
      if (isUp) break
      expect(i, 'the application does not listen').toBeLessThan(100)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    await use(port)
  } finally {
    child.kill('SIGKILL')
    await child
  }
}

describe('an application that answers what is asked for', { timeout: 60_000 }, () => {
  it.for(
    /** @type {['pipy' | 'node', 'k6' | 'wrk', RequestOptions][]} */ ([
      ['pipy', 'k6', { responseBytes: 14336, serviceTime: '30ms' }],
      ['node', 'wrk', { responseBytes: 14336, serviceTime: '30ms' }],
      ['pipy', 'wrk', { method: 'PUT', requestBytes: 3000, responseBytes: 40, requestHeaderBytes: 400 }],
      ['node', 'k6', { method: 'DELETE', responseBytes: 5, serviceTime: 'exp:5ms', requestHeaderBytes: 4000 }],
      ['node', 'k6', { method: 'HEAD' }],
      ['pipy', 'k6', { method: 'HEAD' }],
    ]),
  )('by %s, keeps to it under %s: %j', async ([name, generatorName, options], context) => {
    need(context, generatorName, ...(name === 'pipy' ? ['pipy'] : []))
    const requests = [createRequestKind(options, 1024)]
    await withApplication(name, { kind: 'answer', requests }, async port => {
      const result = await drive(GENERATORS[generatorName], { port, requests })
      expect(result).toMatchObject({ failed: 0, corrupted: 0, failures: [] })
      expect(result.verified).toBeGreaterThan(50)
      expect(judge(result, requests)).toEqual([])
      expect(result.waited !== undefined).toBe(options.serviceTime !== undefined)
      if (options.serviceTime !== '30ms') return
      // A tenth of the service time: an application that waited twice or not at all would be off by all of it. What else runs on
      // a busy machine makes an application later, and nothing makes it earlier.
      const allowedMs = 3
      let lateMs = Number(result.waited?.lateP50Ms)
      for (let i = 0; i < 4 && lateMs >= allowedMs; i++) {
        const { waited } = await drive(GENERATORS[generatorName], { port, requests })
        lateMs = Math.min(lateMs, Number(waited?.lateP50Ms))
      }
      expect(lateMs).toBeLessThan(allowedMs)
    })
  })

  it('counts a call of gRPC that fails as none, whose answer would be empty', async context => {
    need(context, 'k6')
    const made = [createRequestKind({ requestBytes: 5, responseBytes: 0, protocol: 'grpc' }, 1024)]
    // The application refuses calls with a message of another size.
    await withApplication('node', { kind: 'grpc-answer', requests: [{ ...made[0], requestBytes: 6 }] }, async port => {
      const result = await drive(k6, { port, requests: made, scheme: 'grpc' })
      expect(result.verified).toBe(0)
      expect(result.failed).toBeGreaterThan(10)
    })
  })

  it('answers calls of gRPC', async context => {
    need(context, 'k6')
    const requests = [createRequestKind({ responseBytes: 14336, serviceTime: '30ms', protocol: 'grpc' }, 1024)]
    await withApplication('node', { kind: 'grpc-answer', requests }, async port => {
      const result = await drive(k6, { port, requests, scheme: 'grpc' })
      expect(result).toMatchObject({ failed: 0, corrupted: 0, failures: [], waited: { meanMs: 30 } })
      expect(result.verified).toBeGreaterThan(50)
      expect(judge(result, requests)).toEqual([])
    })
  })
})

describe('a mix of requests', { timeout: 60_000 }, () => {
  it('comes as its weights say, from every user, whatever the number of requests', async context => {
    need(context, 'k6')
    const kinds = [
      { ...createRequestKind({ responseBytes: 300 }, 1024), path: '/items', weight: 7 },
      { ...createRequestKind({ responseBytes: 20 }, 1024), path: '/items/id', weight: 2 },
      { ...createRequestKind({ method: 'POST', requestBytes: 60, responseBytes: 5 }, 1024), path: '/orders' },
    ]
    /** @type {Record<string, number>} */
    const counts = {}
    const server = http.createServer(async (request, response) => {
      let bytes = 0
      for await (const chunk of request) bytes += chunk.length
      const name = `${request.method} ${request.url} ${bytes}`
      counts[name] = (counts[name] ?? 0) + 1
      const { responseBytes } = /** @type {RequestKind} */ (kinds.find(({ path }) => path === request.url))
      const nonce = `${request.headers['x-nonce'] ?? ''}`
      setTimeout(
        () => response.writeHead(200, { 'x-nonce': nonce }).end((nonce + 'x'.repeat(300)).slice(0, responseBytes)),
        5,
      )
    })
    const { port } = await listen(server)
    const result = await drive(k6, { port, requests: kinds })
    server.closeAllConnections()
    server.close()
    expect(result).toMatchObject({ failed: 0, corrupted: 0 })
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
    expect(Object.keys(counts).toSorted()).toEqual(['GET /items 0', 'GET /items/id 0', 'POST /orders 60'])
    for (const [name, share] of /** @type {const} */ ([
      ['GET /items 0', 0.7],
      ['GET /items/id 0', 0.2],
      ['POST /orders 60', 0.1],
    ]))
      expect(Math.abs(counts[name] - share * all), name).toBeLessThanOrEqual(2 * LOAD.users)
  })
})

describe('an application that lies', { timeout: 60_000 }, () => {
  /** @param {{ bytes?: number, waitMs?: number, nonce?: string }} lie */
  const createLiar = ({ bytes = 1000, waitMs = 30, nonce }) =>
    http.createServer((request, response) => {
      const sent = `${request.headers['x-nonce'] ?? ''}`
      const headers = { 'x-nonce': nonce ?? sent, 'x-waited': '30.000 0.300' }
      setTimeout(() => response.writeHead(200, headers).end((sent + 'x'.repeat(bytes)).slice(0, bytes)), waitMs)
    })

  it.for(
    /** @type {['k6' | 'wrk', Parameters<typeof createLiar>[0], string][]} */ ([
      ['k6', { bytes: 999 }, 'answers: no request was answered correctly in the window'],
      ['wrk', { bytes: 999 }, 'answers: no request was answered correctly in the window'],
      ['k6', { waitMs: 20 }, 'before the service time of 30 ms was over'],
      ['wrk', { waitMs: 20 }, 'before the service time of 30 ms was over'],
      ['k6', { nonce: 'kept' }, 'answers came back with a wrong body or nonce'],
    ]),
  )('is caught under %s: %j', async ([name, lie, words], context) => {
    need(context, name)
    const requests = [createRequestKind({ responseBytes: 1000, serviceTime: '30ms' }, 1024)]
    const server = createLiar(lie)
    const { port } = await listen(server)
    const result = await drive(GENERATORS[name], { port, requests })
    server.closeAllConnections()
    server.close()
    expect(judge(result, requests).join('\n')).toContain(words)
  })
})

describe('an answer in chunks', { timeout: 180_000 }, () => {
  it('is passed on as it comes by the scripts, nginx and HAProxy of the kit, and a copy that keeps it is named', async context => {
    need(context, 'pipy', 'nginx', 'haproxy', 'k6')
    const keeps = path.join(folder, 'keeps')
    cpSync('pipy-scripts', keeps, { recursive: true })
    const config = path.join(keeps, 'config.js')
    writeFileSync(config, readFileSync(config, 'utf8').replace('config.streamsAnswers ? 1 : 16384', '16384'))
    const out = path.join(mkdtempSync(path.join(folder, 'chunks-')), 'run')
    const options = `cost --chunks 10/10ms --link ratings --profile smoke --planes pipy,pipy=${keeps},nginx,haproxy --out ${out}`
    const { all } = await execa('node', ['src/cli.js', 'bench', ...options.split(' ')], { all: true, reject: false })
    const { records, manifest } = readRun(out)
    const kept = records
      .filter(({ gates }) => gates.some(({ gate }) => gate === 'streams'))
      .map(({ trial: { arm } }) => arm.variant ?? arm.plane)
    expect(kept, all).toEqual([keeps])
    const rows = manifest.parity?.filter(({ name }) => name === 'parity-chunks') ?? []
    expect(new Map(rows.map(({ plane, found: actual }) => [plane, actual.split(' ')[0]])), all).toEqual(
      new Map(Object.entries({ pipy: 'the', 'pipy=keeps': 'kept', nginx: 'the', haproxy: 'the' })),
    )
    expect(
      records.map(({ streams }) => streams?.length ?? 0).every(count => count > 0),
      all,
    ).toBe(true)
  })
})
