import { InvalidArgumentError, Option } from 'commander'
import { readMilliseconds } from '../lib/units.js'

/** The options of `size --from-prometheus`. The code behind them is imported only if they are used. */
/**
 * @import { Command } from 'commander'
 * @import { ProductionOptions } from '../verbs/size-production.js'
 */

/** @typedef {Partial<ProductionOptions>} ProductionWords the options that the user set */

/** The formats that `renderProduction` renders. */
export const PRODUCTION_FORMATS = ['json', 'csv', 'yaml']

/** The names of sidecars in pods: Istio, Linkerd, FSM and osm-edge. */
const CONTAINERS = ['istio-proxy', 'linkerd-proxy', 'sidecar']
const RANGE = '7d'
const SECONDS = /** @type {Record<string, number>} */ ({ m: 60, h: 3600, d: 86_400, w: 604_800 })
const SECONDS_LEAST = 600
const SECONDS_MOST = 90 * 86_400
const QUERY_TIMEOUT_MS = 60_000
/** Names of namespaces and containers in Kubernetes (RFC 1123 labels). None has a dot, which PromQL would read as any character. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Adds the options of `size --from-prometheus`. @param {Command} command @returns {Command} the same command */
export function addProductionOptions(command) {
  const createProductionOption = (
    /** @type {string} */ flags,
    /** @type {string} */ help,
    /** @type {(text: string) => unknown} */ read,
  ) => new Option(flags, `with --from-prometheus: ${help}`).argParser(read)
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
    .addOption(
      createProductionOption(
        '--plane <name>',
        'what the load would take with this data plane, by --ratios',
        text => text,
      ),
    )
    .addOption(
      createProductionOption('--ratios <results>', 'a run that compared it with the sidecar of today', text => text),
    )
    .addOption(
      createProductionOption('--query-timeout <time>', 'the most that a query may take; default: 60s', parseTimeout),
    )
}

/**
 * Reads the options, and adds their defaults.
 * @param {ProductionWords} options
 * @returns {ProductionOptions | null} null: --from-prometheus is not set
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
 * @returns {string} the text
 * @throws {InvalidArgumentError} if it is no HTTP URL
 */
function parseUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && ['http:', 'https:'].includes(url.protocol)) return text
  throw new InvalidArgumentError('an address such as http://localhost:9090 is needed')
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
 * Parses a list of names.
 * @param {string} text
 * @returns {string[]}
 * @throws {InvalidArgumentError} as `parseName`
 */
const parseNames = text => text.split(',').map(parseName)

/**
 * Parses a range of time, such as 7d.
 * @param {string} text
 * @returns {{ text: string, seconds: number }}
 * @throws {InvalidArgumentError} if it is not from 10 min to 90 days
 */
function parseRange(text) {
  const [, number, unit] = /^(\d+)([mhdw])$/.exec(text) ?? []
  const seconds = Number(number) * SECONDS[unit]
  if (seconds >= SECONDS_LEAST && seconds <= SECONDS_MOST) return { text, seconds }
  throw new InvalidArgumentError('a time such as 12h or 7d is needed, from 10m to 90d')
}

/**
 * Parses the value of --query-timeout.
 * @param {string} text
 * @returns {number} milliseconds
 * @throws {InvalidArgumentError} if it is no time
 */
function parseTimeout(text) {
  const ms = readMilliseconds(text)
  if (ms !== null) return ms
  throw new InvalidArgumentError('a time such as 60s is needed')
}
