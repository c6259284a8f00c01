import { UsageError } from '../lib/errors.js'
import { AXES } from '../model/axes.js'
import { parseExperiment } from './experiment.js'

/**
 * The questions of `size` as experiments. Pure.
 * @import { ServiceLoad } from './services-file.js'
 */

/**
 * @param {{ ratePerSecond: number, p99Ms: number, link: string, users: number | null, payloadBytes: number | null,
 *   isExtrapolated: boolean }} asked
 */
export function createSizeExperiment({ ratePerSecond, p99Ms, link, users, payloadBytes, isExtrapolated }) {
  return create({
    question: `Which CPU and memory limit holds ${ratePerSecond} requests/s with a p99 of at most ${p99Ms} ms?`,
    axes: {
      ...{ link: [link], ratePerSecond: [ratePerSecond] },
      ...(users ? { users: [users] } : {}),
      ...(payloadBytes ? { payloadBytes: [payloadBytes] } : {}),
    },
    search: { kind: 'size', p99Ms, isExtrapolated },
  })
}

/**
 * @param {{ services: ServiceLoad[], link: string, users: number | null, p99Ms: number | null, payloadBytes: number | null }} asked
 *   p99Ms, payloadBytes: of services that say none
 * @throws {import('../lib/errors.js').UsageError} for a service without a p99
 */
export function createServicesExperiment({ services, link, users, p99Ms, payloadBytes }) {
  const loads = services.map(({ name, ratePerSecond, ...own }) => ({
    ...{ name, ratePerSecond },
    p99Ms: own.p99Ms ?? p99Ms ?? refuseWithout(name),
    payloadBytes: own.payloadBytes ?? payloadBytes ?? AXES.payloadBytes.values[0],
  }))
  return create({
    question: `Which CPU and memory limits hold the loads of ${loads.map(({ name }) => name).join(', ')}?`,
    axes: {
      ...{ link: [link], ratePerSecond: [Math.max(...loads.map(load => load.ratePerSecond))] },
      ...(users ? { users: [users] } : {}),
      payloadBytes: [...new Set(loads.map(load => load.payloadBytes))],
    },
    search: { kind: 'services', services: loads },
  })
}

/**
 * @param {string} name
 * @returns {never}
 */
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
