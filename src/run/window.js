import { computeWindow } from '../judge/record/compute-window.js'
import { BenchError } from '../lib/errors.js'
import { hashText } from '../lib/hash.js'
import { waitUntilEpoch } from '../lib/wait.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { assertAllRun, assertNoneExits, hasEndedAsPlanned } from './alive.js'
import { awaitLoadResults, reportLoadProgress } from './generator.js'

/**
 * The window of a trial: its observation, and its numbers.
 * @import { Arm, Deployment, Edge, Handle, Look, Observation, ObservationRecord, ProcessSpec, Sample } from '../model/types.ts'
 * @import { Window } from '../model/types.ts'
 * @import { TrialContext } from './trial.js'
 * @typedef {Observation & { names: string[] }} ObservedWindow names: of the processes, in the order of the readings
 */

/**
 * Observes the processes through the warm-up and the window, and at its edges, and sends the watcher samples and counts. If one
 * exits early, the observation ends with what was read so far.
 * @param {TrialContext} context
 * @param {{ processes: Handle[], generator: Deployment | null, window: Window }} options
 * @returns {Promise<ObservedWindow>} start, end, after: null if the edge was not reached
 * @throws the signal's reason when it aborts; an error of the target
 */
export async function observeWindow(context, { processes, generator, window }) {
  const { testbed, clock, watch, signal } = context
  const exiting = new AbortController()
  for (const process of processes)
    process.exited.then(exitCause => hasEndedAsPlanned(process, exitCause) || exiting.abort())
  waitUntilEpoch(window.startMs, signal).then(
    () => {
      clock.lap('warmup')
      clock.enter('window')
    },
    () => {},
  )
  const specs = processes.map(({ spec }) => spec)
  let sampleCount = 0
  const onSample = (/** @type {Sample} */ sample) => {
    sampleCount++
    watch?.({ kind: 'sampled', specs, sample, windowStartMs: window.startMs })
  }
  const stopReporting = reportLoadProgress(context, generator)
  const observed = await testbed.site.target
    .observe(processes, { window, signal: AbortSignal.any([signal, exiting.signal]), onSample })
    .finally(stopReporting)
  // On a cluster, `observe` returns the samples of pods all at once and calls onSample for none.
  if (sampleCount === 0) observed.samples.forEach(onSample)
  signal.throwIfAborted()
  const names = specs.map(({ armId, service, role }) => [armId, service, role].filter(Boolean).join('-'))
  return { ...observed, names }
}

/**
 * @typedef {object} CollectOptions
 * @property {Handle[]} processes
 * @property {Deployment | null} generator
 * @property {Window} window
 * @property {Look[]} before looks before the load
 * @property {ObservedWindow} watched the result of `observeWindow`
 */

/**
 * Waits for the end of the load, reads its results and the sidecars' overflows, and computes the numbers of each trial's
 * window.
 * @param {TrialContext} context
 * @param {CollectOptions} options
 * @returns observation: for the raw files; measured: load and numbers of the window, by the place of the trial; its `load` is
 *   null if there was none
 * @throws {BenchError} if a process died, the window was not read to its end, a counter cannot be read, or the load failed; the
 *   signal's reason when it aborts
 */
export async function collectWindow(context, { processes, generator, window, before, watched }) {
  const { clock, trials } = context
  const running = processes.filter(process => !hasEndedAsPlanned(process, process.ending()))
  await assertAllRun(running, clock.phase())
  const { start, end, after, samples } = watched
  if (start === null || end === null || after === null) throw new BenchError('the window was not read to its end')
  await assertCpuRead(processes, start, clock.phase())
  await assertCpuRead(processes, end, clock.phase())
  clock.lap('window')
  clock.enter('tail')
  const overflows = await readOverflows(context, processes)
  const loads = generator && (await awaitLoadResults(context, { generator, window }))
  clock.lap('tail')
  const edges = { start, end, after }
  const observation = createObservation(context.testbed, { processes, window, before, watched, edges, overflows })
  const measured = trials.map(({ arm }, i) => {
    const numbers = computeWindow({ observation, samples, armId: arm.id })
    if (numbers === null) throw new BenchError('no sample was taken at an edge of the window')
    return { load: loads?.[i] ?? null, ...numbers }
  })
  return { observation, measured }
}

/**
 * Creates the document of an observation that reached the end of its window.
 * @param {TrialContext['testbed']} testbed
 * @param {Omit<CollectOptions, 'generator'> & { edges: { start: Edge, end: Edge, after: Look[] }, overflows: (number | null)[] }}
 *   options overflows: by process
 * @returns {ObservationRecord}
 */
function createObservation({ site }, { processes, window, before, watched, edges, overflows }) {
  const { received, closedConnections, receivedByPod, onHost = null, loadHost, clockOffsetMs, names } = watched
  const omitSample = (/** @type {Edge} */ { sample, ...edge }) => edge
  return {
    window,
    before,
    after: edges.after,
    overflows,
    schemaVersion: SCHEMA_VERSION,
    processes: processes.map(({ spec }, i) => createObservedProcess(spec, names[i])),
    start: omitSample(edges.start),
    end: omitSample(edges.end),
    ...(received ? { received } : {}),
    ...(closedConnections ? { closedConnections } : {}),
    ...(receivedByPod?.some(Boolean) ? { receivedByPod } : {}),
    onHost,
    ...(loadHost ? { loadHost } : {}),
    cpus: site.cpus,
    sampleSource: site.sampleSource,
    clockOffsetMs,
  }
}

/**
 * Creates the entry of a process in an observation.
 * @param {ProcessSpec} spec
 * @param {string} name as in ObservedWindow
 * @returns {ObservationRecord['processes'][number]}
 */
function createObservedProcess(spec, name) {
  // A batch has the files of up to 40 sidecars: to stay small, the record keeps only the first, its list of arguments. A pod is a
  // batch of one: its record keeps the first file of its sidecar.
  const files = spec.batchOf === undefined ? spec.files : spec.files.slice(0, 1)
  return {
    name,
    service: spec.service,
    copyOf: spec.copyOf ?? null,
    ...(spec.batchOf === undefined ? {} : { batchOf: spec.batchOf }),
    role: spec.role,
    command: [spec.program, ...spec.argv],
    cpuLimitCores: spec.cpuLimitCores,
    askedWorkers: spec.workers,
    ...(spec.armId === undefined ? {} : { armId: spec.armId }),
    ...(spec.passages === undefined ? {} : { passages: spec.passages }),
    ...(spec.pods && {
      pods: spec.pods.map(({ service, copyOf = null, passages = 0 }) => ({ service, copyOf, passages })),
    }),
    files: files.map(file => ({ name: file.name, sha256: hashText(Buffer.from(file.content, file.encoding)) })),
  }
}

/**
 * Asserts that an edge has the CPU time of each process.
 * @param {Handle[]} processes
 * @param {Edge} edge
 * @param {import('./events.js').Phase} phase
 * @throws {BenchError} if one is missing; as `assertNoneExits` if a process has exited
 */
async function assertCpuRead(processes, { sample: { readings, edge } }, phase) {
  const missing = processes.find((_, i) => !Number.isFinite(readings[i].cpuSeconds))
  if (!missing) return
  // A process that cannot be read has usually exited: that error explains more.
  await assertNoneExits(processes, phase)
  throw new BenchError(`no CPU time could be read of ${missing.spec.service} at the ${edge} of the window`)
}

/**
 * Reads the overflows of each sidecar, which `parseOverflows` of its plane counts: the times that it reached a limit of its own.
 * @param {TrialContext} context
 * @param {Handle[]} processes
 * @returns {Promise<(number | null)[]>} by process; null: it is no sidecar, ends in the window, or has no administration port or
 *   no such counter
 * @throws {BenchError} if a counter cannot be read, or the sidecar has exited
 */
function readOverflows({ testbed, trials, clock }, processes) {
  return Promise.all(
    processes.map(async process => {
      const { spec, readAdmin, renderFailure } = process
      if (spec.role !== 'sidecar' || spec.ends) return null
      const { parseOverflows } = testbed.programs.planes[findArm(trials, spec).plane]
      if (parseOverflows === null) return null
      const text = await readAdmin().catch(async error => {
        await assertNoneExits([process], clock.phase())
        const failure = `${spec.service}'s sidecar did not tell its counters after the window`
        throw new BenchError(await renderFailure(`${failure}: ${error.message}`), { cause: error })
      })
      return text === null ? null : parseOverflows(text)
    }),
  )
}

/**
 * Finds the arm of a process: only those of several arms at a time name theirs.
 * @param {TrialContext['trials']} trials
 * @param {Handle['spec']} spec
 * @returns {Arm}
 * @throws {Error} if no trial has the arm
 */
function findArm(trials, { armId }) {
  const trial = armId === undefined ? trials[0] : trials.find(({ arm }) => arm.id === armId)
  if (!trial) throw new Error(`no trial has the arm ${armId}`)
  return trial.arm
}
