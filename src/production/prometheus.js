import { z } from 'zod'
import { BenchError } from '../lib/errors.js'
import { parseJson } from '../lib/json.js'
import { MIB } from '../lib/units.js'

/** Reads from Prometheus by instant queries over its HTTP API, each with a timeout. */

/**
 * @typedef {{ labels: Record<string, string>, value: number }} Sample
 * @typedef {ReturnType<typeof openPrometheus>} Prometheus
 */

const BYTES_MOST = 64 * MIB
/** The timeout is an hour at most: a timer of Node.js beyond 24 days fires at once. */
const DEADLINE_MS_MOST = 3_600_000
const TEXT_MOST = 200
const QUOTED_MOST = 60
/** A larger value is a fault: this is a petabyte, and more cores than any node has. */
const VALUE_MOST = 1e15
/** A smaller value counts as 0: this is a picocore, and a division by less may overflow. */
const VALUE_LEAST = 1e-12

// https://prometheus.io/docs/prometheus/latest/querying/api/
const answerSchema = z.object({
  status: z.enum(['success', 'error']),
  error: z.string().optional(),
  warnings: z.array(z.string()).optional(),
  data: z
    .object({
      resultType: z.string(),
      result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
    })
    .optional(),
})

/**
 * Opens a Prometheus; sends nothing yet.
 * @param {object} options
 * @param {URL} options.url its base address, with a path prefix if it has one; a percent-encoded user and password in it are sent
 *   as basic auth; its search and fragment are dropped
 * @param {number} options.deadlineSeconds timeout of each query, clamped to a millisecond at least and an hour at most
 * @param {string} [options.token] sent as a bearer token, instead of the user in the URL; empty counts as absent
 * @param {AbortSignal} [options.signal] ends queries
 * @returns address: without credentials; query: sends an instant query; warnings: of all answers so far, each once; it grows
 * @throws {URIError} if there is no token, and the user or password has a `%` that encodes nothing
 */
export function openPrometheus({ url, deadlineSeconds, token, signal }) {
  // Prometheus takes whole units, and so do timers.
  const deadlineMs = Math.min(DEADLINE_MS_MOST, Math.max(1, Math.round(1000 * deadlineSeconds)))
  const address = renderAddress(url)
  const server = { address, headers: createHeaders(url, token), deadlineMs, signal }
  /** @type {Set<string>} */
  const warnings = new Set()

  /**
   * Sends an instant query. Samples whose value is NaN or infinite are left out.
   * @param {string} expression PromQL
   * @param {string} subject of the query, for errors
   * @returns {Promise<Sample[]>} []: no series matches
   * @throws {BenchError} for a timeout, a refusal, an answer that is not of Prometheus, or a value that no kernel counter or gauge
   *   can have; the signal's reason when it aborts
   */
  async function query(expression, subject) {
    const { status, text } = await fetchAnswer(server, { expression, subject })
    const parsed = answerSchema.safeParse(parseJson(text))
    const { data, error, warnings: queryWarnings = [] } = parsed.data ?? {}
    if (data === undefined && error === undefined) throw new BenchError(renderForeignAnswer({ address, status, text }))
    if (data === undefined)
      throw new BenchError(renderQueryRefusal({ address, subject, status, error: `${error}`, expression }))
    for (const warning of queryWarnings) warnings.add(warning)
    return data.result.flatMap(({ metric, value: [, text] }) => {
      const value = parseValue(text, { address, subject })
      return value === null ? [] : [{ labels: metric, value }]
    })
  }

  return { address, query, warnings }
}

/**
 * Renders a base address without credentials, search, fragment and final slash.
 * @param {URL} url
 * @returns {string}
 */
function renderAddress(url) {
  const base = new URL(url)
  base.username = ''
  base.password = ''
  base.search = ''
  base.hash = ''
  return base.href.replace(/\/$/, '')
}

/**
 * Sends an instant query, and reads the answer unparsed.
 * @param {{ address: string, headers: Record<string, string>, deadlineMs: number, signal?: AbortSignal }} server
 * @param {{ expression: string, subject: string }} query
 * @returns {Promise<{ status: number, text: string }>} status: that of HTTP, whatever it is
 * @throws {BenchError} for a timeout, a failed connection, or an answer above BYTES_MOST; the signal's reason when it aborts
 */
async function fetchAnswer({ address, headers, deadlineMs, signal }, { expression, subject }) {
  const url = new URL(`${address}/api/v1/query`)
  url.searchParams.set('query', expression)
  url.searchParams.set('timeout', `${deadlineMs}ms`)
  const deadline = AbortSignal.timeout(deadlineMs)
  try {
    const response = await fetch(url, { headers, signal: signal ? AbortSignal.any([signal, deadline]) : deadline })
    return { status: response.status, text: await readBody(response, address) }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof BenchError) throw cause
    if (deadline.aborted)
      throw new BenchError(
        `${address} did not answer within ${deadlineMs / 1000} s (${subject}): give --query-timeout more, or --for less`,
        { cause },
      )
    throw new BenchError(
      `cannot reach Prometheus at ${address}: ${findFetchReason(cause)}; in a cluster: kubectl port-forward svc/prometheus 9090, then --from-prometheus http://localhost:9090`,
      { cause },
    )
  }
}

/**
 * Parses the value of a sample, in cores, bytes, seconds or requests per second. One below VALUE_LEAST becomes 0.
 * @param {string} text
 * @param {{ address: string, subject: string }} query
 * @returns {number | null} null: it is NaN or infinite, as the throttled share of no periods is
 * @throws {BenchError} for a value that no counter or gauge of a kernel can have
 */
function parseValue(text, { address, subject }) {
  if (text === 'NaN' || /^[+-]Inf$/.test(text)) return null
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!(value >= 0 && value <= VALUE_MOST))
    throw new BenchError(
      `${address} answered ${JSON.stringify(text.slice(0, QUOTED_MOST))} (${subject}), which is no number of cores, bytes or requests: look at what it scrapes`,
    )
  return value < VALUE_LEAST ? 0 : value
}

/**
 * Creates the authorization header of the token, else of the user in the URL.
 * @param {URL} url whose user and password are percent-encoded
 * @param {string | undefined} token
 * @returns {Record<string, string>} {}: there is neither, or a password alone
 * @throws {URIError} if there is no token, and the user or password has a `%` that encodes nothing
 */
function createHeaders({ username, password }, token) {
  if (token) return { authorization: `Bearer ${token}` }
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/**
 * Reads the body of an answer as UTF-8.
 * @param {Response} response
 * @param {string} address for the error
 * @returns {Promise<string>} empty: it has no body
 * @throws {BenchError} if it is longer than BYTES_MOST; an error of the connection
 */
async function readBody({ body }, address) {
  const chunks = []
  let bytes = 0
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (body ?? [])) {
    bytes += chunk.length
    if (bytes > BYTES_MOST)
      throw new BenchError(
        `the answer of ${address} is longer than ${BYTES_MOST / MIB} MiB: name fewer with --container`,
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Finds why `fetch` failed, from the cause of its error, else from the error itself: its code, such as ECONNREFUSED, else its
 * message, else that of the first error in it.
 * @param {unknown} error
 * @returns {string | undefined} undefined: it has none of these
 */
function findFetchReason(error) {
  const { cause = error } = /** @type {Error} */ (error)
  const { code, message, errors: [first] = [] } = /** @type {AggregateError & { code?: string }} */ (cause)
  return code ?? (message || first?.message)
}

/**
 * Renders the error for an answer that is none of Prometheus' API. It asks for credentials after 401 and 403, and otherwise quotes
 * the first QUOTED_MOST characters of the answer.
 * @param {{ address: string, status: number, text: string }} answer
 * @returns {string}
 */
function renderForeignAnswer({ address, status, text }) {
  if (status === 401 || status === 403)
    return `${address} answered ${status}: it wants a user and password (https://USER:PASSWORD@HOST) or a token (PROMETHEUS_TOKEN)`
  const begin = text.trim().replaceAll(/\s+/g, ' ').slice(0, QUOTED_MOST)
  return `${address} is no Prometheus: it answered ${status} to /api/v1/query, with ${begin ? `"${begin}"` : 'nothing'}; give its base address, with the path prefix where it has one`
}

/**
 * Renders the error for a query that was refused. It advises to ask for less if the query was too large or slow, and otherwise
 * quotes the query. The error and the query are cut to TEXT_MOST characters.
 * @param {{ address: string, subject: string, status: number, error: string, expression: string }} refusal
 * @returns {string}
 */
function renderQueryRefusal({ address, subject, status, error, expression }) {
  const quotedQuery = expression.length > TEXT_MOST ? `${expression.slice(0, TEXT_MOST)}…` : expression
  const isTooLarge = /too many samples|timed out|timeout/.test(error)
  const advice = isTooLarge ? 'ask for less: --for 1d, or one --container' : `the query was ${quotedQuery}`
  return `${address} refused a query (${subject}, ${status}): ${error.slice(0, TEXT_MOST)}; ${advice}`
}
