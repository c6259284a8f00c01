import { createVersionBound } from '../../lib/version.js'
import { createProcess } from '../../model/processes.js'
import { hasChunks, renderFillerHeaders } from '../../model/requests.js'
import { countSlices, orderSlices } from '../slices.js'
import { parseResult } from './result.js'

/** @import { Load, LoadGenerator, ToolSpec } from '../../model/types.ts' */

// Requests in flight get as much time to end as under k6, so that slow ones of the window are counted, too.
const GRACE_MS = 20_000
// The first bytes of a payload identify its user, so it has a least length; each user keeps its payload in memory.
const PAYLOAD_BYTES = { least: 32, most: 2 ** 20 }

/** @type {ToolSpec} */
export const wrkTool = {
  name: 'wrk',
  variable: 'WRK',
  image: null,
  package: 'wrk',
  versionArgv: ['--version'],
  parseVersion: text => /^wrk (?:debian\/)?(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  ...createVersionBound('4.0'),
}

/** @type {LoadGenerator} */
export const wrk = {
  name: 'wrk',
  tool: wrkTool,
  scripts: 'bench/wrk',

  findUnsupported({ load, conditions }) {
    const { least, most } = PAYLOAD_BYTES
    if (conditions.protocol === 'grpc') return 'this load calls gRPC, and wrk speaks HTTP/1.1 only'
    if (load.kind === 'open') return 'this load is an open loop, and wrk has no arrival rate'
    if (load.hasCertificate) return 'this load speaks mTLS, and wrk has no client certificate'
    if (load.connections === 'new') return 'this load connects anew for every request, and wrk cannot time that'
    if (load.idleConnections) return 'this load keeps idle connections, and wrk uses all that it has'
    if (conditions.services > 1 || conditions.pairs) return 'this load may go to several addresses, and wrk has one'
    const { requests = [] } = load
    if (hasChunks({ requests })) return 'this load is answered in chunks, which the kit has k6 fetch only'
    if (requests.length > 1) return 'this load has several kinds of requests, and wrk makes one'
    if (requests.some(({ requestBytes }) => requestBytes > most))
      return `wrk keeps the request of every user, of at most 1 MiB, and this load sends ${requests[0].requestBytes} bytes`
    const bytes = readAnswerBytes(load)
    if (bytes >= least && bytes <= most) return null
    return `wrk needs ${requests.length > 0 ? 'answers' : 'a payload'} of ${least} bytes to 1 MiB to tell its users apart, and this load has ${bytes}`
  },

  countCpus: ({ cpus, users }) => countThreads(cpus, users),

  createGenerator({ tool, scripts, urls, arms: interleavedArms, seed, host, load, tailMs, cpus, folder }) {
    // An interleaved arm has a thread with all users, and one thread sends at a time.
    const arms = load.kind === 'interleaved' ? (interleavedArms ?? [{ urls, load }]) : null
    const threads = arms?.length ?? countThreads(cpus, load.users)
    const warmupMs = Math.round(load.warmupSeconds * 1000)
    const windowMs = Math.round(load.windowSeconds * 1000)
    const variables = {
      users: arms ? load.users : load.users / threads,
      threads,
      payloadBytes: readAnswerBytes(load),
      warmupMs,
      windowMs,
      tailMs,
    }
    return createProcess({
      service: 'wrk',
      role: 'generator',
      program: tool.path,
      argv: [
        `--threads=${threads}`,
        `--connections=${arms ? load.users * arms.length : load.users}`,
        // The script ends wrk sooner, unless a request hangs.
        `--duration=${Math.ceil((warmupMs + windowMs + tailMs + GRACE_MS) / 1000)}s`,
        `--script=${scripts}/closed-loop.lua`,
        ...(host ? [`--header=Host: ${host}`] : []),
        urls[0],
        '--',
        ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ],
      env: {
        ...(arms ? createInterleavedVariables({ arms, load, tailMs, seed }) : {}),
        ...createRequestVariables(arms?.map(arm => arm.load) ?? [load]),
      },
      folder,
      scripts: [scripts],
      listens: [],
      workers: 0,
      image: tool.image ?? null,
    })
  },

  parseWindow: log => {
    const [, start, end] = /^window (\d{1,15}) (\d{1,15})$/m.exec(log) ?? []
    return start ? { startMs: Number(start), endMs: Number(end) } : null
  },

  // wrk has no API while it runs.
  readProgress: async () => null,

  parseResult,
}

/**
 * Creates the variables of interleaved arms: their addresses and payloads, and the order of slices.
 * @param {{ arms: { urls: string[], load: Load }[], load: Load, tailMs: number, seed?: number }} options load: with `sliceMs`;
 *   seed: 0 by default
 * @returns {Record<string, string>} by name
 */
function createInterleavedVariables({ arms, load, tailMs, seed = 0 }) {
  const { sliceMs = 0 } = load
  const slices = countSlices(load, { sliceMs, tailMs })
  return {
    // `URL` drops the port of an address that is the default of its scheme.
    ARMS: arms.map(({ urls: [url] }) => url.split('/')[2]).join(','),
    PAYLOADS: arms.map(arm => readAnswerBytes(arm.load)).join(','),
    ORDER: orderSlices({ arms: arms.length, slices, seed }),
    SLICE_MS: `${sliceMs}`,
  }
}

/**
 * Reads the size of the answers of a load with one kind of request, or an echo.
 * @param {Load} load
 * @returns {number} bytes of the body; 0 also: the load has neither a payload nor requests
 */
function readAnswerBytes({ payloadBytes = 0, requests }) {
  return requests ? requests[0].responseBytes : payloadBytes
}

/**
 * Creates the variables of requests: each has those of all arms, in their order with semicolons between them.
 * @param {Load[]} loads each has one kind of request, or all are echoes
 * @returns {Record<string, string>} by name; {}: all are echoes
 */
function createRequestVariables(loads) {
  const kinds = loads.flatMap(({ requests = [] }) => requests)
  if (kinds.length === 0) return {}
  const renderHeaderOptions = (/** @type {number} */ bytes) =>
    Object.entries(renderFillerHeaders(bytes)).map(([name, value]) => `${name}=${value}`)
  return {
    METHODS: kinds.map(({ method }) => method).join(';'),
    PATHS: kinds.map(({ path }) => path).join(';'),
    HEADERS: kinds.map(({ requestHeaderBytes }) => renderHeaderOptions(requestHeaderBytes).join(',')).join(';'),
    REQUEST_BYTES: kinds.map(({ requestBytes }) => requestBytes).join(';'),
  }
}

/**
 * Counts the threads: at most one for each CPU, and a divisor of the users, since wrk gives each thread equally many.
 * @param {number} cpus
 * @param {number} users
 * @returns {number} at least 1
 */
function countThreads(cpus, users) {
  let threads = Math.max(1, Math.min(cpus, users))
  while (users % threads !== 0) threads--
  return threads
}
