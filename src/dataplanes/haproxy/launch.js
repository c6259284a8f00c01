import { renderOpensslConf } from '../../lib/openssl-conf.js'
import { createSidecarProcess } from '../../model/processes.js'
import { renderFiles } from './config.js'
import { METRICS_PATH } from './counters.js'

/** @import { ProcessSpec, SidecarOptions } from '../../model/types.ts' */

/**
 * Creates an HAProxy, with a file by which OpenSSL sets the TLS groups.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 * @throws {BenchError} if the model has a limit that some plane cannot have
 * @throws {Error} if a cluster with mTLS accepts several identities
 */
export function createSidecar(options) {
  const { model, folder } = options
  return createSidecarProcess(options, {
    argv: ['-db', '-f', `${folder}/haproxy.cfg`],
    // The groups of a client cannot be configured before 2.9.
    env: { OPENSSL_CONF: `${folder}/openssl.cnf` },
    files: [...renderFiles(model, folder), { name: 'openssl.cnf', content: renderOpensslConf(model.tls.groups) }],
    credentials: [model.trust.caPath, model.trust.combinedPath],
    admin: { ...model.admin, path: METRICS_PATH },
  })
}
