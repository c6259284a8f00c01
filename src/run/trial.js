import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describeWindow } from '../judge/describe-window.js'
import { judgeTrial } from '../judge/gates.js'
import { BenchError, EndedError, SiteLostError } from '../lib/errors.js'
import { hashText } from '../lib/hash.js'
import { waitFor, waitUntil } from '../lib/wait.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { awaitEnded, startServices } from './start-services.js'
import { createPhases, createStopwatch, followLoad } from './trial-progress.js'

/**
 * @import { Change, Deployment, Edge, Handle, LoadResult, Look, Observation, ObservationRecord, Sample, Trial, TrialRecord, Window } from '../model/types.ts'
 * @import { Measured } from '../judge/gates.js'
 * @import { Bench } from './start-services.js'
 */

// Load after the window, so that its end is measured under load and the memory is read there.
const TAIL_MS = 1000
const GENERATOR_START_SECONDS = 60
const ENDING_MS = 3000
// Longer than the sidecars' request timeout and k6's own grace for requests in flight.
const GENERATOR_EXIT_SECONDS = 30

/**
 * What was observed of a trial: its samples, the names of its processes in the order of their readings, and the rest;
 * null when its window was not observed to the end.
 * @typedef {{ samples: Sample[], names: string[], observation: ObservationRecord | null }} Series
 */

/** @typedef {Map<string, Awaited<ReturnType<typeof startServices>>>} Kept */

/**
 * Runs one trial: fresh processes, warm-up, window, tail. What goes wrong in it is its outcome, not an error.
 * @param {{ bench: Bench, trial: Trial, index: number, kept?: Kept, signal: AbortSignal }} options
 *   kept: services that stay, by the arm's id: those of this arm are taken from there, or left there
 * @returns {Promise<{ record: TrialRecord } & Series>}
 * @throws the signal's reason, when it aborts
 */
export async function runTrial({ bench, trial, index, kept, signal }) {
  const folder = path.join(bench.folders.raw, trial.id)
  const watch = createStopwatch()
  const placement = bench.placements[trial.arm.id] ?? null
  /** @type {TrialRecord} */
  const record = {
    schemaVersion: 2,
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
    changes: null,
    ended: [],
    phasesSeconds: watch.seconds,
  }
  /** @type {Series} */
  const series = { samples: [], names: [], observation: null }
  /** @type {Deployment | null} */
  let services = null
  /** @type {Deployment | null} */
  let generator = null
  const enter = createPhases(bench)
  try {
    enter('starting')
    const own = kept?.get(trial.arm.id)
    const started = own ?? (await startServices({ bench, arm: trial.arm, index, folder, signal }))
    kept?.set(trial.arm.id, started)
    const { deployment, changeTo, ...entry } = started
    services = deployment
    watch.lap(own ? 'kept' : 'start')
    const before = await bench.target.look(services.processes)
    watch.lap('look')

    let window
    const { load } = trial.arm
    if (load.kind === 'idle') {
      const startMs = Date.now() + load.warmupSeconds * 1000
      window = { startMs, endMs: startMs + load.windowSeconds * 1000 }
    } else {
      const spec = bench.load.createGenerator({
        ...{ tool: bench.loadTool, scripts: bench.target.locate(bench.folders.k6), load, ...entry },
        ...{ tailMs: TAIL_MS, cpus: record.generatorCpus, folder: bench.target.locate(folder) },
      })
      generator = await bench.target.deploy([{ ...spec, cpuSet: placement?.generator ?? null }], {
        start: index,
        folder,
      })
      window = await agreeWindow({ bench, generator, signal })
      before.push(...(await bench.target.look(generator.processes)))
    }
    watch.lap('generator')

    enter('warm-up')
    const processes = [...services.processes, ...(generator?.processes ?? [])]
    const changing = change({ bench, trial, changeTo, window, signal })
    changing.catch(() => {})
    Object.assign(
      record,
      await measure({ bench, trial, processes, before, generator, window, series, watch, enter, signal }),
    )
    record.changes = await changing
    const relaxed = bench.settings.relaxes.map(r => r.gate)
    Object.assign(record, judgeTrial(/** @type {Measured} */ (record), relaxed))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof SiteLostError) throw error
    record.reasons = [/** @type {Error} */ (error).message]
    record.ended = error instanceof EndedError ? error.ended : await awaitEnded(services?.processes ?? [])
    if (!(error instanceof BenchError)) record.reasons.push(/** @type {Error} */ (error).stack ?? '')
  } finally {
    enter('stopping')
    const isKept = bench.retain || (kept !== undefined && record.outcome !== 'failed')
    if (!isKept) kept?.delete(trial.arm.id)
    await Promise.all([generator?.remove(), isKept ? null : services?.remove()])
    watch.lap('stop')
  }
  return { record, ...series }
}

/**
 * Has the processes read through the window and at its edges, and waits for the generator's result.
 * @param {{ bench: Bench, trial: Trial, processes: Handle[], before: Look[], generator: Deployment | null, window: Window,
 *   series: Series, watch: ReturnType<typeof createStopwatch>, enter: ReturnType<typeof createPhases>, signal: AbortSignal }} options
 *   series: filled, also when something goes wrong
 * @returns {Promise<Pick<TrialRecord, 'load' | 'window' | 'processes' | 'host' | 'samples' | 'orchestratorCpuSeconds'>>}
 */
async function measure({ bench, trial, processes, before, generator, window, series, watch, enter, signal }) {
  series.names = processes.map(({ spec }) => `${spec.service}-${spec.role}`)
  const dying = new AbortController()
  for (const p of processes) p.exited.then(how => isFinished(p, how) || dying.abort())
  waitUntil(window.startMs, signal).then(
    () => {
      watch.lap('warmup')
      enter('window')
    },
    () => {},
  )
  const specs = processes.map(({ spec }) => spec)
  let handedOn = 0
  const onSample = (/** @type {Sample} */ sample) => {
    handedOn++
    bench.watch?.({ kind: 'sampled', specs, sample, windowStartMs: window.startMs })
  }
  const stopCounting = followLoad({ bench, generator })
  const seen = await bench.target
    .observe(processes, { window, signal: AbortSignal.any([signal, dying.signal]), onSample })
    .finally(stopCounting)
  series.samples = seen.samples
  // Of pods they come all together.
  if (handedOn === 0) seen.samples.forEach(onSample)
  signal.throwIfAborted()
  const { start, end, after } = seen
  await assertAllRun(processes.filter(p => !isFinished(p, p.ending())))
  if (start === null || end === null || after === null) throw new BenchError('the window was not read to its end')
  await assertWasRead(processes, start)
  await assertWasRead(processes, end)
  watch.lap('window')
  enter('tail')
  const overflows = await readOverflows({ bench, trial, processes })
  const load = generator && (await finishLoad({ bench, generator, windowEndMs: window.endMs, signal }))
  watch.lap('tail')

  const observation = toRecord({ bench, processes, names: series.names, window, before, overflows, seen })
  series.observation = observation
  const described = describeWindow({ observation, samples: seen.samples })
  if (described === null) throw new BenchError('no sample was taken at an edge of the window')
  return { load, ...described }
}

/**
 * What was observed of a window, as it is written beside its samples.
 * @param {{ bench: Bench, processes: Handle[], names: string[], window: Window, before: Look[], overflows: (number | null)[],
 *   seen: Observation }} options
 * @returns {ObservationRecord}
 */
function toRecord({ bench, processes, names, window, before, overflows, seen }) {
  const atEdge = (/** @type {Edge | null} */ edge) => {
    const { sample: _, ...rest } = /** @type {Edge} */ (edge)
    return rest
  }
  return {
    schemaVersion: SCHEMA_VERSION,
    processes: processes.map(({ spec }, i) => ({
      name: names[i],
      service: spec.service,
      copyOf: spec.copyOf ?? null,
      role: spec.role,
      command: [spec.program, ...spec.argv],
      capCores: spec.cpuCores,
      askedWorkers: spec.workers,
      files: spec.files.map(({ name, content }) => ({ name, sha256: hashText(content) })),
    })),
    window,
    start: atEdge(seen.start),
    end: atEdge(seen.end),
    before,
    after: seen.after ?? [],
    overflows,
    onHost: seen.onHost ?? null,
    cpus: bench.cpus,
    sampleSource: bench.sampleSource,
    clockOffsetMs: seen.clockOffsetMs,
  }
}

/**
 * Changes the configuration of the first sidecar through the window, the first change half an interval after its start.
 * @param {{ bench: Bench, trial: Trial, changeTo: Awaited<ReturnType<typeof startServices>>['changeTo'], window: Window,
 *   signal: AbortSignal }} options
 * @returns {Promise<Change[] | null>} null: no changes were asked for
 */
async function change({ bench, trial, changeTo, window, signal }) {
  const { changesPerMinute } = trial.arm.conditions
  if (!changesPerMinute || changeTo === null) return null
  const intervalMs = 60_000 / changesPerMinute
  /** @type {Change[]} */
  const changes = []
  for (let dueMs = window.startMs + intervalMs / 2; dueMs < window.endMs; dueMs += intervalMs) {
    // One that took longer has moved the next.
    if (Date.now() > dueMs + intervalMs) continue
    await waitUntil(dueMs, signal)
    const atSeconds = (Date.now() - window.startMs) / 1000
    const next = changeTo(changes.length + 1)
    const effectSeconds = await bench.target.call('change', { ...next, deadlineMs: window.endMs })
    changes.push({ atSeconds, effectSeconds })
  }
  return changes
}

/**
 * @param {Handle[]} processes
 * @param {Edge} edge
 */
async function assertWasRead(processes, { sample: { readings, edge } }) {
  const missing = processes.find((_, i) => !Number.isFinite(readings[i].cpuSeconds))
  if (!missing) return
  // What can no longer be read has ended: how, may be heard a moment later.
  await Promise.race([missing.exited, delay(ENDING_MS)])
  await assertAllRun(processes)
  throw new BenchError(`no CPU time could be read of ${missing.spec.service} at the ${edge} of the window`)
}

/**
 * Waits until the generator says when its window is.
 * @param {{ bench: Bench, generator: Deployment, signal: AbortSignal }} options
 */
async function agreeWindow({ bench, generator, signal }) {
  /** @type {Window | null} */
  let window = null
  const isAgreed = async () => {
    await assertAllRun(generator.processes)
    window = bench.load.parseWindow(await generator.processes[0].readLog())
    return window !== null
  }
  await waitFor(isAgreed, {
    what: 'the load generator to start',
    deadlineSeconds: GENERATOR_START_SECONDS,
    intervalMs: 50,
    signal,
  })
  return /** @type {Window} */ (/** @type {unknown} */ (window))
}

/**
 * Waits for the generator to end and reads what it counted.
 * @param {{ bench: Bench, generator: Deployment, windowEndMs: number, signal: AbortSignal }} options
 * @returns {Promise<LoadResult>}
 */
async function finishLoad({ bench, generator, windowEndMs, signal }) {
  const waiting = new AbortController()
  const deadlineMs = windowEndMs + TAIL_MS + GENERATOR_EXIT_SECONDS * 1000
  const late = waitUntil(deadlineMs, AbortSignal.any([waiting.signal, signal])).then(() => 'late')
  late.catch(() => {})
  const [process] = generator.processes
  const fail = async (/** @type {string} */ how) =>
    new BenchError(await process.describeFailure(`the load generator ${how}`))
  const ending = await Promise.race([process.exited, late])
  waiting.abort()
  if (ending === 'late') throw await fail(`did not end within ${GENERATOR_EXIT_SECONDS} s`)
  if (ending !== 'status 0') throw await fail(`ended with ${ending}`)
  const result = bench.load.parseResult(await process.readLog())
  if (result === null) throw await fail('left no result')
  return result
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

/**
 * Whether it is a generator that came to its end: after the window, before many processes are looked at.
 * @param {Handle} process
 * @param {string | null} how it ended
 */
function isFinished({ spec }, how) {
  return spec.role === 'generator' && how === 'status 0'
}

/** @param {Handle[]} processes */
async function assertAllRun(processes) {
  for (const { spec, ending, describeFailure } of processes) {
    const how = ending()
    if (how !== null)
      throw new BenchError(await describeFailure(`${spec.service}'s ${spec.role} died under load with ${how}`))
  }
}
