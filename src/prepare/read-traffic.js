import path from 'node:path'
import { UsageError } from '../lib/errors.js'
import { readBounded } from '../lib/read-file.js'
import { parseYaml } from '../lib/yaml.js'
import { trafficSchema } from '../model/traffic.js'

/** @import { Traffic } from '../model/traffic.js' */

/**
 * Reads a file of traffic. If it has no name, it is named after the file.
 * @param {string} file its path
 * @returns {Traffic}
 * @throws {UsageError} if it cannot be read, or does not fit the schema
 */
export function readTraffic(file) {
  const nameOfFile = path
    .basename(file, path.extname(file))
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
  const modernise = (/** @type {any} */ written) =>
    typeof written === 'object' && written !== null ? { name: nameOfFile || 'traffic', ...written } : written
  return parseYaml({ text: readOptionFile('--traffic', file), file, schema: trafficSchema, modernise })
}

/**
 * Reads a file that an option names.
 * @param {string} option for the error
 * @param {string} file its path
 * @returns {string}
 * @throws {UsageError} if it cannot be read
 */
export function readOptionFile(option, file) {
  try {
    return readBounded(file)
  } catch (error) {
    throw new UsageError(`${option} ${file} cannot be read: ${/** @type {Error} */ (error).message}`)
  }
}
