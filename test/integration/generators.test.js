import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { writeCertificates } from '../../src/lib/certificates.js'
import { hashFolder } from '../../src/lib/hash.js'
import { k6 } from '../../src/loads/k6/index.js'
import { wrk } from '../../src/loads/wrk/index.js'
import { locateCredentials } from '../../src/model/certificate-files.js'
import { hasWholeRecord, parseClientGroups } from '../../src/parity/beside/hello.js'
import { readRun } from '../../src/records/records.js'
import { listen } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'
import { awaitPids, endChild, expectNothingLeft } from './leftovers.js'
import { need, tools } from './real-tools.js'

/**
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 * @import { Load, LoadGenerator, LoadResult, Tls } from '../../src/model/types.ts'
 */

const folder = makeFolder('generators-test')
let count = 0

/** @type {Load} */
const LOAD = {
  ...{ kind: 'closed', users: 6, payloadBytes: 100, warmupSeconds: 0.5, windowSeconds: 1, connections: 'kept' },
  ...{ hasCertificate: false, burst: null },
}

/**
 * The load of a generator on an echo, of which some answers are others.
 * @param {(request: IncomingMessage, response: ServerResponse, body: string, nth: number) => unknown} [answer] nth: of
 *   all requests; true where it has answered
 * @param {{ load?: Partial<Load>, cpus?: number, generator?: LoadGenerator }} [options]
 */
async function drive(answer = () => false, { load, cpus = 1, generator = wrk } = {}) {
  /** @type {{ socket: unknown, body: string, atMs: number }[]} */
  const requests = []
  const server = http.createServer(async (request, response) => {
    const atMs = Date.now()
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ socket: request.socket, body, atMs })
    if (!(await answer(request, response, body, requests.length))) response.end(body)
  })
  const { port } = await listen(server)
  const { program, argv, env } = generator.createGenerator({
    ...{ urls: [`http://127.0.0.1:${port}/`], certificate: null, host: 'echo', admin: null, folder },
    tool: /** @type {any} */ (tools[generator.name]),
    scripts: path.resolve(generator.scripts),
    tailMs: 300,
    cpus,
    load: { ...LOAD, ...load },
  })
  const began = performance.now()
  const { all: log, exitCode } = await execa(program, argv, { all: true, env, reject: false })
  const seconds = (performance.now() - began) / 1000
  server.closeAllConnections()
  server.close()
  expect(exitCode, log).toBe(0)
  const result = /** @type {LoadResult} */ (generator.parseResult(log))
  return { requests, result, seconds, window: generator.parseWindow(log) }
}

it.concurrent('k6 spreads its rate over all addresses but a loud one, whatever users the loud one has', async context => {
  need(context, 'k6')
  /** @type {Record<string, number>} */
  const sent = {}
  const servers = await Promise.all(
    ['loud', 'a', 'b', 'c', 'd'].map(async name => {
      const server = http.createServer((request, response) => {
        sent[name] = (sent[name] ?? 0) + 1
        request.pipe(response)
      })
      return { server, port: (await listen(server)).port }
    }),
  )
  const { program, argv, env } = k6.createGenerator({
    ...{ urls: servers.map(({ port }) => `http://127.0.0.1:${port}/`), certificate: null, host: 'echo', admin: null },
    ...{ tool: /** @type {any} */ (tools.k6), scripts: path.resolve(k6.scripts), tailMs: 300, cpus: 1, folder },
    load: { ...LOAD, kind: 'open', users: 16, ratePerSecond: 200, loudPerSecond: 400 },
  })
  const { all: log } = await execa(program, argv, { all: true, env, reject: false })
  for (const { server } of servers) {
    server.closeAllConnections()
    server.close()
  }
  const { verified, failed, loud } = /** @type {LoadResult} */ (k6.parseResult(log))
  expect({ failed, loudFailed: loud?.failed, due: loud?.due }, log).toEqual({ failed: 0, loudFailed: 0, due: 400 })
  expect(loud?.verified).toBeGreaterThan(300)
  // Four users each of the quiet ones, and a rate that goes to the users in turn.
  for (const count of loud?.quiet ?? []) expect(Math.abs(count - verified / 4)).toBeLessThan(0.05 * verified)
  expect(loud?.quiet).toHaveLength(4)
  expect(sent.loud).toBeGreaterThan(sent.a + sent.b)
})

it.concurrent('k6 sends a share of a post-quantum group first if sidecars prefer one, and else none', async context => {
  need(context, 'k6')
  const certificates = path.join(folder, 'certificates')
  await writeCertificates({
    folder: certificates,
    services: [{ name: 'load', identity: 'spiffe://sidecar-bench/load' }],
  })
  const certificate = locateCredentials('load', certificates)
  const readShares = async (/** @type {Tls} */ tls) => {
    /** @type {NonNullable<ReturnType<typeof parseClientGroups>>['shares'][]} */
    const offers = []
    const server = net.createServer(socket => {
      let hello = Buffer.alloc(0)
      socket
        .on('error', () => {})
        .on('data', data => {
          hello = Buffer.concat([hello, data])
          if (!hasWholeRecord(hello)) return
          offers.push(parseClientGroups(hello)?.shares ?? [])
          socket.destroy()
        })
    })
    const { port } = await listen(server)
    const { program, argv, env } = k6.createGenerator({
      ...{ urls: [`https://127.0.0.1:${port}/`], certificate, tls, host: 'echo', admin: null },
      ...{ folder, tool: /** @type {any} */ (tools.k6), scripts: path.resolve(k6.scripts), tailMs: 0, cpus: 1 },
      load: { ...LOAD, users: 1, windowSeconds: 0.5, hasCertificate: true },
    })
    await execa(program, argv, { env, reject: false, timeout: 20_000 })
    server.close()
    return offers[0]
  }
  expect(await readShares('ecdsa-p256+x25519mlkem768')).toEqual(['X25519MLKEM768', 'X25519'])
  expect(await readShares('ecdsa-p256')).toEqual(['X25519'])
})

/**
 * Of four wrong answers to each hundred requests, however many a busy machine makes; at the edges of the window, each user
 * may be in another order.
 * @param {number} failed @param {number} all
 * @param {number} most of each hundred, where some are also counted before and after the window
 */
function expectFourOfEachHundred(failed, all, most = 4) {
  expect(all).toBeGreaterThan(100)
  expect(failed).toBeGreaterThanOrEqual(4 * Math.floor(all / 100) - LOAD.users)
  expect(failed).toBeLessThanOrEqual(most * Math.ceil(all / 100) + LOAD.users)
}

describe('wrk', { timeout: 60_000 }, () => {
  it.for([
    1, 2, 3,
  ])('counts in the window what a server counts, with %d threads, a user on a connection', async (cpus, context) => {
    need(context, 'wrk')
    const { requests, result, window, seconds } = await drive(undefined, { cpus, load: { users: 24 } })
    const inWindow = requests.filter(r => window && r.atMs >= window.startMs && r.atMs < window.endMs)
    expect(result.verified / inWindow.length).toBeGreaterThan(0.98)
    expect(result.verified / inWindow.length).toBeLessThan(1.02)
    expect(result).toMatchObject({ failed: 0, corrupted: 0, coldUsers: 0, reportedUsers: 24, failures: [] })
    expect(result.distribution?.count).toBe(result.verified)
    const inSecondHalf = inWindow.filter(r => window && r.atMs >= (window.startMs + window.endMs) / 2)
    expect(result.verifiedInSecondHalf / inSecondHalf.length).toBeGreaterThan(0.96)
    expect(result.verifiedInSecondHalf / inSecondHalf.length).toBeLessThan(1.04)
    const usersOf = new Map()
    for (const { socket, body } of requests) usersOf.set(socket, new Set(usersOf.get(socket)).add(body.slice(0, 8)))
    expect([...usersOf.values()].map(users => users.size)).toEqual(Array(24).fill(1))
    expect(new Set([...usersOf.values()].flatMap(users => [...users])).size).toBe(24)
    const nonces = requests.map(r => r.body).filter(body => /^\d+-\d+-\d{13}-/.test(body))
    expect(new Set(nonces).size).toBe(nonces.length)
    expect(nonces.length).toBeGreaterThanOrEqual(Math.floor(requests.length / 50))
    // It ends when its users do.
    expect(seconds).toBeLessThan(3.5)
  })

  it('measures from the request to its answer', async context => {
    need(context, 'wrk')
    const { result } = await drive(() => delay(20))
    const [, p50] = result.distribution?.grid.find(([at]) => at === 0.5) ?? []
    expect(result.distribution?.meanMs).toBeGreaterThan(19.5)
    expect(p50).toBeGreaterThan(19.5)
    // Little's law.
    expect((result.verified * Number(result.distribution?.meanMs)) / 1000).toBeGreaterThan(5.5)
    expect((result.verified * Number(result.distribution?.meanMs)) / 1000).toBeLessThan(6.3)
  })

  it('counts wrong statuses, lengths and bodies, an answer of another request, and broken connections', async context => {
    need(context, 'wrk')
    const paced = () => delay(2)
    const other = await drive(async (_, response, body, nth) => {
      await paced()
      if (nth % 100 === 20) return response.writeHead(503).end()
      if (nth % 100 === 40) return response.end(`${body}x`)
      if (nth % 100 === 60) return response.writeHead(500).end(body)
      if (nth % 100 === 80) return response.destroy()
      return false
    })
    const { failed, verified, failures, reportedUsers, corrupted } = other.result
    expectFourOfEachHundred(failed, failed + verified)
    expect(corrupted).toBe(0)
    // A user whose connection breaks at the very end says no more.
    expect(reportedUsers).toBeGreaterThanOrEqual(5)
    expect(failures.sort()).toEqual([
      'a connection broke before its answer',
      'status 200, 101 bytes',
      'status 500, 100 bytes',
      'status 503, 0 bytes',
    ])

    const turned = await drive(async (_, response, body, nth) => {
      await paced()
      return nth === 100 && response.end(`${body.slice(0, -1)}y`)
    })
    expect(turned.result.corrupted).toBe(1)

    // The right answer to what the same user asked before.
    const stale = await drive(async (_, response, body) => {
      await paced()
      return /^\d+-/.test(body) && response.end(body.slice(0, 8).padEnd(body.length, 'x'))
    })
    expect(stale.result.corrupted).toBeGreaterThan(1)
  })

  it('counts users that hang, and users that are cold', async context => {
    need(context, 'wrk')
    const [hung, cold] = await Promise.all([
      drive((_, __, _body, nth) => delay(2).then(() => nth === 300)),
      drive((_, __, body) => delay(/^0+1/.test(body) ? 400 : 2).then(() => false)),
    ])
    expect(hung.result).toMatchObject({ reportedUsers: 5, coldUsers: 0, failed: 0 })
    expect(cold.result).toMatchObject({ reportedUsers: 6, coldUsers: 1, failed: 0 })
  })
})

describe('k6', { timeout: 60_000 }, () => {
  /** Some answers are others, of requests with a nonce or of those without. @param {boolean} hasNonce */
  const turnSome = hasNonce => {
    const every = hasNonce ? 5 : 100
    let requests = 0
    let turned = 0
    /** @type {Parameters<typeof drive>[0]} */
    const answer = async (_, response, body) => {
      await delay(2)
      if (/^\d+-/.test(body) !== hasNonce || ++requests % every !== 4) return false
      turned++
      return response.end(`${body.slice(0, -1)}y`)
    }
    return { answer, count: () => turned }
  }

  it.for([
    ['closed', true],
    ['closed', false],
    ['open', true],
    ['open', false],
  ])('compares the whole body of every answer: %s loop, with a nonce: %s', async ([kind, hasNonce], context) => {
    need(context, 'k6')
    const { answer, count } = turnSome(Boolean(hasNonce))
    const load = kind === 'open' ? { kind, ratePerSecond: 2000, users: 20 } : {}
    const { result } = await drive(answer, { generator: k6, load: /** @type {Partial<Load>} */ (load) })
    expect(count()).toBeGreaterThan(0)
    // A user whose time is over may be given an answer that it no longer reads.
    expect(result.corrupted).toBeLessThanOrEqual(count())
    expect(result.corrupted).toBeGreaterThanOrEqual(Math.max(1, count() - 20))
    expect(result.failures[0]).toBe('status 200, 100 bytes, another body')
    expect(result.failed).toBeGreaterThan(0)
    expect(result.failed).toBeLessThanOrEqual(count())
  })

  it('counts a wrong status, with and without the payload, another length, and a broken connection', async context => {
    need(context, 'k6')
    const { result } = await drive(
      async (_, response, body, nth) => {
        await delay(2)
        if (nth % 100 === 20) return response.writeHead(503).end()
        if (nth % 100 === 40) return response.end(`${body}x`)
        if (nth % 100 === 60) return response.writeHead(500).end(body)
        if (nth % 100 === 80) return response.destroy()
        return false
      },
      { generator: k6 },
    )
    const { failed, verified, corrupted } = result
    // A wrong status with the payload counts as in the window whenever it came.
    expectFourOfEachHundred(failed, failed + verified, 6)
    expect(corrupted / (failed + verified)).toBeGreaterThan(0.005)
  })
})

/** @param {import('vitest').TestContext} context @param {string} generator @param {string[]} argv */
function start({ onTestFinished }, generator, argv) {
  const out = path.join(folder, `run-${++count}`)
  const common = ['--measure', 'capacity', '--generator', generator, '--link', 'ratings', '--cpu', '0.5', '--out', out]
  const options = { reject: false, forceKillAfterDelay: 30_000 }
  const child = execa('node', ['src/cli.js', 'bench', ...common, ...argv], options)
  onTestFinished(() => endChild(child))
  return { out, child }
}

/**
 * The kit's Pipy sidecar, which now and then does something else to a request.
 * @param {string} name @param {string} pipeline @param {number} share of the requests
 */
function writeLiar(name, pipeline, share) {
  const variant = path.join(folder, name)
  cpSync('pipy-scripts', variant, { recursive: true })
  const file = path.join(variant, 'proxy.js')
  const text = readFileSync(file, 'utf8')
  // Not to the nonce before load.
  const changed = text
    .replace(
      '.to(way)',
      `.to($=>$.pipe(start => !start.head.headers['x-nonce'] && Math.random() < ${share} ? other : way))`,
    )
    .replace('var notFound =', `var other = ${pipeline}\nvar notFound =`)
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
  return variant
}

describe('a run with --generator wrk', { timeout: 180_000 }, () => {
  it('measures the planes, says who made the load, and is verified', async context => {
    need(context, 'pipy', 'envoy', 'wrk', 'caps')
    const { out, child } = start(context, 'wrk', ['--profile', 'smoke'])
    const { stdout, stderr, exitCode } = await child
    expect(exitCode, stderr).toBe(0)
    expect(stdout.replace(/\s+/g, ' ')).toContain('load by wrk')
    const { manifest, records } = readRun(out)
    expect(Object.keys(manifest.tools)).not.toContain('k6')
    expect(manifest.tools.wrk).toMatchObject({ name: 'wrk', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(manifest.scripts).toContainEqual({
      ...{ role: 'generator', plane: null, variant: null },
      sha256: hashFolder('bench/wrk'),
    })
    for (const { trial, outcome, boundBy, load, processes, gates } of records) {
      expect(outcome, JSON.stringify(gates)).toBe('completed')
      expect(load).toMatchObject({ failed: 0, corrupted: 0, coldUsers: 0, reportedUsers: trial.arm.load.users })
      // Beside other work a sidecar may miss a part of its cap; where this machine was the limit, most of it.
      const used = processes.filter(p => p.role === 'sidecar').map(p => p.cpuCores)
      if (trial.arm.hasSidecars && boundBy !== 'host')
        expect(Math.max(...used), `bound by ${boundBy}`).toBeGreaterThan(0.5 * Number(trial.arm.cpuLimitCores))
    }
    expectNothingLeft()
    const verified = await execa('node', ['src/cli.js', 'verify', out])
    expect(verified.stdout).toMatch(/all of them agree/)
  })

  it('stops in order on Ctrl-C, and leaves nothing behind', async context => {
    need(context, 'pipy', 'wrk', 'caps')
    const { out, child } = start(context, 'wrk', ['--profile', 'smoke', '--planes', 'pipy'])
    await awaitPids('wrk-generator', out)
    child.kill('SIGINT')
    expect((await child).exitCode).toBe(130)
    expectNothingLeft()
  })
})

// Other lies told to k6 are in lies.test.js, users of wrk that hang above.
describe.for(['k6', 'wrk'])('with %s, a lie is caught:', { timeout: 180_000 }, generator => {
  const lies = /** @type {const} */ ([
    [
      'another length',
      "pipeline($=>$.replaceMessage(reply(200, 'x')))",
      0.01,
      /errors: \d+ requests failed .*200, 1 bytes/,
    ],
    [
      'another status',
      "pipeline($=>$.replaceMessage(reply(503, '')))",
      0.01,
      /errors: \d+ requests failed .*status 503/,
    ],
    [
      'another body',
      "pipeline($=>$.replaceMessage(m => new Message({}, m.body.toString().slice(0, -2) + 'yz')))",
      0.2,
      /answers: \d+ answers came back with a wrong body or nonce/,
    ],
    [
      'no answer',
      'pipeline($=>$.wait(() => new Timeout(100).wait()).replaceMessage(new Message))',
      0.0003,
      /hung-users: \d of 5 users never came through the window: their requests hung/,
    ],
  ])
  // Users hang once in thousands of requests: a run beside this would take half of them.
  const itTries = generator === 'k6' ? it : it.concurrent
  itTries.for(lies.filter(([name]) => (generator === 'k6') === (name === 'no answer')))(
    '%s',
    async ([name, pipeline, share, reason], context) => {
      need(context, 'pipy', 'caps', /** @type {'k6' | 'wrk'} */ (generator))
      const variant = writeLiar(`${generator} ${name}`.replaceAll(' ', '-'), pipeline, share)
      const argv = ['--profile', 'smoke', '--users', '5', '--planes', `pipy=${variant}`]
      const { out, child } = start(context, generator, argv)
      const { exitCode, stderr } = await child
      expect(exitCode, stderr).toBe(3)
      const [record] = readRun(out).records
      expect(record.outcome, record.reasons.join()).toBe('invalid')
      expect(record.reasons.join('; ')).toMatch(reason)
    },
  )
})
