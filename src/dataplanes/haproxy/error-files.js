/** Whole responses of HAProxy for an upstream that failed; their status may differ from HAProxy's own, which they replace. */

const MARK = 'x-sidecar-bench-failed'

/** A header marks HAProxy's own 503, not an application's, and is removed before the answer leaves. */
export const MARK_FAILED = `res.hdr(${MARK}) -m found`
export const UNMARK_FAILED = `del-header ${MARK}`

/** @type {{ name: string, content: string, replaces: number }[]} */
export const ERROR_FILES = [
  createFile(502, '503 Service Unavailable', 'the upstream closed the connection without an answer'),
  createFile(503, '503 Service Unavailable', 'the upstream cannot be connected', [`${MARK}: 1`]),
  createFile(504, '504 Gateway Timeout', 'no answer from the upstream in time'),
]

/**
 * Makes the file of a response.
 * @param {number} replaces HAProxy's own status
 * @param {string} status
 * @param {string} reason
 * @param {string[]} [headers]
 */
function createFile(replaces, status, reason, headers = []) {
  const head = [`HTTP/1.1 ${status}`, 'content-type: text/plain', `content-length: ${reason.length}`, ...headers]
  return { name: `${replaces}.http`, content: `${head.join('\r\n')}\r\n\r\n${reason}`, replaces }
}
