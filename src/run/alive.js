import { BenchError } from '../lib/errors.js'

/**
 * @import { Handle } from '../model/types.ts'
 */

/**
 * Whether a process is a generator that came to its end: after the window, before many processes are looked at.
 * @param {Handle} process
 * @param {string | null} how it ended
 */
export function isFinished({ spec }, how) {
  return spec.role === 'generator' && how === 'status 0'
}

/**
 * @param {Handle[]} processes
 * @throws {BenchError} where one has ended
 */
export async function assertAllRun(processes) {
  for (const { spec, ending, describeFailure } of processes) {
    const how = ending()
    if (how !== null)
      throw new BenchError(await describeFailure(`${spec.service}'s ${spec.role} died under load with ${how}`))
  }
}
