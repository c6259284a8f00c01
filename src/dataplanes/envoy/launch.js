import { createSidecarProcess } from '../../model/processes.js'
import { renderBootstrap } from './config.js'
import { OVERFLOW_PATH } from './counters.js'
import { FLUSH_MS } from './features.js'
import { renderIstioBootstrap } from './istio/config.js'
import { hasIstioFilters, ISTIO, ISTIO_ARGV } from './istio/index.js'

/** @import { Control, DataPlane, ProcessSpec, SidecarOptions } from '../../model/types.ts' */

// Envoy closes connections after their next answer for a while longer than its listeners are open.
const DRAIN = { seconds: 2, moreSeconds: 1 }

/**
 * Creates an Envoy with the bootstrap of its profile, in its only file: a control that renders another replaces that.
 * @param {SidecarOptions} options
 * @returns {ProcessSpec}
 * @throws {BenchError} if the model has a limit that some plane cannot have
 */
export function createSidecar(options) {
  const { model, folder, profile, tool } = options
  const flushFlags = model.features['access-log'] ? ['--file-flush-interval-msec', `${FLUSH_MS}`] : []
  const leanArgv = ['--disable-hot-restart', '-l', 'error', ...flushFlags]
  const bootstrap =
    profile === ISTIO
      ? renderIstioBootstrap(model, { hasIstioFilters: hasIstioFilters(tool) })
      : renderBootstrap(model, profile)
  return createSidecarProcess(options, {
    argv: [
      ...['-c', `${folder}/envoy.json`, '--concurrency', `${model.workers}`],
      ...(profile === ISTIO ? ISTIO_ARGV : leanArgv),
    ],
    files: [{ name: 'envoy.json', content: `${JSON.stringify(bootstrap, null, 2)}\n` }],
    admin: { ...model.admin, path: OVERFLOW_PATH },
  })
}

/**
 * Estimates the needs of a sidecar. Its private memory was measured with 1.40.0 and one worker at 0 and 1000 routes; workers share it.
 * @type {NonNullable<Control['estimateNeeds']>}
 */
export function estimateSidecarNeeds({ configuredServices, workers }) {
  return { sidecarBytes: 22e6 + 75e3 * configuredServices, controlBytes: 0, threads: 11 + workers, inotifyInstances: 1 }
}

/**
 * Creates the process with a drain time of DRAIN, and the steps that drain its listeners, wait until that is over, and quit. The requests
 * go to the administration port, which the process must have.
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
