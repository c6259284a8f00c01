import { createPlace, GENERATOR } from '../../model/sidecar-contract.js'
import { awaitSample } from './process.js'
import { findNearestSample, interpolateReading } from './samples.js'

/**
 * @import { Deployment, Edge, Handle, Ledger, Look, Observation, Sample, Target } from '../../model/types.ts'
 * @import { LoadHost } from './host.js'
 * @import { RemoteProcess } from './process.js'
 */

/**
 * Creates the target that runs services on one target, and their generator on another machine.
 * @param {object} options
 * @param {Target} options.target of the services
 * @param {LoadHost} options.loadHost
 * @param {string} options.address of this machine, at which the entry listens for the load
 * @param {Ledger} options.ledger which holds the address
 * @returns {Target} `close` also closes the load host and, unless the services are retained, releases the address
 */
export function createLoadHostTarget({ target, loadHost, address, ledger }) {
  return {
    ...target,

    locate: (folder, role) => (role === 'generator' ? loadHost.locate(folder) : target.locate(folder)),

    async placesFor(start, services, options) {
      const { [GENERATOR]: _, ...places } = await target.placesFor(start, services, options)
      const entry = options?.entry
      if (!entry || !places[entry]) return places
      return { ...places, [entry]: { ...createPlace(address), inside: places[entry].inside } }
    },

    async deploy(specs, at) {
      if (specs.some(({ role }) => role !== 'generator')) return target.deploy(specs, at)
      /** @type {RemoteProcess[]} */
      const processes = []
      const remove = async () => void (await Promise.all(processes.map(p => p.stop())))
      try {
        for (const spec of specs) processes.push(await loadHost.start(spec, at.folder))
      } catch (error) {
        await remove()
        throw error
      }
      return /** @type {Deployment} */ ({ processes, remove })
    },

    async look(processes) {
      const { here, remote } = splitProcesses(processes)
      const looks = here.length > 0 ? await target.look(here) : []
      await Promise.all(remote.map(p => awaitSample(p, 0)))
      return mergeValues(processes, { here: looks, remote: createLook })
    },

    async observe(processes, { onSample, ...options }) {
      const { here, remote } = splitProcesses(processes)
      const [generator] = remote
      if (!generator) return target.observe(processes, { onSample, ...options })
      const { window } = options
      const onHereSample = onSample && ((/** @type {Sample} */ sample) => onSample(completeSample(processes, sample)))
      const hereObservation = await target.observe(here, { ...options, onSample: onHereSample })
      const isWhole = hereObservation.end !== null && generator.ending() === null
      if (isWhole) await awaitSample(generator, window.endMs)
      const endClock = isWhole ? await loadHost.measureClock() : generator.clock
      const observation = {
        ...completeObservation(processes, hereObservation),
        // The rest of the offset: run/generator.js has moved the window by the lead that was measured before the start.
        clockOffsetMs: Math.abs(endClock.aheadMs - generator.clock.aheadMs) + generator.clock.uncertaintyMs,
      }
      if (generator.samples.length === 0) return observation
      return {
        ...observation,
        loadHost: {
          start: findNearestSample(generator.samples, window.startMs).host,
          end: findNearestSample(generator.samples, window.endMs).host,
          cpus: loadHost.machine.cpus,
          clockAheadMs: generator.clock.aheadMs,
          roundTripMs: generator.clock.roundTripMs,
        },
      }
    },

    async close(options) {
      await loadHost.close()
      if (!options?.retain) ledger.release('addresses', address)
      return target.close(options)
    },
  }
}

/**
 * Says whether a process runs on the other machine.
 * @param {Handle} process
 * @returns {process is RemoteProcess}
 */
function isRemote(process) {
  return 'samples' in process
}

/**
 * Splits processes by the machine on which they run.
 * @param {Handle[]} processes
 * @returns {{ here: Handle[], remote: RemoteProcess[] }} remote: on the other machine
 */
function splitProcesses(processes) {
  return { here: processes.filter(p => !isRemote(p)), remote: processes.filter(isRemote) }
}

/**
 * Merges the values of all processes.
 * @template T
 * @param {Handle[]} processes
 * @param {{ here: T[], remote: (process: RemoteProcess) => T }} values here: of the processes of the services' target, in
 *   their order; remote: gives the value of a process of the other machine
 * @returns {T[]} in the order of `processes`
 */
function mergeValues(processes, { here, remote }) {
  let index = 0
  return processes.map(p => (isRemote(p) ? remote(p) : here[index++]))
}

/**
 * Completes an observation of the services' target with the processes of the other machine.
 * @param {Handle[]} processes
 * @param {Observation} observation
 * @returns {Observation} start, end, after: null as they were; onHost: the processes of the services' target; without
 *   `receivedByPod`, since a load from another machine cannot go to network namespaces
 */
function completeObservation(processes, { samples, start, end, after, received, closedConnections, clockOffsetMs }) {
  const completeEdge = (/** @type {Edge | null} */ edge) =>
    edge && {
      ...edge,
      sample: completeSample(processes, edge.sample),
      states: mergeValues(processes, {
        here: edge.states,
        remote: p => ({ threads: [], cpuLimitCores: null, identity: listIdentities(p), cpuSet: '' }),
      }),
    }
  return {
    samples: samples.map(sample => completeSample(processes, sample)),
    start: completeEdge(start),
    end: completeEdge(end),
    after: after && mergeValues(processes, { here: after, remote: createLook }),
    clockOffsetMs,
    ...(received && { received: mergeValues(processes, { here: received, remote: () => null }) }),
    ...(closedConnections && {
      closedConnections: mergeValues(processes, { here: closedConnections, remote: () => null }),
    }),
    onHost: processes.flatMap((p, i) => (isRemote(p) ? [] : [i])),
  }
}

/**
 * Completes a sample of the services' target with readings of the processes of the other machine.
 * @param {Handle[]} processes
 * @param {Sample} sample
 * @returns {Sample}
 */
function completeSample(processes, sample) {
  const interpolate = (/** @type {RemoteProcess} */ { samples }) => interpolateReading(samples, sample.epochMs)
  return { ...sample, readings: mergeValues(processes, { here: sample.readings, remote: interpolate }) }
}

/**
 * Creates the look at a process of the other machine, of which only the identity is known.
 * @param {RemoteProcess} process
 * @returns {Look}
 */
function createLook(process) {
  return { memory: null, identity: listIdentities(process), workers: null }
}

/**
 * Lists the identity of a process: its pid and start.
 * @param {RemoteProcess} process
 * @returns {string[]} one; []: no sample has come yet
 */
const listIdentities = ({ samples }) => samples.slice(-1).map(({ identity }) => identity)
