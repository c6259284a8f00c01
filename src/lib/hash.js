import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { MIB } from './units.js'

/**
 * Computes the SHA-256 of a file of any size, in constant memory.
 * @param {string} file
 * @returns {Promise<string>} in hexadecimal
 * @throws the system's error if it cannot be read
 */
export async function hashFile(file) {
  const hash = createHash('sha256')
  // One buffer is used for all reads: the buffers of a stream would stay in memory until the next garbage collection.
  const buffer = Buffer.alloc(MIB)
  const handle = await open(file)
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}

/**
 * Computes the SHA-256 of a text or of bytes.
 * @param {string | Buffer} text
 * @returns {string} in hexadecimal
 */
export function hashText(text) {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Computes the first 64 bits of the BLAKE2b-512 of a text.
 * @param {string} text
 * @returns {bigint} these bits as a little-endian number
 */
export function hashTo64Bits(text) {
  return createHash('blake2b512').update(text).digest().readBigUInt64LE()
}

/**
 * Computes the SHA-256 of the paths and contents below a folder.
 * @param {string} folder
 * @param {(path: string) => boolean} [isIncluded] gets the path of each file and folder, which begins with `folder`; a folder that is
 *   not included is not read; by default all are included
 * @returns {string} in hexadecimal
 * @throws the system's error if a folder or an included file cannot be read, or an included link is dead
 */
export function hashFolder(folder, isIncluded = () => true) {
  const files = listIncludedFiles(folder, isIncluded)
  return hashText(JSON.stringify(files.map(file => [file, hashText(readFileSync(path.join(folder, file)))])))
}

/**
 * Lists the files of a folder and those below it. Links are followed.
 * @param {string} folder
 * @param {(path: string) => boolean} isIncluded gets paths that begin with `folder`
 * @returns {string[]} paths below it, sorted within each folder; []: none is included
 * @throws the system's error if a folder cannot be read, or a link is dead
 */
function listIncludedFiles(folder, isIncluded) {
  return readdirSync(folder)
    .sort()
    .filter(name => isIncluded(path.join(folder, name)))
    .flatMap(name => {
      const isFolder = statSync(path.join(folder, name)).isDirectory()
      return isFolder ? listIncludedFiles(path.join(folder, name), isIncluded).map(file => `${name}/${file}`) : [name]
    })
}
