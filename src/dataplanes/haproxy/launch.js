import { renderOpensslConf } from '../../lib/openssl-conf.js'
import { renderFiles } from './config.js'
import { METRICS_PATH } from './counters.js'

/**
 * @import { ProcessSpec, SidecarOptions } from '../../model/types.ts'
 */

/**
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar({ model, folder, tool, cpuCores }) {
  return {
    service: model.service,
    role: 'sidecar',
    program: tool.path,
    argv: ['-db', '-f', `${folder}/haproxy.cfg`],
    // The groups of a client cannot be configured before 2.9.
    env: { OPENSSL_CONF: `${folder}/openssl.cnf` },
    folder,
    files: [...renderFiles(model, folder), { name: 'openssl.cnf', content: renderOpensslConf(model.tls.group) }],
    scripts: [],
    credentials: [model.trust.caPath, model.trust.combinedPath],
    listens: [model.inbound, model.outbound].flatMap(l => (l ? [{ address: l.address, port: l.port }] : [])),
    workers: model.workers,
    cpuCores,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: { ...model.admin, path: METRICS_PATH },
    image: tool.image ?? null,
  }
}
