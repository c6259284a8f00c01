import { z } from 'zod'
import { UsageError } from '../lib/errors.js'
import { findPath } from './access-log.js'

/**
 * A HAR file, as browsers write it (HTTP Archive 1.2). Pure.
 * @import { LoggedRequest } from './access-log.js'
 */

const bytes = z.number().optional()
const schema = z.object({
  log: z.object({
    entries: z.array(
      z.object({
        startedDateTime: z.string().optional(),
        request: z.object({ method: z.string(), url: z.string(), bodySize: bytes, headersSize: bytes }),
        response: z.object({ bodySize: bytes, content: z.object({ size: bytes }).optional() }),
        timings: z.object({ wait: bytes }).optional(),
      }),
    ),
  }),
})

/**
 * Parses the requests of a HAR, in the order of its entries. Times and sizes that the browser did not know are null.
 * @param {string} text JSON
 * @returns {(LoggedRequest | null)[]} null: the entry is no request over HTTP, such as of a data URL; []: there are no entries
 * @throws {UsageError} if it is no JSON, or no HAR 1.2
 */
export function parseHar(text) {
  /** @type {unknown} */
  let document
  try {
    document = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`the HAR is no JSON: ${/** @type {Error} */ (error).message.slice(0, 80)}`)
  }
  const result = schema.safeParse(document)
  if (!result.success)
    throw new UsageError(`the HAR has no log.entries of HTTP Archive 1.2: ${result.error.issues[0].path.join('.')}`)
  return result.data.log.entries.map(({ startedDateTime, request, response, timings }) => {
    const path = /^https?:/i.test(request.url) ? findPath(request.url) : null
    if (path === null) return null
    const atMs = Date.parse(`${startedDateTime}`)
    return {
      method: request.method,
      path,
      atMs: Number.isNaN(atMs) ? null : atMs,
      requestBytes: replaceUnknown(request.bodySize),
      requestHeaderBytes: replaceUnknown(request.headersSize),
      responseBytes: replaceUnknown(response.bodySize) ?? replaceUnknown(response.content?.size),
      serviceMs: replaceUnknown(timings?.wait),
    }
  })
}

/**
 * Replaces a number that the browser does not know by null.
 * @param {number} [value] absent, or -1: not known (HAR 1.2)
 * @returns {number | null}
 */
const replaceUnknown = value => (value === undefined || value < 0 ? null : value)
