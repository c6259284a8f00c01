import { isInTime } from '../lib/wait.js'

/**
 * Phases of a rollout or a growth, and what they take.
 * @import { Asking, RolloutRecord, Told } from '../model/types.ts'
 * @import { readControl } from './control-plane.js'
 * @typedef {{ asking: Asking, signal: AbortSignal, deadlineSeconds: number, readControl: () => ReturnType<typeof readControl> }} Given
 */

/**
 * Passes a phase: waits until every sidecar has answered, and gives up the others at the deadline.
 * @param {Given} given @param {() => Promise<Promise<[string, Told | null]>[]>} begin
 */
export async function passPhase({ signal, deadlineSeconds, ...given }, begin) {
  const { asking } = given
  const { value: asked, phase } = await observePhase(given, async () => {
    const begun = performance.now()
    const asked = await begin()
    const leftSeconds = Math.max(0, deadlineSeconds - (performance.now() - begun) / 1000)
    const isOver = () => asking.countWaiting() === 0
    const limit = { deadlineSeconds: leftSeconds, intervalMs: 10, signal }
    await isInTime(isOver, limit).catch(() => signal.throwIfAborted())
    return asked
  })
  const told = await Promise.all(asked)
  return {
    times: new Map(told.flatMap(([name, seen]) => (seen ? [/** @type {const} */ ([name, seen])] : []))),
    phase,
  }
}

/**
 * Measures what machine, control plane and kit took while something went on; then nobody is asked any more.
 * @template T @param {Pick<Given, 'asking' | 'readControl'>} given @param {() => Promise<T>} act
 * @returns {Promise<{ value: T, phase: RolloutRecord['first'] }>}
 */
export async function observePhase({ asking, readControl }, act) {
  const start = await readControl()
  const before = await asking.readCosts()
  const value = await act()
  const after = await asking.readCosts()
  await asking.giveUp()
  const phase = {
    startMs: before.nowMs,
    endMs: after.nowMs,
    control: { start, end: await readControl() },
    host: { start: before.host, end: after.host },
    ownCpuSeconds: after.ownCpuSeconds - before.ownCpuSeconds,
  }
  return { value, phase }
}
