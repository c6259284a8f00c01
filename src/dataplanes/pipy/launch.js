import { renderOpensslConf } from '../../lib/openssl-conf.js'
import { createPipelineSidecar } from '../../model/pipeline-process.js'
import { createSidecarProcess } from '../../model/processes.js'
import { createPipyArgv } from './argv.js'
import { renderConfig } from './config.js'
import { createFsmSidecar, FSM } from './fsm/index.js'

/** @import { ProcessSpec, SidecarOptions } from '../../model/types.ts' */

// Pipy 1.5 says why it refuses a script, and at times hangs instead of ending.
const START_ERROR = '[ERR] [pjs]'

/**
 * Creates a Pipy with the kit's scripts, with those of FSM (profile), or else with a user's (pipeline).
 * @param {SidecarOptions} options scriptFiles: with main.js, for the profile of FSM
 * @returns {ProcessSpec}
 * @throws {BenchError} if the model has a limit that some plane cannot have
 * @throws {UsageError} if a text of the pipeline has an unknown variable
 * @throws {TypeError} as `createFsmSidecar`
 */
export function createSidecar(options) {
  return { ...createProfileSidecar(options), startErrorText: START_ERROR }
}

/**
 * Creates the Pipy of createSidecar(), without its start error.
 * @param {SidecarOptions} options
 * @throws {Error} as `createSidecar`
 */
function createProfileSidecar(options) {
  if (options.profile === FSM) return createFsmSidecar(options)
  if (options.pipeline) return createScriptSidecar({ ...options, pipeline: options.pipeline })
  return createLeanSidecar(options)
}

/**
 * Creates a Pipy that runs main.js, or tcp.js if it carries bytes, of its folder of scripts: the kit's, or a variant's.
 * @param {SidecarOptions} options
 * @throws {BenchError} if the model has a limit that some plane cannot have
 */
function createLeanSidecar(options) {
  const { model, folder, tool, scripts } = options
  return createSidecarProcess(options, {
    argv: createPipyArgv({
      version: tool.version,
      threads: model.workers,
      features: model.features,
      script: `${scripts}/${model.carriesBytes ? 'tcp' : 'main'}.js`,
      args: [`${folder}/sidecar.json`],
    }),
    env: { OPENSSL_CONF: `${folder}/openssl.cnf` },
    files: [
      { name: 'sidecar.json', content: `${JSON.stringify(renderConfig(model), null, 2)}\n` },
      { name: 'openssl.cnf', content: renderOpensslConf(model.tls.groups) },
    ],
    scripts: [scripts],
    admin: model.features.metrics ? { ...model.admin, path: '/metrics' } : null,
  })
}

/**
 * Creates a Pipy with a user's scripts. Its `pipeline.yaml` names the script and its arguments; if it names none, main.js is run.
 * @param {SidecarOptions & { pipeline: NonNullable<SidecarOptions['pipeline']> }} options
 * @throws {Error} as `createPipelineSidecar`
 */
function createScriptSidecar(options) {
  const { version } = options.tool
  return createPipelineSidecar(options, ({ argv: [script = `${options.folder}/main.js`, ...args], workers }) => ({
    argv: createPipyArgv({ version, threads: workers, script, args }),
    sockets: workers,
  }))
}
