import { createPipyArgv } from '../dataplanes/pipy/launch.js'
import { createProcess } from '../model/processes.js'

/** @import { Endpoint, ProcessSpec, Tool } from '../model/types.ts' */

/**
 * Creates the application of a service, as a process of one worker.
 * @param {{ service: string, kind: 'echo' | 'forward' | 'named' | 'grpc-echo' | 'grpc-forward', listen: Endpoint, next: (Endpoint & { host: string }) | null,
 *   runtime: Tool, scripts: string, folder: string }} options runtime: pipy or node; scripts: the folder `echo/`
 * @returns {ProcessSpec}
 */
export function createApplication({ service, kind, listen, next, runtime, scripts, folder }) {
  const args = [
    `${listen.address}:${listen.port}`,
    ...(next ? [`${next.address}:${next.port}`, next.host] : []),
    ...(kind === 'named' ? [service] : []),
  ]
  const argv =
    runtime.name === 'pipy'
      ? createPipyArgv({ version: runtime.version, threads: 1, script: `${scripts}/${kind}.js`, args })
      : [`${scripts}/node/${kind}.js`, ...args]
  return createProcess({
    service,
    role: 'application',
    program: runtime.path,
    argv,
    folder,
    scripts: [scripts],
    listens: [listen],
    image: runtime.image ?? null,
  })
}
