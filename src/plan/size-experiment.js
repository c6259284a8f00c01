import { parseExperiment } from './experiment.js'

/**
 * The question of `size` as an experiment. Pure.
 * @param {{ ratePerSecond: number, p99Ms: number, link: string, users: number | null, payloadBytes: number | null,
 *   isExtrapolated: boolean }} asked
 */
export function createSizeExperiment({ ratePerSecond, p99Ms, link, users, payloadBytes, isExtrapolated }) {
  const experiment = {
    name: 'size',
    question: `Which CPU and memory limit holds ${ratePerSecond} requests/s with a p99 of at most ${p99Ms} ms?`,
    axes: {
      plane: ['pipy', 'envoy'],
      link: [link],
      ratePerSecond: [ratePerSecond],
      capCores: [1],
      ...(users ? { users: [users] } : {}),
      ...(payloadBytes ? { payloadBytes: [payloadBytes] } : {}),
    },
    trafficPolicy: 'open',
    targets: ['local'],
    search: { kind: 'size', p99Ms, isExtrapolated },
  }
  // JSON is YAML.
  return parseExperiment(JSON.stringify(experiment), 'size')
}
