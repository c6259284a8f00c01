import { z } from 'zod'
import { BenchError } from '../lib/errors.js'
import { parseJson } from '../lib/json.js'
import { MIB } from '../lib/units.js'

/** Reads a Prometheus by instant queries over its HTTP API, each with a deadline. */

/**
 * @typedef {{ labels: Record<string, string>, value: number }} Sample
 * @typedef {Awaited<ReturnType<typeof openPrometheus>>} Prometheus
 */

const BYTES_MOST = 64 * MIB
/** An hour: a timer of Node.js beyond 24 days fires at once. */
const DEADLINE_MS_MOST = 3_600_000
const TEXT_MOST = 200
const QUOTED_MOST = 60
/** A larger value is a fault: a petabyte, and more cores than any node has. */
const VALUE_MOST = 1e15
/** A smaller value counts as 0: a picocore, and a division by less may overflow. */
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
 * @param {URL} options.url its base address, with a path prefix where it has one; a user and password in it are sent as basic
 *   auth, and its search and fragment are dropped
 * @param {number} options.deadlineSeconds of each query, clamped to a millisecond at least and an hour at most
 * @param {string} [options.token] sent as a bearer token, instead of the user in the URL
 * @param {AbortSignal} [options.signal] ends queries
 * @returns address: without credentials; query: sends an instant query; warnings: of all answers so far, each once
 */
export function openPrometheus({ url, deadlineSeconds, token, signal }) {
  // Prometheus takes whole units, and so do timers.
  const deadlineMs = Math.min(DEADLINE_MS_MOST, Math.max(1, Math.round(1000 * deadlineSeconds)))
  const base = new URL(url)
  const headers = createHeaders(base, token)
  base.username = ''
  base.password = ''
  base.search = ''
  base.hash = ''
  const address = base.href.replace(/\/$/, '')
  /** The distinct warnings of all answers. @type {Set<string>} */
  const warnings = new Set()

  /**
   * Sends an instant query. Samples whose value is NaN or infinite are left out.
   * @param {string} expression PromQL
   * @param {string} what it asks for, in words for errors
   * @throws {BenchError} without an answer in time, for a refusal, an answer that is not of Prometheus, or a value that is no number
   *   of a kernel
   */
  async function query(expression, what) {
    const url = new URL(`${address}/api/v1/query`)
    url.searchParams.set('query', expression)
    url.searchParams.set('timeout', `${deadlineMs}ms`)
    const { status, text } = await send(url, what)
    const parsed = answerSchema.safeParse(parseJson(text))
    const { data, error, warnings: queryWarnings = [] } = parsed.data ?? {}
    if (data === undefined && error === undefined) throw new BenchError(renderForeignAnswer({ address, status, text }))
    if (data === undefined)
      throw new BenchError(renderRefusal({ address, what, status, error: `${error}`, expression }))
    for (const warning of queryWarnings) warnings.add(warning)
    return data.result.flatMap(({ metric, value: [, text] }) => {
      const value = parseValue(text, { address, what })
      return value === null ? [] : [{ labels: metric, value }]
    })
  }

  /**
   * @param {URL} url
   * @param {string} what it asks for
   * @throws {BenchError} without an answer in time, and the abort of the signal
   */
  async function send(url, what) {
    const deadline = AbortSignal.timeout(deadlineMs)
    try {
      const response = await fetch(url, { headers, signal: signal ? AbortSignal.any([signal, deadline]) : deadline })
      return { status: response.status, text: await readBody(response, address) }
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof BenchError) throw cause
      if (deadline.aborted)
        throw new BenchError(
          `${address} did not answer within ${deadlineMs / 1000} s (${what}): give --query-timeout more, or --for less`,
          { cause },
        )
      throw new BenchError(
        `cannot reach Prometheus at ${address}: ${findReason(cause)}; in a cluster: kubectl port-forward svc/prometheus 9090, then --from-prometheus http://localhost:9090`,
        { cause },
      )
    }
  }

  return { address, query, warnings }
}

/**
 * Reads the value of a sample, in cores, bytes, seconds or requests per second. One below VALUE_LEAST becomes 0.
 * @param {string} text
 * @param {{ address: string, what: string }} query
 * @returns {number | null} null: it is NaN or infinite, as a share of nothing is, such as of no periods
 * @throws {BenchError} for a value that no counter or gauge of a kernel can have
 */
function parseValue(text, { address, what }) {
  if (text === 'NaN' || /^[+-]Inf$/.test(text)) return null
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!(value >= 0 && value <= VALUE_MOST))
    throw new BenchError(
      `${address} answered ${JSON.stringify(text.slice(0, QUOTED_MOST))} (${what}), which is no number of cores, bytes or requests: look at what it scrapes`,
    )
  return value < VALUE_LEAST ? 0 : value
}

/**
 * Makes the header of the token, else of the user in the URL.
 * @param {URL} url
 * @param {string | undefined} token
 * @returns {Record<string, string>} empty: there is neither
 */
function createHeaders({ username, password }, token) {
  if (token) return { authorization: `Bearer ${token}` }
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/**
 * Reads the text of an answer.
 * @param {Response} response
 * @param {string} address
 * @throws {BenchError} if it is longer than 64 MiB
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
 * Finds why `fetch` failed: the code of its cause, such as ECONNREFUSED, else its message, else that of the first error in it.
 * @param {unknown} error
 * @returns {string | undefined}
 */
function findReason(error) {
  const { cause = error } = /** @type {Error} */ (error)
  const { code, message, errors: [first] = [] } = /** @type {AggregateError & { code?: string }} */ (cause)
  return code ?? (message || first?.message)
}

/**
 * Renders that an answer is none of Prometheus' API, and what to do.
 * @param {{ address: string, status: number, text: string }} answer
 */
function renderForeignAnswer({ address, status, text }) {
  if (status === 401 || status === 403)
    return `${address} answered ${status}: it wants a user and password (https://USER:PASSWORD@HOST) or a token (PROMETHEUS_TOKEN)`
  const begin = text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)
  return `${address} is no Prometheus: it answered ${status} to /api/v1/query, with ${begin ? `"${begin}"` : 'nothing'}; give its base address, with the path prefix where it has one`
}

/**
 * Renders that a query was refused, and what to do. Its error and expression are cut to TEXT_MOST characters.
 * @param {{ address: string, what: string, status: number, error: string, expression: string }} refusal
 */
function renderRefusal({ address, what, status, error, expression }) {
  const advice = /too many samples|timed out|timeout/.test(error)
    ? 'ask for less: --for 1d, or one --container'
    : `the query was ${expression.length > TEXT_MOST ? `${expression.slice(0, TEXT_MOST)}…` : expression}`
  return `${address} refused a query (${what}, ${status}): ${error.slice(0, TEXT_MOST)}; ${advice}`
}
