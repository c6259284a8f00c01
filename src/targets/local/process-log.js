import { openSync, statSync, truncateSync, writeFileSync } from 'node:fs'

/** The file that a process logs to. A log with a line for each request would fill the disk in a soak. */

const MOST_BYTES = 256 * 1024 * 1024

/** How often a log is looked at. */
export const BOUND_MS = 30_000

/**
 * An empty file, to append to: what is written after it was emptied again begins at its start.
 * @param {string} file @returns {number} its descriptor
 */
export function openLog(file) {
  writeFileSync(file, '')
  return openSync(file, 'a')
}

/** Empties a log that has grown too large: the lines that are then logged are the last. @param {string} file */
export function boundLog(file, mostBytes = MOST_BYTES) {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > mostBytes) truncateSync(file)
}
