import { writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { callSafely } from '../lib/call-safely.js'
import { startClock } from '../lib/clock.js'
import { readHostCpu, readStatus } from './kernel/proc-files.js'
import { createEstablishedLister } from './kernel/sockets.js'

/** The sampler of processes. It runs beside them: in the orchestrator on this machine, in a pod on a node of a cluster. */
/** @import { Edge, Look, Observation, Probe, Sample, Window } from '../model/types.ts' */

/** Garbage is collected only if the window is further away than this. */
const GARBAGE_MS = 500
const PERIOD_MS = 100

/**
 * Reads every process once in PERIOD_MS from now to the end of the window, and everything at its edges. It collects this process's
 * garbage first, if there is time, and resets its peak memory at the start of the window. After an abort it returns what was read
 * until then, whatever failed.
 * @param {Probe[]} probes
 * @param {object} options
 * @param {Window} options.window
 * @param {AbortSignal} options.signal ends it early
 * @param {(sample: Sample) => void} [options.onSample] takes each sample; it must be quick
 * @param {() => void} [options.onEnd] is called just after the window; it must be quick
 * @returns {Promise<Omit<Observation, 'clockOffsetMs'>>} start, end, after: null if the signal aborted before
 * @throws {import('../lib/errors.js').BenchError} if the machine's clock is set meanwhile; the error of a probe that cannot be read;
 *   the system's error if /proc/stat cannot be read
 */
export async function observeProbes(probes, { window, signal, onSample = () => {}, onEnd = () => {} }) {
  /** @type {Sample[]} */
  const samples = []
  const clock = startClock()
  /** @type {Omit<Observation, 'clockOffsetMs'>} */
  const observation = { samples, start: null, end: null, after: null }
  const keep = (/** @type {Sample} */ sample) => {
    samples.push(sample)
    onSample(sample)
  }
  // Sampling starts before the window and continues through it; the edges come in between, at their own time.
  const sampleUntil = async (/** @type {number} */ epochMs) => {
    let next = roundUpToPeriod(clock.now())
    while (next < epochMs) {
      await clock.waitUntil(next, signal)
      clock.assertSteady()
      keep(readSample(probes))
      next = Math.max(next + PERIOD_MS, roundUpToPeriod(clock.now()))
    }
    await clock.waitUntil(epochMs, signal)
    clock.assertSteady()
  }
  try {
    // Garbage is collected well before the window, so that its CPU time is not in the window.
    if (window.startMs - clock.now() > GARBAGE_MS) collectGarbage()
    await sampleUntil(window.startMs)
    resetOwnPeakMemory()
    observation.start = readEdge(probes, 'start')
    keep(observation.start.sample)
    await sampleUntil(window.endMs)
    observation.end = readEdge(probes, 'end')
    keep(observation.end.sample)
    onEnd()
    observation.after = lookAtProbes(probes)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return observation
}

/**
 * Reads memory, identity, workers, connections and CPU time: together they cost too much to be read inside a window.
 * @param {Probe[]} probes
 * @returns {Look[]} in the order of the probes; cpu: undefined if it cannot be read, as after the end of the process
 * @throws the error of a probe that cannot be read
 */
export function lookAtProbes(probes) {
  // Connections are counted first: the load ends soon after the window, and takes them along.
  const listEstablished = createEstablishedLister()
  const connections = probes.map(probe => probe.countConnections(listEstablished))
  return probes.map((probe, i) => ({
    memory: probe.readMemory(),
    identity: probe.identify(),
    workers: probe.countListeners(),
    connections: connections[i],
    cpu: readCpu(probe),
  }))
}

/**
 * Reads the CPU time of a process.
 * @param {Probe} probe
 * @returns {{ atSeconds: number, cpuSeconds: number } | undefined} undefined: it cannot be read, as after the end of the process
 * @throws the error of the probe
 */
function readCpu(probe) {
  const { atSeconds, cpuSeconds } = probe.read()
  return Number.isFinite(atSeconds) && Number.isFinite(cpuSeconds) ? { atSeconds, cpuSeconds } : undefined
}

/**
 * Reads the counters of every process once.
 * @param {Probe[]} probes
 * @returns {Sample} readings: in the order of the probes
 * @throws the error of a probe that cannot be read
 */
function readSample(probes) {
  return { epochMs: Date.now(), readings: probes.map(probe => probe.read()) }
}

/**
 * Reads every process with its threads, limits and CPUs, the machine, and this process, at an edge of the window.
 * @param {Probe[]} probes
 * @param {'start' | 'end'} edge
 * @returns {Edge} states: in the order of the probes
 * @throws the error of a probe that cannot be read; the system's error if /proc/stat cannot be read
 */
function readEdge(probes, edge) {
  const sample = { ...readSample(probes), edge }
  const usage = process.cpuUsage()
  return {
    sample,
    states: probes.map(probe => ({
      threads: probe.readThreads(),
      // Read beside the times of its threads and processes, with which it is compared: the sample above was taken earlier.
      cpu: readCpu(probe),
      usage: probe.readUsage(),
      cpuLimitCores: probe.readCpuLimitCores(),
      identity: probe.identify(),
      outside: probe.listOutside(),
      cpuSet: probe.readCpuSet(),
    })),
    host: readHostCpu(),
    ownCpuSeconds: (usage.user + usage.system) / 1e6,
    ownPeakBytes: readOwnPeakBytes(),
  }
}

/**
 * Rounds a time up to a multiple of the sampling period, so that samples of several machines coincide.
 * @param {number} epochMs
 * @returns {number} epoch milliseconds
 */
function roundUpToPeriod(epochMs) {
  return Math.ceil(epochMs / PERIOD_MS) * PERIOD_MS
}

/** Collects garbage, which V8 does by itself only when memory runs short. The flag gives `gc` to new contexts only. */
export function collectGarbage() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Resets VmHWM of this process (proc(5), clear_refs). If /proc is read-only, the peak stays that since its start. */
export function resetOwnPeakMemory() {
  callSafely(() => writeFileSync('/proc/self/clear_refs', '5'), null)
}

/**
 * Reads the largest resident memory that this process has had (proc(5), VmHWM).
 * @returns {number | null} bytes; null: the kernel does not show it
 */
export function readOwnPeakBytes() {
  const kibibytes = Number.parseInt(readStatus('self', 'VmHWM'), 10)
  return Number.isNaN(kibibytes) ? null : kibibytes * 1024
}
