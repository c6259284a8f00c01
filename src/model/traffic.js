import { z } from 'zod'
import { parseBytes } from '../lib/units.js'
import {
  computeChunksMs,
  createRequestKind,
  HEADER_BYTES_LEAST,
  METHODS,
  parseChunks,
  parseServiceTime,
  WITHOUT_REQUEST_BODY,
} from './requests.js'

/**
 * A mix of requests, as read from a file of traffic. Pure.
 * @import { RequestKind } from './types.ts'
 */

export const KINDS_MOST = 50
export const BODY_BYTES_MOST = 16 * 2 ** 20
export const HEADER_BYTES_MOST = 8 * 2 ** 10
export const SERVICE_TIME_MOST_MS = 10_000

/** A service time, of --service-time or of a kind of a mix: at most SERVICE_TIME_MOST_MS on average. */
export const serviceTime = z
  .string('a time such as 30ms or exp:30ms is needed')
  .refine(text => parseServiceTime(text) !== null, 'a time such as 30ms or 1.5s, or exp:30ms, is needed')
  .refine(
    text => (parseServiceTime(text)?.meanMs ?? 0) <= SERVICE_TIME_MOST_MS,
    'at most 10 s: sidecars give a request up after 15 s',
  )

/** An answer in chunks, such as 10/5ms: ten, 5 ms apart. */
export const chunks = z
  .string()
  .refine(text => parseChunks(text) !== null, 'a number of chunks and a time such as 10/5ms is needed')
  .refine(
    text => computeChunksMs({ chunks: text }) <= SERVICE_TIME_MOST_MS,
    'at most 10 s in all: sidecars give a request up after 15 s',
  )

/**
 * Creates the schema of a size in bytes, 0 included.
 * @param {number} most
 * @param {string} why the reason for this maximum, which the message gives
 */
const createSizeSchema = (most, why) =>
  z
    .int('a whole number of bytes is needed')
    .min(0, 'a size of at least 0 is needed')
    .max(most, `at most ${most} bytes: ${why}`)

export const bodyBytes = createSizeSchema(BODY_BYTES_MOST, 'k6 holds a body of every user in memory')
export const headerBytes = createSizeSchema(HEADER_BYTES_MOST, 'nginx and HAProxy refuse more by default').refine(
  bytes => bytes === 0 || bytes >= HEADER_BYTES_LEAST,
  `at least ${HEADER_BYTES_LEAST} bytes, or 0: a header has a name and a line end`,
)

/**
 * Creates the schema of a size that is written as 14KiB or as a number of bytes.
 * @param {z.ZodType<number>} bytes the schema of its value
 */
const createWrittenSizeSchema = bytes =>
  z.union([z.number(), z.string()], 'a size such as 14KiB, or 0, is needed').superRefine((value, context) => {
    const size = parseWrittenSize(value)
    const { error } = bytes.safeParse(size)
    if (!error) return
    const message = Number.isNaN(size) ? 'a size such as 14KiB, or 0, is needed' : error.issues[0].message
    context.addIssue({ code: 'custom', message })
  })

const kind = z.strictObject({
  weight: z.number().positive('a weight above 0 is needed'),
  method: z.enum(METHODS),
  path: z
    .string()
    .max(200, 'at most 200 characters')
    .regex(/^\/[A-Za-z0-9/._~:@+,-]*$/, 'a path without a query is needed, such as /items'),
  request: createWrittenSizeSchema(bodyBytes).optional(),
  requestHeaders: createWrittenSizeSchema(headerBytes).optional(),
  response: createWrittenSizeSchema(bodyBytes).optional(),
  serviceTime: serviceTime.optional(),
})

const NAME_CHARACTERS_MOST = 60

/**
 * Renders a name that a traffic may have, from that of its file.
 * @param {string} stem the name of the file without its ending
 * @returns {string} cut to NAME_CHARACTERS_MOST; `traffic` if no letter or digit is in it
 */
export function renderTrafficName(stem) {
  const name = stem.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return name.slice(0, NAME_CHARACTERS_MOST) || 'traffic'
}

export const trafficSchema = z.strictObject({
  name: z
    .string()
    .max(NAME_CHARACTERS_MOST, `at most ${NAME_CHARACTERS_MOST} characters`)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'letters, digits, dots, hyphens and underscores are needed'),
  requestsPerSecond: z
    .strictObject({ mean: z.number().positive(), peak: z.number().positive() })
    .optional()
    .describe('that the log had: on average, and in its busiest minute'),
  kinds: z
    .array(kind)
    .min(1, 'at least one kind of request is needed')
    .max(KINDS_MOST, `at most ${KINDS_MOST} kinds: sidecars have a route for each`)
    .refine(kinds => new Set(kinds.map(renderKind)).size === kinds.length, 'two kinds have the same method and path')
    .refine(
      kinds =>
        kinds.every(
          ({ method, request = 0 }) => !WITHOUT_REQUEST_BODY.includes(method) || parseWrittenSize(request) === 0,
        ),
      'a GET or HEAD has no body: leave request out',
    )
    .refine(
      kinds => kinds.every(({ method, response = 0 }) => method !== 'HEAD' || parseWrittenSize(response) === 0),
      'an answer to HEAD has no body: leave response out',
    ),
})

/** @typedef {z.infer<typeof trafficSchema>} Traffic */

/** Renders the method and path of a kind: no two kinds of a mix share them. @param {{ method: string, path: string }} kind */
const renderKind = ({ method, path }) => `${method} ${path}`

/**
 * Lists the kinds of requests of a mix. A body whose size the mix leaves out has the payload's, or 0 bytes where the method has
 * none.
 * @param {Traffic} traffic
 * @param {number} payloadBytes
 * @returns {RequestKind[]}
 */
export function listRequestKinds({ kinds }, payloadBytes) {
  return kinds.map(({ weight, method, path, request, requestHeaders, response, serviceTime: time }) => ({
    ...createRequestKind(
      {
        method,
        requestBytes: request === undefined ? undefined : parseWrittenSize(request),
        requestHeaderBytes: requestHeaders === undefined ? undefined : parseWrittenSize(requestHeaders),
        responseBytes: response === undefined ? undefined : parseWrittenSize(response),
        serviceTime: time,
      },
      payloadBytes,
    ),
    weight,
    path,
  }))
}

/**
 * Lists the distinct paths of kinds, the longest first: a router that takes the first that is a prefix of a request's path finds
 * its own.
 * @param {RequestKind[]} kinds
 * @returns {string[]}
 */
export function listPaths(kinds) {
  return [...new Set(kinds.map(({ path }) => path))].sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
}

/**
 * Parses a size of a file of traffic.
 * @param {number | string} value such as 14KiB or 0
 * @returns {number} bytes; NaN: it is no size
 */
function parseWrittenSize(value) {
  if (typeof value === 'number') return value
  return /^0B?$/.test(value) ? 0 : (parseBytes(value) ?? Number.NaN)
}
