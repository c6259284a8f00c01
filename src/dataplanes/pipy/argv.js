/** @import { Features } from '../../model/types.ts' */

/**
 * Creates the argv of a Pipy that runs a script and logs errors only. Pipy 2.0 rejects flags of 1.5 that it dropped.
 * @param {{ version: string, threads: number, script: string, args: string[], features?: Features }} options script: its path; args: of
 *   the script; features: absent: none
 * @returns {string[]} arguments, without the program
 */
export function createPipyArgv({ version, threads, script, args, features = {} }) {
  const versionOneFlags = isVersionOne(version) ? ['--no-graph', '--no-reload', '--no-status', '--no-metrics'] : []
  const flags = [`--threads=${threads}`, '--reuse-port', ...versionOneFlags, ...listLogFlags(features)]
  return ['--log-level=error', ...flags, script, '--args', ...args]
}

/**
 * Lists the flag that stops workers from sending log lines to the main thread, which would keep the last MiB.
 * @param {Features} features
 * @returns {string[]} []: the access log is off
 */
export function listLogFlags(features) {
  return features['access-log'] ? ['--log-history-limit=0'] : []
}

/** Says whether a Pipy is of version 1, whose flags and status connection 2.0 lacks. @param {string} version such as 1.5.18 */
export function isVersionOne(version) {
  return version.startsWith('1.')
}
