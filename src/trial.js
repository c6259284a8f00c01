import path from 'node:path'
import { createApplication } from './applications.js'
import { findBound, findInvalidities, isSteady } from './gates.js'
import { BenchError } from './lib/errors.js'
import { readHostCpu } from './lib/machine.js'
import { post } from './lib/post.js'
import { waitFor, waitUntil } from './lib/wait.js'
import { sampleUntil, takeSample } from './sampler.js'
import { createModel, findEntry, findNextHop, PORTS } from './topology.js'

/**
 * @import { Arm, DataPlane, Deployment, Handle, LoadGenerator, LoadResult, ProcessRecord, ProcessSpec, RunSettings,
 *   Target, ThreadCpu, Tool, Topology, Trial, TrialRecord } from './types.ts'
 * @import { Sample } from './sampler.js'
 */

// Load after the window, so that its end is measured under load and the memory is read there.
const TAIL_MS = 1000
const GENERATOR_START_SECONDS = 60
// Longer than the sidecars' request timeout and k6's own grace for requests in flight.
const GENERATOR_EXIT_SECONDS = 30
const CHECK_SECONDS = 10

/**
 * What a trial needs of the world.
 * @typedef {object} Bench
 * @property {RunSettings} settings
 * @property {Target} target
 * @property {LoadGenerator} load
 * @property {Tool} loadTool
 * @property {Record<string, DataPlane>} planes
 * @property {Record<string, Tool>} tools by name
 * @property {Tool} appRuntime
 * @property {Record<string, Topology>} topologies
 * @property {number} cpus of the machine
 * @property {{ pipyScripts: string, echo: string, k6: string, certificates: string, raw: string }} folders
 * @property {boolean} retain leave the services of the trial running
 */

/**
 * Starts an arm's services and its sidecars, and sends one nonce through.
 * @param {{ bench: Bench, arm: Arm, index: number, folder: string, signal: AbortSignal }} options
 *   index: a number that no other start of this run has
 */
export async function startServices({ bench, arm, index, folder, signal }) {
  const topology = bench.topologies[arm.link]
  const plane = bench.planes[arm.plane]
  const addresses = bench.target.addressesFor(
    index,
    topology.services.map(s => s.name),
  )
  const specs = createSpecs({ bench, arm, topology, plane, addresses, folder })
  const deployment = await bench.target.deploy(specs, folder)
  try {
    await Promise.all(deployment.processes.map(p => p.waitUntilReady(signal)))
    const entry = findEntry(topology, { addresses, hasSidecars: plane.createSidecar !== null })
    const url = `http://${entry.address}:${entry.port}/`
    await sendNonce({ url, host: entry.host, arm })
    for (const { spec, countListeners } of deployment.processes) {
      const seen = countListeners()
      if (seen !== spec.workers) {
        throw new BenchError(
          `${spec.service}'s ${spec.role} listens with ${seen} sockets an address, and ${spec.workers} workers were asked for`,
        )
      }
    }
    return { deployment, url, host: entry.host }
  } catch (error) {
    await deployment.remove()
    throw error
  }
}

/**
 * Runs one trial: fresh processes, warm-up, window, tail. What goes wrong in it is its outcome, not an error.
 * @param {{ bench: Bench, trial: Trial, index: number, signal: AbortSignal }} options
 * @returns {Promise<{ record: TrialRecord, samples: Sample[], names: string[] }>} names: of the processes, in the order of the readings
 * @throws the signal's reason, when it aborts
 */
export async function runTrial({ bench, trial, index, signal }) {
  const folder = path.join(bench.folders.raw, trial.id)
  const watch = createStopwatch()
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
    orchestratorCpuSeconds: null,
    boundBy: null,
    isSteady: null,
    phasesSeconds: watch.seconds,
  }
  /** @type {Sample[]} */
  let samples = []
  /** @type {string[]} */
  let names = []
  /** @type {Deployment | null} */
  let services = null
  /** @type {Deployment | null} */
  let generator = null
  try {
    const started = await startServices({ bench, arm: trial.arm, index, folder, signal })
    services = started.deployment
    watch.lap('start')

    const { load } = trial.arm
    const idle = services.processes.map(p => p.readMemory())
    const cpus = Math.max(1, Math.floor(bench.cpus / 2))
    const spec = bench.load.createGenerator({
      ...{ tool: bench.loadTool, scripts: bench.folders.k6, url: started.url, host: started.host, load },
      ...{ tailMs: TAIL_MS, cpus, folder },
    })
    generator = await bench.target.deploy([spec], folder)
    const processes = [...services.processes, ...generator.processes]
    names = processes.map(({ spec }) => `${spec.service}-${spec.role}`)
    const window = await agreeWindow({ bench, generator, signal })
    watch.lap('generator')

    const sampling = new AbortController()
    const sampled = sampleUntil(processes, AbortSignal.any([sampling.signal, signal]))
    try {
      const first = await takeEdge(processes, window.startMs, signal)
      watch.lap('warmup')
      const last = await takeEdge(processes, window.endMs, signal)
      watch.lap('window')
      const memory = processes.map(p => p.readMemory())
      assertAllRun(processes)
      const result = await finishLoad({ bench, generator, windowEndMs: window.endMs, signal })
      watch.lap('tail')

      record.load = result
      record.window = {
        ...window,
        seconds: (window.endMs - window.startMs) / 1000,
        startLateMs: first.sample.epochMs - window.startMs,
        endLateMs: last.sample.epochMs - window.endMs,
      }
      record.processes = processes.map((process, i) =>
        describeProcess({ process, first, last, i, idleRssBytes: idle[i]?.rssBytes ?? null, memory: memory[i] }),
      )
      const ticks = last.host.total - first.host.total
      record.host = {
        idleFraction: (last.host.idle - first.host.idle) / ticks,
        stealFraction: (last.host.steal - first.host.steal) / ticks,
      }
      record.orchestratorCpuSeconds = last.ownCpuSeconds - first.ownCpuSeconds
      record.boundBy = findBound({
        processes: record.processes,
        generatorCpus: cpus,
        idleFraction: record.host.idleFraction,
      })
      record.isSteady = isSteady(result)
      record.reasons = findInvalidities({ load: result, users: load.users, processes: record.processes })
      record.outcome = record.reasons.length > 0 ? 'invalid' : 'completed'
    } finally {
      sampling.abort()
      samples = await sampled
    }
  } catch (error) {
    signal.throwIfAborted()
    record.reasons = [/** @type {Error} */ (error).message]
    if (!(error instanceof BenchError)) record.reasons.push(/** @type {Error} */ (error).stack ?? '')
  } finally {
    await generator?.remove()
    if (!bench.retain) await services?.remove()
    watch.lap('stop')
  }
  return { record, samples, names }
}

/**
 * @param {{ bench: Bench, arm: Arm, topology: Topology, plane: DataPlane, addresses: Record<string, string>, folder: string }} options
 * @returns {ProcessSpec[]}
 */
function createSpecs({ bench, arm, topology, plane, addresses, folder }) {
  const hasSidecars = plane.createSidecar !== null
  const workers = Math.max(1, Math.ceil(arm.capCores ?? bench.cpus))
  return topology.services.flatMap(service => {
    const specs = []
    if (service.application) {
      specs.push(
        createApplication({
          service: service.name,
          kind: service.application,
          listen: { address: addresses[service.name], port: PORTS.application },
          next: service.application === 'forward' ? findNextHop(service, { addresses, hasSidecars }) : null,
          runtime: bench.appRuntime,
          scripts: bench.folders.echo,
          folder,
        }),
      )
    }
    if (plane.createSidecar && plane.tool) {
      const model = createModel(topology, {
        ...{ service, addresses, workers, trafficPolicy: bench.settings.trafficPolicy },
        certificates: bench.folders.certificates,
      })
      specs.push(
        plane.createSidecar({
          model,
          folder: path.join(folder, service.name),
          tool: bench.tools[plane.tool.name],
          scripts: arm.variant ?? bench.folders.pipyScripts,
          envoyProfile: bench.settings.envoyProfile,
          nodeCpus: bench.cpus,
          cpuCores: arm.capCores,
        }),
      )
    }
    return specs
  })
}

/** @param {{ url: string, host: string, arm: Arm }} options */
async function sendNonce({ url, host, arm }) {
  const nonce = `check-${arm.id}`
  const what = `one request through ${arm.id} (${url})`
  const answer = await post({
    url,
    host,
    body: nonce,
    headers: { 'x-nonce': nonce },
    timeoutSeconds: CHECK_SECONDS,
  }).catch(error => {
    throw new BenchError(`${what} failed: ${error.message}`, { cause: error })
  })
  if (answer.status !== 200 || answer.body !== nonce || answer.headers['x-nonce'] !== nonce) {
    throw new BenchError(
      `${what} was answered ${answer.status} "${answer.body.slice(0, 200)}", not by the application's echo of its nonce`,
    )
  }
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
 * @param {Handle[]} processes
 * @param {number} epochMs
 * @param {AbortSignal} signal
 */
async function takeEdge(processes, epochMs, signal) {
  await waitUntil(epochMs, signal)
  const sample = takeSample(processes)
  const usage = process.cpuUsage()
  assertAllRun(processes)
  return {
    sample,
    threads: processes.map(p => p.readThreads()),
    host: readHostCpu(),
    ownCpuSeconds: (usage.user + usage.system) / 1e6,
  }
}

/** @param {Handle[]} processes */
function assertAllRun(processes) {
  for (const { spec, ending, failureMessage } of processes) {
    const how = ending()
    if (how !== null) throw new BenchError(failureMessage(`${spec.service}'s ${spec.role} died under load with ${how}`))
  }
}

/**
 * @typedef {Awaited<ReturnType<typeof takeEdge>>} Edge
 * @param {{ process: Handle, first: Edge, last: Edge, i: number, idleRssBytes: number | null, memory: { rssBytes: number, pssBytes: number } | null }} options
 * @returns {ProcessRecord}
 */
function describeProcess({ process: { spec, readCapCores, countListeners }, first, last, i, idleRssBytes, memory }) {
  const [a, b] = [first.sample.readings[i], last.sample.readings[i]]
  const seconds = b.atSeconds - a.atSeconds
  const threads = threadsBetween(first.threads[i], last.threads[i])
  const difference = (/** @type {number | null} */ from, /** @type {number | null} */ to) =>
    from === null || to === null ? null : to - from
  const periods = difference(a.periods, b.periods)
  const throttled = difference(a.throttledPeriods, b.throttledPeriods)
  return {
    service: spec.service,
    role: spec.role,
    command: [spec.program, ...spec.argv],
    capCores: spec.cpuCores,
    capReadBackCores: readCapCores(),
    workers: spec.listens.length > 0 ? countListeners() : null,
    cpuSeconds: b.cpuSeconds - a.cpuSeconds,
    cpuCores: (b.cpuSeconds - a.cpuSeconds) / seconds,
    throttledFraction: periods === null || throttled === null ? null : periods > 0 ? throttled / periods : 0,
    throttledSeconds: difference(a.throttledSeconds, b.throttledSeconds),
    oomKills: b.oomKills,
    busiestThreadCores: Math.max(0, ...threads.map(t => t.cpuSeconds)) / seconds,
    threads,
    memory: {
      anonBytes: b.anonBytes,
      rssBytes: memory?.rssBytes ?? null,
      workingSetBytes: b.workingSetBytes,
      pssBytes: memory?.pssBytes ?? null,
      peakBytes: b.peakBytes,
      idleRssBytes,
    },
  }
}

/**
 * @param {ThreadCpu[]} before
 * @param {ThreadCpu[]} after
 * @returns {ThreadCpu[]}
 */
function threadsBetween(before, after) {
  return after.map(thread => ({
    ...thread,
    cpuSeconds: thread.cpuSeconds - (before.find(t => t.id === thread.id)?.cpuSeconds ?? 0),
  }))
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
