import { createPipelineSidecar } from '../../model/pipeline-process.js'

/**
 * @import { Pipeline } from '../../model/pipeline.js'
 * @import { DataPlane } from '../../model/types.ts'
 */

/** Runs any program that a `pipeline.yaml` starts, with the user's own configuration. @type {DataPlane} */
export const proxy = {
  name: 'proxy',
  tool: {
    name: 'proxy',
    variable: 'PROXY',
    image: null,
    versionArgv: ['--version'],
    parseVersion: text => /(\d+\.\d+(?:\.\d+)?)/.exec(text)?.[1] ?? null,
    wanted: 'any version',
    isAccepted: () => true,
  },
  hasVariants: true,
  pipelines: 'only',
  profiles: [],
  countWorkers: () => null,
  findUnsupported: () => null,
  createSidecar: options => createPipelineSidecar({ ...options, pipeline: /** @type {Pipeline} */ (options.pipeline) }),
  parseOverflows: null,
}
