import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { createStandingServices } from '../run/standing-services.js'
import { runTrial } from '../run/trial.js'
import { createCount, withSidecars } from './count.js'
import { readPid, samplePids, withPidFile } from './perf.js'
import { joinStacks } from './profile.js'

/**
 * Samples the CPU time of sidecars under load, by stack, in the window of a trial as `bench` makes it.
 * @import { Tool, Trial, TrialRecord } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Profile } from './profile.js'
 */

/**
 * Runs a trial and samples its sidecars during the window.
 * @param {{ testbed: Testbed, trial: Trial, start: number, perf: Tool, signal: AbortSignal }} options start: its
 *   number
 * @throws {BenchError} if the trial is not completed, or perf cannot sample
 * @returns {Promise<{ record: TrialRecord, profiles: Record<string, Profile>, hasKernel: boolean }>} profiles: by
 *   service, their costs are numbers of samples; hasKernel: they include samples of the kernel
 */
export async function sampleTrial({ testbed, trial, start, perf, signal }) {
  const ending = new AbortController()
  const untilEnd = AbortSignal.any([signal, ending.signal])
  /** @type {Record<string, string>} folders, by service */
  const sidecars = {}
  const sampled = withSidecars(testbed, spec => {
    sidecars[spec.service] = spec.folder
    return withPidFile(spec)
  })
  const sample = async () => {
    const entries = Object.entries(sidecars)
    const pids = await Promise.all(entries.map(([, folder]) => readPid(folder)))
    const file = path.join(testbed.folders.raw, `${trial.id}.perf`)
    const seconds = trial.arm.load.windowSeconds
    const { events, profiles } = await samplePids({ perf, pids, file, seconds, signal: untilEnd })
    const profilesByService = entries.map(([service], i) => [
      service,
      profiles.get(pids[i]) ?? { total: 0, stacks: [] },
    ])
    return { profiles: Object.fromEntries(profilesByService), hasKernel: events.every(event => !event.endsWith(':u')) }
  }
  /** @type {ReturnType<typeof sample> | null} */
  let sampling = null
  const standing = createStandingServices({ keepsServices: false, retains: false })
  try {
    const { records } = await runTrial({
      testbed: sampled,
      trials: [trial],
      nextStart: () => start,
      standing,
      signal,
      watch: event => {
        if (event.kind !== 'phase' || event.phase !== 'window') return
        sampling = sample()
        // The samples are awaited after the trial: until then a rejection must not end the process as unhandled.
        sampling.catch(() => {})
      },
    })
    const [record] = records
    if (record.outcome !== 'completed') throw new BenchError(`the load does not count: ${record.reasons.join('; ')}`)
    if (sampling === null) throw new BenchError('the load ended before it could be sampled')
    return { record, .../** @type {Awaited<ReturnType<typeof sample>>} */ (await sampling) }
  } finally {
    ending.abort()
    await /** @type {Promise<unknown> | null} */ (sampling)?.catch(() => {})
  }
}

/**
 * Joins the windows of one sidecar. The samples divide the CPU time that the kernel counted among the stacks.
 * @param {{ link: string, service: string }} sidecar
 * @param {{ profile: Profile, nanos: number }[]} windows nanos: the CPU time of a request
 * @returns cpu: of a request, in ns; samples: their number; stacks: ns of a request
 * @throws {BenchError} if a window has no sample
 */
export function joinWindows(sidecar, windows) {
  const total = windows.reduce((sum, { profile }) => sum + profile.total, 0)
  if (windows.some(({ profile }) => profile.total === 0))
    throw new BenchError(`perf took no sample of the sidecar of ${sidecar.service}: it used no CPU in the window`)
  const scaled = windows.flatMap(({ profile, nanos }) =>
    profile.stacks.map(stack => ({ ...stack, self: (stack.self / profile.total) * (nanos / windows.length) })),
  )
  const cpu = createCount(windows.map(({ nanos }) => nanos))
  return { ...sidecar, cpu, samples: total, stacks: joinStacks(scaled) }
}
