import { createPlace, GENERATOR } from '../../model/sidecar-contract.js'
import { awaitSample } from './process.js'
import { findNearestSample, interpolateReading } from './samples.js'

/** Services on one target, their generator on another machine. */
/** @import { Deployment, Edge, Handle, Look, Observation, Sample, Target, Ledger } from '../../model/types.ts' */
/**
 * @import { LoadHost } from './host.js'
 * @import { FarProcess } from './process.js'
 */

/**
 * Creates the target that runs services on one target, and their generator on another machine.
 * @param {{ target: Target, loadHost: LoadHost, address: string, ledger: Ledger }} options target: of the services;
 *   address: of this machine, at which the entry listens for the load; ledger: which holds the address
 * @returns {Target}
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
      /** @type {FarProcess[]} */
      const processes = []
      for (const spec of specs) processes.push(await loadHost.start(spec, at.folder))
      /** @type {Deployment} */
      const deployment = { processes, remove: async () => void (await Promise.all(processes.map(p => p.stop()))) }
      return deployment
    },

    async look(processes) {
      const { here, far } = splitProcesses(processes)
      const looks = here.length > 0 ? await target.look(here) : []
      await Promise.all(far.map(p => awaitSample(p, 0)))
      return mergeValues(processes, { here: looks, far: lookAtProcess })
    },

    async observe(processes, { onSample, ...options }) {
      const { here, far } = splitProcesses(processes)
      const [generator] = far
      if (!generator) return target.observe(processes, { onSample, ...options })
      const complete = (/** @type {Sample} */ sample) => ({
        ...sample,
        readings: mergeValues(processes, {
          here: sample.readings,
          far: p => interpolateReading(p.samples, sample.epochMs),
        }),
      })
      const observed = await target.observe(here, { ...options, onSample: onSample && (s => onSample(complete(s))) })
      const { window } = options
      const isWhole = observed.end !== null && generator.ending() === null
      if (isWhole) await awaitSample(generator, window.endMs)
      const endClock = isWhole ? await loadHost.measureClock() : generator.clock
      const completeEdge = (/** @type {Edge | null} */ edge) =>
        edge && {
          ...edge,
          sample: complete(edge.sample),
          states: mergeValues(processes, {
            here: edge.states,
            far: p => ({ threads: [], cpuLimitCores: null, identity: listIdentities(p), cpuSet: '' }),
          }),
        }
      /** @type {Observation} */
      const observation = {
        samples: observed.samples.map(complete),
        start: completeEdge(observed.start),
        end: completeEdge(observed.end),
        after: observed.after && mergeValues(processes, { here: observed.after, far: lookAtProcess }),
        // The rest of the offset: run/generator.js has moved the window by the lead that was measured before the start.
        clockOffsetMs: Math.abs(endClock.aheadMs - generator.clock.aheadMs) + generator.clock.uncertaintyMs,
        ...(observed.received && { received: mergeValues(processes, { here: observed.received, far: () => null }) }),
        ...(observed.closedConnections && {
          closedConnections: mergeValues(processes, { here: observed.closedConnections, far: () => null }),
        }),
        onHost: processes.flatMap((p, i) => (isFar(p) ? [] : [i])),
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
 * @returns {process is FarProcess}
 */
function isFar(process) {
  return 'samples' in process
}

/**
 * Splits processes by the machine on which they run.
 * @param {Handle[]} processes
 * @returns {{ here: Handle[], far: FarProcess[] }} far: on the other machine
 */
function splitProcesses(processes) {
  return { here: processes.filter(p => !isFar(p)), far: processes.filter(isFar) }
}

/**
 * Merges the values of all processes.
 * @template T
 * @param {Handle[]} processes
 * @param {{ here: T[], far: (process: FarProcess) => T }} values here: of the processes of the services' target, in
 *   their order; far: gives the value of a process of the other machine
 * @returns {T[]} in the order of `processes`
 */
function mergeValues(processes, { here, far }) {
  let index = 0
  return processes.map(p => (isFar(p) ? far(p) : here[index++]))
}

/**
 * Creates the look at a process of the other machine, of which only the identity is known.
 * @param {FarProcess} process
 * @returns {Look}
 */
function lookAtProcess(process) {
  return { memory: null, identity: listIdentities(process), workers: null }
}

/**
 * Lists the identity of a process.
 * @param {FarProcess} process
 * @returns {string[]} one; []: no sample has come yet
 */
const listIdentities = ({ samples }) => samples.slice(-1).map(({ identity }) => identity)
