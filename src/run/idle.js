import { IDLE_CORES_MOST, isIdleCpuNeeded } from '../judge/gates/answers.js'
import { groupBy } from '../lib/group-by.js'
import { computeCpuCores } from '../model/compute-cpu-cores.js'

/** CPU of sidecars without requests. @import { Handle, Load, Look } from '../model/types.ts' */

// A timer that fires each second falls once into every span.
const SPAN_MS = 1000
const SPANS_MOST = 6
// Two spans agree if they differ by no more than the larger of these.
const APART_SHARE = 0.25
const APART_CORES = 5e-4

/**
 * Looks at processes before their load and, if the gate `passage` needs it, measures their idle CPU. Sidecars that were just
 * started still work, so spans of SPAN_MS are added until the last one agrees with the smallest before it, at most SPANS_MOST; the
 * smallest counts. Spans agree also if a CPU limit slows that work down, so a process above `IDLE_CORES_MOST` does not count as
 * idle.
 * @param {Handle[]} processes
 * @param {{ loads: Load[], look: () => Promise<Look[]>, wait: (ms: number) => Promise<void> }} options loads: of the arms that
 *   stand at the same time; look: reads each process; wait: waits for milliseconds
 * @returns {Promise<Look[]>} the last looks; idleCpuCores: absent: not needed; null: not readable, or still at work after
 *   SPANS_MOST spans
 * @throws an error of `look` or `wait`
 */
export async function lookWithIdleCpu(processes, { loads, look, wait }) {
  let lastLooks = await look()
  const sidecars = processes.flatMap(({ spec }, i) =>
    spec.role === 'sidecar' && lastLooks[i].cpu !== undefined ? [i] : [],
  )
  const sidecarsByArm = [...groupBy(sidecars, i => processes[i].spec.armId).values()].map(({ length }) => length)
  const sidecarsOfArm = Math.max(0, ...sidecarsByArm)
  const isNeeded = loads.some(load => isIdleCpuNeeded(load, { sidecars: sidecarsOfArm, arms: loads.length }))
  if (!isNeeded) return lastLooks
  /** The smallest of the spans so far, by process. @type {(number | null)[]} */
  let leastCores = lastLooks.map(() => null)
  for (let span = 1; span <= SPANS_MOST; span++) {
    await wait(SPAN_MS)
    const nextLooks = await look()
    const cores = nextLooks.map((after, i) => computeCpuCores(lastLooks[i].cpu, after.cpu))
    lastLooks = nextLooks
    const isSettled = span > 1 && sidecars.every(i => isIdle(cores[i]) && isCpuStable(cores[i], leastCores[i]))
    leastCores = cores.map((now, i) => computeLeastKnown(now, leastCores[i]))
    if (isSettled) break
  }
  return lastLooks.map((lastLook, i) => ({ ...lastLook, idleCpuCores: isIdle(leastCores[i]) ? leastCores[i] : null }))
}

/**
 * Says whether a process uses no more CPU than an idle one may.
 * @param {number | null} cores
 * @returns {boolean} true also: its CPU is not known
 */
const isIdle = cores => cores === null || cores <= IDLE_CORES_MOST

/**
 * Computes the smaller of two values. Null is skipped.
 * @param {number | null} a
 * @param {number | null} b
 * @returns {number | null} the only one that is known; null: neither is
 */
function computeLeastKnown(a, b) {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/**
 * Says whether the CPU of a span is at most APART_SHARE or APART_CORES, whichever is more, away from the least one so far.
 * @param {number | null} cores
 * @param {number | null} leastCores
 * @returns {boolean} true also: one of the two is not known
 */
function isCpuStable(cores, leastCores) {
  if (cores === null || leastCores === null) return true
  return Math.abs(cores - leastCores) <= Math.max(APART_CORES, APART_SHARE * leastCores)
}
