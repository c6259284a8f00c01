import { UsageError } from '../lib/errors.js'
import { AXES } from '../model/axes.js'
import { parseExperiment } from './experiment.js'

/** The questions of `size` as experiments. Pure. @import { ServiceLoad } from './services-file.js' */

/** Of the sidecars that are asked for. An interval of a slope takes six. */
const SIZES = [1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1]

/** null: the axis' own value. */
/** @typedef {{ link: string, users: number | null, payloadBytes: number | null, features: string | null }} Asked */

/** @param {Asked & { ratePerSecond: number, p99Ms: number, isExtrapolated: boolean }} asked */
export function createSizeExperiment({ ratePerSecond, p99Ms, payloadBytes, isExtrapolated, ...asked }) {
  return create({
    question: `Which CPU and memory limit holds ${ratePerSecond} requests/s with a p99 of at most ${p99Ms} ms${tellFeatures(asked)}?`,
    axes: {
      ...{ ...shareAxes(asked), ratePerSecond: [ratePerSecond] },
      ...(payloadBytes ? { payloadBytes: [payloadBytes] } : {}),
    },
    search: { kind: 'size', p99Ms, isExtrapolated },
  })
}

/**
 * The experiment of a file of services; throws UsageError for a service without a p99.
 * @param {Asked & { services: ServiceLoad[], p99Ms: number | null }} asked p99Ms, payloadBytes: of services that say none
 */
export function createServicesExperiment({ services, p99Ms, payloadBytes, ...asked }) {
  const loads = services.map(({ name, ratePerSecond, ...own }) => ({
    ...{ name, ratePerSecond },
    p99Ms: own.p99Ms ?? p99Ms ?? refuseWithout(name),
    payloadBytes: own.payloadBytes ?? payloadBytes ?? AXES.payloadBytes.values[0],
  }))
  return create({
    question: `Which CPU and memory limits hold the loads of ${loads.map(({ name }) => name).join(', ')}${tellFeatures(asked)}?`,
    axes: {
      ...{ ...shareAxes(asked), ratePerSecond: [Math.max(...loads.map(load => load.ratePerSecond))] },
      payloadBytes: [...new Set(loads.map(load => load.payloadBytes))],
    },
    search: { kind: 'services', services: loads },
  })
}

/** @param {Pick<Asked, 'link' | 'users' | 'features'>} asked */
function shareAxes({ link, users, features }) {
  return { link: [link], ...(users ? { users: [users] } : {}), ...(features ? { features: [features] } : {}) }
}

/** @param {Pick<Asked, 'features'>} asked */
function tellFeatures({ features }) {
  return features ? `, in sidecars with ${AXES.features.show(features)}` : ''
}

/** Rollouts of several sizes up to the one asked for; throws UsageError for too few. @param {number} sidecars */
export function createControlExperiment(sidecars) {
  if (sidecars < SIZES.length)
    throw new UsageError(`--sidecars ${sidecars}: the need is told by a slope: ask for at least ${SIZES.length}`)
  const experiment = {
    ...{ name: 'size', question: `What does the control plane of ${sidecars} sidecars need?`, targets: ['local'] },
    axes: {
      ...{ plane: ['pipy'], link: ['pair'], capCores: 'none', workers: [1], tls: ['plaintext'] },
      sidecars: [...new Set(SIZES.map(share => Math.round(share * sidecars)))],
    },
    ...{ load: { kind: 'idle' }, sizesControlOf: sidecars },
    shows: { across: 'sidecars', quantities: ['controlPeak', 'controlCpuRollout', 'controlCpuChange'] },
    profiles: { standard: { rounds: 1, hasControl: false } },
  }
  return parseExperiment(JSON.stringify(experiment), 'size')
}

/** @param {string} name @returns {never} */
function refuseWithout(name) {
  throw new UsageError(`the service ${name} has no p99: add one such as p99: 20ms, or --p99 for all that have none`)
}

/** @param {{ question: string, axes: Record<string, unknown[]>, search: Record<string, unknown> }} asked */
function create({ question, axes, search }) {
  const experiment = {
    ...{ name: 'size', question, search },
    axes: { plane: ['pipy', 'envoy'], capCores: [1], ...axes },
    ...{ trafficPolicy: 'open', targets: ['local'] },
  }
  // JSON is YAML.
  return parseExperiment(JSON.stringify(experiment), 'size')
}
