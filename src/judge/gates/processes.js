import { groupBy } from '../../lib/group-by.js'
import { sharesPodQuota } from '../../model/arms.js'
import { sumCores } from '../../model/process-records.js'
import { listPods, renderFinePercent, renderProcessName } from './gate.js'

/**
 * The gates of the processes: whether each ran as it was started, under its cap.
 * @import { Gate, GatedRecord } from './gate.js'
 */
/** @import { ProcessRecord, TrialRecord } from '../../model/types.ts' */

// Bounds of the gates below, which have them in words (`finds`). Shares are fractions.
// hidden-quota: time that threads waited over the time that they ran, threads that wait on average, and the share of idle CPUs.
const WAIT_TIMES = 1.5
const WAITING_LEAST = 0.5
const IDLE_LEAST = 0.4
// cap: how far a quota that is read back may be from its request, since the kernel stores whole microseconds; and the share of a
// quota by which use may exceed it.
const CAP_TOLERANCE_CORES = 0.001
const CAP_USE_TOLERANCE = 0.03
// The kernel's period of CPU quotas, which the kit leaves at its default.
const PERIOD_SECONDS = 0.1
// accounting: a group and its processes are read one after the other, and /proc counts whole clock ticks.
const ACCOUNTING_SHARE = 0.05
const ACCOUNTING_SECONDS = 0.03
const SAMPLE_SECONDS = 0.2
const LATE_MOST_SECONDS = 0.5
// Two clock ticks of 10 ms: one for each of the two times of a process.
const TICKS_SECONDS = 0.02
// kit-neighbour: shares of the CPU time that a neighbour was to use.
const NEIGHBOUR_LEAST = 0.9
const NEIGHBOUR_MOST = 1.1
// spare-cpu: the share of idle CPUs.
const SPARE_LEAST = 0.1

/** @type {Gate[]} */
export const PROCESS_GATES = [
  {
    name: 'cap',
    finds: 'a quota that the kernel does not report at an edge of the window, or more CPU used than the quota allows',
    words: 'cap not in force',
    find: record => record.processes.flatMap(process => checkCap(process, record)),
  },
  {
    name: 'pod-cap',
    finds:
      'a quota of a sidecar and its application (`--pod-cpu`) that the kernel does not report at an edge of the window, or more CPU used by both than it allows',
    words: 'limit of pods not in force',
    find: checkPodCaps,
  },
  {
    // The rate at a cap and the quantiles depend on the quota: a p99 near its period may come from it. The kubelet
    // counts no throttled periods. CPU per request and memory hardly depend on the quota.
    name: 'cap-unread',
    finds: 'a quota that could not be read back (`--samples kubelet`)',
    words: 'cap not read back',
    spoils: ['capacity', 'latency'],
    find: record =>
      record.processes.map(
        p =>
          isCapUnread(record, p) &&
          `${renderProcessName(p)} was to be capped at ${p.cpuLimitCores} cores, which could not be verified: the kubelet reports no quota`,
      ),
  },
  {
    // cgroup v2 accepts a cap above the quota of an ancestor, which a container may not see; the cap is then never reached.
    name: 'hidden-quota',
    finds:
      'processes that waited for a CPU at least half as long again as they ran, without a cap of their own in the way, while 40 % of the CPUs that they may use were idle: a quota of a group that cannot be seen from here',
    words: 'held by a quota that cannot be seen',
    spoils: ['throughput', 'capacity', 'latency'],
    find: checkCpuSets,
  },
  {
    name: 'workers',
    finds: 'more or fewer listening sockets than workers were asked for',
    words: 'other workers than asked',
    find: ({ processes }) =>
      processes.map(
        p =>
          p.workers !== null &&
          p.askedWorkers !== null &&
          p.workers !== p.askedWorkers &&
          `${renderProcessName(p)} listens with ${p.workers} sockets an address, and ${p.askedWorkers} workers were asked for`,
      ),
  },
  {
    // A process that leaves its cgroup continues to work, and the cgroup no longer counts its CPU time.
    name: 'accounting',
    finds:
      'CPU time of a group that differs from that of its processes by more than 5 % and 30 ms (20 ms more for each further process, and what it uses in the longest gap of the samples), or a process that is not in the group at an edge of the window',
    words: 'CPU time not counted',
    find: ({ processes, samples, window }) => {
      // A group and its processes are read one after the other: if the reader is held up in between, they work on.
      const lateSeconds = Math.max(0, (samples?.largestGapSeconds ?? 0) - SAMPLE_SECONDS)
      const lateShare = Math.min(lateSeconds, LATE_MOST_SECONDS) / (window?.seconds ?? Number.POSITIVE_INFINITY)
      return processes.flatMap(p => [
        ...(p.outside ?? []).map(place => `${place}, where ${renderProcessName(p)} is counted`),
        renderMiscount(p, lateShare),
      ])
    },
  },
  {
    name: 'kit-neighbour',
    finds:
      'a neighbour of the kit (`--neighbour`) that wanted less than 90 % of its CPU (run, or waited for a CPU), or ran more than 110 %',
    words: 'neighbour not as asked',
    find: checkNeighbour,
  },
  {
    name: 'spare-cpu',
    finds:
      'CPUs that were idle (10 %) beside a neighbour of the kit: a CPU request decides where they are all in use; it spoils nothing',
    words: 'CPUs to spare',
    spoils: [],
    find: ({ trial: { arm }, host, placement }) => [
      arm.conditions.cpuRequestCores !== undefined &&
        arm.conditions.neighbourCores !== undefined &&
        placement === null &&
        host.idleFraction >= SPARE_LEAST &&
        `${renderFinePercent(host.idleFraction)} of ${host.cpus} CPUs were idle beside a neighbour of ${arm.conditions.neighbourCores}: a CPU request decides where all are in use`,
    ],
  },
  {
    name: 'restart',
    finds: 'another process than the one that was started',
    words: 'process replaced',
    find: ({ processes }) =>
      processes.map(p => p.isReplaced && `${renderProcessName(p)} is another process than was started`),
  },
  {
    name: 'oom',
    finds: 'a process that the kernel killed for memory',
    words: 'out of memory',
    find: ({ processes }) =>
      processes.map(
        p => (p.oomKills ?? 0) > 0 && `the kernel killed ${p.oomKills} processes of ${renderProcessName(p)} for memory`,
      ),
  },
]

/**
 * Checks whether the kernel reports the cap of a process, and whether it was kept.
 * @param {ProcessRecord} process
 * @param {Pick<TrialRecord, 'window' | 'samples'>} record
 * @returns {(string | false)[]} false: no failure; []: the process has no cap
 */
function checkCap(process, record) {
  const { cpuLimitCores, cpuLimitReadBackCores, cpuCores } = process
  if (cpuLimitCores === null) return []
  return [
    !isReadBack(process, cpuLimitCores) &&
      !isCapUnread(record, process) &&
      `${renderProcessName(process)} was to be capped at ${cpuLimitCores} cores, and the kernel says ${cpuLimitReadBackCores ?? 'no quota'}`,
    cpuCores > computeUseMost(cpuLimitCores, record) &&
      `${renderProcessName(process)} used ${cpuCores.toFixed(3)} cores under a cap of ${cpuLimitCores}`,
  ]
}

/**
 * Checks whether the kernel reports the quota of each pod, and whether it was kept.
 * @param {GatedRecord} record
 * @returns {(string | false)[]} false: no failure; []: the pods have no quota
 */
function checkPodCaps(record) {
  const { podCpuCores } = record.trial.arm.conditions
  if (podCpuCores === undefined) return []
  return listPods(record.processes).flatMap(({ service, processes, cpuCores }) => [
    ...processes.map(
      p =>
        p.cpuLimitCores === null &&
        !isByKubelet(record) &&
        !isReadBack(p, podCpuCores) &&
        `${renderProcessName(p)} was to be in a pod of ${podCpuCores} cores, and the kernel says ${p.cpuLimitReadBackCores ?? 'no quota'}`,
    ),
    cpuCores > computeUseMost(podCpuCores, record) &&
      `${service}'s sidecar and application used ${cpuCores.toFixed(3)} cores in a pod of ${podCpuCores}`,
  ])
}

/**
 * Says whether the quota that the kernel reports for a process is the requested one.
 * @param {Pick<ProcessRecord, 'cpuLimitReadBackCores'>} process
 * @param {number} cores
 * @returns {boolean} false also: it reports none
 */
function isReadBack({ cpuLimitReadBackCores }, cores) {
  return cpuLimitReadBackCores !== null && Math.abs(cpuLimitReadBackCores - cores) <= CAP_TOLERANCE_CORES
}

/**
 * Computes the most cores that a quota lets a window use. A window does not begin with a period, so it can contain the quota of one
 * period more than its length.
 * @param {number} quotaCores
 * @param {Pick<TrialRecord, 'window'>} record without a window, a second is taken
 * @returns {number} cores
 */
function computeUseMost(quotaCores, { window }) {
  return quotaCores * (1 + CAP_USE_TOLERANCE + PERIOD_SECONDS / (window?.seconds ?? 1))
}

/**
 * Checks whether a neighbour used the CPU that was planned. A thread that waits for a CPU wants it as much as one that runs;
 * without the times of waits, only a neighbour that used too much is found.
 * @param {Pick<TrialRecord, 'trial' | 'processes' | 'window'>} record
 * @returns {(string | false)[]} false: no failure; []: no neighbour was planned
 */
function checkNeighbour({ trial, processes, window }) {
  const { neighbourCores: cores } = trial.arm.conditions
  if (cores === undefined) return []
  const neighbour = processes.find(({ role }) => role === 'neighbour')
  if (neighbour === undefined) return [`a neighbour of ${cores} CPUs was asked for, and none ran`]
  const { cpuCores, threads } = neighbour
  const waitingThreads = sumWaitSeconds([neighbour]) / (window?.seconds ?? 1)
  // Without the times that threads waited, a neighbour that got less looks like one that wanted less. A NaN is too little.
  const isWaitKnown = threads.some(t => t.waitSeconds !== undefined)
  return [
    isWaitKnown &&
      !(cpuCores + waitingThreads >= NEIGHBOUR_LEAST * cores) &&
      `the neighbour burnt ${cpuCores.toFixed(2)} CPUs and waited for ${waitingThreads.toFixed(2)}, and ${cores} were asked for`,
    cpuCores > NEIGHBOUR_MOST * cores && `the neighbour burnt ${cpuCores.toFixed(2)} CPUs, and ${cores} were asked for`,
  ]
}

/**
 * Checks each CPU set of two CPUs or more for processes that waited while CPUs were idle. The waits of processes that were
 * throttled, or that are in a pod with a quota, do not count.
 * @param {Pick<TrialRecord, 'trial' | 'processes' | 'host' | 'window'>} record
 * @returns {(string | false)[]} by CPU set; false: no failure, also without a window or the times of waits
 */
function checkCpuSets({ trial: { arm }, processes, host, window }) {
  return [...groupBy(processes, p => p.cpuSet)].map(([cpuSet, members]) => {
    const uncapped = members.filter(
      p => !p.throttledFraction && !sharesPodQuota(arm, p.role) && p.threads.some(t => t.waitSeconds !== undefined),
    )
    const waitingThreads = sumWaitSeconds(uncapped) / (window?.seconds ?? Number.NaN)
    const usedCores = sumCores(members)
    const cpus = countCpusInSet(cpuSet)
    // Other processes may run on these CPUs: those of arms beside this one, and programs that are not of this run.
    const idleCoresOfHost = host ? host.idleFraction * host.cpus : Number.POSITIVE_INFINITY
    const idleCores = Math.min(cpus - usedCores - (host?.foreignCores ?? 0), idleCoresOfHost)
    // Processes on one CPU wait for each other even if it is half idle, so that waiting shows no quota there.
    const isHeld = cpus > 1 && waitingThreads >= Math.max(WAITING_LEAST, WAIT_TIMES * sumCores(uncapped))
    return (
      isHeld &&
      idleCores >= IDLE_LEAST * cpus &&
      `threads of ${uncapped.map(renderProcessName).join(', ')} waited for a CPU all the time, ${waitingThreads.toFixed(1)} on average, while ${renderFinePercent(idleCores / cpus)} of ${cpus} CPUs were idle and no cap of this run held them: a group that is not visible from here, of this job or container, has a quota, near the ${usedCores.toFixed(2)} cores that they used: raise it, or give sidecars a smaller --cpu`
    )
  })
}

/**
 * Counts the CPUs of a CPU set.
 * @param {string} cpuSet a list of ranges, such as `0-2,5`
 * @returns {number}
 */
function countCpusInSet(cpuSet) {
  const ranges = cpuSet.split(',').map(range => range.split('-').map(Number))
  return ranges.reduce((sum, [first, last = first]) => sum + last - first + 1, 0)
}

/**
 * Sums the times that the threads of processes waited for a CPU in the window.
 * @param {ProcessRecord[]} processes
 * @returns {number} seconds; a time that could not be read, or fell, counts as 0
 */
function sumWaitSeconds(processes) {
  const threads = processes.flatMap(process => process.threads)
  return threads.reduce((sum, { waitSeconds = 0 }) => sum + Math.max(0, waitSeconds), 0)
}

/**
 * Renders how the CPU time of a group differs from that of its processes.
 * @param {ProcessRecord} process
 * @param {number} lateShare of the window, in which the reader may have been held up
 * @returns {string | false} false: within the tolerance, which grows with the processes and with `lateShare`; or the group counted
 *   more, and a process that ended in the window took its CPU time with it
 */
function renderMiscount(process, lateShare) {
  const { byProcesses, threads } = process
  const cpuSeconds = byProcesses?.groupSeconds ?? process.cpuSeconds
  const threadSeconds = threads.reduce((sum, thread) => sum + Math.max(0, thread.cpuSeconds), 0)
  const leastSeconds = Math.max(byProcesses?.leastSeconds ?? 0, threadSeconds)
  const mostSeconds = byProcesses?.mostSeconds ?? null
  const furtherProcesses = Math.max(0, (byProcesses?.processes ?? 1) - 1)
  const lateSeconds = lateShare * Math.max(leastSeconds, cpuSeconds)
  const slackSeconds = ACCOUNTING_SECONDS + TICKS_SECONDS * furtherProcesses + lateSeconds
  const usedMore = leastSeconds - cpuSeconds > slackSeconds + ACCOUNTING_SHARE * leastSeconds
  const usedLess =
    mostSeconds !== null &&
    cpuSeconds - Math.max(mostSeconds, threadSeconds) > slackSeconds + ACCOUNTING_SHARE * cpuSeconds
  const processSeconds = usedMore ? leastSeconds : mostSeconds
  return (
    (usedMore || usedLess) &&
    `the group of ${renderProcessName(process)} counted ${cpuSeconds.toFixed(2)} s of CPU time, and its processes used ${processSeconds?.toFixed(2)} s`
  )
}

/**
 * Says whether a process has a cap that the kubelet does not report.
 * @param {Pick<TrialRecord, 'samples'>} record
 * @param {Pick<ProcessRecord, 'cpuLimitCores' | 'cpuLimitReadBackCores'>} process
 * @returns {boolean} false also: CPU time was not read from the kubelet
 */
function isCapUnread(record, { cpuLimitCores, cpuLimitReadBackCores }) {
  return isByKubelet(record) && cpuLimitCores !== null && cpuLimitReadBackCores === null
}

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
      // The kubelet counts every 10 to 20 s: its reader checks which share of the window that covers.
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

/**
 * Says whether CPU time was read from the kubelet, which reports no caps and sockets.
 * @param {Pick<TrialRecord, 'samples'>} record
 * @returns {boolean}
 */
function isByKubelet({ samples }) {
  return samples?.source === 'kubelet'
}
