import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { BenchError } from './errors.js'
import { MIB, renderMebibytes } from './units.js'

/** Files that somebody else may have written: only regular files, read within bounds. */

/** The most that a file of settings may hold: an experiment, a topology, services, claims. */
const SETTINGS_BYTES_MOST = 4 * MIB
/** The most that a document of a run may hold. */
export const DOCUMENT_BYTES_MOST = 64 * MIB
/**
 * The most that a file of lines may hold.
 * @typedef {object} LineLimits
 * @property {number} bytes of the file
 * @property {number} lineBytes of each line, without its line end
 * @property {number} lines
 */
/** @type {LineLimits} */
export const LINE_LIMITS = { bytes: 500 * MIB, lineBytes: 16 * MIB, lines: 2_000_000 }
const DEPTH_MOST = 64
const CHUNK_BYTES = MIB
const [LINE_END, QUOTE, BACKSLASH, SQUARE, SQUARE_END, CURLY, CURLY_END] = ['\n', '"', '\\', '[', ']', '{', '}'].map(
  c => c.charCodeAt(0),
)

/**
 * Reads a regular file as UTF-8, if it is not larger than a limit.
 * @param {string} file
 * @param {number} [bytesMost] by default SETTINGS_BYTES_MOST
 * @returns {string}
 * @throws {BenchError} if it is no regular file, or holds more; the system's error if it cannot be opened or read
 */
export function readBounded(file, bytesMost = SETTINGS_BYTES_MOST) {
  const chunks = []
  for (const chunk of readChunks(file, bytesMost)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Reads a regular file line by line. A file that ends in a line end has an empty last line, as with `split`.
 * @param {string} file
 * @param {LineLimits} [limits]
 * @returns {Generator<string>}
 * @throws {BenchError} if it is no regular file, or beyond a limit; the system's error if it cannot be opened or read
 */
export function* readLines(file, { bytes, lineBytes, lines } = LINE_LIMITS) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let restBytes = 0
  let count = 0
  const assertCount = () => {
    if (++count > lines) throw new BenchError(`${file} has more than ${lines} lines, the most that are read`)
  }
  const assertLength = () => {
    if (restBytes > lineBytes)
      throw new BenchError(
        `${file}:${count + 1} is longer than ${renderMebibytes(lineBytes)} MiB, the most that is read of a line`,
      )
  }
  const append = (/** @type {Buffer} */ part) => {
    rest += decoder.write(part)
    restBytes += part.length
    assertLength()
  }
  for (const chunk of readChunks(file, bytes)) {
    let from = 0
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, from)) {
      append(chunk.subarray(from, at))
      assertCount()
      // A character that is cut off at the end of a line is damage of that line.
      yield rest + decoder.end()
      rest = ''
      restBytes = 0
      from = at + 1
    }
    append(chunk.subarray(from))
  }
  assertCount()
  yield rest + decoder.end()
}

/**
 * Says whether a text of JSON is nested more than DEPTH_MOST levels deep, and so deeper than any document of the kit: reading it could
 * use up the stack.
 * @param {string} text
 * @returns {boolean}
 */
export function isTooDeep(text) {
  let depth = 0
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (isQuoted) {
      if (c === BACKSLASH) i++
      else if (c === QUOTE) isQuoted = false
    } else if (c === QUOTE) isQuoted = true
    else if (c === SQUARE || c === CURLY) {
      if (++depth > DEPTH_MOST) return true
    } else if (c === SQUARE_END || c === CURLY_END) depth--
  }
  return false
}

/** The words of an error about a text that is too deep. */
export const TOO_DEEP = `nested more than ${DEPTH_MOST} levels deep`

/**
 * Reads a regular file in chunks, all in one buffer.
 * @param {string} file
 * @param {number} bytesMost
 * @returns {Generator<Buffer>} none is empty; each is valid until the next
 * @throws {BenchError} if it is no regular file, or holds more than `bytesMost`; the system's error if it cannot be opened or read
 */
function* readChunks(file, bytesMost) {
  // A pipe without a writer would block, and a device has no end.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(descriptor).isFile())
      throw new BenchError(`cannot read ${file}: it is a directory, a pipe or a device, and not a file`)
    const buffer = Buffer.alloc(CHUNK_BYTES)
    let total = 0
    for (;;) {
      const bytes = readSync(descriptor, buffer, 0, buffer.length, null)
      if (bytes === 0) return
      total += bytes
      if (total > bytesMost)
        throw new BenchError(
          `cannot read ${file}: it holds more than ${renderMebibytes(bytesMost)} MiB, the most that is read`,
        )
      yield buffer.subarray(0, bytes)
    }
  } finally {
    closeSync(descriptor)
  }
}
