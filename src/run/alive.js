import { BenchError } from '../lib/errors.js'
import { within } from '../lib/wait.js'

/** @import { Handle } from '../model/types.ts' @import { Phase } from './events.js' */

const ENDING_SECONDS = 0.5

/** @type {Record<Phase, string>} */
const WHEN = {
  starting: 'while it was started',
  parity: 'in the parity checks',
  'warm-up': 'in the warm-up',
  window: 'in the window',
  tail: 'after the window',
  stopping: 'while it was stopped',
}

/** Processes that are ended on purpose. @type {WeakSet<Handle>} */
const ending = new WeakSet()

/** Marks a process whose end, from now on, is not its fault. @param {Handle} process */
export function expectEnd(process) {
  ending.add(process)
}

/** Says whether a process came to the end that it was to have. @param {Handle} process @param {string | null} how it did */
export function isFinished(process, how) {
  if (ending.has(process)) return how !== null
  return process.spec.role === 'generator' && how === 'status 0'
}

/** Rejects where a process has ended or is stopped. @param {Handle[]} processes @param {Phase} phase @throws {BenchError} */
export async function assertAllRun(processes, phase) {
  for (const process of processes) {
    const { spec, isStopped, describeFailure } = process
    const who = `${spec.service}'s ${spec.role}${spec.armId ? ` of ${spec.armId}` : ''}`
    const how = process.ending()
    if (ending.has(process)) continue
    if (how !== null) throw new BenchError(await describeFailure(`${who} died ${WHEN[phase]} with ${how}`))
    if (isStopped()) throw new BenchError(await describeFailure(`${who} came to a stop ${WHEN[phase]}`))
  }
}

/** Waits a moment, in which an end may be heard, then asserts. @param {Handle[]} processes @param {Phase} phase */
export async function assertStillRun(processes, phase) {
  await awaitEnding(processes)
  await assertAllRun(processes, phase)
}

/** Waits a moment for one of them to end. @param {Handle[]} processes */
export async function awaitEnding(processes) {
  const running = processes.filter(p => !isFinished(p, p.ending()))
  await within(Promise.race(running.map(p => p.exited)), { seconds: ENDING_SECONDS, late: () => '' })
}
