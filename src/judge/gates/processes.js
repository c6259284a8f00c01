import { nameOf } from './gate.js'
import { isByKubelet } from './readings.js'

/** Gates of the processes: whether each ran as it was started, under its cap. @import { Gate } from './gate.js' */
/** @import { ProcessRecord, TrialRecord } from '../../model/types.ts' */

const CAP_TOLERANCE = 0.001
const CAP_USE_TOLERANCE = 0.03
const PERIOD_SECONDS = 0.1

/** @type {Gate[]} */
export const PROCESS_GATES = [
  {
    name: 'cap',
    finds: 'a quota that the kernel does not report at an edge of the window, or more CPU used than the quota allows',
    words: 'cap not in force',
    find: record =>
      record.processes.flatMap(p => {
        const { capCores, capReadBackCores, cpuCores } = p
        const { window } = record
        if (capCores === null) return []
        const isSet = Math.abs((capReadBackCores ?? Number.POSITIVE_INFINITY) - capCores) <= CAP_TOLERANCE
        // A window is cut anywhere: it can hold the quota of one period more than its length.
        const most = capCores * (1 + CAP_USE_TOLERANCE + PERIOD_SECONDS / (window?.seconds ?? 1))
        return [
          !isSet &&
            !isCapUnread(record, p) &&
            `${nameOf(p)} was to be capped at ${capCores} cores, and the kernel says ${capReadBackCores ?? 'no quota'}`,
          cpuCores > most && `${nameOf(p)} used ${cpuCores.toFixed(3)} cores under a cap of ${capCores}`,
        ]
      }),
  },
  {
    // The rate at a cap and the quantiles depend on the cap: its quota may have made a p99 near its period, and the kubelet
    // counts no throttled periods. CPU per request and memory hardly depend on it.
    name: 'cap-unread',
    finds: 'a quota that could not be read back (`--samples kubelet`)',
    words: 'cap not read back',
    spoils: ['capacity', 'latency'],
    find: record =>
      record.processes.map(
        p =>
          isCapUnread(record, p) &&
          `${nameOf(p)} was to be capped at ${p.capCores} cores, which could not be verified: the kubelet reports no quota`,
      ),
  },
  {
    name: 'workers',
    finds: 'more or fewer listening sockets than workers were asked for',
    words: 'other workers than asked',
    find: ({ processes }) =>
      processes.map(
        p =>
          p.workers !== null &&
          p.workers !== p.askedWorkers &&
          `${nameOf(p)} listens with ${p.workers} sockets an address, and ${p.askedWorkers} workers were asked for`,
      ),
  },
  {
    name: 'restart',
    finds: 'another process than the one that was started',
    words: 'process replaced',
    find: ({ processes }) => processes.map(p => p.isReplaced && `${nameOf(p)} is another process than was started`),
  },
  {
    name: 'oom',
    finds: 'a process that the kernel killed for memory',
    words: 'out of memory',
    find: ({ processes }) =>
      processes.map(
        p => (p.oomKills ?? 0) > 0 && `the kernel killed ${p.oomKills} processes of ${nameOf(p)} for memory`,
      ),
  },
]

/** @param {Pick<TrialRecord, 'samples'>} record @param {ProcessRecord} process */
function isCapUnread(record, { capCores, capReadBackCores }) {
  return isByKubelet(record) && capCores !== null && capReadBackCores === null
}
