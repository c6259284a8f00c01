import { NOT_OFFERED } from '../../node/kernel/cgroup.js'
import { parseHostCpu } from '../../node/kernel/proc-files.js'

/** The readings of the generator where it runs, as run.sh prints them. */
/** @import { HostCpu, Reading } from '../../model/types.ts' */

// USER_HZ of every kernel that k6 and wrk run on (proc(5)).
const TICKS_PER_SECOND = 100

/**
 * A reading of the generator on another machine.
 * @typedef {object} RemoteSample
 * @property {number} epochMs by this machine's clock
 * @property {number} atSeconds since that machine's start
 * @property {number} cpuSeconds since the process's start
 * @property {string} identity its pid and start
 * @property {boolean} isStopped by a signal
 * @property {HostCpu} host
 */

/**
 * Parses a line of run.sh.
 * @param {string} line `@ uptime|the first line of /proc/stat|/proc/PID/stat`
 * @param {{ epochMs: number, hostCpus: number }} options epochMs: when it was read, by our clock; hostCpus: CPUs there
 * @returns {RemoteSample | null} null: the line is no reading
 */
export function parseRemoteSample(line, { epochMs, hostCpus }) {
  const [, uptime, host, pid, processStat] = /^@ ([\d.]+)\|(cpu .*)\|(\d+) \(.*\) (\S.*)$/.exec(line) ?? []
  if (uptime === undefined) return null
  // Fields begin with the state, field 3 in proc(5).
  const fields = processStat.split(' ')
  const [utime, stime, startTicks] = [fields[11], fields[12], fields[19]].map(Number)
  return {
    epochMs,
    atSeconds: Number(uptime),
    cpuSeconds: (utime + stime) / TICKS_PER_SECOND,
    identity: `${pid} ${startTicks}`,
    isStopped: /^[Tt]/.test(processStat),
    host: { ...parseHostCpu(host), cpus: hostCpus },
  }
}

/**
 * Interpolates the generator's CPU time at a moment. Outside of the samples it is that of the nearest one. What only a cgroup
 * counts is null: the generator has none of its own there.
 * @param {RemoteSample[]} samples by rising time
 * @param {number} epochMs
 * @returns {Reading} its times are NaN if there are no samples
 */
export function interpolateReading(samples, epochMs) {
  if (samples.length === 0) return { ...NOT_OFFERED, atSeconds: Number.NaN, cpuSeconds: Number.NaN }
  const next = samples.findIndex(sample => sample.epochMs >= epochMs)
  if (next <= 0) {
    const { atSeconds, cpuSeconds } = samples[next === 0 ? 0 : samples.length - 1]
    return { ...NOT_OFFERED, atSeconds, cpuSeconds }
  }
  const [from, to] = [samples[next - 1], samples[next]]
  const share = (epochMs - from.epochMs) / (to.epochMs - from.epochMs)
  const interpolateField = (/** @type {'atSeconds' | 'cpuSeconds'} */ name) =>
    from[name] + share * (to[name] - from[name])
  return { ...NOT_OFFERED, atSeconds: interpolateField('atSeconds'), cpuSeconds: interpolateField('cpuSeconds') }
}

/**
 * Finds the sample nearest to a moment; of two that are as near, the first.
 * @param {RemoteSample[]} samples
 * @param {number} epochMs
 * @returns {RemoteSample}
 * @throws {TypeError} if there are no samples
 */
export function findNearestSample(samples, epochMs) {
  const computeDistance = (/** @type {RemoteSample} */ sample) => Math.abs(sample.epochMs - epochMs)
  return samples.reduce((best, sample) => (computeDistance(sample) < computeDistance(best) ? sample : best))
}
