import { z } from 'zod'
import { UsageError } from '../../lib/errors.js'
import { createCountSchema } from '../bounds.js'
import { findOnlyKind, METHODS } from '../requests.js'
import { bodyBytes, chunks, headerBytes, serviceTime, trafficSchema } from '../traffic.js'
import {
  createListOption,
  parseCores,
  parseNonNegativeInteger,
  parsePositiveInteger,
  parseSize,
  parseSizeOrZero,
  renderCount,
  UNDER_LOAD,
} from './axis.js'

/**
 * The axes of the load and of the services that it reaches. Pure.
 * @import { Axis } from './axis.js'
 */

/** Placements of interleaved arms on CPUs: as the kernel chooses, or with the generator on CPUs of its own. */
const PLACEMENTS = /** @type {const} */ (['unpinned', 'apart'])

/**
 * Ways to end a sidecar under load: SIGTERM, which a container runtime sends; the plane's graceful end; or that end after its
 * client was configured to leave it.
 */
export const ENDINGS = /** @type {const} */ (['sigterm', 'graceful', 'told'])
const ENDING_WORDS = {
  sigterm: 'ended by SIGTERM',
  graceful: 'ended gracefully',
  told: 'ended gracefully, its client told before',
}
const INTERCEPTION_WORDS = { none: 'no redirection', redirect: 'redirection' }

/** @satisfies {Record<string, Axis>} */
export const LOAD_AXES = {
  link: {
    kinds: UNDER_LOAD,
    option: createListOption('--link', 'links: ratings, gateway-ratings, pair'),
    schema: z.string(),
    values: [],
    readValue: arm => arm.link,
    render: v => `link ${v}`,
    label: 'link',
  },
  services: {
    kinds: UNDER_LOAD,
    option: createListOption('--services', 'how many copies of the last service of the link', parsePositiveInteger),
    recorded: z.int().positive().describe('copies of the last service of the link'),
    schema: createCountSchema(500, 'the kit has not been tried with more sidecars beside each other'),
    values: [1],
    readValue: arm => arm.conditions.services,
    render: v => renderCount(v, 'service'),
    label: 'services',
  },
  pairs: {
    kinds: UNDER_LOAD,
    option: createListOption(
      '--pairs',
      'how many copies of the whole link, over which a load is spread',
      parsePositiveInteger,
    ),
    recorded: z
      .int()
      .positive()
      .optional()
      .describe('copies of the whole link, each with certificates of its own; absent: one'),
    schema: createCountSchema(250, 'the kit has not been tried with more sidecars beside each other'),
    values: [null],
    readValue: arm => arm.conditions.pairs ?? null,
    render: v => (v === null ? 'the link once' : renderCount(v, 'pair')),
    label: 'pairs',
    isUnsaidWhenNull: true,
  },
  ending: {
    kinds: ['capacity'],
    recorded: z.enum(ENDINGS).optional().describe('of the last sidecar, in the window; absent: it runs on'),
    schema: z.enum(ENDINGS),
    values: [null],
    isOfSidecars: true,
    readValue: arm => arm.conditions.ending ?? null,
    render: v => (v === null ? 'no sidecar ends' : ENDING_WORDS[/** @type {keyof typeof ENDING_WORDS} */ (v)]),
    label: 'ending',
    isUnsaidWhenNull: true,
  },
  neighbourCores: {
    kinds: ['capacity', 'search'],
    option: createListOption(
      '--neighbour',
      'a process of the kit that burns so much CPU beside all services, such as 2c: on as many CPUs, the node is full',
      parseCpus,
    ),
    recorded: z
      .number()
      .positive()
      .optional()
      .describe(
        'CPU that a process of the kit burns beside the services, in a cgroup of its own; absent: there is none',
      ),
    schema: z
      .number()
      .min(0.1, 'at least 0.1 cores: less is no neighbour')
      .max(1024, 'at most 1024 cores: each is a thread, and no machine has as many CPUs'),
    values: [null],
    readValue: arm => arm.conditions.neighbourCores ?? null,
    render: v => (v === null ? 'no neighbour' : `neighbour of ${renderCount(v, 'CPU')}`),
    label: 'neighbour, CPUs',
    isUnsaidWhenNull: true,
  },
  interception: {
    kinds: UNDER_LOAD,
    option: createListOption(
      '--interception',
      'how connections come to sidecars: none (at their addresses), redirect (by rules in network namespaces); beside redirect, none has namespaces, too',
    ),
    recorded: z
      .enum(['none', 'redirect'])
      .optional()
      .describe(
        'each service has a network namespace, in which rules redirect connections to its sidecar, or there are none; absent: services are at addresses of one namespace',
      ),
    schema: z.enum(['none', 'redirect']),
    values: [null],
    readValue: arm => arm.conditions.interception ?? null,
    render: v =>
      v === null ? 'no namespaces' : INTERCEPTION_WORDS[/** @type {keyof typeof INTERCEPTION_WORDS} */ (v)],
    label: 'interception',
    isCostOfAll: true,
    isUnsaidWhenNull: true,
  },
  ratePerSecond: {
    kinds: UNDER_LOAD,
    option: createListOption('--rate', 'open loop: requests per second (this measures latency)', parsePositiveInteger),
    schema: z
      .number()
      .min(0.1, 'at least 0.1 requests/s: a p99 at less takes hours')
      .max(1e6, 'at most 1000000 requests/s: one k6 makes fewer'),
    values: [null],
    readValue: arm => arm.load.ratePerSecond ?? null,
    render: v => `${v} requests/s`,
    label: 'requests/s',
    isUnsaidWhenNull: true,
  },
  loudPerSecond: {
    kinds: ['capacity'],
    option: createListOption(
      '--loud',
      'requests per second to the first of several pairs, beside the rate that is spread over the others, whose latency is measured; 0: none',
      parseNonNegativeInteger,
    ),
    schema: z.int().min(0).max(1e6, 'at most 1000000 requests/s: one k6 makes fewer'),
    values: [0],
    readValue: arm => arm.load.loudPerSecond ?? 0,
    render: v => (v ? `${v} requests/s more to one pair` : 'no loud pair'),
    label: 'loud pair, requests/s',
  },
  users: {
    kinds: UNDER_LOAD,
    option: createListOption(
      '--users',
      'closed loop: virtual users; open loop: the most requests at a time',
      parsePositiveInteger,
    ),
    schema: createCountSchema(28_000, 'they connect from one address, which has about 28,000 ports'),
    values: [null],
    readValue: arm => arm.load.users,
    render: v => `${v} users`,
    label: 'users',
  },
  payloadBytes: {
    kinds: UNDER_LOAD,
    option: createListOption('--payload', 'body sizes, posted and echoed, such as 1KiB', parseSize),
    schema: createCountSchema(16 * 2 ** 20, 'k6 holds a body of every user in memory'),
    values: [1024],
    readValue: arm => arm.load.payloadBytes ?? null,
    render: v => (v === null ? 'no echo' : `${v} bytes`),
    label: 'bytes',
    isUnsaidWhenNull: true,
  },
  method: {
    kinds: UNDER_LOAD,
    option: createListOption('--method', `of requests that are answered, not echoed: ${METHODS.join(', ')}`),
    schema: z.enum(METHODS),
    values: [null],
    readValue: arm => findOnlyKind(arm.load)?.method ?? null,
    render: v => v ?? 'POST, echoed',
    label: 'method',
    isUnsaidWhenNull: true,
  },
  requestBytes: {
    kinds: UNDER_LOAD,
    option: createListOption(
      '--request',
      'body of a request, such as 400B, or 0; default: of GET none',
      parseSizeOrZero,
    ),
    schema: bodyBytes,
    values: [null],
    readValue: arm => findOnlyKind(arm.load)?.requestBytes ?? null,
    render: v => (v === null ? 'request of the payload' : `request ${v} bytes`),
    label: 'request bytes',
    isUnsaidWhenNull: true,
  },
  requestHeaderBytes: {
    kinds: UNDER_LOAD,
    option: createListOption(
      '--request-headers',
      'headers beside those that the generator sends, such as 400B',
      parseSizeOrZero,
    ),
    schema: headerBytes,
    values: [null],
    readValue: arm => findOnlyKind(arm.load)?.requestHeaderBytes || null,
    render: v => (v === null ? 'no more headers' : `request headers ${v} bytes`),
    label: 'request header bytes',
    isUnsaidWhenNull: true,
  },
  responseBytes: {
    kinds: UNDER_LOAD,
    option: createListOption('--response', 'body of an answer, such as 14KiB; alone: fetched by GET', parseSizeOrZero),
    schema: bodyBytes,
    values: [null],
    readValue: arm => findOnlyKind(arm.load)?.responseBytes ?? null,
    render: v => (v === null ? 'response of the payload' : `response ${v} bytes`),
    label: 'response bytes',
    isUnsaidWhenNull: true,
  },
  serviceTime: {
    kinds: UNDER_LOAD,
    option: createListOption(
      '--service-time',
      'the application waits before it answers: 30ms, or exp:30ms (30 ms on average)',
    ),
    schema: serviceTime,
    values: [null],
    readValue: arm => findOnlyKind(arm.load)?.serviceTime ?? null,
    render: v => `service time ${v ?? 'none'}`,
    label: 'service time',
    isUnsaidWhenNull: true,
  },
  chunks: {
    kinds: UNDER_LOAD,
    option: createListOption(
      '--chunks',
      'the application writes its answer in chunks, such as 10/5ms: ten, 5 ms apart',
    ),
    schema: chunks,
    values: [null],
    readValue: arm => findOnlyKind(arm.load)?.chunks ?? null,
    render: v => (v === null ? 'not in chunks' : `chunks ${v}`),
    label: 'chunks',
    isUnsaidWhenNull: true,
  },
  traffic: {
    kinds: UNDER_LOAD,
    option: createListOption('--traffic', 'files of several kinds of requests with weights, such as shop.yaml'),
    schema: trafficSchema,
    values: [null],
    readValue: arm => arm.load.traffic ?? null,
    render: v => (v === null ? 'one kind of request' : `traffic ${v}`),
    label: 'traffic',
    isUnsaidWhenNull: true,
  },
  connections: {
    kinds: UNDER_LOAD,
    schema: z.enum(['kept', 'new']),
    values: ['kept'],
    readValue: arm => arm.load.connections,
    render: v => `connections ${v}`,
    label: 'connections',
  },
  idleConnections: {
    kinds: ['cost'],
    option: createListOption(
      '--idle-connections',
      'interleaved: connections that each user keeps beside the one that it uses',
      parseNonNegativeInteger,
    ),
    schema: z.int().min(0).max(100, 'at most 100: k6 makes them with as many requests at a time'),
    values: [0],
    readValue: arm => arm.load.idleConnections ?? 0,
    render: v => `${renderCount(v, 'idle connection')} a user`,
    label: 'idle connections a user',
  },
  placement: {
    kinds: ['cost'],
    option: createListOption(
      '--placement',
      'interleaved: unpinned (all processes on all CPUs, as the kubelet runs them) or apart (the generator on half of the CPUs, all else on the others)',
    ),
    schema: z.enum(PLACEMENTS),
    values: ['unpinned'],
    readValue: arm => arm.load.placement ?? 'unpinned',
    render: v => (v === 'apart' ? 'the generator on CPUs of its own' : v),
    label: 'placement',
  },
  burstSeconds: {
    kinds: UNDER_LOAD,
    schema: z.number().positive().max(3600, 'at most 3600 s, an hour'),
    values: [null],
    readValue: arm => arm.load.burst?.seconds ?? null,
    render: v => `burst of ${v} s`,
    label: 'burst s',
    isUnsaidWhenNull: true,
  },
}

/**
 * Parses a number of CPUs.
 * @param {string} text such as 2c or 0.5
 * @returns {number}
 * @throws {UsageError} for 0 or another form
 */
function parseCpus(text) {
  if (!/^\d*\.?\d+c?$/.test(text)) throw new UsageError('a number of CPUs is needed, such as 2c or 0.5c')
  return parseCores(text.replace(/c$/, ''))
}
