import { appendFileSync, openSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { readFileTail } from '../../lib/log-tail.js'
import { MIB, renderMebibytes } from '../../lib/units.js'

// A larger log would fill the disk: one with a line for each request in a soak, and one that floods within a minute.
const MOST_BYTES = 32 * MIB
/** The time between two checks of a log's size. */
export const LOG_CHECK_MS = 1000
/** The largest size of a log, in words. */
export const LOG_LIMIT = `${renderMebibytes(MOST_BYTES)} MiB`

/**
 * Creates an empty log and opens it for appending, so that writes begin at its start after it was truncated.
 * @param {string} file
 * @returns {number} the file descriptor, which the caller closes
 * @throws the system's error if it cannot be written
 */
export function openLog(file) {
  writeFileSync(file, '')
  return openSync(file, 'a')
}

/**
 * Says whether a log is larger than `mostBytes`, by default LOG_LIMIT.
 * @param {string} file
 * @returns {boolean} false also: it does not exist
 */
export function isLogTooLarge(file, mostBytes = MOST_BYTES) {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > mostBytes
}

/**
 * Cuts a log that is larger than `mostBytes`, by default LOG_LIMIT, to its end, with a note at its start.
 * @param {string} file
 * @returns {Promise<boolean>} true: it was larger; false: it was not, or does not exist
 * @throws the system's error if it cannot be read or written
 */
export async function cutLog(file, mostBytes = MOST_BYTES) {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size <= mostBytes) return false
  const tail = await readFileTail(file)
  truncateSync(file)
  appendFileSync(file, `[sidecar-bench cut this log at ${renderMebibytes(size)} MiB; its end:]\n${tail}`)
  return true
}
