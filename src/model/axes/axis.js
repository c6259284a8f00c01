import { UsageError } from '../../lib/errors.js'
import { readBytes } from '../../lib/units.js'

export { renderNounCount as renderCount } from '../../lib/units.js'

/** The contract of an axis, and parts that axes share, such as readers of values of the command line. Pure. */
/** @import { TrialKind } from '../types.ts' */

/**
 * The words of an axis on the command line.
 * @typedef {object} AxisOption
 * @property {string} flags as commander reads them: with a placeholder for a list, without one for the value true
 * @property {string} help
 * @property {(text: string) => any} [read] reads one value of the list, and throws UsageError; absent: the text is the value
 * @property {string} [all] the word that stands for the whole list
 */

/**
 * The parts of an arm that axes read. The types of conditions come from the axes, and so cannot be named here.
 * @typedef {{ link: string, cpuLimitCores: number | null, load: import('zod').infer<typeof import('../schemas/parts.js').load>,
 *   conditions: Record<string, any> }} ArmOnAxes
 */

/**
 * @typedef {object} Axis
 * @property {TrialKind[]} kinds of trials whose arms can have values of it
 * @property {AxisOption} [option] absent: only an experiment file can vary it
 * @property {import('zod').ZodType} schema of one value, with its bounds
 * @property {import('zod').ZodType} [recorded] schema of the condition of the same name in records, optional where an arm may be
 *   without it; absent: the axis is no condition
 * @property {any[]} values by default; the first is what an arm has without the axis
 * @property {(arm: ArmOnAxes) => any} of reads the value of an arm; null: it has none
 * @property {(value: any) => string} render renders a value, null too, as words that stand alone
 * @property {string} label of a column or row
 * @property {true} [isOfSidecars] arms without sidecars cannot differ in it
 * @property {true} [isCostOfAll] arms without sidecars are compared with themselves on it, too
 * @property {true} [isUnsaidWhenNull] the label of an arm leaves null out
 * @property {true} [needsRealSidecars] no sidecar is simulated if it has a value
 */

/** @type {TrialKind[]} */
export const UNDER_LOAD = ['cost', 'capacity', 'search']
/** @type {TrialKind[]} */
export const OF_CONTROL_PLANE = ['rollout', 'growth']

/** Creates an option that takes a list, such as `--rate <list>`. @type {(name: string, help: string, read?: AxisOption['read']) => AxisOption} */
export const createListOption = (name, help, read) => ({ flags: `${name} <list>`, help, read })

/**
 * Renders bytes to a hundredth of a MiB: `64 MiB`.
 * @param {number} bytes
 * @returns {string}
 */
export function renderMemorySize(bytes) {
  return `${Number((bytes / 2 ** 20).toFixed(2))} MiB`
}

/**
 * Creates axes of sidecars, by name. Each reads the condition of its name from an arm (null: the arm has none). Its default is null.
 * @template {Record<string, Pick<Axis, 'schema' | 'render' | 'label'> & Partial<Axis> & { recorded: import('zod').ZodType }>} Axes
 * @param {TrialKind[]} kinds of axes without kinds of their own
 * @param {Axes} axes
 * @returns the complete axes, by name
 */
export function createConditionAxes(kinds, axes) {
  const complete = Object.entries(axes).map(([name, axis]) => {
    /** @type {Axis['of']} */
    const readCondition = ({ conditions }) => conditions[name] ?? null
    return [name, { kinds, isOfSidecars: true, values: [null], of: readCondition, ...axis }]
  })
  return /** @type {{ [Name in keyof Axes & string]: Omit<Axis, 'recorded'> & Pick<Axes[Name], 'recorded'> }} */ (
    Object.fromEntries(complete)
  )
}

/**
 * Reads a whole number above 0, in decimal digits only.
 * @param {string} text
 * @returns {number}
 * @throws {UsageError} for any other text
 */
export function readCount(text) {
  if (!/^[1-9]\d*$/.test(text) || !Number.isFinite(Number(text)))
    throw new UsageError('a whole number above 0 is needed')
  return Number(text)
}

/**
 * Reads a whole number, 0 included.
 * @param {string} text
 * @throws {UsageError} for any other text
 */
export const readCountOrZero = text => (text === '0' ? 0 : readCount(text))

/**
 * Reads a size above 0.
 * @param {string} text such as 64MiB
 * @returns {number} bytes
 * @throws {UsageError} for another form, 0, or a fraction of a byte
 */
export function readSize(text) {
  const bytes = readBytes(text)
  if (bytes !== null && /\.\d+\s*B?$/.test(text)) throw new UsageError('a whole number of bytes is needed')
  if (bytes !== null) return bytes
  throw new UsageError(
    /^[\d.]+\s*(?:[KMG]i?)?B?$/.test(text) ? 'a size above 0 is needed' : 'a size such as 64MiB is needed',
  )
}

/**
 * Reads a size that may be 0.
 * @param {string} text
 * @returns {number} bytes
 * @throws {UsageError} as readSize()
 */
export function readSizeOrNone(text) {
  return /^0B?$/.test(text) ? 0 : readSize(text)
}

/**
 * Reads a positive number of cores, such as 0.25 or .5.
 * @param {string} text
 * @returns {number} cores
 * @throws {UsageError} for any other text
 */
export function readCores(text) {
  const cores = Number(text)
  if (!/^(\d+\.?\d*|\.\d+)$/.test(text) || !(cores > 0) || !Number.isFinite(cores))
    throw new UsageError('caps are positive numbers of cores such as 0.25,1, or the word none')
  return cores
}

/**
 * Creates a reader that reads `none` as null, and any other text as `read` does.
 * @template T
 * @param {(text: string) => T} read
 * @returns {(text: string) => T | null}
 */
export function createNoneParser(read) {
  return text => (text === 'none' ? null : read(text))
}
