/** Gates of the readings: whether the numbers cover the window. @import { TrialRecord } from '../../model/types.ts' */
/** @import { Gate } from './gate.js' */

const SAMPLE_GAP_MOST_SECONDS = 1
const KUBELET_LEAST_SECONDS = 120
const EDGE_LATE_MOST_MS = 500
const CLOCK_OFFSET_MOST_MS = 20

/** @type {Gate[]} */
export const READING_GATES = [
  {
    name: 'clock',
    finds: 'clocks of load and services more than 20 ms apart',
    words: 'clocks apart',
    find: ({ samples }) => [
      samples !== null &&
        Math.abs(samples.clockOffsetMs) > CLOCK_OFFSET_MOST_MS &&
        `the clocks of load and services are ${Math.round(Math.abs(samples.clockOffsetMs))} ms apart (at most ${CLOCK_OFFSET_MOST_MS}): synchronise them`,
    ],
  },
  {
    name: 'samples',
    finds:
      'a number missing, a second without a sample, or an edge read half a second late; with the kubelet, a window below 2 minutes',
    words: 'samples missing',
    find: ({ samples, window }) => [
      samples !== null && samples.missing > 0 && `${samples.missing} readings have a number missing`,
      isByKubelet({ samples }) &&
        window !== null &&
        window.seconds < KUBELET_LEAST_SECONDS &&
        `the kubelet's counters take a window of 2 minutes at least, and it was ${window.seconds} s`,
      // The kubelet counts every 10 to 20 s: the share of the window that it covers is checked when it is read.
      samples !== null &&
        !isByKubelet({ samples }) &&
        samples.largestGapSeconds > SAMPLE_GAP_MOST_SECONDS &&
        `no sample for ${samples.largestGapSeconds.toFixed(1)} s of the window`,
      window !== null &&
        Math.max(window.startLateMs, window.endLateMs) > EDGE_LATE_MOST_MS &&
        `an edge of the window was read ${Math.round(Math.max(window.startLateMs, window.endLateMs))} ms late`,
    ],
  },
]

/** Says whether CPU time is the kubelet's, which knows no caps and sockets. @param {Pick<TrialRecord, 'samples'>} record */
export function isByKubelet({ samples }) {
  return samples?.source === 'kubelet'
}
