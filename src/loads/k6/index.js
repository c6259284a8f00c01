import { parseSummary } from './summary.js'
import { k6Tool } from './tool.js'

/**
 * @import { LoadGenerator } from '../../types.ts'
 * @type {LoadGenerator}
 */
export const k6 = {
  name: 'k6',
  tool: k6Tool,

  createGenerator({ tool, scripts, url, host, load, windowStartMs, windowEndMs, tailMs, cpus, folder }) {
    const variables = {
      URL: url,
      HOST: host,
      USERS: load.users,
      PAYLOAD_BYTES: load.payloadBytes,
      WINDOW_START_MS: windowStartMs,
      WINDOW_END_MS: windowEndMs,
      TAIL_MS: tailMs,
      SUMMARY_PATH: 'k6-summary.json',
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
        `${scripts}/closed-loop.js`,
      ],
      env: { GOMAXPROCS: `${cpus}` },
      folder,
      files: [],
      listens: [],
      workers: 0,
      cpuCores: null,
      memoryLimitBytes: null,
      image: `grafana/k6:${tool.version}`,
    }
  },

  parseSummary,
}
