import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { stringify } from 'yaml'
import { EXIT, UsageError } from '../lib/errors.js'
import { DOCUMENT_BYTES_MOST, readBounded, readLines } from '../lib/read-file.js'
import { renderNounCount } from '../lib/units.js'
import { parseLogLine } from '../traffic/access-log.js'
import { parseHar } from '../traffic/har.js'
import { createMixCounter } from '../traffic/mix.js'

/** @import { Mix } from '../traffic/mix.js' */

// The most unread lines that a message names.
const NAMED_MOST = 3
// A log of any length is read; a file without line ends is none.
const LOG_LIMITS = { bytes: Infinity, lineBytes: 2 ** 20, lines: Infinity }
// Reading is synchronous: between so many lines an interrupt is seen.
const LINES_AT_ONCE = 10_000

/** Adds `traffic`, which makes a file for `--traffic` of an access log. @type {import('./program.js').AddVerb} */
export function addTraffic(verb, { print, say, end, signal }) {
  verb
    .argument('<log>', 'an access log of Envoy, Istio or nginx (combined), or a HAR')
    .action(async (/** @type {string} */ file) => {
      const mix = createMixCounter()
      const unread = file.endsWith('.har') ? addHarRequests(file, mix) : await addLogRequests(file, { mix, signal })
      const name = path
        .basename(file)
        .replace(/\.(log|har|txt|json|gz)$/, '')
        .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      const summary = mix.summarise(name.replace(/^[^A-Za-z0-9]+/, '').slice(0, 40) || 'traffic')
      for (const line of [...renderUnreadCount(unread), ...renderMix(summary)]) say(line)
      if (summary.traffic.kinds.length === 0) {
        say(
          `${file}: no request was read: a text or JSON access log of Envoy or Istio, nginx combined, or a file.har is needed`,
        )
        end(EXIT.noResult)
        return
      }
      print(renderFile(summary, file))
    })
}

/**
 * Lines or entries that could not be read: their count, and the numbers of the first ones, from 1 on.
 * @typedef {{ count: number, lines: number[], of: string }} Unread
 */

/**
 * Adds the requests of an access log to a mix. Empty lines are skipped.
 * @param {string} file its path
 * @param {{ mix: ReturnType<typeof createMixCounter>, signal: AbortSignal }} options
 * @returns {Promise<Unread>}
 * @throws {UsageError} if it cannot be read, or has a line of more than 1 MiB; the signal's reason when it aborts
 */
async function addLogRequests(file, { mix, signal }) {
  /** @type {Unread} */
  const unread = { count: 0, lines: [], of: 'line' }
  let number = 0
  try {
    for (const line of readLines(file, LOG_LIMITS)) {
      number++
      const text = line.trim()
      if (text !== '') addRequest(mix, { unread, number, request: parseLogLine(text) })
      if (number % LINES_AT_ONCE === 0) await setImmediate(undefined, { signal })
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new UsageError(`${file} cannot be read: ${/** @type {Error} */ (error).message}`)
  }
  return unread
}

/**
 * Adds the requests of a HAR of at most 64 MiB to a mix.
 * @param {string} file its path
 * @param {ReturnType<typeof createMixCounter>} mix
 * @returns {Unread}
 * @throws {UsageError} if it cannot be read, is larger, or is no HAR
 */
function addHarRequests(file, mix) {
  /** @type {Unread} */
  const unread = { count: 0, lines: [], of: 'entry' }
  /** @type {string} */
  let text
  try {
    text = readBounded(file, DOCUMENT_BYTES_MOST)
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${/** @type {Error} */ (error).message}`)
  }
  for (const [i, request] of parseHar(text).entries()) addRequest(mix, { unread, number: i + 1, request })
  return unread
}

/**
 * Adds a request to a mix, or counts its line as unread.
 * @param {ReturnType<typeof createMixCounter>} mix
 * @param {{ unread: Unread, number: number, request: ReturnType<typeof parseLogLine> }} line number: from 1 on;
 *   request: null, undefined: it could not be parsed
 */
function addRequest(mix, { unread, number, request }) {
  if (request) return mix.add(request)
  unread.count++
  if (unread.lines.length < NAMED_MOST) unread.lines.push(number)
}

/**
 * Renders how many lines could not be read.
 * @param {Unread} unread
 * @returns {string[]} one line; []: all were read
 */
function renderUnreadCount({ count, lines, of }) {
  if (count === 0) return []
  return [
    `could not read ${count} ${of === 'line' ? 'lines' : 'entries'}, the first at ${of} ${lines.join(', ')}: they are left out`,
  ]
}

/**
 * Renders what a mix consists of, what was left out, and which fields the log lacks.
 * @param {Mix} options the mix
 * @returns {string[]} lines
 */
function renderMix({
  traffic: { requestsPerSecond, kinds },
  count: requests,
  paths,
  unsupportedMethods,
  missingFields,
}) {
  return [
    ...unsupportedMethods.map(
      ([method, count]) => `left out ${renderNounCount(count, 'request')} of the method ${method}`,
    ),
    ...(requests === 0
      ? []
      : [
          `${renderNounCount(requests, 'request')}, ${renderNounCount(kinds.length, 'kind')} of ${renderNounCount(paths, 'path')}`,
          requestsPerSecond
            ? `rate by minute: ${requestsPerSecond.peak}/s at the peak, ${requestsPerSecond.mean}/s on average`
            : 'the log has no times: no rate is known',
        ]),
    ...missingFields.map(field => `the log does not tell ${field}`),
  ]
}

/**
 * Renders a mix as the YAML file for `--traffic`.
 * @param {Mix} options the mix
 * @param {string} file the log's name
 * @returns {string}
 */
function renderFile({ traffic, count: requests }, file) {
  const head = [
    `# Kinds of requests in ${path.basename(file)} (${renderNounCount(requests, 'request')}): medians of sizes and times, without queries and headers.`,
    '# Parts of paths that name one thing alone are called id.',
  ]
  return `${head.join('\n')}\n${stringify(traffic, { flowCollectionPadding: true, lineWidth: 0 })}`.trimEnd()
}
