import { kindsOf } from '../kinds/registry.js'
import { AXES } from '../model/arms.js'
import { assertAllowed, findConflict } from './constraint.js'
import { ARMS } from './constraints/arms.js'
import { MANY_SIDECARS } from './constraints/many-sidecars.js'
import { REQUESTS } from './constraints/requests.js'
import { isRequested } from './part-request.js'

/**
 * What cannot be asked together, for options, experiment files and planes alike: tables of constraints, a row each with
 * its message, in the folder `constraints/`. This module judges by them. Pure.
 * @import { AxisName, TrialKind } from '../model/types.ts' @import { Constraint } from './constraint.js'
 * @import { PartRequest } from './part-request.js' @import { PlacedArm } from './constraints/arms.js'
 */

const REQUEST_ROWS = [...REQUESTS, ...MANY_SIDECARS]
const NOTHING = /** @type {PartRequest['overrides']} */ ({ planes: null, cpuLimits: null, axes: {}, rounds: null })

/**
 * Asserts that options of a command, or facts of a plane or a plan, stand beside each other.
 * @template Facts
 * @param {Constraint<Facts>[]} constraints @param {Facts} facts
 * @param {object} [options] that were given, where these are not the facts
 * @throws {import('../lib/errors.js').UsageError}
 */
export function assertTogether(constraints, facts, options = /** @type {object} */ (facts)) {
  assertAllowed(constraints, facts, name => hasValue(/** @type {Record<string, unknown>} */ (options)[name]))
}

/** Says whether an option has a value that somebody gave. @param {unknown} value */
function hasValue(value) {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== false
}

/** @param {PartRequest} request @throws {import('../lib/errors.js').UsageError} for what its kind of trials cannot be asked */
export function assertRequest(request) {
  assertAllowed(listRequestRows(request.kind), request, name => isRequested(request, name))
}

/**
 * Says whether an experiment takes an option or axis. @param {string} name @param {import('./experiment.js').Experiment} experiment
 */
export function isAllowed(name, experiment) {
  const kinds = kindsOf(experiment)
  const place = { planes: [], hasSidecars: () => true, cpus: Number.POSITIVE_INFINITY }
  return kinds.some(kind => {
    const request = { experiment, overrides: NOTHING, axes: experiment.axes, kind, kinds, ...place }
    return (
      findConflict(
        listRequestRows(kind).filter(({ on, dependsOnOptions }) => on === name && !dependsOnOptions),
        request,
      ) === null
    )
  })
}

/** @param {TrialKind} kind */
function listRequestRows(kind) {
  return REQUEST_ROWS.filter(({ kinds }) => kinds === undefined || kinds.includes(kind))
}

/** Finds why an arm cannot be measured; null: it can. @param {PlacedArm} placed */
export function findUnmeasurable(placed) {
  return findConflict(ARMS, placed, name => {
    const { of, values } = AXES[/** @type {AxisName} */ (name)]
    return of(placed.arm) !== values[0]
  })
}
