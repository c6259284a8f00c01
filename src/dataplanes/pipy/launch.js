import { renderOpensslConf } from '../../lib/openssl-conf.js'
import { renderConfig } from './config.js'

/**
 * @import { ProcessSpec, SidecarOptions } from '../../model/types.ts'
 */

/**
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar({ model, folder, tool, scripts, cpuCores }) {
  return {
    service: model.service,
    role: 'sidecar',
    program: tool.path,
    argv: createPipyArgv({
      version: tool.version,
      threads: model.workers,
      script: `${scripts}/main.js`,
      args: [`${folder}/sidecar.json`],
    }),
    env: { OPENSSL_CONF: `${folder}/openssl.cnf` },
    folder,
    files: [
      { name: 'sidecar.json', content: `${JSON.stringify(renderConfig(model), null, 2)}\n` },
      { name: 'openssl.cnf', content: renderOpensslConf(model.tls.group) },
    ],
    scripts: [scripts],
    credentials: [model.trust.caPath, model.trust.certificatePath, model.trust.keyPath],
    listens: [model.inbound, model.outbound].flatMap(l => (l ? [{ address: l.address, port: l.port }] : [])),
    workers: model.workers,
    cpuCores,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: model.features.metrics ? { ...model.admin, path: '/metrics' } : null,
    image: tool.image ?? null,
  }
}

/**
 * The command line of a Pipy that runs a script: quiet, no administration port. Pipy 2.0 rejects the
 * flags it dropped.
 * @param {{ version: string, threads: number, script: string, args: string[] }} options
 */
export function createPipyArgv({ version, threads, script, args }) {
  const oneOnly = version.startsWith('1.') ? ['--no-graph', '--no-reload', '--no-status', '--no-metrics'] : []
  return ['--log-level=error', `--threads=${threads}`, '--reuse-port', ...oneOnly, script, '--args', ...args]
}
