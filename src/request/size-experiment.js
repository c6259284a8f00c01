import { z } from 'zod'
import { UsageError } from '../lib/errors.js'
import { readBytes, readMilliseconds } from '../lib/units.js'
import { parseYaml } from '../lib/yaml.js'
import { AXES } from '../model/arms.js'
import { LOAD_AXES } from '../model/axes/load.js'
import * as bounds from '../model/bounds.js'
import { parseExperiment } from './experiment.js'

/**
 * @import { RequestOptions } from '../model/requests.js'
 * @import { Traffic } from '../model/traffic.js'
 */
/** The questions of `size` as experiments, and the file of services of `size -f`. Pure. */

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
        p99: createTextSchema(readMilliseconds, 'a time such as 20ms or 1.5s is needed').pipe(bounds.p99Ms).optional(),
        payload: createTextSchema(readBytes, 'a size such as 1KiB is needed')
          .pipe(LOAD_AXES.payloadBytes.schema)
          .optional(),
      }),
    )
    .min(1, 'at least one service is needed')
    .max(SERVICES_MOST, `at most ${SERVICES_MOST} services: split the file`)
    .refine(services => new Set(services.map(s => s.name)).size === services.length, 'two services have the same name'),
})

/** The measured sizes, as shares of --sidecars: the interval of a slope needs six points. */
const SIZES = [1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1]

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
 * @param {SizeAxes & { ratePerSecond: number, p99Ms: number, isExtrapolated: boolean }} options
 * @returns {import('./experiment.js').Experiment}
 */
export function createSizeExperiment({ ratePerSecond, p99Ms, payloadBytes, isExtrapolated, ...options }) {
  return createSearchExperiment({
    question: `Which ${renderLimitNames(options)} holds ${ratePerSecond} requests/s with a p99 of at most ${p99Ms} ms${renderExtras(options)}?`,
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
 * @returns {import('./experiment.js').Experiment}
 * @throws {UsageError} for a service without any p99, or with a payload beside options that set the sizes of bodies
 */
export function createServicesExperiment({ services, p99Ms, payloadBytes, ...options }) {
  const loads = services.map(({ name, ratePerSecond, ...service }) => ({
    name,
    ratePerSecond,
    p99Ms: service.p99Ms ?? p99Ms ?? throwMissingP99(name),
    payloadBytes: service.payloadBytes ?? payloadBytes ?? AXES.payloadBytes.values[0],
  }))
  const { requestBytes, responseBytes, traffic } = options.requests ?? {}
  const hasSizes = [requestBytes, responseBytes, traffic].some(value => value !== undefined)
  const serviceWithPayload = hasSizes && services.find(service => service.payloadBytes !== null)
  if (serviceWithPayload)
    throw new UsageError(
      `the service ${serviceWithPayload.name} has a payload, the size of a request and of its answer: leave it out beside --request, --response and --traffic`,
    )
  return createSearchExperiment({
    question: `Which ${renderLimitNames(options)}s hold the loads of ${loads.map(({ name }) => name).join(', ')}${renderExtras(options)}?`,
    axes: {
      ...createSharedAxes(options),
      ratePerSecond: [Math.max(...loads.map(load => load.ratePerSecond))],
      ...(hasSizes ? {} : { payloadBytes: [...new Set(loads.map(load => load.payloadBytes))] }),
    },
    search: { kind: 'services', services: loads },
  })
}

/**
 * Creates the axes that both experiments have, of the options that have a value.
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
 * Renders the end of a question, with features and a neighbour.
 * @param {Pick<SizeAxes, 'features' | 'neighbourCores'>} options
 * @returns {string} empty: it has neither
 */
function renderExtras({ features, neighbourCores }) {
  const beside = neighbourCores ? `, beside a ${AXES.neighbourCores.render(neighbourCores)}` : ''
  return `${features ? `, in sidecars with ${AXES.features.render(features)}` : ''}${beside}`
}

/**
 * Creates the experiment of rollouts in SIZES steps, up to a number of sidecars.
 * @param {number} sidecars the largest number
 * @returns {import('./experiment.js').Experiment}
 * @throws {UsageError} for fewer than six sidecars
 */
export function createControlExperiment(sidecars) {
  if (sidecars < SIZES.length)
    throw new UsageError(`--sidecars ${sidecars}: the need is told by a slope: ask for at least ${SIZES.length}`)
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
      sidecars: [...new Set(SIZES.map(share => Math.round(share * sidecars)))],
    },
    load: { kind: 'idle' },
    sizesControlOf: sidecars,
    shows: { across: 'sidecars', quantities: ['controlPeak', 'controlCpuRollout', 'controlCpuChange'] },
    profiles: { standard: { rounds: 1, hasControl: false } },
  }
  return parseExperiment(JSON.stringify(experiment), 'size')
}

/**
 * Throws the error that a service has no p99.
 * @param {string} name of a service
 * @returns {never}
 * @throws {UsageError} always
 */
function throwMissingP99(name) {
  throw new UsageError(`the service ${name} has no p99: add one such as p99: 20ms, or --p99 for all that have none`)
}

/**
 * Creates an experiment with a search.
 * @param {{ question: string, axes: Record<string, unknown[]>, search: Record<string, unknown> }} options
 * @returns {import('./experiment.js').Experiment}
 */
function createSearchExperiment({ question, axes, search }) {
  const experiment = {
    name: 'size',
    question,
    search,
    // Beside a neighbour sidecars have CPU requests instead.
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
 * @returns {ServiceLoad[]} p99Ms, payloadBytes: null: the file has none for the service
 * @throws {UsageError} if it does not fit the schema
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
 * Creates the schema of a value with a unit, such as `20ms`.
 * @param {(text: string) => number | null} read parses the text; null: it has another form
 * @param {string} needed the message for a text of another form
 * @returns {z.ZodType<number>}
 */
function createTextSchema(read, needed) {
  return z.string(needed).transform((text, context) => {
    const value = read(text)
    if (value !== null) return value
    context.addIssue({ code: 'custom', message: needed })
    return z.NEVER
  })
}
