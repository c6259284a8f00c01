import { UsageError } from '../../lib/errors.js'
import { readBytes } from '../../lib/units.js'

export { count as showCount } from '../../lib/units.js'

/** The contract of an axis, and parts that axes share, such as what reads a value of the command line. Pure. */
/** @import { TrialKind } from '../types.ts' */

/**
 * The words of an axis on the command line.
 * @typedef {object} AxisOption
 * @property {string} flags as commander reads them: with a placeholder for a list, without one for the value true
 * @property {string} help
 * @property {(text: string) => any} [read] one value; absent: the text is the value
 * @property {string} [all] the word that stands for the whole list
 */

/**
 * The parts of an arm that axes read. The types of conditions come from the axes, and so cannot be named here.
 * @typedef {{ link: string, cpuLimitCores: number | null, load: import('zod').infer<typeof import('../schemas/parts.js').load>,
 *   conditions: Record<string, any> }} ArmOnAxes
 */

/**
 * @typedef {object} Axis
 * @property {TrialKind[]} kinds of trial that can be asked for values of it
 * @property {AxisOption} [option] absent: only an experiment file can vary it
 * @property {import('zod').ZodType} schema of one value, with its bounds
 * @property {import('zod').ZodType} [recorded] schema of the condition of the same name in records, optional where an arm may be
 *   without it; absent: the axis is no condition
 * @property {any[]} values where nothing else is asked
 * @property {(arm: ArmOnAxes) => any} of
 * @property {(value: any) => string} show as words that stand alone
 * @property {string} label of a column or row
 * @property {true} [isOfSidecars] arms without sidecars cannot differ in it
 * @property {true} [isCostOfAll] arms without sidecars are compared with themselves on it, too
 * @property {true} [isUnsaidWhenNull] the label of an arm with null says nothing of it
 * @property {true} [needsRealSidecars] no sidecar is simulated where it has a value
 */

/** @type {TrialKind[]} */
export const UNDER_LOAD = ['cost', 'capacity', 'search']
/** @type {TrialKind[]} */
export const OF_CONTROL_PLANE = ['rollout', 'growth']

/** @type {(name: string, help: string, read?: AxisOption['read']) => AxisOption} */
export const list = (name, help, read) => ({ flags: `${name} <list>`, help, read })

/** @param {number} bytes */
export function showMebibytes(bytes) {
  return `${Number((bytes / 2 ** 20).toFixed(2))} MiB`
}

/**
 * Makes axes of sidecars, each a condition of an arm under the same name; null where the arm has none.
 * @template {Record<string, Pick<Axis, 'schema' | 'show' | 'label'> & Partial<Axis> & { recorded: import('zod').ZodType }>} Axes
 * @param {TrialKind[]} kinds of those that name none @param {Axes} axes
 */
export function createConditions(kinds, axes) {
  const complete = Object.entries(axes).map(([name, axis]) => {
    /** @type {Axis['of']} */
    const of = ({ conditions }) => conditions[name] ?? null
    return [name, { kinds, isOfSidecars: true, values: [null], of, ...axis }]
  })
  return /** @type {{ [Name in keyof Axes & string]: Omit<Axis, 'recorded'> & Pick<Axes[Name], 'recorded'> }} */ (
    Object.fromEntries(complete)
  )
}

/** @param {string} text @throws {UsageError} */
export function readCount(text) {
  if (!/^[1-9]\d*$/.test(text) || !Number.isFinite(Number(text)))
    throw new UsageError('a whole number above 0 is needed')
  return Number(text)
}

/** Reads a count of which 0 means none. @param {string} text @throws {UsageError} */
export const readCountOrZero = text => (text === '0' ? 0 : readCount(text))

/** @param {string} text such as 64MiB @returns {number} bytes @throws {UsageError} */
export function readSize(text) {
  const bytes = readBytes(text)
  if (bytes !== null && /\.\d+\s*B?$/.test(text)) throw new UsageError('a whole number of bytes is needed')
  if (bytes !== null) return bytes
  throw new UsageError(
    /^[\d.]+\s*(?:[KMG]i?)?B?$/.test(text) ? 'a size above 0 is needed' : 'a size such as 64MiB is needed',
  )
}

/** Reads a size that may be 0. @param {string} text @returns {number} bytes @throws {UsageError} */
export function readSizeOrNone(text) {
  return /^0B?$/.test(text) ? 0 : readSize(text)
}

/** @param {string} text @throws {UsageError} */
export function readCores(text) {
  const cores = Number(text)
  if (!/^(\d+\.?\d*|\.\d+)$/.test(text) || !(cores > 0) || !Number.isFinite(cores))
    throw new UsageError('caps are positive numbers of cores such as 0.25,1, or the word none')
  return cores
}

/** Reads `none`, too. @template T @param {(text: string) => T} read @returns {(text: string) => T | null} */
export function orNone(read) {
  return text => (text === 'none' ? null : read(text))
}
