import path from 'node:path'
import { judgeTrial } from './gates.js'
import { BenchError } from './lib/errors.js'
import { waitFor, waitUntil } from './lib/wait.js'
import { describeProcess } from './process-record.js'
import { checkSamples, sampleUntil, takeSample } from './sampler.js'
import { startServices } from './services.js'

/**
 * @import { Deployment, Handle, LoadResult, Trial, TrialRecord } from './types.ts'
 * @import { Measured } from './gates.js'
 * @import { Edge } from './process-record.js'
 * @import { Sample } from './sampler.js'
 * @import { Bench } from './services.js'
 */

// Load after the window, so that its end is measured under load and the memory is read there.
const TAIL_MS = 1000
const GENERATOR_START_SECONDS = 60
// Longer than the sidecars' request timeout and k6's own grace for requests in flight.
const GENERATOR_EXIT_SECONDS = 30

/**
 * The samples of a trial, and the names of its processes in the order of their readings.
 * @typedef {{ samples: Sample[], names: string[] }} Series
 */

/**
 * Runs one trial: fresh processes, warm-up, window, tail. What goes wrong in it is its outcome, not an error.
 * @param {{ bench: Bench, trial: Trial, index: number, signal: AbortSignal }} options
 * @returns {Promise<{ record: TrialRecord } & Series>}
 * @throws the signal's reason, when it aborts
 */
export async function runTrial({ bench, trial, index, signal }) {
  const folder = path.join(bench.folders.raw, trial.id)
  const watch = createStopwatch()
  const placement = bench.placements[trial.arm.id] ?? null
  /** @type {TrialRecord} */
  const record = {
    schemaVersion: 1,
    trial,
    target: bench.target.name,
    startedAt: new Date().toISOString(),
    outcome: 'failed',
    reasons: [],
    window: null,
    load: null,
    processes: [],
    host: null,
    generatorCpus: Math.max(1, placement?.generator.length ?? Math.floor(bench.cpus / 2)),
    samples: null,
    orchestratorCpuSeconds: null,
    boundBy: null,
    isSteady: null,
    gates: [],
    phasesSeconds: watch.seconds,
  }
  /** @type {Series} */
  const series = { samples: [], names: [] }
  /** @type {Deployment | null} */
  let services = null
  /** @type {Deployment | null} */
  let generator = null
  try {
    const { deployment, url, host } = await startServices({ bench, arm: trial.arm, index, folder, signal })
    services = deployment
    const started = services.processes.map(describeStart)
    watch.lap('start')

    const spec = bench.load.createGenerator({
      ...{ tool: bench.loadTool, scripts: bench.folders.k6, url, host, load: trial.arm.load },
      ...{ tailMs: TAIL_MS, cpus: record.generatorCpus, folder },
    })
    generator = await bench.target.deploy([{ ...spec, cpuSet: placement?.generator ?? null }], folder)
    const window = await agreeWindow({ bench, generator, signal })
    started.push(...generator.processes.map(describeStart))
    watch.lap('generator')

    const processes = [...services.processes, ...generator.processes]
    Object.assign(record, await measure({ bench, trial, processes, started, generator, window, series, watch, signal }))
    record.samples = checkSamples(series.samples, window)
    const relaxed = bench.settings.relaxes.map(r => r.gate)
    Object.assign(record, judgeTrial(/** @type {Measured} */ (record), relaxed))
  } catch (error) {
    signal.throwIfAborted()
    record.reasons = [/** @type {Error} */ (error).message]
    if (!(error instanceof BenchError)) record.reasons.push(/** @type {Error} */ (error).stack ?? '')
  } finally {
    await generator?.remove()
    if (!bench.retain) await services?.remove()
    watch.lap('stop')
  }
  return { record, ...series }
}

/**
 * Reads the processes through the window and at its edges, and waits for the generator's result.
 * @param {{ bench: Bench, trial: Trial, processes: Handle[], started: ReturnType<typeof describeStart>[], generator: Deployment,
 *   window: { startMs: number, endMs: number }, series: Series, watch: ReturnType<typeof createStopwatch>,
 *   signal: AbortSignal }} options series: filled, also when something goes wrong
 * @returns {Promise<Pick<TrialRecord, 'load' | 'window' | 'processes' | 'host' | 'orchestratorCpuSeconds'>>}
 */
async function measure({ bench, trial, processes, started, generator, window, series, watch, signal }) {
  series.names = processes.map(({ spec }) => `${spec.service}-${spec.role}`)
  const sampling = new AbortController()
  const sampled = sampleUntil(processes, AbortSignal.any([sampling.signal, signal]))
  /** @type {Sample[]} */
  const edges = []
  try {
    const first = await takeEdge({ bench, processes, edge: 'start', epochMs: window.startMs, signal })
    edges.push(first.sample)
    watch.lap('warmup')
    const last = await takeEdge({ bench, processes, edge: 'end', epochMs: window.endMs, signal })
    edges.push(last.sample)
    watch.lap('window')
    const memory = processes.map(p => p.readMemory())
    const overflows = await readOverflows({ bench, trial, processes })
    assertAllRun(processes)
    const load = await finishLoad({ bench, generator, windowEndMs: window.endMs, signal })
    watch.lap('tail')

    const records = processes.map((process, i) =>
      describeProcess({ process, first, last, i, started: started[i], memory: memory[i], overflows: overflows[i] }),
    )
    return {
      load,
      window: {
        ...window,
        seconds: (window.endMs - window.startMs) / 1000,
        startLateMs: first.sample.epochMs - window.startMs,
        endLateMs: last.sample.epochMs - window.endMs,
      },
      processes: records,
      host: describeHost({ first, last, processes: records, cpus: bench.cpus }),
      orchestratorCpuSeconds: last.ownCpuSeconds - first.ownCpuSeconds,
    }
  } finally {
    sampling.abort()
    series.samples = [...(await sampled), ...edges].sort((a, b) => a.epochMs - b.epochMs)
  }
}

/** @param {Handle} process */
function describeStart(process) {
  return { memory: process.readMemory(), identity: process.identify() }
}

/**
 * Waits until the generator says when its window is.
 * @param {{ bench: Bench, generator: Deployment, signal: AbortSignal }} options
 */
async function agreeWindow({ bench, generator, signal }) {
  const [process] = generator.processes
  let window = null
  const isAgreed = async () => {
    assertAllRun([process])
    window = bench.load.parseWindow(await process.readLog())
    return window !== null
  }
  await waitFor(isAgreed, {
    what: 'the load generator to start',
    deadlineSeconds: GENERATOR_START_SECONDS,
    intervalMs: 50,
    signal,
  })
  return /** @type {{ startMs: number, endMs: number }} */ (/** @type {unknown} */ (window))
}

/**
 * Waits for the generator to end and reads what it counted.
 * @param {{ bench: Bench, generator: Deployment, windowEndMs: number, signal: AbortSignal }} options
 * @returns {Promise<LoadResult>}
 */
async function finishLoad({ bench, generator, windowEndMs, signal }) {
  const [process] = generator.processes
  const waiting = new AbortController()
  const deadlineMs = windowEndMs + TAIL_MS + GENERATOR_EXIT_SECONDS * 1000
  const late = waitUntil(deadlineMs, AbortSignal.any([waiting.signal, signal])).then(() => 'late')
  late.catch(() => {})
  const ending = await Promise.race([process.exited, late])
  waiting.abort()
  if (ending === 'late')
    throw new BenchError(process.failureMessage(`the load generator did not end within ${GENERATOR_EXIT_SECONDS} s`))
  if (ending !== 'status 0') throw new BenchError(process.failureMessage(`the load generator ended with ${ending}`))
  return bench.load.parseSummary(await process.readFile('k6-summary.json'), await process.readLog())
}

/**
 * The state of everything at one edge of the window.
 * @param {{ bench: Bench, processes: Handle[], edge: 'start' | 'end', epochMs: number, signal: AbortSignal }} options
 * @returns {Promise<Edge>}
 */
async function takeEdge({ bench, processes, edge, epochMs, signal }) {
  await waitUntil(epochMs, signal)
  const sample = { ...takeSample(processes), edge }
  const missing = processes.findIndex((_, i) => !Number.isFinite(sample.readings[i].cpuSeconds))
  if (missing >= 0)
    throw new BenchError(`no CPU time could be read of ${processes[missing].spec.service} at the ${edge} of the window`)
  const usage = process.cpuUsage()
  assertAllRun(processes)
  return {
    sample,
    threads: processes.map(p => p.readThreads()),
    capCores: processes.map(p => p.readCapCores()),
    identities: processes.map(p => p.identify()),
    cpuSets: processes.map(p => p.readCpuSet()),
    host: bench.target.readHost(),
    ownCpuSeconds: (usage.user + usage.system) / 1e6,
  }
}

/**
 * What the machine did beside the trial. The kernel counts all CPUs of the machine, also those that we may not use.
 * @param {{ first: Edge, last: Edge, processes: TrialRecord['processes'], cpus: number }} options
 */
function describeHost({ first, last, processes, cpus }) {
  const share = (/** @type {'idle' | 'steal' | 'busy'} */ kind) =>
    (last.host[kind] - first.host[kind]) / (last.host.total - first.host.total)
  const seconds = (last.sample.epochMs - first.sample.epochMs) / 1000
  const own = processes.reduce((sum, p) => sum + p.cpuCores, (last.ownCpuSeconds - first.ownCpuSeconds) / seconds)
  return {
    cpus,
    idleFraction: share('idle'),
    stealFraction: share('steal'),
    foreignCores: Math.max(0, share('busy') * last.host.cpus - own),
  }
}

/**
 * Requests that sidecars refused, for the planes that count them.
 * @param {{ bench: Bench, trial: Trial, processes: Handle[] }} options
 */
function readOverflows({ bench, trial, processes }) {
  const { parseOverflows } = bench.planes[trial.arm.plane]
  return Promise.all(
    processes.map(async ({ spec, readAdmin }) => {
      if (spec.role !== 'sidecar' || parseOverflows === null) return null
      const text = await readAdmin()
      return text === null ? null : parseOverflows(text)
    }),
  )
}

/** @param {Handle[]} processes */
function assertAllRun(processes) {
  for (const { spec, ending, failureMessage } of processes) {
    const how = ending()
    if (how !== null) throw new BenchError(failureMessage(`${spec.service}'s ${spec.role} died under load with ${how}`))
  }
}

function createStopwatch() {
  /** @type {Record<string, number>} */
  const seconds = {}
  let last = performance.now()
  return {
    seconds,
    lap(/** @type {string} */ phase) {
      const now = performance.now()
      seconds[phase] = (now - last) / 1000
      last = now
    },
  }
}
