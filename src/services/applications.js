import { createPipyArgv } from '../dataplanes/pipy/argv.js'
import { createProcess } from '../model/processes.js'

/** @import { Endpoint, ProcessSpec, Tool } from '../model/types.ts' */

/**
 * Creates the application of a service, as a process of one worker.
 * @param {{ service: string, kind: 'echo' | 'forward' | 'named' | 'grpc-echo' | 'grpc-forward', listen: Endpoint, others?: Endpoint[], next: (Endpoint & { host: string }) | null,
 *   runtime: Tool, scripts: string, folder: string }} options others: addresses at which an echo application listens, too; runtime: pipy or node; scripts: the folder `echo/`
 * @returns {ProcessSpec}
 */
export function createApplication({ service, kind, listen, others = [], next, runtime, scripts, folder }) {
  const args = [
    [listen, ...others].map(({ address, port }) => `${address}:${port}`).join(),
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
    listens: [listen, ...others],
    image: runtime.image ?? null,
  })
}
