import { createSidecarProcess } from '../../model/processes.js'
import { renderBootstrap } from './config.js'
import { OVERFLOW_PATH } from './counters.js'
import { FLUSH_MS } from './features.js'
import { renderIstioBootstrap } from './istio/config.js'
import { hasIstioFilters, ISTIO, ISTIO_ARGV } from './istio/index.js'

/** @import { DataPlane, ProcessSpec, SidecarOptions } from '../../model/types.ts' */

// Envoy closes connections after their next answer for a second longer than its listeners are open.
const DRAIN = { seconds: 2, moreSeconds: 1 }

/**
 * Creates an Envoy with the bootstrap of its profile.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 */
export function createSidecar(options) {
  const { model, folder, profile, tool } = options
  const flush = model.features['access-log'] ? ['--file-flush-interval-msec', `${FLUSH_MS}`] : []
  const lean = ['--disable-hot-restart', '-l', 'error', ...flush]
  const bootstrap =
    profile === ISTIO
      ? renderIstioBootstrap(model, { hasIstioFilters: hasIstioFilters(tool) })
      : renderBootstrap(model, profile)
  return createSidecarProcess(options, {
    argv: [
      ...['-c', `${folder}/envoy.json`, '--concurrency', `${model.workers}`],
      ...(profile === ISTIO ? ISTIO_ARGV : lean),
    ],
    files: [{ name: 'envoy.json', content: `${JSON.stringify(bootstrap, null, 2)}\n` }],
    admin: { ...model.admin, path: OVERFLOW_PATH },
  })
}

/**
 * Creates the steps that drain the listeners, wait until that is over, and quit, all by the administration port.
 * @type {NonNullable<DataPlane['endGracefully']>}
 */
export function endGracefully(spec) {
  const endpoint = /** @type {NonNullable<ProcessSpec['admin']>} */ (spec.admin)
  const post = (/** @type {string} */ path) => ({
    kind: /** @type {const} */ ('request'),
    endpoint,
    method: 'POST',
    path,
    body: '',
  })
  return {
    spec: { ...spec, argv: [...spec.argv, '--drain-time-s', `${DRAIN.seconds}`] },
    steps: [
      post('/drain_listeners?graceful'),
      { kind: 'wait', seconds: DRAIN.seconds + DRAIN.moreSeconds },
      post('/quitquitquit'),
    ],
  }
}
