import { UsageError } from '../lib/errors.js'
import { AXES, AXIS_NAMES, nameOf } from './arms.js'
import { CONTROL_PLANE_AXES } from './axes/control-plane.js'
import { parseServiceTime } from './requests.js'

/** Checks questions to trials of many sidecars, or of services alone. Pure. */
/** @import { AxisName, PlaneChoice } from './types.ts' */
/** Values of axes. @typedef {Partial<Record<Exclude<AxisName, 'cpuLimitCores'>, any[]>>} Values */

/**
 * The parts of a question that kinds of trials look at.
 * @typedef {object} Asked
 * @property {{ name: string, load: { kind: string | null }, keepsServices: boolean, targets: string[],
 *   search: { kind: string } | null, grows: { deadlineSeconds: number } | null, sizesControlOf: number | null }} experiment
 * @property {{ axes: Values, cpuLimits: number[] | 'none' | null, controls?: string[] | null }} overrides
 * @property {Values & { cpuLimitCores: number[] | 'none' }} axes of the experiment
 */

/** @typedef {{ planes: PlaneChoice[], hasSidecars: (plane: string) => boolean }} Chosen the planes that were chosen */

// An experiment of many sidecars has these beside the axes of its kind.
const GIVEN_AXES = ['plane', 'control', 'link', 'cpuLimitCores', 'tls']

/** @type {string[]} */
const CONTROLLED_AXES = AXIS_NAMES.filter(name => AXES[name].kinds.includes('rollout'))

/** @param {Asked} asked @param {Chosen} chosen @throws {UsageError} for what only a control plane of many has */
export function assertAlone({ experiment, overrides, axes }, { planes }) {
  const { name } = experiment
  assertPairs({ experiment, overrides, axes })
  if (axes.ending?.some(Boolean) && experiment.keepsServices)
    throw new UsageError(`${name} ends sidecars, whose services do not stay: leave keepsServices out`)
  // A sidecar that is changed while it serves has a control, too.
  const isChanged = axes.changesPerMinute !== undefined
  const controlled = planes.find(({ control }) => control !== undefined)
  const own = /** @type {(keyof typeof CONTROL_PLANE_AXES)[]} */ (Object.keys(CONTROL_PLANE_AXES))
  const asked = own.find(axis => overrides.axes[axis])
  const option = asked
    ? AXES[asked].option?.flags.split(' ')[0]
    : !isChanged && ((overrides.controls && '--control') || (controlled && `--planes ${nameOf(controlled)}`))
  if (option)
    throw new UsageError(
      `${option} needs an experiment with a control plane of many sidecars, such as rollout: ${name} has none`,
    )
  const alone = Object.keys(axes).find(axis => (axis === 'control' && !isChanged) || axis in CONTROL_PLANE_AXES)
  if (alone) throw new UsageError(`${name} has the axis ${alone}, and no axis sidecars: give it that, too`)
}

/** @param {Asked} asked @throws {UsageError} for pairs that a load would not reach, and for copies of one service in them */
function assertPairs({ experiment: { name, load }, overrides, axes }) {
  const asked = (/** @type {'pairs' | 'services'} */ axis) => overrides.axes[axis] ?? axes[axis] ?? []
  if (!asked('pairs').some(Boolean)) return
  if (load.kind !== 'idle')
    throw new UsageError(`--pairs: ${name} has a load, which would go to one pair alone: leave it out`)
  if (asked('services').some(count => count > 1))
    throw new UsageError(`--services: ${name} has pairs, each with one server: leave it out`)
}

/** @param {Asked} asked @param {Chosen} chosen @throws {UsageError} for what many sidecars cannot be asked */
export function assertManySidecars({ experiment, overrides, axes }, { planes, hasSidecars }) {
  const { name, load, keepsServices } = experiment
  const isPlaintext = axes.tls?.every(tls => tls === 'plaintext')
  if (load.kind !== 'idle' || keepsServices || axes.cpuLimitCores !== 'none' || !isPlaintext) {
    throw new UsageError(
      `${name} varies sidecars: it must have load { kind: idle }, cpuLimitCores none, tls plaintext, and keep no services`,
    )
  }
  const ignored = Object.keys(axes).find(axis => ![...CONTROLLED_AXES, ...GIVEN_AXES].includes(axis))
  if (ignored) throw new UsageError(`${name} varies sidecars, and says nothing of its axis ${ignored}: leave that out`)
  const without = planes.find(({ plane }) => !hasSidecars(plane))
  if (without) throw new UsageError(`--planes ${without.plane}: ${name} starts sidecars, and it has none: leave it out`)
  if (overrides.cpuLimits !== null && overrides.cpuLimits !== 'none')
    throw new UsageError(`--cpu: the sidecars of ${name} run in batches, and none has a limit of its own: leave it out`)
  const given = Object.entries(overrides.axes).find(([axis, values]) => values && !CONTROLLED_AXES.includes(axis))
  if (given) throw new UsageError(`${name} varies sidecars, and says nothing of ${given[0]}: leave that out`)
}

/**
 * Refuses requests that contradict each other.
 * @param {Pick<Asked, 'overrides' | 'axes'> & { experiment: { name: string, search: unknown } }} asked @throws {UsageError}
 */
export function assertRequests({ experiment: { name, search }, overrides, axes }) {
  const valuesOf = (/** @type {keyof Values} */ axis) => overrides.axes[axis] ?? axes[axis]
  const optionOf = (/** @type {AxisName} */ axis) => AXES[axis].option?.flags.split(' ')[0]
  const sized = /** @type {const} */ (['requestBytes', 'responseBytes']).find(axis => valuesOf(axis))
  if (sized && valuesOf('payloadBytes'))
    throw new UsageError(
      overrides.axes.payloadBytes
        ? `--payload is the size of a request and of its answer: leave it out beside ${optionOf(sized)}`
        : `${optionOf(sized)}: ${name} varies the payload, which is the size of a request and of its answer: leave ${optionOf(sized)} out`,
    )
  const methods = valuesOf('method') ?? []
  const bodiless = methods.find(method => ['GET', 'HEAD'].includes(method))
  if (bodiless && (valuesOf('requestBytes') ?? []).some(bytes => bytes > 0))
    throw new UsageError(
      `--request: a ${bodiless} has no body (RFC 9110, 9.3), and proxies may refuse one: leave it out, or take --method POST`,
    )
  if (methods.includes('HEAD') && (valuesOf('responseBytes') ?? []).some(bytes => bytes > 0))
    throw new UsageError('--response: an answer to HEAD has no body: leave it out, or take --method GET')
  const p99Ms = /** @type {{ p99Ms?: number | null } | null} */ (search)?.p99Ms
  const slow = (valuesOf('serviceTime') ?? []).find(time => p99Ms && (parseServiceTime(time)?.meanMs ?? 0) >= p99Ms)
  if (slow)
    throw new UsageError(
      `--service-time ${slow}: the p99 of at most ${p99Ms} ms includes it, and leaves nothing for sidecars: give a higher --p99`,
    )
}

/** @param {Asked} asked @throws {UsageError} for what makes no difference, and for shards without sidecars */
export function assertSharded({ experiment: { name }, overrides, axes }) {
  const asked = (/** @type {keyof Values} */ axis) => overrides.axes[axis] ?? axes[axis]
  if (asked('assignment') && !asked('shards'))
    throw new UsageError(`${name} is asked for an assignment to shards, and has one control plane: give it --shards`)
  const shards = asked('shards') ?? [1]
  if (asked('isShardRemoved')?.includes(true) && Math.min(...shards) < 2)
    throw new UsageError(
      `${name} is to remove a shard, and has an arm with one control plane: give it --shards of at least 2`,
    )
  const most = Math.max(...shards)
  const least = Math.min(...(asked('sidecars') ?? []))
  if (most > least)
    throw new UsageError(
      `${name} is asked for ${most} shards of ${least} sidecars, and some would have none: give --shards of at most ${least}, or more --sidecars`,
    )
  if (asked('areServicesRemoved')?.includes(true) && Math.min(...(asked('configuredServices') ?? [0])) === 0)
    throw new UsageError(
      `${name} has sidecars that know no services, and none can be removed: leave --remove-services out`,
    )
  if (asked('areServicesRemoved')?.includes(true) && asked('isShardRemoved')?.includes(true))
    throw new UsageError(`${name} is to remove services and a shard: leave --remove-services or --remove-shard out`)
  if (asked('sizes')?.includes('random') && Math.max(...(asked('configuredServices') ?? [0])) === 0)
    throw new UsageError(`${name} has sidecars that know no services, and no random sizes: leave --sizes out`)
}
