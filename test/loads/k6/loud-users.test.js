import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ROOT } from '../../../src/lib/paths.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @type {any} */
const k6 = globalThis
const GLOBALS = ['__ENV', '__VU', 'execution', 'answer', 'counted']
// k6 runs the scripts once for each user, with modules of its own.
const MODULES = {
  'http.js': `export default {
    expectedStatuses: () => null,
    setResponseCallback: () => {},
    post: (url, body) => globalThis.answer(url, body),
  }`,
  'metrics.js': `class Metric {
    constructor(name) { this.name = name }
    add(value) { globalThis.counted[this.name] = (globalThis.counted[this.name] ?? 0) + value }
  }
  export { Metric as Counter, Metric as Trend }`,
  'execution.js': 'export default globalThis.execution',
  'grpc.js': 'export default {}',
  'package.json': JSON.stringify({
    name: 'k6',
    type: 'module',
    exports: {
      ...{ './http': './http.js', './metrics': './metrics.js', './execution': './execution.js' },
      './net/grpc': './grpc.js',
    },
  }),
}
const QUIET = ['http://b/', 'http://c/', 'http://d/']
const ENVIRONMENT = {
  ...{ URLS: ['http://a/', ...QUIET].join(','), HOST: 'gateway', PAYLOAD_BYTES: '8', USERS: '6' },
  ...{ RATE: '60', LOUD_RATE: '100', WARMUP_MS: '0', WINDOW_MS: '60000', TAIL_MS: '0', PIECE_MS: '0' },
  CONNECTIONS: 'kept',
}
// The window has begun.
const edges = [Date.now() - 1000, Date.now() + 30_000, Date.now() + 60_000]

beforeEach(() => {
  Object.assign(k6, {
    __ENV: ENVIRONMENT,
    execution: { scenario: { startTime: Date.now(), iterationInTest: 0 }, vu: { metrics: { tags: {} } } },
    answer: (/** @type {string} */ _, /** @type {string} */ body) => ({ status: 200, body }),
    counted: {},
  })
})
afterEach(() => {
  for (const name of GLOBALS) delete k6[name]
})

/** Makes a user, which runs a copy of the scripts. @param {string} folder @param {number} number */
async function createUser(folder, number) {
  const copy = path.join(folder, `${number}`)
  cpSync(path.join(ROOT, 'bench/k6'), copy, { recursive: true })
  writeFileSync(path.join(copy, 'package.json'), '{ "type": "module" }')
  const modules = path.join(copy, 'node_modules/k6')
  mkdirSync(modules, { recursive: true })
  for (const [name, text] of Object.entries(MODULES)) writeFileSync(path.join(modules, name), text)
  k6.__VU = number
  return import(/* @vite-ignore */ pathToFileURL(path.join(copy, 'open-loop.js')).href)
}

it('loads each quiet address alike, for any user numbers that a loud pair leaves to the others', async () => {
  const folder = makeFolder('loud-users')
  /** @type {Record<string, number>} */
  const sent = {}
  k6.answer = (/** @type {string} */ url, /** @type {string} */ body) => {
    sent[url] = (sent[url] ?? 0) + 1
    return { status: 200, body }
  }
  // Each third of the numbers: all of them are the same place.
  const users = []
  for (const number of [3, 6, 9, 12, 15, 18]) users.push(await createUser(folder, number))
  for (let i = 0; i < 60; i++) {
    k6.execution.scenario.iterationInTest = i
    users[i % users.length].default(edges)
  }
  expect(sent).toEqual(Object.fromEntries(QUIET.map(url => [url, 20])))
  expect([0, 1, 2].map(i => k6.counted[`quiet_${i}`])).toEqual([20, 20, 20])
})

it('counts failed requests to a loud pair apart from those of the others', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const user = await createUser(makeFolder('loud-users'), 1)
  user.askLoud(edges)
  k6.answer = (/** @type {string} */ url, /** @type {string} */ body) => ({ status: 503, body, error: url })
  user.askLoud(edges)
  // As another status with the body that was sent, k6 counts it among failed requests: none of the others.
  expect(k6.counted).toEqual({ loud_verified: 1, loud_failed: 1, known_failures: 1 })
  // Before the window and after it nothing counts.
  user.askLoud([edges[1], edges[2], edges[2]])
  expect(k6.counted).toMatchObject({ loud_verified: 1, loud_failed: 1, known_failures: 2 })
  // A user says its first failure.
  expect(log.mock.calls).toEqual([['loud pair: status 503, http://a/']])
  log.mockRestore()
})
