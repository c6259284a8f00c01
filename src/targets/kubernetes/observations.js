import { groupBy } from '../../lib/group-by.js'
import { READER } from './agents.js'

/** Containers are read by the reader of their node. What several readers read is joined in the order of the processes. */
/**
 * @import { Handle, Look, Observation, Window } from '../../model/types.ts'
 * @import { Session } from '../agent-session.js'
 * @import { Agents } from './agents.js'
 * @import { ContainerHandle, ContainerLocation } from './container.js'
 */

// The period of the readers' samples (PERIOD_MS, node/observer.js).
const TICK_MS = 100
const PINGS = 5

/**
 * Observations of one node's reader.
 * @typedef {Omit<Observation, 'clockOffsetMs'>} NodeObservation
 */

/**
 * Reads containers once, by the readers of their nodes.
 * @param {Agents} agents
 * @param {ContainerHandle[]} containers
 * @returns {Promise<Look[]>} in the order of the containers
 * @throws {BenchError} if a container or a reader does not exist, or a session is lost; {AgentError} for a fault of the kit there
 */
export async function lookByReaders(agents, containers) {
  /** @type {Look[]} */
  const looks = []
  for (const { node, locations, indexes } of groupByNode(containers)) {
    const session = await agents.openSession(READER, node)
    /** @type {Look[]} */
    const nodeLooks = await session.call('look', { containers: locations })
    for (const [i, index] of indexes.entries()) looks[index] = nodeLooks[i]
  }
  return looks
}

/**
 * Observes containers by the readers of their nodes, after measuring the clocks of the nodes.
 * @param {Agents} agents
 * @param {ContainerHandle[]} containers
 * @param {{ window: Window, signal: AbortSignal }} options
 * @returns {Promise<Observation>} as of `mergeObservations`; after an abort, with what was read
 * @throws {BenchError} if a container or a reader does not exist, a session is lost, or a node's clock is set meanwhile;
 *   {AgentError} for a fault of the kit there
 */
export async function observeByReaders(agents, containers, { window, signal }) {
  const observations = await Promise.all(
    groupByNode(containers).map(async ({ node, locations, indexes }) => {
      const session = await agents.openSession(READER, node)
      const offsetMs = await measureClockOffset(session)
      /** @type {NodeObservation} */
      const observation = await session.call('observe', { containers: locations, window }, { signal })
      return { indexes, offsetMs, observation }
    }),
  )
  return mergeObservations(observations, { processes: containers })
}

/**
 * Measures the lead of a pod's clock over ours, to half of a round trip, by the fastest of PINGS answers, as in NTP
 * (RFC 5905, 8).
 * @param {Session} session
 * @returns {Promise<number>} milliseconds; negative: it lags
 * @throws as `call` of the session
 */
export async function measureClockOffset(session) {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, offsetMs: 0 }
  for (let i = 0; i < PINGS; i++) {
    const sentMs = Date.now()
    const remoteMs = await session.call('now', null)
    const roundTripMs = Date.now() - sentMs
    if (roundTripMs < best.roundTripMs) best = { roundTripMs, offsetMs: Number(remoteMs) - (sentMs + roundTripMs / 2) }
  }
  return best.offsetMs
}

/**
 * Groups containers by node.
 * @param {ContainerHandle[]} containers
 * @returns {{ node: string | null, locations: ContainerLocation[], indexes: number[] }[]} indexes: the index of each container;
 *   without containers, one group with node null (any)
 * @throws {BenchError} if a container does not exist
 */
function groupByNode(containers) {
  if (containers.length === 0) return [{ node: null, locations: [], indexes: [] }]
  const entries = containers.map((container, index) => ({ location: container.locateContainer(), index }))
  return [...groupBy(entries, ({ location }) => location.node)].map(([node, nodeEntries]) => ({
    node,
    locations: nodeEntries.map(({ location }) => location),
    indexes: nodeEntries.map(({ index }) => index),
  }))
}

/**
 * Merges the observations of nodes. Samples of the same moment are joined; a moment that a node lacks is dropped.
 * @param {{ indexes: number[], offsetMs: number, observation: NodeObservation }[]} observations at least one; indexes: of
 *   a node's processes, among all; offsetMs: the lead of the node's clock over ours
 * @param {{ processes: Pick<Handle, 'spec'>[] }} options
 * @returns {Observation} host: of the first node with a sidecar or application; onHost: the indexes of its processes, absent with one
 *   node; start, end, after: null if a node lacks it; clockOffsetMs: the largest lead or lag of a node's clock, against that of
 *   the load's node
 */
export function mergeObservations(observations, { processes }) {
  const isLoad = (/** @type {number} */ index) => processes[index].spec.role === 'generator'
  const main = observations.find(({ indexes }) => indexes.some(index => !isLoad(index))) ?? observations[0]
  const load = observations.find(({ indexes }) => indexes.some(isLoad)) ?? main
  const offsets = observations.map(({ offsetMs }) => offsetMs - load.offsetMs)
  const clockOffsetMs = offsets.reduce((worst, ms) => (Math.abs(ms) > Math.abs(worst) ? ms : worst), 0)
  if (observations.length === 1) return { ...main.observation, clockOffsetMs }

  const samplesByMoment = observations.map(
    ({ observation }) => new Map(observation.samples.map(sample => [createMomentKey(sample), sample])),
  )
  const samples = main.observation.samples.flatMap(sample => {
    const nodeSamples = samplesByMoment.map(byMoment => byMoment.get(createMomentKey(sample)))
    if (nodeSamples.includes(undefined)) return []
    const readings = nodeSamples.map(nodeSample => nodeSample?.readings)
    return { ...sample, readings: joinByIndex(observations, readings) }
  })
  const mergeEdges = (/** @type {'start' | 'end'} */ name) => {
    const edges = observations.map(({ observation }) => observation[name])
    const mainEdge = main.observation[name]
    if (mainEdge === null || edges.includes(null)) return null
    const readings = edges.map(edge => edge?.sample.readings)
    const states = edges.map(edge => edge?.states)
    const sample = { ...mainEdge.sample, readings: joinByIndex(observations, readings) }
    return { ...mainEdge, sample, states: joinByIndex(observations, states) }
  }
  const afters = observations.map(({ observation }) => observation.after)
  return {
    samples,
    start: mergeEdges('start'),
    end: mergeEdges('end'),
    after: afters.includes(null) ? null : joinByIndex(observations, afters),
    clockOffsetMs,
    onHost: main.indexes,
  }
}

/**
 * Joins lists of several nodes in the order of the processes.
 * @template T
 * @param {{ indexes: number[] }[]} nodes indexes: of a node's processes, among all
 * @param {(T[] | null | undefined)[]} lists one for each node, in the order of its indexes
 * @returns {T[]}
 */
function joinByIndex(nodes, lists) {
  /** @type {any[]} */
  const all = []
  for (const [n, { indexes }] of nodes.entries()) for (const [i, index] of indexes.entries()) all[index] = lists[n]?.[i]
  return all
}

/**
 * Creates the key by which samples of several nodes are joined.
 * @param {{ epochMs: number, edge?: string }} sample
 * @returns {string | number} the name of the edge, or the number of the nearest tick
 */
function createMomentKey({ epochMs, edge }) {
  return edge ?? Math.round(epochMs / TICK_MS)
}
