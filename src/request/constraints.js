import { listKinds } from '../kinds/registry.js'
import { AXES } from '../model/arms.js'
import { assertConstraints, findConflict } from './constraint.js'
import { ARMS } from './constraints/arms.js'
import { MANY_SIDECARS } from './constraints/many-sidecars.js'
import { REQUESTS } from './constraints/requests.js'
import { isSetInRequest } from './part-request.js'

/**
 * Checks requests against the tables of constraints in the folder `constraints/`, for options, experiment files and planes
 * alike. Pure.
 * @import { AxisName, TrialKind } from '../model/types.ts'
 * @import { Constraint } from './constraint.js'
 * @import { PartRequest } from './part-request.js'
 * @import { Missing } from './question.js'
 * @import { PlacedArm } from './constraints/arms.js'
 */

const REQUEST_CONSTRAINTS = [...REQUESTS, ...MANY_SIDECARS]
const NO_OVERRIDES = /** @type {PartRequest['overrides']} */ ({ planes: null, cpuLimits: null, axes: {}, rounds: null })

/**
 * Asserts that options of a command, or facts of a plane or a plan, break no constraint. Constraints of all kinds of trials are checked.
 * @template Facts
 * @param {Constraint<Facts>[]} constraints
 * @param {Facts} facts
 * @param {object} [options] by name: of constraints on an option, only those on one that is set are checked (`hasValue`);
 *   absent: the facts
 * @throws {import('../lib/errors.js').UsageError} with the message of the first broken constraint
 */
export function assertCombination(constraints, facts, options = /** @type {object} */ (facts)) {
  assertConstraints(constraints, facts, name => hasValue(/** @type {Record<string, unknown>} */ (options)[name]))
}

/**
 * Says whether the value of an option is set: undefined, null, false, an empty list and an empty object are not; 0 and empty text are.
 * @param {unknown} value
 */
function hasValue(value) {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== false
}

/**
 * Asserts that a request breaks no constraint of its kind of trials.
 * @param {PartRequest} request
 * @throws {import('../lib/errors.js').UsageError} with the message of the first broken constraint
 */
export function assertRequest(request) {
  assertConstraints(listRequestConstraints(request.kind), request, name => isSetInRequest(request, name))
}

/**
 * Says whether some kind of trials of an experiment can have an option or axis, for the help of that experiment.
 * Constraints that other options can lift do not count, nor do those of planes and of the machine.
 * @param {string} name of the option or axis
 * @param {import('./experiment.js').Experiment} experiment
 * @returns {boolean}
 */
export function isOptionAllowed(name, experiment) {
  const kinds = listKinds(experiment)
  const place = { planes: [], hasSidecars: () => true, cpus: Number.POSITIVE_INFINITY }
  return kinds.some(kind => {
    const request = { experiment, overrides: NO_OVERRIDES, axes: experiment.axes, kind, kinds, ...place }
    const constraints = listRequestConstraints(kind).filter(
      ({ on, dependsOnOptions }) => on === name && !dependsOnOptions,
    )
    return findConflict(constraints, request) === null
  })
}

/** Lists the constraints on requests for a kind of trials. @param {TrialKind} kind @returns {Constraint<PartRequest>[]} */
function listRequestConstraints(kind) {
  return REQUEST_CONSTRAINTS.filter(({ kinds }) => kinds === undefined || kinds.includes(kind))
}

/**
 * Finds the reason why an arm cannot be measured. Constraints on an axis on which the arm has the default are not
 * checked.
 * @param {PlacedArm} placed
 * @returns {Pick<Missing, 'reason' | 'isRefused'> | null} null: it can be measured
 * @throws {import('../lib/errors.js').BenchError} for a feature that this kit does not know
 */
export function findUnmeasurableReason(placed) {
  const conflict = findConflict(ARMS, placed, name => {
    const { readValue, values } = AXES[/** @type {AxisName} */ (name)]
    return readValue(placed.arm) !== values[0]
  })
  if (conflict === null) return null
  return conflict.isLack ? { reason: conflict.message } : { reason: conflict.message, isRefused: true }
}
