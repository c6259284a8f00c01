import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { createStandingServices } from '../run/standing-services.js'
import { runTrial } from '../run/trial.js'
import { createCount } from './count.js'
import { readPid, samplePids, wrapWithPidFile } from './perf.js'
import { joinStacks } from './profile.js'
import { wrapSidecars } from './wrap-sidecars.js'

/**
 * Samples the CPU time of sidecars under load, by stack, in the window of a trial as `bench` makes it.
 * @import { Tool, Trial, TrialRecord } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Profile } from './profile.js'
 */

/**
 * @typedef {object} SampleOptions
 * @property {Testbed} testbed
 * @property {Trial} trial
 * @property {number} start a number that no other start of this run has
 * @property {Tool} perf
 * @property {AbortSignal} signal
 */
/**
 * @typedef {object} SidecarProfiles
 * @property {Record<string, Profile>} profiles by service; their costs are numbers of samples, none for a sidecar that used no CPU
 * @property {boolean} hasKernel perf sampled the kernel, too; true also without any sample
 */

/**
 * Runs a trial and samples its sidecars during the window.
 * @param {SampleOptions} options
 * @returns {Promise<{ record: TrialRecord } & SidecarProfiles>}
 * @throws {BenchError} if the trial is not completed, or perf cannot sample; as `runTrial` and `sampleSidecars`; the signal's reason
 *   when it aborts
 */
export async function sampleTrial({ testbed, trial, start, perf, signal }) {
  const ending = new AbortController()
  const untilEnd = AbortSignal.any([signal, ending.signal])
  /** The folders of the sidecars, by service. @type {Map<string, string>} */
  const folders = new Map()
  const sampledTestbed = wrapSidecars(testbed, spec => {
    folders.set(spec.service, spec.folder)
    return wrapWithPidFile(spec)
  })
  const file = path.join(testbed.folders.raw, `${trial.id}.perf`)
  const seconds = trial.arm.load.windowSeconds
  /** @type {Promise<SidecarProfiles> | null} */
  let sampling = null
  const standing = createStandingServices({ keepsServices: false, retains: false })
  try {
    const { records } = await runTrial({
      testbed: sampledTestbed,
      trials: [trial],
      nextStart: () => start,
      standing,
      signal,
      watch: event => {
        if (event.kind !== 'phase' || event.phase !== 'window') return
        sampling = sampleSidecars(folders, { perf, file, seconds, signal: untilEnd })
        // The samples are awaited after the trial: until then a rejection must not end the process as unhandled.
        sampling.catch(() => {})
      },
    })
    const [record] = records
    if (record.outcome !== 'completed') throw new BenchError(`the load does not count: ${record.reasons.join('; ')}`)
    if (sampling === null) throw new BenchError('the load ended before it could be sampled')
    return { record, .../** @type {SidecarProfiles} */ (await sampling) }
  } finally {
    ending.abort()
    await /** @type {Promise<unknown> | null} */ (sampling)?.catch(() => {})
  }
}

/**
 * Samples sidecars that `wrapWithPidFile` has changed.
 * @param {Map<string, string>} folders of the sidecars, by service
 * @param {Omit<Parameters<typeof samplePids>[0], 'pids'>} options
 * @returns {Promise<SidecarProfiles>}
 * @throws as `samplePids`; the system's error if a sidecar has not written its id
 */
async function sampleSidecars(folders, options) {
  const pids = await Promise.all([...folders.values()].map(readPid))
  const { events, profiles } = await samplePids({ ...options, pids })
  const entries = [...folders.keys()].map((service, i) => [service, profiles.get(pids[i]) ?? { total: 0, stacks: [] }])
  return { profiles: Object.fromEntries(entries), hasKernel: events.every(event => !event.endsWith(':u')) }
}

/**
 * Joins the windows of one sidecar. The CPU time that the kernel counted is divided among the stacks by their samples.
 * @param {{ link: string, service: string }} sidecar
 * @param {{ profile: Profile, nanos: number }[]} windows at least one; nanos: the CPU time of a request; NaN: it is not known, and
 *   neither is `cpu`
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
