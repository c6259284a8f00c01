import { mergeResults, parseResult } from './summary.js'
import { k6Tool } from './tool.js'

/**
 * @import { LoadGenerator } from '../../types.ts'
 * @type {LoadGenerator}
 */
export const k6 = {
  name: 'k6',
  tool: k6Tool,

  createGenerator({ tool, scripts, url, host, load, tailMs, cpus, folder }) {
    const variables = {
      URL: url,
      HOST: host,
      USERS: load.users,
      ...(load.kind === 'open' ? { RATE: load.ratePerSecond } : {}),
      PAYLOAD_BYTES: load.payloadBytes,
      WARMUP_MS: Math.round(load.warmupSeconds * 1000),
      WINDOW_MS: Math.round(load.windowSeconds * 1000),
      TAIL_MS: tailMs,
    }
    return {
      service: 'k6',
      role: 'generator',
      program: tool.path,
      argv: [
        'run',
        '--quiet',
        '--no-color',
        '--address=', // no REST server, so no port to collide on
        ...Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`),
        `${scripts}/${load.kind}-loop.js`,
      ],
      // Collecting garbage less often saves k6 a sixth of its CPU; it pays with some tens of MiB.
      env: { GOMAXPROCS: `${cpus}`, GOGC: '300' },
      folder,
      files: [],
      scripts: [scripts],
      credentials: [],
      listens: [],
      workers: 0,
      cpuCores: null,
      memoryLimitBytes: null,
      cpuSet: null,
      admin: null,
      image: tool.image ?? null,
    }
  },

  parseWindow: log => {
    const [, start, end] = /msg="window (\d+) (\d+)"/.exec(log) ?? []
    return start ? { startMs: Number(start), endMs: Number(end) } : null
  },

  parseResult,
  mergeResults,
}
