// Whether the kit keeps its own promises of speed and cost, measured on this machine, side by side.
//   npm run bench:self [-- bias|sidecar|k6|orchestrator|caps|time|accuracy|aa|kubelet|compare|generator|live|report|load|pipeline ...]
//   soak [--minutes N] [--into FOLDER]: memory over an hour, as a picture
//   npm run bench:self -- agree [EXPERIMENT] [options of bench]: the experiment here and on the cluster of this machine, in turn
//   [--rounds N] of generator and bias
//   bias [--seconds N of a window] [--study NAME [--into FILE] [--only PATTERN]]: a study measures one factor; turn: the start of turns
import { mkdtemp, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import { pipyTool } from '../../src/dataplanes/pipy/index.js'
import { EXIT } from '../../src/lib/errors.js'
import { ROOT } from '../../src/lib/paths.js'
import { k6 } from '../../src/loads/k6/index.js'
import { listArms } from '../../src/model/results.js'
import { openLedger } from '../../src/node/ledger.js'
import { createApplication } from '../../src/services/applications.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { createLocalTarget } from '../../src/targets/local/index.js'
import { findTool } from '../../src/tools/find.js'
import { studyItself } from './aa.js'
import { checkAccuracy } from './accuracy.js'
import { runAgreement } from './agree.js'
import { holdAgainstWindows, holdStartOfTurns, studyBias } from './bias.js'
import { compareTwoRuns } from './compare.js'
import { compareGenerators } from './generator.js'
import { createFinding, getScratch, runKit } from './kit.js'
import { checkKubelet } from './kubelet.js'
import { watchLiveRun } from './live.js'
import { holdLoad } from './load.js'
import { comparePipeline } from './pipeline.js'
import { reportLongRun } from './report.js'
import { runSoak } from './soak.js'

/**
 * @import { Tool, TrialRecord } from '../../src/model/types.ts'
 * @import { Finding } from './kit.js'
 * @typedef {{ rounds?: string, study?: string, seconds?: string, into?: string, only?: string,
 *   minutes?: string }} Options
 */

const text = /** @type {const} */ ({ type: 'string' })
const OPTIONS = { rounds: text, study: text, seconds: text, into: text, only: text, minutes: text }
const K6_ROUNDS = 6
// These need a cluster, or an hour.
const BY_NAME = ['kubelet', 'soak']
const K6_SECONDS = 5

/** @type {Record<string, (options: Options) => Promise<Finding[]>>} */
const measurements = {
  accuracy: checkAccuracy,
  aa: studyItself,
  kubelet: checkKubelet,
  compare: compareTwoRuns,
  pipeline: comparePipeline,
  generator: ({ rounds }) => compareGenerators(rounds === undefined ? undefined : Number(rounds)),
  bias({ study, rounds, seconds, into = 'results/bias.jsonl', only = '' }) {
    const lengths = {
      ...(rounds && { rounds: Number(rounds) }),
      ...(seconds && { windowSeconds: Number(seconds) }),
    }
    if (study === 'turn') return holdStartOfTurns(lengths)
    return study ? studyBias({ study, into, only: new RegExp(only), ...lengths }) : holdAgainstWindows(lengths)
  },
  live: watchLiveRun,
  report: reportLongRun,
  load: holdLoad,
  soak: ({ minutes, into }) => runSoak({ ...(minutes && { minutes: Number(minutes) }), ...(into && { into }) }),

  async sidecar() {
    const { records, summary } = await runKit(['cost', '--planes', 'pipy,pipy=bench/pipy-shortest', '--link', 'pair'])
    const ratios = roundRatios(
      listCompletedRecords(records),
      listArms(summary)[0].id,
      listArms(summary)[1].id,
      computeSidecarCost,
    )
    return [
      createFinding(
        'full sidecar / shortest script, CPU per request, at most 1.03',
        median(ratios),
        ratios,
        r => r <= 1.03,
      ),
    ]
  },

  async k6() {
    const ratios = await compareScripts()
    return [
      createFinding('our k6 script / shortest k6 script, rate, at least 0.95', median(ratios), ratios, r => r >= 0.95),
    ]
  },

  async orchestrator() {
    const { records } = await runKit(['--planes', 'pipy', '--link', 'gateway-ratings', '--cpu', '0.25'])
    const shares = listCompletedRecords(records).map(
      r => (r.orchestratorCpuSeconds ?? Number.NaN) / (r.window?.seconds ?? Number.NaN),
    )
    return [
      createFinding(
        'orchestrator and sampler, cores in the window at two sidecars, below 0.01',
        median(shares),
        shares,
        s => s < 0.01,
      ),
    ]
  },

  async caps() {
    const { records } = await runKit([
      '--planes',
      'pipy,envoy',
      '--link',
      'gateway-ratings',
      '--cpu',
      '0.1,0.25',
      '--rounds',
      '3',
    ])
    const ids = [...new Set(records.map(r => r.trial.arm.id))].filter(id => !id.endsWith('-aa'))
    return ids.map(id => {
      const trials = listCompletedRecords(records).filter(r => r.trial.arm.id === id)
      const shares = trials.flatMap(t => findBoundSidecars(t).map(p => p.cpuCores / (p.cpuLimitCores ?? Number.NaN)))
      return createFinding(
        `share of the cap used by the sidecar that binds, 0.97 to 1.01: ${id}`,
        median(shares),
        shares,
        s => s >= 0.97 && s <= 1.01,
      )
    })
  },

  async time() {
    const measureWholeRun = async (/** @type {string[]} */ ...argv) => {
      const start = performance.now()
      const { records } = await runKit(argv)
      const seconds = (performance.now() - start) / 1000
      const measured = records.reduce(
        (sum, r) => sum + r.trial.arm.load.warmupSeconds + r.trial.arm.load.windowSeconds,
        0,
      )
      return { seconds, overhead: 1 - measured / seconds }
    }
    const standard = await measureWholeRun('--cpu', '1')
    const quick = await measureWholeRun('--cpu', '1', '--profile', 'quick')
    return [
      createFinding(
        'default run, one cap and one link, seconds, at most 240',
        standard.seconds,
        [standard.seconds],
        s => s <= 240,
      ),
      createFinding(
        'its share outside of warm-ups and windows, below 0.3',
        standard.overhead,
        [standard.overhead],
        s => s < 0.3,
      ),
      createFinding('quick run, seconds, below 75', quick.seconds, [quick.seconds], s => s < 75),
    ]
  },
}

const [first, ...words] = process.argv.slice(2)
await (first === 'agree' ? runAgreement(words) : judgePromises())

async function judgePromises() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  const chosen =
    positionals.length > 0 ? positionals : Object.keys(measurements).filter(name => !BY_NAME.includes(name))
  for (const name of chosen) {
    if (!(name in measurements))
      throw new Error(`unknown measurement ${name}: one of ${Object.keys(measurements).join(', ')}, or agree`)
    for (const { promise, measured, isKept } of await measurements[name](values)) {
      const answer = isKept === null ? 'UNDECIDED' : isKept ? 'kept' : 'NOT KEPT'
      console.log(`${answer.padEnd(10)}${promise}: ${measured}`)
      if (isKept === false) process.exitCode = EXIT.failed
      if (isKept === null) process.exitCode ??= EXIT.noResult
    }
  }
}

/**
 * @param {TrialRecord[]} records
 * @param {string} a
 * @param {string} b
 * @param {(record: TrialRecord) => number} measure
 */
function roundRatios(records, a, b, measure) {
  const findRecord = (/** @type {string} */ id, /** @type {number} */ round) =>
    records.find(r => r.trial.arm.id === id && r.trial.round === round)
  const rounds = [...new Set(records.map(r => r.trial.round))]
  return rounds.flatMap(round => {
    const [x, y] = [findRecord(a, round), findRecord(b, round)]
    return x && y ? [measure(x) / measure(y)] : []
  })
}

/** @param {TrialRecord[]} records */
function listCompletedRecords(records) {
  return records.filter(r => r.outcome === 'completed')
}

/** @param {TrialRecord} record */
function computeSidecarCost({ processes, load }) {
  return (
    processes.filter(p => p.role === 'sidecar').reduce((sum, p) => sum + p.cpuSeconds, 0) /
    (load?.verified ?? Number.NaN)
  )
}

/** @param {TrialRecord} record */
function findBoundSidecars({ processes }) {
  const sidecars = processes.filter(p => p.role === 'sidecar')
  return [sidecars.reduce((most, p) => (p.cpuCores > most.cpuCores ? p : most))]
}

/** Both scripts against the same echo, in turn. */
async function compareScripts() {
  const [k6Program, pipyProgram] = [await findNeededTool(k6.tool), await findNeededTool(pipyTool)]
  const target = await createLocalTarget({
    ledger: openLedger({ runId: `self-${process.pid}` }),
    way: await findCapWay(),
  })
  const folder = await mkdtemp(path.join(getScratch(), 'scripts-'))
  const { reach: echo } = (await target.placesFor(0, ['echo'])).echo
  const load = {
    kind: /** @type {const} */ ('closed'),
    users: 50,
    payloadBytes: 1024,
    warmupSeconds: 1,
    windowSeconds: K6_SECONDS,
    connections: /** @type {const} */ ('kept'),
    hasCertificate: false,
    burst: null,
  }
  const application = createApplication({
    ...{ service: 'echo', kind: 'echo', listen: { address: echo, port: 8080 }, next: null, runtime: pipyProgram },
    ...{ scripts: path.join(ROOT, 'echo'), folder },
  })
  const url = `http://${echo}:8080/`
  const ours = k6.createGenerator({
    urls: [url],
    certificate: null,
    host: 'echo',
    load,
    tailMs: 0,
    admin: null,
    cpus: 1,
    folder,
    tool: k6Program,
    scripts: path.join(ROOT, 'bench/k6'),
  })
  const shortest = {
    ...ours,
    argv: [
      ...[
        'run',
        '--quiet',
        '--address=',
        `--vus=${load.users}`,
        `--duration=${K6_SECONDS + 1}s`,
        '--summary-export=shortest.json',
      ],
      ...[`--env=URL=${url}`, `--env=PAYLOAD_BYTES=${load.payloadBytes}`, path.join(ROOT, 'bench/self/k6/shortest.js')],
    ],
  }
  try {
    const services = await target.deploy([application], { start: 0, folder })
    await services.processes[0].waitUntilReady(new AbortController().signal)
    const rate = async (/** @type {typeof ours} */ spec, /** @type {string} */ file) => {
      const deployment = await target.deploy([spec], { start: 0, folder })
      await deployment.processes[0].exited
      const text = await readFile(path.join(folder, file), 'utf8')
      const { metrics } = JSON.parse(text.split('\n').find(line => line.startsWith('{"metrics"')) ?? text)
      await deployment.remove()
      return metrics.http_reqs.rate ?? metrics.http_reqs.values.rate
    }
    const ratios = []
    for (let round = 0; round < K6_ROUNDS; round++) {
      ratios.push((await rate(ours, 'k6-generator.log')) / (await rate(shortest, 'shortest.json')))
    }
    await services.remove()
    return ratios
  } finally {
    await target.close()
  }
}

/**
 * @param {import('../../src/model/types.ts').ToolSpec} spec
 * @returns {Promise<Tool>}
 */
async function findNeededTool(spec) {
  const tool = await findTool(spec)
  if ('missing' in tool) throw new Error(tool.missing)
  return tool
}
