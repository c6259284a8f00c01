/** The profile istio: the configuration that Istio 1.30.3 (istio/istio 56df41f) gives its Envoy, as far as the build has its filters. */
/** @import { DeployedProfile, Tool } from '../../../model/types.ts' */

export const ISTIO = 'istio'

/** The workers of a proxy: one for each CPU of the limit in Istio's chart. */
export const ISTIO_WORKERS = 2

/** The arguments with which Istio's agent starts Envoy (pkg/envoy/proxy.go), beside the configuration and the workers. */
export const ISTIO_ARGV = [
  ...['--disable-hot-restart', '--allow-unknown-static-fields', '--local-address-ip-version', 'v4'],
  ...['--drain-time-s', '45', '--drain-strategy', 'immediate', '--file-flush-interval-msec', '1000'],
  ...['-l', 'warning', '--component-log-level', 'misc:error'],
]

/** @type {DeployedProfile} */
export const ISTIO_DEPLOYED = {
  from: "Istio 1.30.3 (istio/istio 56df41f), a port that is declared http, as Istio's control plane renders it by default",
  deviations: [
    "A build without Istio's own filters has stand-ins: header_mutation and header_to_metadata for istio.metadata_exchange, an access logger of statistics for istio.stats, and ALPN of each cluster for istio.alpn (ENVOY=/path names Istio's own proxy, whose version ends in -dev: it gets the filters themselves)",
    'Its configuration is in a file: no xDS, no SDS, no agent beside it',
    'Requests have a limit of 15 s and connects of 5 s, where Istio has none and 10 s',
    'The inbound port is 15003, where that of Istio is 15006',
    'It has no listeners for Prometheus and readiness, which nobody asks, and no chains for what no service takes',
    'No statistic has tags by pattern, which cost when a statistic is made',
  ],
}

/**
 * Says whether a build is taken for Istio's own proxy, which has Istio's filters: the version of that proxy ends in -dev.
 * @param {Pick<Tool, 'version'>} tool
 * @returns {boolean}
 */
export function hasIstioFilters({ version }) {
  return version.endsWith('-dev')
}
