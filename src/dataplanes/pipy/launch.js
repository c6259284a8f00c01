import { renderOpensslConf } from '../../lib/openssl-conf.js'
import { createSidecarProcess } from '../../model/processes.js'
import { renderConfig } from './config.js'
import { createFsmSidecar, FSM } from './fsm/index.js'

/** @import { Features, ProcessSpec, SidecarOptions } from '../../model/types.ts' */

/** @param {SidecarOptions} options @returns {ProcessSpec} */
export function createSidecar(options) {
  if (options.profile === FSM) return createFsmSidecar(options)
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
      { name: 'openssl.cnf', content: renderOpensslConf(model.tls.group) },
    ],
    scripts: [scripts],
    admin: model.features.metrics ? { ...model.admin, path: '/metrics' } : null,
  })
}

/**
 * Makes the command line of a Pipy that runs a script quietly. Pipy 2.0 rejects the flags that it dropped.
 * @param {{ version: string, threads: number, script: string, args: string[], features?: Features }} options
 */
export function createPipyArgv({ version, threads, script, args, features = {} }) {
  const oneOnly = isOne(version) ? ['--no-graph', '--no-reload', '--no-status', '--no-metrics'] : []
  const options = [...oneOnly, ...listLogOptions(features)]
  return ['--log-level=error', `--threads=${threads}`, '--reuse-port', ...options, script, '--args', ...args]
}

/**
 * Keeps Pipy from sending log lines to its main thread, which keeps the last MiB of them.
 * @param {Features} features
 */
export function listLogOptions(features) {
  return features['access-log'] ? ['--log-history-limit=0'] : []
}

/** @param {string} version 1.5, or 2.0 */
export function isOne(version) {
  return version.startsWith('1.')
}
