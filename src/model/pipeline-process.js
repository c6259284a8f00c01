import { renderPipeline } from './pipeline.js'
import { findPipelinePort } from './pipeline-traffic.js'
import { createSidecarProcess } from './processes.js'

/**
 * @import { Pipeline } from './pipeline.js'
 * @import { ProcessSpec, SidecarOptions } from './types.ts'
 */

/**
 * Creates the process of a sidecar from its `pipeline.yaml`. It has no administration port, and listens at all addresses if the
 * scripts fix its port.
 * @param {SidecarOptions & { pipeline: Pipeline }} options model: with an inbound listener, unless the scripts fix the port
 * @param {(started: { argv: string[], workers: number }) => { argv: string[], sockets: number | null }} [complete] adds the
 *   arguments that its plane gives every sidecar, and returns how many sockets listen at an address. Absent: no arguments, and any
 *   number of sockets, since the kit does not know the threads of another program
 * @returns {ProcessSpec}
 * @throws {UsageError} for a variable in a text of the pipeline that is unknown, or that the model has no value for
 * @throws {BenchError} for a limit or route of the model that some plane cannot have
 */
export function createPipelineSidecar({ pipeline, ...options }, complete = ({ argv }) => ({ argv, sockets: null })) {
  const { model, folder } = options
  const { document } = pipeline
  const { argv, ...rendered } = renderPipeline(pipeline, { model, folder })
  const { argv: completeArgv, sockets } = complete({ argv, workers: document.workers ?? model.workers })
  const process = createSidecarProcess(options, { ...rendered, argv: completeArgv, admin: null })
  // Scripts that fix a port listen at all addresses of their namespace.
  const address = document.listen.port === undefined ? `${model.inbound?.address}` : '0.0.0.0'
  return { ...process, workers: sockets, listens: [{ address, port: findPipelinePort(pipeline) }] }
}
