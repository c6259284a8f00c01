import { STEP_SIDECARS } from '../../kinds/growth/plan.js'
import { KINDS, listKinds } from '../../kinds/registry.js'
import { AXES, AXIS_NAMES, renderArmName } from '../../model/arms.js'
import { OF_CONTROL_PLANE, UNDER_LOAD } from '../../model/axes/axis.js'
import { isOverridden, readValues, renderSource } from '../part-request.js'

/**
 * Constraints between the axes and options of control planes of many sidecars, and those of a load. Pure.
 * @import { AxisName, TrialKind } from '../../model/types.ts'
 * @import { Constraint } from '../constraint.js'
 * @import { PartRequest } from '../part-request.js'
 */

/**
 * Finds the largest value of an axis with numbers.
 * @param {PartRequest} request
 * @param {AxisName} axis
 * @param {number} fallback if the request has no values of the axis
 * @returns {number}
 */
const findLargestAxisValue = (request, axis, fallback) => Math.max(...(readValues(request, axis) ?? [fallback]))

/**
 * Finds the smallest value of an axis with numbers.
 * @param {PartRequest} request
 * @param {AxisName} axis
 * @param {number} fallback if the request has no values of the axis
 * @returns {number}
 */
const findSmallestAxisValue = (request, axis, fallback) => Math.min(...(readValues(request, axis) ?? [fallback]))

/**
 * Says whether the experiment changes the configuration of sidecars under load.
 * @param {PartRequest} request
 */
const isReconfigured = ({ axes }) => axes.changesPerMinute !== undefined

/**
 * Says whether some kind of the run has a control plane of many sidecars.
 * @param {PartRequest} request
 */
const hasControlPlaneKind = ({ kinds }) => kinds.some(kind => KINDS[kind].hasControlPlane)

/**
 * Says whether an experiment has something that many sidecars exclude: a load, services that stay, CPU limits, or TLS, which it also
 * has by default.
 * @param {PartRequest} request
 */
function excludesManySidecars({ experiment: { load, keepsServices }, axes }) {
  const isPlaintext = axes.tls?.every(tls => tls === 'plaintext') ?? false
  return load.kind !== 'idle' || keepsServices || axes.cpuLimitCores !== 'none' || !isPlaintext
}

/**
 * Finds an axis that this run cannot vary: one of the command line that no kind of the run has, or one of the file
 * that no kind of the experiment or of the run has.
 * @param {PartRequest} request
 * @returns {AxisName | undefined} the first in the order of AXES; undefined: there is none
 */
function findForeignAxis(request) {
  const { experiment, axes, kinds } = request
  // Every file has a link and a CPU limit, and one of many sidecars says that they have no TLS.
  const axesOfEveryFile = ['link', 'cpuLimitCores', ...(hasControlPlaneKind(request) ? ['tls'] : [])]
  const isVariedBy = (/** @type {AxisName} */ axis, /** @type {TrialKind[]} */ kinds) =>
    kinds.some(kind => AXES[axis].kinds.includes(kind))
  return AXIS_NAMES.find(axis => {
    if (isOverridden(request, axis) && !isVariedBy(axis, kinds)) return true
    const isOfFile = axes[/** @type {'link'} */ (axis)] !== undefined && !axesOfEveryFile.includes(axis)
    return isOfFile && !isVariedBy(axis, [...listKinds({ ...experiment, axes }), ...kinds])
  })
}

/**
 * Renders why the kinds of the run cannot vary an axis, and what to change.
 * @param {PartRequest} request
 * @param {AxisName} axis
 * @returns {string}
 */
function renderForeignAxis(request, axis) {
  const { name } = request.experiment
  const { kinds: axisKinds } = AXES[axis]
  const source = renderSource(request, axis)
  if (hasControlPlaneKind(request) && !axisKinds.includes('rollout'))
    return `${source}: ${name} cannot vary ${axis} with its sidecars: leave it out`
  const isOfControlPlane = axisKinds.some(kind => OF_CONTROL_PLANE.includes(kind))
  if (!isOfControlPlane || request.kind === 'growth')
    return `${source} applies only to ${axisKinds.join(', ')}; ${name} measures ${request.kinds.join(', ')}: leave it out`
  return isOverridden(request, axis)
    ? renderControlNeeded(source, request)
    : `${name} has the axis ${axis}, and no axis sidecars: give it that, too`
}

/**
 * Renders that an option needs a control plane of many sidecars.
 * @param {string} option as the user wrote it
 * @param {PartRequest} request
 * @returns {string}
 */
function renderControlNeeded(option, { experiment: { name } }) {
  return `${option} needs an experiment with a control plane of many sidecars, such as rollout: ${name} has none`
}

/** @type {Constraint<PartRequest>[]} */
export const MANY_SIDECARS = [
  {
    on: 'grows',
    conflict: ({ axes }) => !axes.sidecars,
    message: ({ experiment: { name } }) =>
      `${name} grows, and does not say up to how many: add the axis sidecars: [400]`,
  },
  {
    on: 'grows',
    conflict: ({ experiment: { targets } }) => targets.some(target => target !== 'local'),
    message: ({ experiment: { name } }) => `${name} grows, which runs on this machine only: give it targets: [local]`,
  },
  { on: 'always', conflict: findForeignAxis, message: renderForeignAxis },
  {
    on: 'controls',
    kinds: UNDER_LOAD,
    // A sidecar that is reconfigured under load needs a control plane, too.
    conflict: request => !isReconfigured(request),
    message: request => renderControlNeeded('--control', request),
  },
  {
    on: 'always',
    kinds: UNDER_LOAD,
    conflict: request => !isReconfigured(request) && request.planes.find(({ control }) => control !== undefined),
    message: (request, choice) => renderControlNeeded(`--planes ${renderArmName(choice)}`, request),
  },
  {
    on: 'always',
    kinds: UNDER_LOAD,
    conflict: request => !isReconfigured(request) && request.axes.control !== undefined,
    message: ({ experiment: { name } }) => `${name} has the axis control, and no axis sidecars: give it that, too`,
  },
  {
    on: 'realMost',
    conflict: ({ kind }) => kind !== 'rollout',
    message: ({ experiment: { name } }) => `--real applies only to rollouts; ${name} is not one: leave it out`,
  },
  {
    on: 'assignment',
    dependsOnOptions: true,
    conflict: request => !readValues(request, 'shards'),
    message: ({ experiment: { name } }) =>
      `${name} is asked for an assignment to shards, and has one control plane: give it --shards`,
  },
  {
    on: 'isShardRemoved',
    dependsOnOptions: true,
    conflict: request => findSmallestAxisValue(request, 'shards', 1) < 2,
    message: ({ experiment: { name } }) =>
      `${name} is to remove a shard, and has an arm with one control plane: give it --shards of at least 2`,
  },
  {
    on: 'shards',
    dependsOnOptions: true,
    conflict: request => findLargestAxisValue(request, 'shards', 1) > findSmallestAxisValue(request, 'sidecars', 0),
    message: request => {
      const shards = findLargestAxisValue(request, 'shards', 1)
      const sidecars = findSmallestAxisValue(request, 'sidecars', 0)
      return `${request.experiment.name} is asked for ${shards} shards of ${sidecars} sidecars, and some would have none: give --shards of at most ${sidecars}, or more --sidecars`
    },
  },
  {
    on: 'areServicesRemoved',
    dependsOnOptions: true,
    conflict: request => findSmallestAxisValue(request, 'configuredServices', 0) === 0,
    message: ({ experiment: { name } }) =>
      `${name} has sidecars that know no services, and none can be removed: leave --remove-services out`,
  },
  {
    on: 'areServicesRemoved',
    dependsOnOptions: true,
    conflict: request => readValues(request, 'isShardRemoved')?.includes(true),
    message: ({ experiment: { name } }) =>
      `${name} is to remove services and a shard: leave --remove-services or --remove-shard out`,
  },
  {
    on: 'sizes',
    dependsOnOptions: true,
    conflict: request =>
      readValues(request, 'sizes')?.includes('random') && findLargestAxisValue(request, 'configuredServices', 0) === 0,
    message: ({ experiment: { name } }) =>
      `${name} has sidecars that know no services, and no random sizes: leave --sizes out`,
  },
  {
    on: 'grows',
    conflict: request => readValues(request, 'sidecars')?.find(count => count % STEP_SIDECARS !== 0),
    message: ({ experiment: { name } }, count) =>
      `--sidecars ${count}: ${name} adds ${STEP_SIDECARS} at a time: give a multiple of that`,
  },
  {
    on: 'always',
    kinds: OF_CONTROL_PLANE,
    conflict: excludesManySidecars,
    message: ({ experiment: { name } }) =>
      `${name} varies sidecars: it must have load { kind: idle }, cpuLimitCores none, tls plaintext, and keep no services`,
  },
  {
    on: 'always',
    kinds: OF_CONTROL_PLANE,
    conflict: ({ planes, hasSidecars }) => planes.find(({ plane }) => !hasSidecars(plane)),
    message: ({ experiment: { name } }, { plane }) =>
      `--planes ${plane}: ${name} starts sidecars, and it has none: leave it out`,
  },
  {
    on: 'cpuLimits',
    kinds: OF_CONTROL_PLANE,
    conflict: ({ overrides }) => overrides.cpuLimits !== 'none',
    message: ({ experiment: { name } }) =>
      `--cpu: the sidecars of ${name} run in batches, and none has a limit of its own: leave it out`,
  },
]
