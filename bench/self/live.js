// What it costs to watch a run: a run that is watched and one that is not take turns, round by round, in one process.
import { spawn } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { median } from 'simple-statistics'
import { computeCpuPerRequestMicros, findRoundValue, listSidecars } from '../../src/judge/record/measures.js'
import { summariseRatios } from '../../src/lib/stats.js'
import { parseAddress } from '../../src/live/address.js'
import { openWatchers } from '../../src/verbs/watchers.js'
import { benchAlternately } from './alternating.js'
import { createFinding, writeExperiment } from './kit.js'

const ROUNDS = 12
const WINDOW_SECONDS = 5
// A browser that shows the page, and a Prometheus that scrapes once a second, as processes of their own.
const READERS = `
  const read = url => fetch(url).then(async r => { for await (const _ of r.body); }).catch(() => {})
  read(process.argv[1] + 'events')
  setInterval(() => read(process.argv[2]), 1000)`

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function watchLiveRun() {
  const experiment = writeExperiment('live', { rounds: ROUNDS, windowSeconds: WINDOW_SECONDS, hasControl: false })
  /** @type {string[]} */
  const urls = []
  const terminal = Object.assign(new PassThrough().resume(), { isTTY: true, columns: 120, rows: 40 })
  const watchers = await openWatchers(
    { live: parseAddress(':0', '--live'), metrics: parseAddress(':0', '--metrics') },
    { stream: /** @type {any} */ (terminal), say: line => void urls.push(line.split(' ')[1]) },
  )
  const readers = spawn(process.execPath, ['-e', READERS, ...urls], { stdio: 'ignore' })
  try {
    const runs = await benchAlternately([{ experiment, watch: watchers.watch }, { experiment }])
    return judge(runs.map(run => run.records))
  } finally {
    readers.kill()
    await watchers.close()
  }
}

/** @param {import('../../src/model/types.ts').TrialRecord[][]} runs watched, and not */
function judge(runs) {
  const listRoundValues = (
    /** @type {(record: import('../../src/model/types.ts').TrialRecord) => number | null} */ measure,
  ) =>
    runs.map(records =>
      Array.from({ length: ROUNDS }, (_, i) =>
        findRoundValue(
          records.filter(r => r.trial.round === i + 1 && r.trial.arm.repeatOf === null),
          'cpuPerRequest',
          measure,
        ),
      ),
    )
  const [watched, alone] = listRoundValues(r => Number(r.orchestratorCpuSeconds) / Number(r.window?.seconds))
  const more = watched.flatMap((cores, i) => (cores === null || alone[i] === null ? [] : [cores - Number(alone[i])]))
  const [dear, cheap] = listRoundValues(r => computeCpuPerRequestMicros(r, listSidecars(r)))
  const ratio = summariseRatios(
    dear.map((value, i) => (value && cheap[i] ? value / Number(cheap[i]) : null)),
    1,
  )
  const { low, high } = ratio
  const isWithin =
    low !== null && high !== null && ((low <= 1 && high >= 1) || Math.abs(Number(ratio.median) - 1) < 0.03)
  return [
    createFinding(
      'terminal, page and metrics, cores more than without, below 0.01',
      median(more),
      more,
      cores => cores < 0.01,
    ),
    {
      promise: 'CPU per request watched / not watched: no difference shown',
      measured: `${ratio.median?.toFixed(4)} [${low?.toFixed(4)}, ${high?.toFixed(4)}]`,
      isKept: isWithin,
    },
  ]
}
