import { IDLE_CORES_MOST, isIdleCpuNeeded } from '../judge/gates/answers.js'
import { computeCpuCores } from '../model/compute-cpu-cores.js'

/** CPU of sidecars without requests. @import { Handle, Load, Look } from '../model/types.ts' */

// A timer that fires each second falls once into every span.
const SPAN_MS = 1000
const SPANS_MOST = 6
// Two spans agree if they differ by no more than the larger of these.
const APART_SHARE = 0.25
const APART_CORES = 5e-4

/**
 * Looks at processes before their load and, if the check `passage` needs it, measures their idle CPU. Sidecars that were just
 * started still work: spans of a second are added until the last agrees with the least before it, or there were six; the least counts.
 * Spans agree, too, where a CPU limit holds that work back, so a process above `IDLE_CORES_MOST` is not taken for idle.
 * @param {Handle[]} processes
 * @param {{ loads: Load[], look: () => Promise<Look[]>, wait: (ms: number) => Promise<void> }} options
 *   loads: of the arms that stand at the same time
 * @returns {Promise<Look[]>} the last looks; idleCpuCores: absent: not needed; null: not readable, or still at work after six spans
 */
export async function lookIdle(processes, { loads, look, wait }) {
  let last = await look()
  const sidecars = processes.flatMap(({ spec }, i) => (spec.role === 'sidecar' && last[i].cpu !== undefined ? [i] : []))
  const isNeeded = loads.some(load => isIdleCpuNeeded(load, { sidecars: sidecars.length, arms: loads.length }))
  if (!isNeeded) return last
  /** @type {(number | null)[] | null} */
  let least = null
  for (let span = 1; span <= SPANS_MOST; span++) {
    await wait(SPAN_MS)
    const next = await look()
    const cores = next.map((after, i) => computeCpuCores(last[i].cpu, after.cpu))
    last = next
    const isSettled = least !== null && sidecars.every(i => isIdle(cores[i]) && isAlike(cores[i], least?.[i] ?? null))
    least = cores.map((now, i) => findLeast(now, least?.[i] ?? null))
    if (isSettled) break
  }
  return last.map((one, i) => {
    const cores = least?.[i] ?? null
    return { ...one, idleCpuCores: isIdle(cores) ? cores : null }
  })
}

/**
 * Says whether a process uses no more than an idle one may; true if that is not known.
 * @param {number | null} cores
 */
const isIdle = cores => cores === null || cores <= IDLE_CORES_MOST

/**
 * Finds the smaller of two values, or the one that is known; null: neither is.
 * @param {number | null} a
 * @param {number | null} b
 */
function findLeast(a, b) {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/**
 * Says whether a span agrees with the least before it; true if either is not known.
 * @param {number | null} now
 * @param {number | null} least
 */
function isAlike(now, least) {
  return now === null || least === null || Math.abs(now - least) <= Math.max(APART_CORES, APART_SHARE * least)
}
