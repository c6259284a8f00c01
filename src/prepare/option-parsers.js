import path from 'node:path'
import { InvalidArgumentError } from 'commander'
import { UsageError } from '../lib/errors.js'
import { AXES, parsePlaneChoice } from '../model/arms.js'
import { parsePositiveInteger } from '../model/axes/axis.js'
import { seed } from '../model/bounds.js'
import { readTraffic } from './read-traffic.js'

/**
 * Parses the values of options. commander prints the errors with the option's name.
 * @import { AxisName, PlaneChoice } from '../model/types.ts'
 */

/** The values of these axes are files. @type {Partial<Record<AxisName, (text: string) => unknown>>} */
const FILE_READERS = { traffic: readTraffic }

/** Parses a whole number above 0. @throws {InvalidArgumentError} for any other text */
export const parseCount = createArgumentParser(parsePositiveInteger)

/** Parses a seed: a whole number from 0 on. @throws {InvalidArgumentError} for any other text */
export const parseSeed = createSchemaParser(seed, text =>
  Number(assertParsed(/^\d+$/.exec(text)?.[0], 'a whole number is needed')),
)

/**
 * Parses a list of data planes. Whether the planes, profiles and variants exist is not checked.
 * @param {string} text the value of --planes
 * @returns {PlaneChoice[]} the path of a variant is absolute
 * @throws {InvalidArgumentError} if an entry is empty or repeated
 */
export function parsePlanes(text) {
  return parseList(text).map(entry => {
    const choice = parsePlaneChoice(entry)
    return choice.variant === null ? choice : { ...choice, variant: path.resolve(choice.variant) }
  })
}

/**
 * Parses a list whose entries are divided by commas.
 * @param {string} text
 * @returns {string[]} without blanks around the entries
 * @throws {InvalidArgumentError} if an entry is empty or repeated
 */
export function parseList(text) {
  const entries = text.split(',').map(entry => entry.trim())
  if (entries.includes('')) throw new InvalidArgumentError('an entry of the list is empty')
  if (new Set(entries).size < entries.length) throw new InvalidArgumentError('an entry stands twice in the list')
  return entries
}

/**
 * Creates a parser of one value of an axis.
 * @param {AxisName} name
 * @returns {(text: string) => any} it throws InvalidArgumentError for a text that is no value of the axis, and UsageError for a file
 *   that cannot be read or is not valid
 */
export function createAxisParser(name) {
  const { option, schema } = AXES[name]
  const readFile = FILE_READERS[name]
  if (readFile) return readFile
  return createSchemaParser(schema, createArgumentParser(option?.parse ?? (text => text)))
}

/**
 * Creates a parser whose errors commander prints with the option's name.
 * @template T
 * @param {(text: string) => T} parse
 * @returns {(text: string) => T} it throws InvalidArgumentError in place of a UsageError of `parse`, and any other error as it is
 */
function createArgumentParser(parse) {
  return (/** @type {string} */ text) => {
    try {
      return parse(text)
    } catch (error) {
      throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error
    }
  }
}

/**
 * Creates a parser of a value that a schema checks.
 * @template T
 * @param {import('zod').ZodType<T>} schema
 * @param {(text: string) => unknown} convert converts the text to a value for the schema
 * @returns {(text: string) => T} it throws InvalidArgumentError with the reason for any other value, and an error of `convert`
 */
export function createSchemaParser(schema, convert) {
  return (/** @type {string} */ text) => {
    const result = schema.safeParse(convert(text))
    if (result.success) return result.data
    // The last issue has the reason, also for a number that is no safe integer.
    const [issue] = result.error.issues.slice(-1)
    const isUnknownName = issue.code === 'invalid_value'
    throw new InvalidArgumentError(
      isUnknownName ? `${JSON.stringify(text)} is none of ${issue.values.join(', ')}` : `${issue.message}.`,
    )
  }
}

/**
 * Asserts that a text was parsed.
 * @template T
 * @param {T | null | undefined} value null or undefined: it was not parsed
 * @param {string} message of the error
 * @returns {T}
 * @throws {InvalidArgumentError} if it was not parsed
 */
export function assertParsed(value, message) {
  if (value === null || value === undefined) throw new InvalidArgumentError(message)
  return value
}

/**
 * Appends a value of an option that may be repeated.
 * @param {string} value
 * @param {string[]} before the values of the earlier occurrences
 * @returns {string[]} a new list
 */
export function collectValues(value, before) {
  return [...before, value]
}
