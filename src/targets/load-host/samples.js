import { NOT_OFFERED } from '../../node/kernel/cgroup.js'
import { parseHostCpu } from '../../node/kernel/proc-files.js'

/** Readings of the generator where it runs, as run.sh prints them. */

// USER_HZ of every kernel that k6 and wrk run on (proc(5)).
const TICKS_PER_SECOND = 100

/**
 * A reading of the generator on another machine.
 * @typedef {object} FarSample
 * @property {number} epochMs by this machine's clock
 * @property {number} atSeconds since that machine's start
 * @property {number} cpuSeconds since the process's start
 * @property {string} identity its pid and start
 * @property {boolean} isStopped by a signal
 * @property {import('../../model/types.ts').HostCpu} host
 */

/**
 * Parses a line of run.sh.
 * @param {string} line `@ uptime|the first line of /proc/stat|/proc/PID/stat`
 * @param {{ epochMs: number, hostCpus: number }} known epochMs: by our clock; hostCpus: CPUs there
 * @returns {FarSample | null} null: the line is no reading
 */
export function parseFarSample(line, { epochMs, hostCpus }) {
  const [, uptime, host, pid, rest] = /^@ ([\d.]+)\|(cpu .*)\|(\d+) \(.*\) (\S.*)$/.exec(line) ?? []
  if (uptime === undefined) return null
  // Fields begin with the state, field 3 in proc(5).
  const fields = rest.split(' ')
  const [utime, stime, startTicks] = [fields[11], fields[12], fields[19]].map(Number)
  return {
    epochMs,
    atSeconds: Number(uptime),
    cpuSeconds: (utime + stime) / TICKS_PER_SECOND,
    identity: `${pid} ${startTicks}`,
    isStopped: /^[Tt]/.test(rest),
    host: { ...parseHostCpu(host), cpus: hostCpus },
  }
}

/**
 * Interpolates the generator's CPU time at a moment. Outside of the samples it is that of the nearest one.
 * @param {FarSample[]} samples by rising time
 * @param {number} epochMs
 * @returns {import('../../model/types.ts').Reading} NaN: there are no samples; null: only a cgroup counts it
 */
export function interpolateReading(samples, epochMs) {
  // The generator has no cgroup of its own there.
  if (samples.length === 0) return { ...NOT_OFFERED, atSeconds: Number.NaN, cpuSeconds: Number.NaN }
  const next = samples.findIndex(s => s.epochMs >= epochMs)
  const to = samples[next < 0 ? samples.length - 1 : next]
  const from = samples[Math.max(0, (next < 0 ? samples.length : next) - 1)]
  const share = to === from ? 0 : Math.min(1, (epochMs - from.epochMs) / (to.epochMs - from.epochMs))
  const interpolateField = (/** @type {'atSeconds' | 'cpuSeconds'} */ name) =>
    from[name] + share * (to[name] - from[name])
  return { ...NOT_OFFERED, atSeconds: interpolateField('atSeconds'), cpuSeconds: interpolateField('cpuSeconds') }
}

/**
 * Finds the sample nearest to a moment.
 * @param {FarSample[]} samples at least one
 * @param {number} epochMs
 * @returns {FarSample}
 */
export function findNearestSample(samples, epochMs) {
  const computeDistance = (/** @type {FarSample} */ s) => Math.abs(s.epochMs - epochMs)
  return samples.reduce((best, sample) => (computeDistance(sample) < computeDistance(best) ? sample : best))
}
