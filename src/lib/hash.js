import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/**
 * The SHA-256 of a file, in hexadecimal.
 * @param {string} file
 */
export async function hashFile(file) {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/**
 * The SHA-256 of a text, in hexadecimal.
 * @param {string} text
 */
export function hashText(text) {
  return createHash('sha256').update(text).digest('hex')
}
