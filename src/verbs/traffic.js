import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { stringify } from 'yaml'
import { BenchError, EXIT, UsageError } from '../lib/errors.js'
import { DOCUMENT_BYTES_MOST, readBounded, readLines } from '../lib/read-file.js'
import { renderNounCount } from '../lib/units.js'
import { renderTrafficName } from '../model/traffic.js'
import { parseLogLine } from '../traffic/access-log.js'
import { parseHar } from '../traffic/har.js'
import { createMixCounter } from '../traffic/mix.js'

/** @import { Mix } from '../traffic/mix.js' */

// The most unread lines that a message names.
const NAMED_MOST = 3
// A log may have any number of lines, but no line of more than this: such a file is no log.
const LOG_LIMITS = { bytes: Infinity, lineBytes: 2 ** 20, lines: Infinity }
// Reading is synchronous: an interrupt is handled each time so many lines were read.
const LINES_AT_ONCE = 10_000

/** Adds `traffic`, which prints a file for `--traffic`, made of an access log or a HAR. @type {import('./program.js').AddVerb} */
export function addTraffic(verb, { print, say, end, signal }) {
  verb
    .argument('<log>', 'an access log of Envoy, Istio or nginx (combined), or a HAR')
    .action(async (/** @type {string} */ file) => {
      const mix = createMixCounter()
      const unread = file.endsWith('.har') ? addHarRequests(file, mix) : await addLogRequests(file, { mix, signal })
      const stem = path.basename(file).replace(/\.(log|har|txt|json|gz)$/, '')
      const summary = mix.summarise(renderTrafficName(stem))
      for (const line of [...renderUnreadCount(unread), ...renderMix(summary)]) say(line)
      if (summary.traffic.kinds.length === 0) {
        say(
          `${file}: no request was read: a text or JSON access log of Envoy or Istio, nginx combined, or a file.har is needed`,
        )
        end(EXIT.noResult)
        return
      }
      print(renderTrafficFile(summary, file))
    })
}

/**
 * Lines of a log or entries of a HAR that could not be read.
 * @typedef {object} Unread
 * @property {'line' | 'entry'} unit
 * @property {number} count
 * @property {number[]} firstNumbers those of the first NAMED_MOST, from 1 on
 */

/**
 * Adds the requests of an access log to a mix. Empty lines are skipped.
 * @param {string} file its path
 * @param {{ mix: ReturnType<typeof createMixCounter>, signal: AbortSignal }} options
 * @returns {Promise<Unread>} count: 0: all lines were read
 * @throws {UsageError} if it cannot be read, or has a line that is too long (LOG_LIMITS); the signal's reason when it aborts
 */
async function addLogRequests(file, { mix, signal }) {
  /** @type {Unread} */
  const unread = { unit: 'line', count: 0, firstNumbers: [] }
  let number = 0
  try {
    for (const line of readLines(file, LOG_LIMITS)) {
      number++
      const text = line.trim()
      if (text !== '') addOrCountUnread(mix, { unread, number, request: parseLogLine(text) })
      if (number % LINES_AT_ONCE === 0) await setImmediate(undefined, { signal })
    }
  } catch (error) {
    signal.throwIfAborted()
    throw createReadError(file, error)
  }
  return unread
}

/**
 * Adds the requests of a HAR of at most DOCUMENT_BYTES_MOST to a mix.
 * @param {string} file its path
 * @param {ReturnType<typeof createMixCounter>} mix
 * @returns {Unread} count: 0: all entries were read
 * @throws {UsageError} if it cannot be read, is larger, or is no HAR
 */
function addHarRequests(file, mix) {
  /** @type {Unread} */
  const unread = { unit: 'entry', count: 0, firstNumbers: [] }
  /** @type {string} */
  let text
  try {
    text = readBounded(file, DOCUMENT_BYTES_MOST)
  } catch (error) {
    throw createReadError(file, error)
  }
  for (const [i, request] of parseHar(text).entries()) addOrCountUnread(mix, { unread, number: i + 1, request })
  return unread
}

/**
 * Creates the error for a log that cannot be read.
 * @param {string} file its path
 * @param {unknown} error of reading it; the message of a BenchError names the file
 * @returns {UsageError}
 */
function createReadError(file, error) {
  const { message } = /** @type {Error} */ (error)
  return new UsageError(error instanceof BenchError ? message : `${file} cannot be read: ${message}`)
}

/**
 * Adds the request of a line or entry to a mix, or counts the line or entry as unread.
 * @param {ReturnType<typeof createMixCounter>} mix
 * @param {{ unread: Unread, number: number, request: ReturnType<typeof parseLogLine> }} line unread: is changed;
 *   number: of the line or entry, from 1 on; request: null, undefined: it could not be parsed
 */
function addOrCountUnread(mix, { unread, number, request }) {
  if (request) return mix.add(request)
  unread.count++
  if (unread.firstNumbers.length < NAMED_MOST) unread.firstNumbers.push(number)
}

/**
 * Renders how many lines or entries could not be read, and the numbers of the first.
 * @param {Unread} unread
 * @returns {string[]} one line; []: all were read
 */
function renderUnreadCount({ unit, count, firstNumbers }) {
  if (count === 0) return []
  const noun = unit === 'line' ? 'lines' : 'entries'
  return [`could not read ${count} ${noun}, the first at ${unit} ${firstNumbers.join(', ')}: they are left out`]
}

/**
 * Renders the numbers of a mix, the methods that were left out, and the fields that the log lacks.
 * @param {Mix} mix
 * @returns {string[]} lines; without a request, those on what was left out or lacks alone
 */
function renderMix({ traffic, count: requests, paths, unsupportedMethods, missingFields }) {
  const { requestsPerSecond: rate, kinds } = traffic
  const counts = `${renderNounCount(requests, 'request')}, ${renderNounCount(kinds.length, 'kind')} of ${renderNounCount(paths, 'path')}`
  const rateText = rate
    ? `rate by minute: ${rate.peak}/s at the peak, ${rate.mean}/s on average`
    : 'the log has no times: no rate is known'
  return [
    ...unsupportedMethods.map(
      ([method, count]) => `left out ${renderNounCount(count, 'request')} of the method ${method}`,
    ),
    ...(requests === 0 ? [] : [counts, rateText]),
    ...missingFields.map(field => `the log does not tell ${field}`),
  ]
}

/**
 * Renders a mix as the file for `--traffic`.
 * @param {Mix} mix
 * @param {string} file the path of the log
 * @returns {string} YAML, without a line end
 */
function renderTrafficFile({ traffic, count: requests }, file) {
  const head = [
    `# Kinds of requests in ${path.basename(file)} (${renderNounCount(requests, 'request')}): medians of sizes and times, without queries and headers.`,
    '# Parts of paths that name one thing alone are called id.',
  ]
  return `${head.join('\n')}\n${stringify(traffic, { flowCollectionPadding: true, lineWidth: 0 })}`.trimEnd()
}
