import path from 'node:path'
import { parseYaml } from '../lib/yaml.js'
import { renderTrafficName, trafficSchema } from '../model/traffic.js'
import { readOptionFile } from './read-option-file.js'

/** @import { Traffic } from '../model/traffic.js' */

/**
 * Reads a file of traffic. If it has no name, it is named after the file, or `traffic` if no letter or digit is in that name.
 * @param {string} file its path
 * @returns {Traffic}
 * @throws {import('../lib/errors.js').UsageError} if it cannot be read, or does not fit the schema
 */
export function readTraffic(file) {
  const name = renderTrafficName(path.basename(file, path.extname(file)))
  const addName = (/** @type {any} */ written) =>
    typeof written === 'object' && written !== null ? { name, ...written } : written
  return parseYaml({ text: readOptionFile('--traffic', file), file, schema: trafficSchema, transform: addName })
}
