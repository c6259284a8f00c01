/** The command line of Pipy. Pure. @import { Features } from '../../model/types.ts' */

/**
 * Creates the command line of a Pipy that runs a script and logs errors only. Pipy 2.0 rejects flags of 1.5 that it dropped.
 * @param {{ version: string, threads: number, script: string, args: string[], features?: Features }} options
 * @returns {string[]} arguments, without the program
 */
export function createPipyArgv({ version, threads, script, args, features = {} }) {
  const versionOneOptions = isVersionOne(version) ? ['--no-graph', '--no-reload', '--no-status', '--no-metrics'] : []
  const options = [...versionOneOptions, ...listLogOptions(features)]
  return ['--log-level=error', `--threads=${threads}`, '--reuse-port', ...options, script, '--args', ...args]
}

/**
 * Lists the option that stops workers from sending log lines to the main thread, which would keep the last MiB.
 * @param {Features} features
 * @returns {string[]} []: the access log is off
 */
export function listLogOptions(features) {
  return features['access-log'] ? ['--log-history-limit=0'] : []
}

/**
 * Says whether a Pipy is of version 1.
 * @param {string} version such as 1.5.18
 * @returns {boolean}
 */
export function isVersionOne(version) {
  return version.startsWith('1.')
}
