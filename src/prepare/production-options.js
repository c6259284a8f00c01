import { InvalidArgumentError, Option } from 'commander'
import { callSafely } from '../lib/call-safely.js'
import { parseMilliseconds } from '../lib/units.js'

/** Defines the options of `size --from-prometheus`. The code that uses them is imported only if one is set. */
/**
 * @import { Command } from 'commander'
 * @import { ProductionOptions } from '../verbs/size-production.js'
 */

/** @typedef {Partial<ProductionOptions>} ProductionWords the options that the user set */

/** `renderProduction` renders these formats. */
export const PRODUCTION_FORMATS = ['json', 'csv', 'yaml']

/** Sidecars have these names in the pods of Istio, of Linkerd, and of FSM and osm-edge. */
const CONTAINERS = ['istio-proxy', 'linkerd-proxy', 'sidecar']
const RANGE = '7d'
const UNIT_SECONDS = /** @type {Record<string, number>} */ ({ m: 60, h: 3600, d: 86_400, w: 604_800 })
const RANGE_SECONDS_LEAST = 600
const RANGE_SECONDS_MOST = 90 * 86_400
const QUERY_TIMEOUT_MS = 60_000
/** Namespaces and containers have RFC 1123 labels as names. None has a dot, which PromQL would read as any character. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Adds the options of `size --from-prometheus`. @param {Command} command @returns {Command} the same command */
export function addProductionOptions(command) {
  return command
    .addOption(
      new Option(
        '--from-prometheus <url>',
        'instead of --rate: requests and limits of sidecars that run already, from their metrics; reads only',
      ).argParser(parseUrl),
    )
    .addOption(createProductionOption('--namespace <name>', 'the namespace of the workloads', parseName))
    .addOption(
      createProductionOption(
        '--container <list>',
        `names of the sidecars; default: ${CONTAINERS.join(', ')}`,
        parseNames,
      ),
    )
    .addOption(createProductionOption('--for <time>', `how far back, such as 12h or ${RANGE} (default)`, parseRange))
    .addOption(createProductionOption('--plane <name>', 'what the load would take with this data plane, by --ratios'))
    .addOption(createProductionOption('--ratios <results>', 'a run that compared it with the sidecar of today'))
    .addOption(
      createProductionOption('--query-timeout <time>', 'the most that a query may take; default: 60s', parseTimeout),
    )
}

/**
 * Creates an option whose help says that it needs --from-prometheus.
 * @param {string} flags
 * @param {string} help
 * @param {(text: string) => unknown} [parse] absent: the value is the text
 * @returns {Option}
 */
function createProductionOption(flags, help, parse = text => text) {
  return new Option(flags, `with --from-prometheus: ${help}`).argParser(parse)
}

/**
 * Reads the options of `size --from-prometheus`, and adds their defaults.
 * @param {ProductionWords} options
 * @returns {ProductionOptions | null} namespace: empty if it is not set, which SIZE_OPTIONS refuses; null: --from-prometheus is not set
 */
export function readProductionOptions(options) {
  const { fromPrometheus, namespace = '', container = CONTAINERS, queryTimeout = QUERY_TIMEOUT_MS } = options
  if (fromPrometheus === undefined) return null
  const range = options.for ?? parseRange(RANGE)
  const { plane, ratios, format, json, details } = options
  return { fromPrometheus, namespace, container, for: range, queryTimeout, plane, ratios, format, json, details }
}

/**
 * Parses the value of --from-prometheus.
 * @param {string} text
 * @returns {string} the text, unchanged
 * @throws {InvalidArgumentError} if it is no HTTP URL, or its user or password has a `%` that encodes nothing
 */
function parseUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('an address such as http://localhost:9090 is needed')
  const credentials = [url.username, url.password]
  if (callSafely(() => credentials.map(decodeURIComponent), null) === null)
    throw new InvalidArgumentError('a % in its user or password is written as %25')
  return text
}

/**
 * Parses a name of a namespace or container.
 * @param {string} text
 * @returns {string} the text
 * @throws {InvalidArgumentError} if it is no RFC 1123 label
 */
function parseName(text) {
  if (NAME.test(text)) return text
  throw new InvalidArgumentError(
    `"${text}" is no name of a namespace or container in Kubernetes: a–z, 0–9 and hyphens, 63 at most`,
  )
}

/**
 * Parses a comma-separated list of names, without spaces. Duplicates are kept.
 * @param {string} text
 * @returns {string[]}
 * @throws {InvalidArgumentError} if one is no RFC 1123 label
 */
const parseNames = text => text.split(',').map(parseName)

/**
 * Parses a range of time, in minutes, hours, days or weeks.
 * @param {string} text such as 7d
 * @returns {{ text: string, seconds: number }} text: as the user wrote it
 * @throws {InvalidArgumentError} if it is no time, or not from RANGE_SECONDS_LEAST to RANGE_SECONDS_MOST
 */
function parseRange(text) {
  const [, number, unit] = /^(\d+)([mhdw])$/.exec(text) ?? []
  const seconds = Number(number) * UNIT_SECONDS[unit]
  if (seconds >= RANGE_SECONDS_LEAST && seconds <= RANGE_SECONDS_MOST) return { text, seconds }
  throw new InvalidArgumentError('a time such as 12h or 7d is needed, from 10m to 90d')
}

/**
 * Parses the value of --query-timeout.
 * @param {string} text
 * @returns {number} milliseconds
 * @throws {InvalidArgumentError} if it is no time
 */
function parseTimeout(text) {
  const ms = parseMilliseconds(text)
  if (ms !== null) return ms
  throw new InvalidArgumentError('a time such as 60s is needed')
}
