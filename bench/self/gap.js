// Why sidecars take more CPU for a request beside one load generator than beside another: hypotheses, tried side by side.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { cpuPerRequestMicros, ratePerSecond, sidecarsOf } from '../../src/judge/measures.js'
import { k6 } from '../../src/loads/k6/index.js'
import { wrk } from '../../src/loads/wrk/index.js'
import { benchAlternately } from './alternating.js'
import { scratch } from './kit.js'

/**
 * @import { LoadGenerator, Role, TrialRecord } from '../../src/model/types.ts'
 * @import { RunningProcess } from '../../src/targets/local/process.js'
 */

const ROUNDS = 4
const APART = /** @type {Record<Role, number[]>} */ ({ sidecar: [0], application: [1], generator: [1], control: [1] })
// Walks through 32 MiB, half a MiB a millisecond: about as much CPU as k6 takes more than wrk.
const NEIGHBOUR = `
  const memory = new Uint8Array(2 ** 25)
  let at = 0
  const work = setInterval(() => { for (let i = 0; i < 2 ** 19; i += 16) memory[at = (at + 16) % memory.length]++ }, 1)
  setTimeout(() => clearInterval(work), 5500)`

/** Users are of the experiment. @type {Record<string, { load: LoadGenerator, users?: number, place?: typeof APART }[] >} */
const HYPOTHESES = {
  sharing: [
    ...[k6, wrk, change('wrk, user agent of k6', withAgent), change('wrk, a neighbour', withNeighbour)].map(load => ({
      load,
    })),
    ...[k6, wrk].map(load => ({ load: rename(load, `${load.name}, sidecars on another core`), place: APART })),
  ],
  users: [10, 200].flatMap(users =>
    [k6, wrk].map(load => ({ load: rename(load, `${load.name}, ${users} users`), users })),
  ),
}

/**
 * @param {string} hypothesis
 * @param {number} [rounds]
 * @returns {Promise<import('./kit.js').Finding[]>} none: it explains, and promises nothing
 */
export async function explainGap(hypothesis, rounds = ROUNDS) {
  const variants = HYPOTHESES[hypothesis]
  const switches = variants.map(() => countSwitches())
  const runs = await benchAlternately(
    variants.map(({ load, users = 50, place }, i) => ({
      experiment: writeExperiment(users, rounds),
      load,
      place,
      ...switches[i],
    })),
  )
  const of = (/** @type {number} */ i, /** @type {string} */ plane) =>
    runs[i].records.filter(r => r.outcome === 'completed' && r.trial.arm.plane === plane)
  const rows = variants.flatMap(({ load }, i) =>
    ['pipy', 'envoy'].map(plane => {
      const [own, first] = [of(i, plane), of(0, plane)]
      return [load.name, plane, ...describe(own, switches[i].counts), compare(own, first)]
    }),
  )
  const columns = [
    'generator',
    'plane',
    'requests/s',
    'sidecar µs/req',
    'generator µs/req',
    'wakes/req',
    'preempted/req',
    "sidecar, of the first's",
  ]
  for (const cells of [columns, columns.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`)
  return []
}

/**
 * @param {number} users
 * @param {number} rounds
 */
function writeExperiment(users, rounds) {
  const file = path.join(scratch, `gap-${users}.yaml`)
  writeFileSync(
    file,
    `name: gap
question: What does the load generator add to the CPU per request of sidecars?
axes: { plane: [pipy, envoy], link: [gateway-ratings], capCores: [0.25], users: [${users}] }
profiles: { standard: { rounds: ${rounds}, hasControl: false } }
`,
  )
  return file
}

/**
 * @param {TrialRecord[]} records
 * @param {Map<string, { voluntary: number, involuntary: number, seconds: number }>} counts
 */
function describe(records, counts) {
  const of = (/** @type {(record: TrialRecord) => number} */ value, digits = 1) =>
    median(records.map(value)).toFixed(digits)
  const perRequest = (/** @type {'voluntary' | 'involuntary'} */ kind) => (/** @type {TrialRecord} */ record) => {
    const count = counts.get(record.trial.id)
    return count ? count[kind] / count.seconds / Number(ratePerSecond(record)) : Number.NaN
  }
  return [
    of(r => Number(ratePerSecond(r)), 0),
    of(r => Number(cpuPerRequestMicros(r, sidecarsOf(r)))),
    of(r =>
      Number(
        cpuPerRequestMicros(
          r,
          r.processes.filter(p => p.role === 'generator'),
        ),
      ),
    ),
    of(perRequest('voluntary'), 2),
    of(perRequest('involuntary'), 2),
  ]
}

/**
 * CPU per request of the sidecars over that of the first variant, round by round: the median, and the range.
 * @param {TrialRecord[]} own
 * @param {TrialRecord[]} first
 */
function compare(own, first) {
  const costOf = (/** @type {TrialRecord} */ record) => Number(cpuPerRequestMicros(record, sidecarsOf(record)))
  const ratios = own.flatMap(record => {
    const other = first.find(r => r.trial.round === record.trial.round)
    return other ? [costOf(record) / costOf(other)] : []
  })
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map(ratio => ratio.toFixed(2))
  return `${median(ratios).toFixed(2)} (${low} to ${high})`
}

/** Context switches of the sidecars in the window, by the trial. */
function countSwitches() {
  /** @type {Map<string, { voluntary: number, involuntary: number, seconds: number }>} */
  const counts = new Map()
  /** @type {import('../../src/model/types.ts').Probe[]} */
  let probes = []
  let trialId = ''
  let before = { voluntary: 0, involuntary: 0, atMs: 0 }
  return {
    counts,
    /** @param {import('../../src/model/types.ts').Handle[]} processes */
    deployed(processes) {
      const sidecars = processes.filter(p => p.spec.role === 'sidecar')
      if (sidecars.length > 0) probes = sidecars.map(p => /** @type {RunningProcess} */ (p).probe)
    },
    /** @param {import('../../src/run/events.js').RunEvent} event */
    watch(event) {
      if (event.kind === 'trial-started') trialId = event.trial.id
      if (event.kind !== 'phase') return
      if (event.phase === 'window') before = readSwitches(probes)
      if (event.phase !== 'tail') return
      const after = readSwitches(probes)
      counts.set(trialId, {
        voluntary: after.voluntary - before.voluntary,
        involuntary: after.involuntary - before.involuntary,
        seconds: (after.atMs - before.atMs) / 1000,
      })
    },
  }
}

/** @param {import('../../src/model/types.ts').Probe[]} probes */
function readSwitches(probes) {
  const sum = { voluntary: 0, involuntary: 0, atMs: performance.now() }
  for (const { id } of probes.flatMap(probe => probe.readThreads())) {
    const status = readFileSync(`/proc/${id}/status`, 'utf8')
    sum.voluntary += Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1])
    sum.involuntary += Number(/^nonvoluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1])
  }
  return sum
}

/**
 * @param {string} name
 * @param {(spec: ReturnType<LoadGenerator['createGenerator']>) => Partial<ReturnType<LoadGenerator['createGenerator']>>} how
 * @returns {LoadGenerator}
 */
function change(name, how) {
  return {
    ...wrk,
    name,
    createGenerator(options) {
      const spec = wrk.createGenerator(options)
      return { ...spec, ...how(spec) }
    },
  }
}

/** @param {LoadGenerator} load @param {string} name */
function rename(load, name) {
  return { ...load, name }
}

/** @param {{ argv: string[] }} spec */
function withAgent({ argv }) {
  return { argv: ['--header=User-Agent: k6/1.1.0 (https://k6.io/)', ...argv] }
}

/** @param {{ argv: string[], program: string }} spec */
function withNeighbour({ argv, program }) {
  const script = '"$1" -e "$2" & shift 2; exec "$@"'
  return { program: '/bin/sh', argv: ['-c', script, 'sh', process.execPath, NEIGHBOUR, program, ...argv] }
}
