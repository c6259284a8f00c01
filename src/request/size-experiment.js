import { z } from 'zod'
import { UsageError } from '../lib/errors.js'
import { parseBytes, parseMilliseconds } from '../lib/units.js'
import { parseYaml } from '../lib/yaml.js'
import { AXES } from '../model/arms.js'
import { LOAD_AXES } from '../model/axes/load.js'
import * as bounds from '../model/bounds.js'
import { parseExperiment } from './experiment.js'

/**
 * The questions of `size` as experiments, and the file of services of `size -f`. Pure.
 * @import { RequestOptions } from '../model/requests.js'
 * @import { Traffic } from '../model/traffic.js'
 * @import { Experiment } from './experiment.js'
 */

const SERVICES_MOST = 50

const schema = z.strictObject({
  services: z
    .array(
      z.strictObject({
        name: z
          .string()
          .max(50, 'at most 50 characters')
          .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'lower case letters, digits and hyphens, such as orders-v2'),
        requestsPerSecond: LOAD_AXES.ratePerSecond.schema,
        p99: createUnitSchema(parseMilliseconds, 'a time such as 20ms or 1.5s is needed').pipe(bounds.p99Ms).optional(),
        payload: createUnitSchema(parseBytes, 'a size such as 1KiB is needed')
          .pipe(LOAD_AXES.payloadBytes.schema)
          .optional(),
      }),
    )
    .min(1, 'at least one service is needed')
    .max(SERVICES_MOST, `at most ${SERVICES_MOST} services: split the file`)
    .refine(services => new Set(services.map(s => s.name)).size === services.length, 'two services have the same name'),
})

/** The measured numbers of sidecars, as shares of --sidecars: the interval of a slope needs six points. */
const SIDECAR_SHARES = [1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1]

/**
 * The load that a service has to hold; null: the file has none for it.
 * @typedef {object} ServiceLoad
 * @property {string} name
 * @property {number} ratePerSecond
 * @property {number | null} p99Ms
 * @property {number | null} payloadBytes
 */

/**
 * The axes that options of `size` set; null or absent: the axis has its default.
 * @typedef {object} SizeAxes
 * @property {string} link
 * @property {number | null} users
 * @property {number | null} payloadBytes
 * @property {string | null} features
 * @property {string} [interception]
 * @property {string} [protocol]
 * @property {string} [tls]
 * @property {number} [neighbourCores]
 * @property {RequestOptions & { traffic?: Traffic }} [requests] axes of the requests
 */

/**
 * Creates the experiment that finds the limits for one rate and p99.
 * @param {SizeAxes & { ratePerSecond: number, p99Ms: number, isExtrapolated: boolean }} options isExtrapolated: from lower rates, if
 *   no limit holds here
 * @returns {Experiment}
 * @throws {UsageError} for values that no experiment can have
 */
export function createSizeExperiment({ ratePerSecond, p99Ms, payloadBytes, isExtrapolated, ...options }) {
  return createSearchExperiment({
    question: `Which ${renderLimitNames(options)} holds ${ratePerSecond} requests/s with a p99 of at most ${p99Ms} ms${renderQuestionEnd(options)}?`,
    axes: {
      ...createSharedAxes(options),
      ratePerSecond: [ratePerSecond],
      ...(payloadBytes ? { payloadBytes: [payloadBytes] } : {}),
    },
    search: { kind: 'size', p99Ms, isExtrapolated },
  })
}

/**
 * Creates the experiment that finds the limits for each service of a file.
 * @param {SizeAxes & { services: ServiceLoad[], p99Ms: number | null }} options p99Ms, payloadBytes: for services
 *   that have none
 * @returns {Experiment} its rate is the highest of the services
 * @throws {UsageError} for a service without any p99, for one with a payload beside options that set the sizes of bodies, and for
 *   values that no experiment can have
 */
export function createServicesExperiment({ services, p99Ms, payloadBytes, ...options }) {
  const loads = services.map(service => addServiceDefaults(service, { p99Ms, payloadBytes }))
  const { requestBytes, responseBytes, traffic, method } = options.requests ?? {}
  // Neither a HEAD nor its response has a body.
  const hasSizes = method === 'HEAD' || [requestBytes, responseBytes, traffic].some(value => value !== undefined)
  if (hasSizes) assertNoPayload(services)
  return createSearchExperiment({
    question: `Which ${renderLimitNames(options)}s hold the loads of ${loads.map(({ name }) => name).join(', ')}${renderQuestionEnd(options)}?`,
    axes: {
      ...createSharedAxes(options),
      ratePerSecond: [Math.max(...loads.map(load => load.ratePerSecond))],
      ...(hasSizes ? {} : { payloadBytes: [...new Set(loads.map(load => load.payloadBytes))] }),
    },
    search: { kind: 'services', services: loads },
  })
}

/**
 * Adds the p99 and the payload that a service does not have.
 * @param {ServiceLoad} service
 * @param {Pick<ServiceLoad, 'p99Ms' | 'payloadBytes'>} defaults payloadBytes: null: that of the axis
 * @returns {ServiceLoad & { p99Ms: number, payloadBytes: number }}
 * @throws {UsageError} if neither has a p99
 */
function addServiceDefaults({ name, ratePerSecond, ...service }, defaults) {
  const p99Ms = service.p99Ms ?? defaults.p99Ms
  if (p99Ms === null)
    throw new UsageError(`the service ${name} has no p99: add one such as p99: 20ms, or --p99 for all that have none`)
  const payloadBytes = service.payloadBytes ?? defaults.payloadBytes ?? AXES.payloadBytes.values[0]
  return { name, ratePerSecond, p99Ms, payloadBytes }
}

/**
 * Asserts that no service has a payload, since options set the sizes of bodies.
 * @param {ServiceLoad[]} services
 * @throws {UsageError} for the first that has one
 */
function assertNoPayload(services) {
  const service = services.find(({ payloadBytes }) => payloadBytes !== null)
  if (service)
    throw new UsageError(
      `the service ${service.name} has a payload, the size of a request and of its answer: leave it out beside --request, --response, --traffic and --method HEAD`,
    )
}

/**
 * Creates the axes that both experiments have: `link`, the other options that have a value, and all of `requests`.
 * @param {Omit<SizeAxes, 'payloadBytes'>} options
 * @returns {Record<string, any[]>} a list of one value for each axis
 */
function createSharedAxes({ link, users, features, interception, protocol, tls, neighbourCores, requests }) {
  const named = Object.entries({ users, features, interception, protocol, tls, neighbourCores }).filter(
    ([, value]) => value,
  )
  const axes = [...named, ...Object.entries(requests ?? {})]
  return { link: [link], ...Object.fromEntries(axes.map(([name, value]) => [name, [value]])) }
}

/**
 * Renders the names of the limits that are searched; beside a neighbour, the CPU request replaces the CPU limit.
 * @param {Pick<SizeAxes, 'neighbourCores'>} options
 * @returns {string}
 */
const renderLimitNames = ({ neighbourCores }) =>
  neighbourCores ? 'CPU request and memory limit' : 'CPU and memory limit'

/**
 * Renders the features and the neighbour of the end of a question.
 * @param {Pick<SizeAxes, 'features' | 'neighbourCores'>} options
 * @returns {string} empty: there are neither
 */
function renderQuestionEnd({ features, neighbourCores }) {
  const featuresText = features ? `, in sidecars with ${AXES.features.render(features)}` : ''
  const neighbourText = neighbourCores ? `, beside a ${AXES.neighbourCores.render(neighbourCores)}` : ''
  return `${featuresText}${neighbourText}`
}

/**
 * Creates the experiment of rollouts that finds what the control plane of a number of sidecars needs. It measures SIDECAR_SHARES of
 * them.
 * @param {number} sidecars
 * @returns {Experiment}
 * @throws {UsageError} for fewer sidecars than there are SIDECAR_SHARES, or more than an experiment can have
 */
export function createControlExperiment(sidecars) {
  const sidecarsLeast = SIDECAR_SHARES.length
  if (sidecars < sidecarsLeast)
    throw new UsageError(`--sidecars ${sidecars}: the need is told by a slope: ask for at least ${sidecarsLeast}`)
  const experiment = {
    name: 'size',
    question: `What does the control plane of ${sidecars} sidecars need?`,
    targets: ['local'],
    axes: {
      plane: ['pipy'],
      link: ['pair'],
      cpuLimitCores: 'none',
      workers: [1],
      tls: ['plaintext'],
      sidecars: [...new Set(SIDECAR_SHARES.map(share => Math.round(share * sidecars)))],
    },
    load: { kind: 'idle' },
    sizesControlOf: sidecars,
    shows: { across: 'sidecars', quantities: ['controlPeak', 'controlCpuRollout', 'controlCpuChange'] },
    profiles: { standard: { rounds: 1, hasControl: false } },
  }
  return parseExperiment(JSON.stringify(experiment), 'size')
}

/**
 * Creates an experiment with a search, on this machine. By default Pipy and Envoy have a CPU limit of 1 core, or none beside a
 * neighbour; `axes` may replace both.
 * @param {{ question: string, axes: Record<string, unknown[]>, search: Record<string, unknown> }} options
 * @returns {Experiment}
 * @throws {UsageError} for values that no experiment can have
 */
function createSearchExperiment({ question, axes, search }) {
  const experiment = {
    name: 'size',
    question,
    search,
    // Beside a neighbour, sidecars have CPU requests in place of limits.
    axes: { plane: ['pipy', 'envoy'], cpuLimitCores: axes.neighbourCores ? 'none' : [1], ...axes },
    trafficPolicy: 'open',
    targets: ['local'],
  }
  // JSON is YAML.
  return parseExperiment(JSON.stringify(experiment), 'size')
}

/**
 * Parses a file of services.
 * @param {string} text YAML
 * @param {string} file its name, for error messages
 * @returns {ServiceLoad[]}
 * @throws {UsageError} if it is empty, no YAML, or does not fit the schema
 */
export function parseServices(text, file) {
  return parseYaml({ text, file, schema }).services.map(({ name, requestsPerSecond, p99, payload }) => ({
    name,
    ratePerSecond: requestsPerSecond,
    p99Ms: p99 ?? null,
    payloadBytes: payload ?? null,
  }))
}

/**
 * Creates the schema of a value with a unit, such as `20ms`, which it parses to a number.
 * @param {(text: string) => number | null} parse null: the text has another form
 * @param {string} message for a text of another form
 * @returns {z.ZodType<number>}
 */
function createUnitSchema(parse, message) {
  return z.string(message).transform((text, context) => {
    const value = parse(text)
    if (value !== null) return value
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}
