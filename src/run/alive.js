import { BenchError } from '../lib/errors.js'
import { withTimeout } from '../lib/wait.js'

/**
 * @import { EndedProcess, Handle } from '../model/types.ts'
 * @import { Phase } from './events.js'
 */

// The exit of a process may be seen after the error of a request that it broke.
const EXIT_SECONDS = 0.5

/** @type {Record<Phase, string>} */
const WHEN = {
  starting: 'while it was started',
  parity: 'in the parity checks',
  'warm-up': 'in the warm-up',
  window: 'in the window',
  tail: 'after the window',
  stopping: 'while it was stopped',
}

/** The processes that the kit ends on purpose. @type {WeakSet<Handle>} */
const endedOnPurpose = new WeakSet()

/**
 * Marks a process that the kit is about to end: `assertAllRun` skips it from then on.
 * @param {Handle} process
 */
export function markEnding(process) {
  endedOnPurpose.add(process)
}

/**
 * Says whether a process has ended as planned: it was marked by `markEnding`, or it is a generator that exited with status 0.
 * @param {Handle} process
 * @param {string | null} exitCause the result of its `ending()`; null while it runs
 * @returns {boolean} false also: it still runs
 */
export function hasEndedAsPlanned(process, exitCause) {
  if (endedOnPurpose.has(process)) return exitCause !== null
  return process.spec.role === 'generator' && exitCause === 'status 0'
}

/**
 * Asserts that all processes run, except those that are ended on purpose.
 * @param {Handle[]} processes
 * @param {Phase} phase
 * @throws {BenchError} if one has exited, also with status 0, or is stopped (SIGSTOP)
 */
export async function assertAllRun(processes, phase) {
  for (const process of processes) {
    if (endedOnPurpose.has(process)) continue
    const { spec, isStopped, renderFailure } = process
    const processName = `${spec.service}'s ${spec.role}${spec.armId ? ` of ${spec.armId}` : ''}`
    const exitCause = process.ending()
    if (exitCause !== null)
      throw new BenchError(await renderFailure(`${processName} died ${WHEN[phase]} with ${exitCause}`))
    if (isStopped()) throw new BenchError(await renderFailure(`${processName} came to a stop ${WHEN[phase]}`))
  }
}

/**
 * Asserts as `assertAllRun`, after waiting up to EXIT_SECONDS for an exit.
 * @param {Handle[]} processes
 * @param {Phase} phase
 * @throws {BenchError} as `assertAllRun`
 */
export async function assertNoneExits(processes, phase) {
  await awaitAnyExit(processes)
  await assertAllRun(processes, phase)
}

/**
 * Waits until one of the processes that should run exits, for at most EXIT_SECONDS; it does not throw if none does. A process that
 * exited early before the call ends the wait at once.
 * @param {Handle[]} processes
 */
export async function awaitAnyExit(processes) {
  const running = processes.filter(process => !hasEndedAsPlanned(process, process.ending()))
  const anyExit = Promise.race(running.map(({ exited }) => exited))
  await withTimeout(anyExit, { seconds: EXIT_SECONDS, late: () => '' })
}

/**
 * Waits as `awaitAnyExit`, and lists the processes that exited early, with cause and OOM flag.
 * @param {Handle[]} processes
 * @returns {Promise<EndedProcess[]>} how: the exit status or signal; []: none exited early
 */
export async function awaitEarlyExits(processes) {
  await awaitAnyExit(processes)
  return processes.flatMap(process => {
    const how = process.ending()
    if (how === null || hasEndedAsPlanned(process, how)) return []
    const { service, role, armId } = process.spec
    return [{ service, role, how, isOutOfMemory: process.isOutOfMemory(), ...(armId !== undefined && { armId }) }]
  })
}
