import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../lib/errors.js'
import { renderArmName } from '../model/arms.js'
import { removeFailedArms, splitUnreachableArms } from '../plan/lost-arms.js'
import { removeRaw, renderRawName } from '../records/write.js'
import { listSettingDifferences, readNamedRun } from './reusable.js'

/**
 * A run that was cut short, to resume.
 * @import { Manifest, Plan } from '../model/types.ts'
 * @import { Setting } from './reusable.js'
 * @typedef {ReturnType<typeof readInterruptedRun>} Interrupted
 */

/** The names of the raw folders of equal-work checks. */
const CHECK_NAME = /^(?:check|parity)-/

/**
 * Reads the run to resume.
 * @param {string} folder of the run's results
 * @returns folder, manifest and warnings of the run; records: by the id of the trial
 * @throws {UsageError} if the folder holds no run that can be read
 */
export function readInterruptedRun(folder) {
  const { manifest, records, warnings } = readNamedRun('--resume', folder)
  return { folder, manifest, warnings, records: new Map(records.map(record => [record.trial.id, record])) }
}

/**
 * Asserts that the run can be resumed, and removes the raw files of equal-work checks, which are made again.
 * @param {Interrupted} interrupted
 * @throws {UsageError} if the folder holds a link, or a recorded trial that did not fail has lost its raw files; the system's error
 *   if the folder cannot be read
 */
export function prepareToResume({ folder, records }) {
  const raw = path.join(folder, 'raw')
  const succeeded = [...records.values()].filter(({ outcome }) => outcome !== 'failed')
  const lost = succeeded.filter(({ trial }) => !existsSync(path.join(raw, renderRawName(trial))))
  if (lost.length > 0)
    throw new UsageError(
      `--resume ${folder}: the raw files of ${lost.length} of ${records.size} recorded trials are gone from ${raw}, so the run could not be verified: start a new run`,
    )
  const link = readdirSync(folder, { recursive: true, withFileTypes: true }).find(entry => entry.isSymbolicLink())
  if (link) throw new UsageError(`--resume ${folder}: ${path.join(link.parentPath, link.name)} is a link: remove it`)
  const rawNames = existsSync(raw) ? readdirSync(raw) : []
  for (const name of rawNames.filter(rawName => CHECK_NAME.test(rawName))) removeRaw(folder, name)
}

/**
 * Leaves out of a plan the arms that did not serve when the run began, as the manifest has them.
 * @param {Plan} plan
 * @param {Manifest} manifest of the interrupted run
 * @returns {Plan} the same plan if all arms served
 */
export function leaveOutFailedArms(plan, { arms, notMeasured }) {
  const isPlanned = (/** @type {Manifest['notMeasured'][number]} */ { plane, reason }) =>
    plan.notMeasured.some(missing => missing.plane === plane && missing.reason === reason)
  const failed = notMeasured.filter(missing => !isPlanned(missing))
  const absent = plan.arms.filter(arm => arm.repeatOf === null && !arms.some(({ id }) => id === arm.id))
  const failures = absent.flatMap(arm => {
    const missing = failed.find(({ plane }) => plane === renderArmName(arm) || plane === arm.id)
    return missing ? [{ arms: [arm], reason: missing.reason }] : []
  })
  return failures.length === 0 ? plan : removeFailedArms(plan, failures)
}

/**
 * Asserts that new trials can be compared with the recorded ones: plan, machine, programs and placement are the same.
 * @param {{ interrupted: Interrupted, plan: Plan, now: Setting }} options now: the setting of this resume
 * @throws {UsageError} that lists what differs, or says that the run watches processes which have ended
 */
export function assertSamePlan({ interrupted: { folder, manifest, records }, plan, now }) {
  if (plan.settings.keepsServices && records.size > 0)
    throw new UsageError(
      `--resume ${folder}: ${plan.experiment} watches the same processes all the time, and they have ended: start a new run`,
    )
  const isEqual = (/** @type {unknown} */ a, /** @type {unknown} */ b) => JSON.stringify(a) === JSON.stringify(b)
  // The manifest lacks the arms whose rates were out of reach, once the calibrations have run.
  const reachable = splitUnreachableArms({ plan, calibrations: manifest.calibrations }).arms
  const hasReachableArms = plan.mostOfCapacity !== null && isEqual(manifest.arms, reachable)
  const hasSameArms = isEqual(manifest.arms, plan.arms) || hasReachableArms
  const calibrated = manifest.calibrations.map(({ armId }) => armId)
  const toCalibrate = plan.calibrations.map(({ id }) => id)
  const isSamePlan =
    hasSameArms && isEqual([calibrated, manifest.search, manifest.settings], [toCalibrate, plan.search, plan.settings])
  // A run until a precision has had only some of the planned rounds when it is cut short.
  const hasSameRounds = manifest.rounds === plan.rounds || (plan.precision && manifest.rounds <= plan.rounds)
  const hasSamePlacement = [...records.values()].every(record =>
    isEqual(record.placement, now.layout.placementOf(record.trial.arm)),
  )
  const differing = [
    ...listSettingDifferences(manifest, now),
    ...(isSamePlan ? [] : ['what the experiment measures']),
    ...(manifest.precision?.width === plan.precision?.width ? [] : ['precision']),
    ...(hasSameRounds ? [] : ['rounds']),
    ...(hasSamePlacement ? [] : ['the CPUs that processes get']),
  ]
  if (differing.length === 0) return
  throw new UsageError(
    `--resume ${folder}: changed since its start: ${differing.join(', ')}; new trials could not be compared with its own: start a new run`,
  )
}

/**
 * Creates the manifest of a resumed run: run, command, thresholds, machine and parity are those of its start, with this resume
 * in `run.resumed`. A run until a precision keeps its number of rounds.
 * @param {{ interrupted: Interrupted, known: Omit<Manifest, 'parity'> }} options known: the manifest of this resume
 * @returns {Manifest}
 */
export function createResumedManifest({ interrupted: { manifest, records }, known }) {
  const { run, command, thresholds, machine, parity } = manifest
  const resumed = [...(run.resumed ?? []), { at: known.run.startedAt, id: known.run.id, trials: records.size }]
  const recordedRounds = manifest.precision && { rounds: manifest.rounds }
  return { ...known, ...recordedRounds, run: { ...run, resumed }, command, thresholds, machine, parity }
}
