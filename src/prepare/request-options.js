import { Option } from 'commander'
import { AXES } from '../model/arms.js'
import { REQUEST_AXES } from '../model/requests.js'
import { createAxisParser } from './option-parsers.js'

/**
 * Defines the options of one request, for verbs that take one and no list of requests.
 * @import { Command } from 'commander'
 * @import { RequestOptions } from '../model/requests.js'
 */

const REQUEST_OPTIONS = REQUEST_AXES.map(axis => {
  const { flags, help } = /** @type {import('../model/axes/axis.js').AxisOption} */ (AXES[axis].option)
  const option = new Option(flags.replace('<list>', '<value>'), help).argParser(createAxisParser(axis))
  return { axis, option, attribute: option.attributeName() }
})

/** The names under which commander has the values of these options. */
export const REQUEST_ATTRIBUTES = REQUEST_OPTIONS.map(({ attribute }) => attribute)

/**
 * Adds the options of one request.
 * @param {Command} command
 * @param {(typeof REQUEST_AXES)[number][]} [except] axes whose options are not added
 * @returns {Command} the same command
 */
export function addRequestOptions(command, except = []) {
  for (const { axis, option } of REQUEST_OPTIONS) if (!except.includes(axis)) command.addOption(option)
  return command
}

/**
 * Reads the axes of one request that options set.
 * @param {object} options parsed by commander
 * @returns {RequestOptions} only the axes that are set
 */
export function readRequestOptions(options) {
  const values = /** @type {Record<string, unknown>} */ (options)
  const requestOptions = REQUEST_OPTIONS.filter(({ attribute }) => values[attribute] !== undefined)
  return Object.fromEntries(requestOptions.map(({ axis, attribute }) => [axis, values[attribute]]))
}

/**
 * Renders the axes of one request as arguments of a command. Numbers are rendered as bytes, 0 without a unit.
 * @param {RequestOptions} request
 * @returns {string[]} []: no axis is set
 */
export function renderRequestOptions(request) {
  return REQUEST_OPTIONS.flatMap(({ axis, option }) => {
    const value = request[axis]
    const text = typeof value === 'number' ? `${value}${value > 0 ? 'B' : ''}` : value
    return text === undefined || text === null ? [] : [/** @type {string} */ (option.long), text]
  })
}

/**
 * Copies options without those of one request.
 * @template {object} Options
 * @param {Options} options
 * @returns {Options}
 */
export function omitRequestOptions(options) {
  return /** @type {Options} */ (
    Object.fromEntries(Object.entries(options).filter(([name]) => !REQUEST_ATTRIBUTES.includes(name)))
  )
}
