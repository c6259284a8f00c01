import { computeWindow } from '../judge/record/compute-window.js'
import { BenchError } from '../lib/errors.js'
import { hashText } from '../lib/hash.js'
import { waitUntilEpoch } from '../lib/wait.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { assertAllRun, assertStillRun, hasEndedAsPlanned } from './alive.js'
import { finishLoad, followLoad } from './generator.js'

/**
 * The window of a trial: its observation, and its numbers.
 * @import { Arm, Deployment, Edge, Handle, Look, Observation, ObservationRecord, Sample, Window } from '../model/types.ts'
 * @import { Course } from './trial.js'
 * @typedef {Observation & { names: string[] }} ObservedWindow names: of the processes, in the order of the readings
 */

/**
 * Observes the processes through the warm-up and the window, and at its edges. If one exits early, the observation ends with
 * what was read so far.
 * @param {Course} course
 * @param {{ processes: Handle[], generator: Deployment | null, window: Window }} options
 * @returns {Promise<ObservedWindow>} start, end, after: null if the edge was not reached
 * @throws the signal's reason when it aborts
 */
export async function observeWindow(course, { processes, generator, window }) {
  const { testbed, clock, watch, signal } = course
  const dying = new AbortController()
  for (const p of processes) p.exited.then(exitCause => hasEndedAsPlanned(p, exitCause) || dying.abort())
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
  const stopCounting = followLoad(course, generator)
  const observed = await testbed.site.target
    .observe(processes, { window, signal: AbortSignal.any([signal, dying.signal]), onSample })
    .finally(stopCounting)
  // On a cluster, `observe` returns the samples of pods all at once and calls onSample for none.
  if (sampleCount === 0) observed.samples.forEach(onSample)
  signal.throwIfAborted()
  return {
    ...observed,
    names: processes.map(({ spec }) => [spec.armId, spec.service, spec.role].filter(Boolean).join('-')),
  }
}

/**
 * Waits for the end of the load, reads its results and the sidecars' overflows, and computes the numbers of each trial's
 * window.
 * @param {Course} course
 * @param {{ processes: Handle[], generator: Deployment | null, window: Window, before: Look[], watched: ObservedWindow }}
 *   options before: looks before the load; watched: what `observeWindow` returned
 * @returns observation: for the raw files; measured: load and numbers of the window, by the place of the trial; its `load` is
 *   null if there was none
 * @throws {BenchError} if a process died, or the window was not read to its end
 */
export async function readWindow(course, { processes, generator, window, before, watched }) {
  const { clock, trials } = course
  const { site } = course.testbed
  const { start, end, after, samples } = watched
  await assertAllRun(
    processes.filter(p => !hasEndedAsPlanned(p, p.ending())),
    clock.phase(),
  )
  if (start === null || end === null || after === null) throw new BenchError('the window was not read to its end')
  await assertCpuRead(processes, start, clock.phase())
  await assertCpuRead(processes, end, clock.phase())
  clock.lap('window')
  clock.enter('tail')
  const overflows = await readOverflows(course, processes)
  const loads = generator && (await finishLoad(course, { generator, window }))
  clock.lap('tail')
  const withoutSample = (/** @type {Edge} */ { sample, ...edge }) => edge
  /** @type {ObservationRecord} */
  const observation = {
    window,
    before,
    after,
    overflows,
    schemaVersion: SCHEMA_VERSION,
    processes: processes.map(({ spec }, i) => ({
      name: watched.names[i],
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
      // The files of the sidecars of a batch are in raw/: the record has one of them.
      files: spec.files
        .slice(0, spec.batchOf === undefined ? undefined : 1)
        .map(({ name, content, encoding }) => ({ name, sha256: hashText(Buffer.from(content, encoding)) })),
    })),
    start: withoutSample(start),
    end: withoutSample(end),
    ...(watched.received ? { received: watched.received } : {}),
    ...(watched.closedConnections ? { closedConnections: watched.closedConnections } : {}),
    ...(watched.receivedByPod?.some(Boolean) ? { receivedByPod: watched.receivedByPod } : {}),
    onHost: watched.onHost ?? null,
    ...(watched.loadHost ? { loadHost: watched.loadHost } : {}),
    cpus: site.cpus,
    sampleSource: site.sampleSource,
    clockOffsetMs: watched.clockOffsetMs,
  }
  const measured = trials.map(({ arm }, i) => {
    const numbers = computeWindow({ observation, samples, armId: arm.id })
    if (numbers === null) throw new BenchError('no sample was taken at an edge of the window')
    return { load: loads?.[i] ?? null, ...numbers }
  })
  return { observation, measured }
}

/**
 * Asserts that an edge has the CPU time of each process.
 * @param {Handle[]} processes
 * @param {Edge} edge
 * @param {import('./events.js').Phase} phase
 * @throws {BenchError} if one is missing; with the message of its exit if the process has exited
 */
async function assertCpuRead(processes, { sample: { readings, edge } }, phase) {
  const missing = processes.find((_, i) => !Number.isFinite(readings[i].cpuSeconds))
  if (!missing) return
  // A process that cannot be read has usually exited: that error explains more.
  await assertStillRun(processes, phase)
  throw new BenchError(`no CPU time could be read of ${missing.spec.service} at the ${edge} of the window`)
}

/**
 * Reads how often each sidecar reached a limit of its own, as `parseOverflows` of its plane counts.
 * @param {Course} course
 * @param {Handle[]} processes
 * @returns {Promise<(number | null)[]>} by process; null: it is no sidecar, ends in the window, or has no administration port or
 *   no such counter
 * @throws {BenchError} if a counter cannot be read
 */
function readOverflows({ testbed, trials, clock }, processes) {
  return Promise.all(
    processes.map(async process => {
      const { spec, readAdmin, renderFailure } = process
      if (spec.role !== 'sidecar' || spec.ends) return null
      const { parseOverflows } = testbed.programs.planes[findArm(trials, spec).plane]
      if (parseOverflows === null) return null
      const text = await readAdmin().catch(async error => {
        await assertStillRun([process], clock.phase())
        const failure = `${spec.service}'s sidecar did not tell its counters after the window`
        throw new BenchError(await renderFailure(`${failure}: ${error.message}`), { cause: error })
      })
      return text === null ? null : parseOverflows(text)
    }),
  )
}

/**
 * Finds the arm of a process: only those of several arms at a time name theirs.
 * @param {Course['trials']} trials
 * @param {Handle['spec']} spec
 * @returns {Arm}
 * @throws {Error} if no trial has the arm
 */
function findArm(trials, { armId }) {
  const trial = armId === undefined ? trials[0] : trials.find(({ arm }) => arm.id === armId)
  if (!trial) throw new Error(`no trial has the arm ${armId}`)
  return trial.arm
}
