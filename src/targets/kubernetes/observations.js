/**
 * One observation of those of several nodes. Pure.
 * @import { Handle, Observation } from '../../model/types.ts'
 */

const TICK_MS = 100

/** What the reader of one node saw. @typedef {Omit<Observation, 'clockOffsetMs'>} Seen */

/**
 * Samples of the same round moment are one sample; the host is that of the first sidecar or application; the clocks
 * are compared with that of the load's node.
 * @param {{ places: number[], offsetMs: number, observation: Seen }[]} seen places: of its processes, among all;
 *   offsetMs: how far its clock is ahead of ours
 * @param {{ processes: Pick<Handle, 'spec'>[] }} options
 * @returns {Observation}
 */
export function mergeObservations(seen, { processes }) {
  const isLoad = (/** @type {number} */ place) => processes[place].spec.role === 'generator'
  const main = seen.find(({ places }) => places.some(place => !isLoad(place))) ?? seen[0]
  const load = seen.find(({ places }) => places.some(isLoad)) ?? main
  const offsets = seen.map(({ offsetMs }) => offsetMs - load.offsetMs)
  const clockOffsetMs = offsets.reduce((worst, ms) => (Math.abs(ms) > Math.abs(worst) ? ms : worst), 0)
  if (seen.length === 1) return { ...main.observation, clockOffsetMs }

  /**
   * @template T
   * @param {(T[] | null | undefined)[]} lists a node's each
   * @returns {T[]} in the order of the processes
   */
  const inOrder = lists => {
    /** @type {any[]} */
    const all = []
    for (const [n, { places }] of seen.entries()) for (const [i, at] of places.entries()) all[at] = lists[n]?.[i]
    return all
  }
  const ticks = seen.map(({ observation }) => new Map(observation.samples.map(s => [tickOf(s), s])))
  const samples = main.observation.samples
    .filter(sample => ticks.every(own => own.has(tickOf(sample))))
    .map(sample => ({ ...sample, readings: inOrder(ticks.map(own => own.get(tickOf(sample))?.readings)) }))
  const merge = (/** @type {'start' | 'end'} */ which) => {
    const edges = seen.map(({ observation }) => observation[which])
    const own = main.observation[which]
    if (own === null || edges.includes(null)) return null
    const sample = { ...own.sample, readings: inOrder(edges.map(e => e?.sample.readings)) }
    return { ...own, sample, states: inOrder(edges.map(e => e?.states)) }
  }
  const afters = seen.map(({ observation }) => observation.after)
  return {
    samples,
    start: merge('start'),
    end: merge('end'),
    after: afters.includes(null) ? null : inOrder(afters),
    clockOffsetMs,
    onHost: main.places,
  }
}

/** @param {{ epochMs: number, edge?: string }} sample */
function tickOf({ epochMs, edge }) {
  return edge ?? Math.round(epochMs / TICK_MS)
}
