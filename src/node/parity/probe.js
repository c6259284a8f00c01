import http from 'node:http'
import tls from 'node:tls'
import { PORTS, TLS } from '../../model/sidecar-contract.js'
import { send } from '../send.js'
import { CASES, IGNORED_HEADERS } from './corpus.js'

/**
 * @import { Credentials, Upstreams } from './upstreams.js'
 * @import { Seen } from './corpus.js'
 * @import { Ask } from '../send.js'
 */

const SPLIT_REQUESTS = 400
const SPLIT_SHARE = 0.8
// Of one degree of freedom at 0.5 % (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
const CHI_SQUARE_MOST = 7.879
const POOL_CLIENTS = 8
const POOL_REQUESTS = 20
// What a peer would rather have is not what the sidecar is pinned to, where there is a choice. The suite is
// the client's to order: Envoy cannot name its own for TLS 1.3, and as a client puts the pinned one first.
const PREFERENCES = { ecdhCurve: 'P-256:X25519', ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384' }

/**
 * What a check needs.
 * @typedef {Pick<Upstreams, 'countConnections' | 'negotiated'> & { sidecars: Record<string, string>,
 *   credentials: Record<string, Credentials> }} Probed sidecars: their addresses, by service
 */

/**
 * One thing a plane must do.
 * @typedef {{ name: string, run: (rig: Probed) => Promise<string> }} Check run: what was found, empty when it is as it must be
 */

/** What must be answered alike. @type {Check[]} */
export const ANSWERS = [
  ...CASES.map(({ name, request, expected }) => ({
    name,
    run: async (/** @type {Probed} */ rig) => findDifference(await ask(rig, request), expected),
  })),
  {
    name: 'a refused connection, tried once more at the endpoint that is next',
    run: async rig => {
      const answers = []
      for (let i = 0; i < 20; i++) answers.push(await ask(rig, { host: 'half', method: 'POST', body: `${i}` }))
      const wrong = answers.filter((a, i) => a.status !== 200 || a.upstream !== 'a' || a.body !== `${i}`)
      return wrong.length > 0 ? `${wrong.length} of 20 failed` : ''
    },
  },
  {
    name: 'an upstream of another identity than the accepted',
    run: async rig => findDifference(await ask(rig, { host: 'stranger-only' }), { status: 503, upstream: undefined }),
  },
  {
    name: 'a split by weight',
    // Tested again before it is called wrong: one honest sample in 200 is as far off.
    run: async rig => ((await isSplitRight(rig)) || (await isSplitRight(rig)) ? '' : 'not 80 : 20 (chi-square, 0.5 %)'),
  },
]

/** Who must be refused. @type {Check[]} */
export const REFUSALS = [
  ...['no certificate', 'a foreign authority', 'another identity', 'plaintext', 'TLS 1.2'].map(kind => ({
    name: `${kind}, in strict mode`,
    run: async (/** @type {Probed} */ rig) => isRefused(rig, 'server', credentialsOf(rig, kind)),
  })),
  {
    name: 'another identity, in permissive mode',
    run: async rig => isRefused(rig, 'permissive', rig.credentials.stranger),
  },
]

/** What must be let in, beside the corpus. @type {Check[]} */
export const ADMISSIONS = [
  ...['plaintext', 'an accepted identity'].map(kind => ({
    name: `${kind}, in permissive mode`,
    run: async (/** @type {Probed} */ rig) => {
      const answer = await send(
        { address: rig.sidecars.permissive, port: PORTS.inbound },
        { host: 'echo' },
        kind === 'plaintext' ? {} : { tls: { servername: 'server', ...rig.credentials.client } },
      ).catch(error => ({ status: error.message }))
      return answer.status === 200 ? '' : `${answer.status}`
    },
  })),
]

/** A row of the table, but for whose it is. @typedef {{ name: string, found: string, expected: string | null, differences: string[] }} Row */

/**
 * What is answered, refused and negotiated.
 * @param {Probed} rig
 * @returns {Promise<Row[]>}
 */
export async function probeAnswers(rig) {
  const rows = []
  for (const [name, checks] of /** @type {[string, Check[]][]} */ ([
    ['parity-answers', [...ANSWERS, ...ADMISSIONS]],
    ['parity-refusals', REFUSALS],
  ])) {
    const results = await Promise.all(
      checks.map(async check => ({ check, found: await check.run(rig).catch(error => `failed: ${error.message}`) })),
    )
    const differences = results.filter(r => r.found !== '').map(({ check, found }) => `${check.name}: ${found}`)
    const words = (/** @type {number} */ wrong) => `${checks.length - wrong} of ${checks.length} as they must be`
    rows.push({ name, found: words(differences.length), expected: words(0), differences })
  }
  const pinned = `TLSv1.3 ${TLS.suite} ${TLS.group}`
  const [asServer, asClient] = [await negotiateAsServer(rig), await negotiateAsClient(rig)]
  rows.push({
    name: 'parity-tls',
    found: asServer === asClient ? asServer : `as a server ${asServer}, as a client ${asClient}`,
    expected: pinned,
    differences: [],
  })
  return rows
}

/**
 * Whether connections are kept, by some requests.
 * @param {Probed} rig
 * @returns {Promise<{ row: Row, requests: number }>}
 */
export async function probePooling(rig) {
  const row = {
    name: 'parity-pooling',
    found: await observePooling(rig),
    expected: 'kept and used again',
    differences: [],
  }
  return { row, requests: POOL_CLIENTS * POOL_REQUESTS }
}

/**
 * What a handshake with the server's sidecar negotiates, offering every group that Node has.
 * @param {Probed} rig
 * @param {tls.ConnectionOptions} [options]
 * @returns {Promise<string>}
 */
export function negotiateAsServer(rig, options = rig.credentials.client) {
  return new Promise(resolve => {
    const socket = tls.connect({
      ...{ host: rig.sidecars.server, port: PORTS.inbound, servername: 'server', rejectUnauthorized: false },
      ...PREFERENCES,
      ...options,
    })
    socket.on('error', error => resolve(`no TLS (${error.message.trim()})`))
    socket.on('secureConnect', () => {
      const key = /** @type {tls.EphemeralKeyInfo} */ (socket.getEphemeralKeyInfo())
      resolve(
        `${socket.getProtocol()} ${socket.getCipher().name} ${key.name}${socket.isSessionReused() ? ' resumed' : ''}`,
      )
      socket.destroy()
    })
  })
}

/**
 * What the client's sidecar negotiates, twice, afresh each time; and that it takes no other group.
 * @param {Probed} rig
 */
async function negotiateAsClient(rig) {
  const before = rig.negotiated.length
  for (let i = 0; i < 2; i++) await ask(rig, { host: 'observed' }).catch(() => {})
  const other = await ask(rig, { host: 'p256' }).catch(() => ({ status: 0 }))
  if (other.status === 200) return 'takes P-256 too'
  const seen = rig.negotiated
    .slice(before)
    .map(n => `${n.version} ${n.suite} ${n.group}${n.isResumed ? ' resumed' : ''}`)
  return seen.length === 0 ? 'no TLS' : [...new Set(seen)].join(' and ')
}

/**
 * Whether a few clients' requests reach the upstream over as many connections, kept.
 * @param {Probed} rig
 */
async function observePooling(rig) {
  const before = rig.countConnections()
  await Promise.all(
    Array.from({ length: POOL_CLIENTS }, async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      for (let i = 0; i < POOL_REQUESTS; i++) await ask(rig, { host: 'echo' }, agent).catch(() => {})
      agent.destroy()
    }),
  )
  const opened = rig.countConnections() - before
  if (opened === 0 && before === 0) return 'the application was never connected'
  const requests = POOL_CLIENTS * POOL_REQUESTS
  return opened <= 2 * POOL_CLIENTS ? 'kept and used again' : `${opened} connections for ${requests} requests`
}

/** @param {Probed} rig */
async function isSplitRight(rig) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  const answers = await Promise.all(Array.from({ length: SPLIT_REQUESTS }, () => ask(rig, { host: 'split' }, agent)))
  agent.destroy()
  const counts = [answers.filter(a => a.upstream === 'a').length, answers.filter(a => a.upstream === 'b').length]
  const expected = [SPLIT_SHARE * SPLIT_REQUESTS, (1 - SPLIT_SHARE) * SPLIT_REQUESTS]
  const chiSquare = counts.reduce((sum, n, i) => sum + (n - expected[i]) ** 2 / expected[i], 0)
  return chiSquare <= CHI_SQUARE_MOST
}

/**
 * @param {Probed} rig
 * @param {Ask} request to the client's sidecar
 * @param {http.Agent} [agent]
 * @returns {Promise<Seen & { extraHeaders: string[] }>}
 */
async function ask(rig, request, agent) {
  const { status, body, headers } = await send({ address: rig.sidecars.client, port: PORTS.outbound }, request, {
    agent,
  })
  const get = (/** @type {string} */ name) => /** @type {string | undefined} */ (headers[name])
  return {
    ...{ status, body, upstream: get('x-upstream'), path: get('x-path'), method: get('x-method') },
    ...{ nonce: get('x-nonce'), long: get('x-long')?.length },
    extraHeaders: Object.keys(headers).filter(
      name => !IGNORED_HEADERS.test(name) && !name.startsWith('x-') && name !== 'content-type',
    ),
  }
}

/**
 * @param {Seen & { extraHeaders: string[] }} answer
 * @param {Partial<Seen>} expected
 */
function findDifference(answer, expected) {
  if (answer.extraHeaders.length > 0) return `headers of its own: ${answer.extraHeaders.join(', ')}`
  if (answer.status === 503 && answer.upstream === undefined && answer.body === '') return 'a 503 without a reason'
  for (const [name, value] of Object.entries(expected)) {
    const found = answer[/** @type {keyof Seen} */ (name)]
    if (found !== value) return `${name} ${show(found)}, expected ${show(value)}`
  }
  return ''
}

/** @param {unknown} value */
function show(value) {
  return typeof value === 'string' && value.length > 40 ? `${value.length} bytes` : `${value ?? 'none'}`
}

/**
 * @param {Probed} rig
 * @param {string} kind
 */
function credentialsOf(rig, kind) {
  if (kind === 'plaintext') return null
  if (kind === 'another identity') return rig.credentials.stranger
  if (kind === 'TLS 1.2') return { ...rig.credentials.client, maxVersion: /** @type {const} */ ('TLSv1.2') }
  return kind === 'no certificate' ? {} : rig.credentials.foreign
}

/**
 * @param {Probed} rig
 * @param {string} name of the sidecar
 * @param {tls.ConnectionOptions | null} credentials null: plaintext
 * @returns {Promise<string>} empty: it was
 */
async function isRefused(rig, name, credentials) {
  const options = credentials === null ? {} : { tls: { servername: 'server', ...credentials } }
  const endpoint = { address: rig.sidecars[name], port: PORTS.inbound }
  return send(endpoint, { host: 'echo' }, options).then(
    answer => `answered ${answer.status}`,
    () => '',
  )
}
