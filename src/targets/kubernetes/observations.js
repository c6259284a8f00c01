import { measureClockOffset, READER } from './agents.js'

/** Joins what the readers of several nodes read, in the order of the processes. */
/**
 * @import { Handle, Look, Observation, Window } from '../../model/types.ts'
 * @import { Agents } from './agents.js'
 */
/** @import { ContainerHandle, Watched } from './container.js' */

// The period of the readers' samples (PERIOD_MS, node/observer.js).
const TICK_MS = 100

/**
 * Observations of one node's reader.
 * @typedef {Omit<Observation, 'clockOffsetMs'>} NodeObservation
 */

/**
 * Reads containers once, by the readers of their nodes.
 * @param {Agents} agents
 * @param {ContainerHandle[]} containers
 * @returns {Promise<Look[]>} in the order of the containers
 */
export async function lookByReaders(agents, containers) {
  /** @type {Look[]} */
  const looks = []
  for (const { node, watched, places } of groupByNode(containers)) {
    const session = await agents.session(READER, node)
    /** @type {Look[]} */
    const looked = await session.call('look', { watched })
    for (const [i, place] of places.entries()) looks[place] = looked[i]
  }
  return looks
}

/**
 * Observes containers by the readers of their nodes, after measuring the clocks of these.
 * @param {Agents} agents
 * @param {ContainerHandle[]} containers
 * @param {{ window: Window, signal: AbortSignal }} options
 * @returns {Promise<Observation>} as of `mergeObservations`; after an abort, with what was read
 * @throws {BenchError} if a container or a reader does not exist
 */
export async function observeByReaders(agents, containers, { window, signal }) {
  const observed = await Promise.all(
    groupByNode(containers).map(async ({ node, watched, places }) => {
      const session = await agents.session(READER, node)
      const offsetMs = await measureClockOffset(session)
      /** @type {NodeObservation} */
      const observation = await session.call('observe', { watched, window }, { signal })
      return { places, offsetMs, observation }
    }),
  )
  return mergeObservations(observed, { processes: containers })
}

/**
 * Groups containers by node.
 * @param {ContainerHandle[]} containers
 * @returns {{ node: string | null, watched: Watched[], places: number[] }[]} places: the index of each container;
 *   without containers, one group with node null (any)
 */
function groupByNode(containers) {
  const entries = containers.map((container, place) => ({ watched: container.watched(), place }))
  if (entries.length === 0) return [{ node: null, watched: /** @type {Watched[]} */ ([]), places: [] }]
  return [...new Set(entries.map(({ watched }) => watched.node))].map(node => {
    const nodeEntries = entries.filter(({ watched }) => watched.node === node)
    return { node, watched: nodeEntries.map(({ watched }) => watched), places: nodeEntries.map(({ place }) => place) }
  })
}

/**
 * Merges the observations of nodes. Samples of the same moment are joined; a moment that a node lacks is dropped.
 * @param {{ places: number[], offsetMs: number, observation: NodeObservation }[]} observations places: the indexes of
 *   a node's processes, among all; offsetMs: the lead of the node's clock over ours
 * @param {{ processes: Pick<Handle, 'spec'>[] }} options
 * @returns {Observation} host: of the node of the first sidecar or application; start, end: null: a node lacks it;
 *   clockOffsetMs: the largest lead or lag of a node's clock, against that of the load's node
 */
export function mergeObservations(observations, { processes }) {
  const isLoad = (/** @type {number} */ place) => processes[place].spec.role === 'generator'
  const main = observations.find(({ places }) => places.some(place => !isLoad(place))) ?? observations[0]
  const load = observations.find(({ places }) => places.some(isLoad)) ?? main
  const offsets = observations.map(({ offsetMs }) => offsetMs - load.offsetMs)
  const clockOffsetMs = offsets.reduce((worst, ms) => (Math.abs(ms) > Math.abs(worst) ? ms : worst), 0)
  if (observations.length === 1) return { ...main.observation, clockOffsetMs }

  /**
   * @template T
   * @param {(T[] | null | undefined)[]} lists one for each node
   * @returns {T[]} in the order of the processes
   */
  const orderResults = lists => {
    /** @type {any[]} */
    const all = []
    for (const [n, { places }] of observations.entries())
      for (const [i, at] of places.entries()) all[at] = lists[n]?.[i]
    return all
  }
  const ticks = observations.map(({ observation }) => new Map(observation.samples.map(s => [createMomentKey(s), s])))
  const samples = main.observation.samples
    .filter(sample => ticks.every(byTick => byTick.has(createMomentKey(sample))))
    .map(sample => ({
      ...sample,
      readings: orderResults(ticks.map(byTick => byTick.get(createMomentKey(sample))?.readings)),
    }))
  const merge = (/** @type {'start' | 'end'} */ which) => {
    const edges = observations.map(({ observation }) => observation[which])
    const edge = main.observation[which]
    if (edge === null || edges.includes(null)) return null
    const sample = { ...edge.sample, readings: orderResults(edges.map(e => e?.sample.readings)) }
    return { ...edge, sample, states: orderResults(edges.map(e => e?.states)) }
  }
  const afters = observations.map(({ observation }) => observation.after)
  return {
    samples,
    start: merge('start'),
    end: merge('end'),
    after: afters.includes(null) ? null : orderResults(afters),
    clockOffsetMs,
    onHost: main.places,
  }
}

/**
 * Creates the key by which samples of several nodes are joined: the name of an edge, or the number of the tick.
 * @param {{ epochMs: number, edge?: string }} sample
 * @returns {string | number}
 */
function createMomentKey({ epochMs, edge }) {
  return edge ?? Math.round(epochMs / TICK_MS)
}
