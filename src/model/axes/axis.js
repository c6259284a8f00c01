import { UsageError } from '../../lib/errors.js'
import { parseBytes } from '../../lib/units.js'

export { renderNounCount as renderCount } from '../../lib/units.js'

/** The contract of an axis, and parts that axes share, such as parsers of values of the command line. Pure. */
/** @import { TrialKind } from '../types.ts' */

/**
 * The words of an axis on the command line.
 * @typedef {object} AxisOption
 * @property {string} flags in commander's form: with a placeholder for a list, without one for the value true
 * @property {string} help
 * @property {(text: string) => any} [parse] parses one value of the list, and throws UsageError; absent: the text is the value
 * @property {string} [all] the word that stands for the whole list
 */

/**
 * The parts of an arm that axes read. The types of conditions come from the axes, and so cannot be named here.
 * @typedef {{ link: string, cpuLimitCores: number | null, load: import('zod').infer<typeof import('../schemas/parts.js').load>,
 *   conditions: Record<string, any> }} ArmOnAxes
 */

/**
 * A property that an experiment can vary between arms, beside the plane.
 * @typedef {object} Axis
 * @property {TrialKind[]} kinds of trials whose arms can have values of it
 * @property {AxisOption} [option] absent: only an experiment file can vary it
 * @property {import('zod').ZodType} schema of one value, with its bounds
 * @property {import('zod').ZodType} [recorded] schema of the condition of the same name in records, optional where an arm may be
 *   without it; absent: the axis is no condition
 * @property {any[]} values by default; the first is what an arm has without the axis; []: there is no default
 * @property {(arm: ArmOnAxes) => any} readValue reads the value of an arm; null: it has none
 * @property {(value: any) => string} render renders a value, null too, as words that stand alone
 * @property {string} label of a column or row
 * @property {true} [isOfSidecars] arms without sidecars cannot differ in it
 * @property {true} [isCostOfAll] arms without sidecars are compared with themselves on it, too
 * @property {true} [isUnsaidWhenNull] the label of an arm leaves null out
 * @property {true} [needsRealSidecars] no sidecar is simulated if it has a value
 */

/** The kinds of trials that have a load. @type {TrialKind[]} */
export const UNDER_LOAD = ['cost', 'capacity', 'search']
/** The kinds of trials in which a control plane configures many sidecars. @type {TrialKind[]} */
export const OF_CONTROL_PLANE = ['rollout', 'growth']

/**
 * Creates an option that takes a list, such as `--rate <list>`.
 * @type {(name: string, help: string, parse?: AxisOption['parse']) => AxisOption}
 */
export const createListOption = (name, help, parse) => ({ flags: `${name} <list>`, help, parse })

/**
 * Renders bytes to a hundredth of a MiB: `64 MiB`.
 * @param {number} bytes
 * @returns {string}
 */
export function renderMemorySize(bytes) {
  return `${Number((bytes / 2 ** 20).toFixed(2))} MiB`
}

/**
 * Completes axes whose values are conditions. Unless it says otherwise, an axis is of sidecars, reads the condition of its name
 * from an arm (null: the arm has none), and has the default null.
 * @template {Record<string, Pick<Axis, 'schema' | 'render' | 'label'> & Partial<Axis> & { recorded: import('zod').ZodType }>} Axes
 * @param {TrialKind[]} kinds of axes without kinds of their own
 * @param {Axes} axes
 * @returns the complete axes, by name
 */
export function createConditionAxes(kinds, axes) {
  const complete = Object.entries(axes).map(([name, axis]) => {
    /** @type {Axis['readValue']} */
    const readCondition = ({ conditions }) => conditions[name] ?? null
    return [name, { kinds, isOfSidecars: true, values: [null], readValue: readCondition, ...axis }]
  })
  return /** @type {{ [Name in keyof Axes & string]: Omit<Axis, 'recorded'> & Pick<Axes[Name], 'recorded'> }} */ (
    Object.fromEntries(complete)
  )
}

/**
 * Parses a whole number above 0, in decimal digits only.
 * @param {string} text
 * @returns {number}
 * @throws {UsageError} for any other text, also with leading zeros, or too large for a number
 */
export function parsePositiveInteger(text) {
  if (!/^[1-9]\d*$/.test(text) || !Number.isFinite(Number(text)))
    throw new UsageError('a whole number above 0 is needed')
  return Number(text)
}

/**
 * Parses a whole number, 0 included, in decimal digits only.
 * @param {string} text
 * @throws {UsageError} for any other text
 */
export const parseNonNegativeInteger = text => (text === '0' ? 0 : parsePositiveInteger(text))

/**
 * Parses a size above 0.
 * @param {string} text such as 64MiB
 * @returns {number} bytes, rounded to a whole number
 * @throws {UsageError} for another form, less than a byte, or bytes with decimals, such as 1.5B
 */
export function parseSize(text) {
  const bytes = parseBytes(text)
  if (bytes !== null && /\.\d+\s*B?$/.test(text)) throw new UsageError('a whole number of bytes is needed')
  if (bytes !== null) return bytes
  throw new UsageError(
    /^[\d.]+\s*(?:[KMG]i?)?B?$/.test(text) ? 'a size above 0 is needed' : 'a size such as 64MiB is needed',
  )
}

/**
 * Parses a size that may be 0.
 * @param {string} text such as 64MiB, 0 or 0B
 * @returns {number} bytes
 * @throws {UsageError} for another form, less than a byte, or bytes with decimals
 */
export function parseSizeOrZero(text) {
  return /^0B?$/.test(text) ? 0 : parseSize(text)
}

/**
 * Parses a positive number of cores.
 * @param {string} text such as 0.25 or .5
 * @returns {number} cores
 * @throws {UsageError} for any other text
 */
export function parseCores(text) {
  const cores = Number(text)
  if (!/^(\d+\.?\d*|\.\d+)$/.test(text) || !(cores > 0) || !Number.isFinite(cores))
    throw new UsageError('a positive number of cores is needed, such as 0.25')
  return cores
}

/**
 * Creates a parser that gives null for `none`, and parses any other text as `parse` does.
 * @template T
 * @param {(text: string) => T} parse
 * @returns {(text: string) => T | null}
 */
export function createNoneParser(parse) {
  return text => (text === 'none' ? null : parse(text))
}
