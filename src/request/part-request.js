import { AXES } from '../model/arms.js'

/**
 * One part of a request, and readers of its options and axes. Pure.
 * @import { AxisName, PlaneChoice } from '../model/types.ts'
 * @import { Question } from './question.js'
 */

/**
 * The part of a request that one kind of trials answers, before it has arms.
 * @typedef {Pick<Question, 'experiment' | 'overrides' | 'axes' | 'kind' | 'kinds'> &
 *   { planes: PlaneChoice[], hasSidecars: (plane: string) => boolean, cpus: number }} PartRequest
 */

/**
 * Reads the values of an axis: those of the command line, else those of the experiment.
 * @param {Pick<PartRequest, 'overrides' | 'axes'>} request
 * @param {AxisName} axis
 * @returns {any[] | undefined} undefined: neither has any
 */
export function readValues({ overrides, axes }, axis) {
  // All axes but the link are optional: the cast gives them one type.
  const name = /** @type {'link'} */ (axis)
  return overrides.axes[name] ?? axes[name]
}

/**
 * Says whether the command line has values of an axis, which replace those of the experiment.
 * @param {Pick<PartRequest, 'overrides'>} request
 * @param {AxisName} axis
 * @returns {boolean}
 */
export function isOverridden({ overrides }, axis) {
  return overrides.axes[/** @type {'link'} */ (axis)] !== undefined
}

/**
 * Says whether an option, a field of the experiment or an axis is set in a request. An axis is also set by an experiment that has
 * another value than the default.
 * @param {PartRequest} request
 * @param {string} name of the option, field or axis
 * @returns {boolean} false also: the value of the option or field is false, null, 0 or empty text
 */
export function isSetInRequest(request, name) {
  if (Object.hasOwn(AXES, name)) {
    const axis = /** @type {AxisName} */ (name)
    const values = readValues(request, axis) ?? []
    return isOverridden(request, axis) || values.some(value => value !== AXES[axis].values[0])
  }
  const { experiment, overrides } = request
  return [overrides, experiment].some(fields => Boolean(/** @type {Record<string, unknown>} */ (fields)[name]))
}

/**
 * Renders where the values of an axis come from: its option, such as `--rate`, or `axes.NAME` of the file. An axis without an option
 * always gives the latter.
 * @param {PartRequest} request
 * @param {AxisName} axis
 * @returns {string}
 */
export function renderSource(request, axis) {
  const [flag] = AXES[axis].option?.flags.split(' ') ?? []
  // The experiment of the verb `size` has no file: all its values come from options.
  const isOfSize = ['size', 'services'].includes(request.experiment.search?.kind ?? '')
  return flag && (isOfSize || isOverridden(request, axis)) ? flag : `axes.${axis}`
}
