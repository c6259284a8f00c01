/** The command line of Pipy. Pure. @import { Features } from '../../model/types.ts' */

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
