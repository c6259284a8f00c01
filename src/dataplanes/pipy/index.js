import { FEATURE_NAMES, listFeatures } from '../../model/features.js'
import { isPostQuantum } from '../../model/sidecar-contract.js'
import { isVersionOne } from './argv.js'
import { FSM, FSM_DEPLOYED, findUnsupportedFsm } from './fsm/index.js'
import { createSidecar } from './launch.js'
import { repository } from './repository.js'

/** @import { DataPlane, DeployedProfile, ToolSpec } from '../../model/types.ts' */

const CONTAINER = 'container'
const MUX_IDLE_SECONDS = 60

/** @type {DeployedProfile} */
const CONTAINER_DEPLOYED = {
  isHeld: true,
  from: "the container image of Pipy, whose entry point starts as many threads as the pod's CPU quota has whole cores",
  deviations: ['Its scripts and its configuration are the lean ones: the number of threads alone is that of the image'],
}

/** @type {ToolSpec} */
export const pipyTool = {
  name: 'pipy',
  variable: 'PIPY',
  image: 'flomesh/pipy:1.5.18',
  versionArgv: ['--version'],
  parseVersion: text => /^Version\s*:\s*(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '1.5.x or 2.0.x',
  isAccepted: version => /^(1\.5|2\.0)\./.test(version),
  ifMissing: {
    lack: "this kit's main comparison, Pipy against Envoy",
    advice:
      'unpack pipy-<version>-generic_linux-<x86_64 or arm64>.tar.gz of https://github.com/flomesh-io/pipy/releases, and set PIPY=/path/to/pipy; where GitHub can be reached the kit fetches it, and compares its SHA-256 with PIPY_SHA256 where you set that',
  },
}

/** @type {DataPlane} */
export const pipy = {
  name: 'pipy',
  tool: pipyTool,
  hasVariants: true,
  pipelines: 'too',
  profiles: ['lean', FSM, CONTAINER],
  deployed: { [FSM]: FSM_DEPLOYED, [CONTAINER]: CONTAINER_DEPLOYED },
  features: FEATURE_NAMES,
  metrics: { path: '/metrics', requests: 'sidecar_requests_total', durations: 'sidecar_request_duration_ms' },
  countWorkers,
  findIdleSeconds,
  findUnsupported,
  findLacks,
  createSidecar,
  // At SIGINT, Pipy closes each connection behind its next answer, and ends when none is left.
  endGracefully: spec => ({ spec, steps: [{ kind: 'signal', signal: 'SIGINT' }] }),
  controls: [repository],
  parseOverflows: null,
}

/**
 * Counts the workers of a deployed profile: one for FSM, and for the container one for each whole core of its CPU limit, or else of the
 * machine, and at least one; null: the profile is lean.
 * @type {DataPlane['countWorkers']}
 */
function countWorkers({ profile, cpus, cpuLimitCores }) {
  if (profile === FSM) return 1
  return profile === CONTAINER ? Math.max(1, Math.floor(cpuLimitCores ?? cpus)) : null
}

/**
 * Computes how long a Pipy keeps an idle connection. With the kit's scripts that is the shorter of the idle timeout and the time for which
 * pipy-scripts/upstream.js keeps a connection to an upstream.
 * @type {NonNullable<DataPlane['findIdleSeconds']>}
 */
function findIdleSeconds({ profile, timeouts: { requestSeconds, idleSeconds } }) {
  // FSM's scripts name no time for muxHTTP: this is its own (`max_idle`, src/filters/mux.hpp).
  if (profile === FSM) return MUX_IDLE_SECONDS
  return Math.min(idleSeconds, Math.max(requestSeconds / 2, requestSeconds - 3))
}

/**
 * Finds why this version of Pipy cannot have the conditions, with the profile's scripts; null: it can.
 * @type {DataPlane['findUnsupported']}
 * @throws {BenchError} if the conditions name a feature that the kit does not know
 */
function findUnsupported({ conditions, entrance, profile, sidecarWorkers = 1, version, cpus }) {
  const { protocol, workers, features, tls } = conditions
  if (isPostQuantum(tls) && isVersionOne(version))
    return `post-quantum groups came with OpenSSL 3.5, and Pipy ${version} is linked with an older one (PIPY=/path/to/pipy names a 2.0)`
  if (protocol === 'grpc')
    return 'gRPC: Pipy crashes where a client has cancelled a call: 1.5 within seconds, 2.0 when the upstream is given up'
  if (protocol === 'http/2' && isVersionOne(version))
    return `HTTP/2 between sidecars needs Pipy 2.0: ${version} crashes when a client resets a request under way (PIPY=/path/to/pipy names another)`
  if (workers !== null && workers > cpus) return `Pipy refuses ${workers} threads on ${cpus} CPUs`
  if (listFeatures(features).includes('metrics') && !isVersionOne(version) && sidecarWorkers > 1)
    return `a worker of Pipy ${version} sees its own metrics only: give one (--workers 1, or a cap of 1 at most)`
  return profile === FSM ? findUnsupportedFsm({ conditions, entrance, version }) : null
}

/**
 * Lists the rows of the corpus that Pipy fails; []: with requests in plaintext it fails none.
 * @type {NonNullable<DataPlane['findLacks']>}
 */
function findLacks({ tls, protocol }) {
  const sameEndpoint = {
    row: 'parity-next-endpoint',
    why: 'of bytes, it tries a refused connection again at the same endpoint',
  }
  const silent = {
    row: 'parity-handshakes',
    why: 'it closes the connection of a refused peer in the handshake, without an alert',
  }
  return [...(protocol === 'tcp' ? [sameEndpoint] : []), ...(tls === 'plaintext' ? [] : [silent])]
}
