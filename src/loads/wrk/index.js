import { createProcess } from '../../model/processes.js'
import { countSlices, orderSlices } from '../slices.js'
import { parseResult } from './result.js'
import { wrkTool } from './tool.js'

// Requests in flight get as long to end as with k6, so that the slow ones of the window are counted.
const GRACE_MS = 20_000
// A payload's first bytes tell users apart; every user holds a payload.
const PAYLOAD_BYTES = { least: 32, most: 2 ** 20 }

/**
 * @import { Load, LoadGenerator } from '../../model/types.ts'
 * @type {LoadGenerator}
 */
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
    if (conditions.services > 1) return 'this load may go to several addresses, and wrk has one'
    if (load.payloadBytes < least || load.payloadBytes > most)
      return `wrk needs a payload of ${least} bytes to 1 MiB to tell its users apart, and this load has ${load.payloadBytes}`
    return null
  },

  countCpus: ({ cpus, users }) => countThreads(cpus, users),

  createGenerator({ tool, scripts, urls, arms: beside, seed, host, load, tailMs, cpus, folder }) {
    // In turns, each arm has a thread with all users, and one thread works at a time.
    const arms = load.kind === 'interleaved' ? (beside ?? [{ urls, load }]) : null
    const threads = arms?.length ?? countThreads(cpus, load.users)
    const warmupMs = Math.round(load.warmupSeconds * 1000)
    const windowMs = Math.round(load.windowSeconds * 1000)
    const variables = {
      users: arms ? load.users : load.users / threads,
      threads,
      payloadBytes: load.payloadBytes,
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
        // The script ends wrk before that, unless a request hangs.
        `--duration=${Math.ceil((warmupMs + windowMs + tailMs + GRACE_MS) / 1000)}s`,
        `--script=${scripts}/closed-loop.lua`,
        ...(host ? [`--header=Host: ${host}`] : []),
        urls[0],
        '--',
        ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ],
      env: arms ? describeInterleaved({ arms, load, tailMs, seed }) : {},
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

  // Nobody can ask wrk while it runs.
  readProgress: async () => null,

  parseResult,
}

/** @param {{ arms: { urls: string[], load: Load }[], load: Load, tailMs: number, seed?: number }} options */
function describeInterleaved({ arms, load, tailMs, seed = 0 }) {
  const { sliceMs = 0 } = load
  const slices = countSlices(load, { sliceMs, tailMs })
  return {
    ARMS: arms.map(({ urls: [url] }) => new URL(url).host).join(','),
    PAYLOADS: arms.map(arm => arm.load.payloadBytes).join(','),
    ORDER: orderSlices({ arms: arms.length, slices, seed }),
    SLICE_MS: `${sliceMs}`,
  }
}

/** Counts its threads, a divisor of the users, since wrk gives each thread as many. @param {number} cpus @param {number} users */
function countThreads(cpus, users) {
  let threads = Math.max(1, Math.min(cpus, users))
  while (users % threads !== 0) threads--
  return threads
}
