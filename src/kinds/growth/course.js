import { BenchError } from '../../lib/errors.js'
import { readTextFiles } from '../../lib/text-files.js'
import { SCHEMA_VERSION } from '../../model/versions.js'
import { awaitEarlyExits } from '../../run/alive.js'
import { runControlPlaneSteps } from '../../run/control-plane.js'
import { observeControlNow, sumReadings } from '../../run/phase.js'
import { measureRounds } from '../../run/rounds.js'
import { createSpecOptions, UNLOADED } from '../../run/start-services.js'
import { CONTROL, chooseControl } from '../../services/control.js'
import { computeGrowthNumbers } from './numbers.js'
import { runSteps } from './phases.js'
import { STEP_SIDECARS } from './plan.js'
import { BACKENDS, createGrowth, listGrowthNames } from './services.js'

/** A trial of growth: adds sidecars to a control plane until a step fails, or there are enough. A failure is its result. */
/** @import { GrowthRecord, Handle, Target, TrialRecord } from '../../model/types.ts' */
/** @import { Kind, StartFindings } from '../../run/kind.js' */
/**
 * @import { StartRequest, Started } from '../../run/start-services.js'
 * @import { Growth } from './services.js'
 */

const WATCH_MS = 200
/** Cores by which the quota that the kernel reports may differ from the cap. */
const CAP_TOLERANCE = 0.001

/** @type {Kind} */
export const kind = { name: 'growth', hasRequests: false, start: startGrowth, measure: measureRounds }

/**
 * Runs a whole growth. A step that fails, by the control plane, a sidecar or the machine, is its result, and no error.
 * @param {StartRequest} options
 * @returns {Promise<Started>} the trial is over by then; the caller removes its deployment
 * @throws {BenchError} if the control plane does not have its CPU limit, or an application fails; the signal's reason when it
 *   aborts; the error of another part, such as the target
 */
async function startGrowth({ testbed, arm, start, folder, signal }) {
  const { target, cpus } = testbed.site
  const deadlineSeconds = Number(testbed.settings.grows?.deadlineSeconds)
  const { applications, control: planned, setUp, steps } = await createPlacedGrowth({ testbed, arm, start, folder })
  return runControlPlaneSteps({ target, start, folder, signal }, async course => {
    const { poller, deploy, deployment } = course
    const serving = await deploy(applications)
    await Promise.all(serving.map(process => process.waitUntilReady(signal)))
    const control = await deploy(planned ? [planned] : [])
    const observing = course.observe(control)
    course.addTeardown(watchControl(control, course.failing))
    await assertControlLimited(target, control)
    const { taken, ended } = await runSteps(setUp, steps, {
      poller,
      deploy,
      control,
      deadlineSeconds,
      stopping: signal,
      listProcesses: () => deployment.processes,
      readControlUsage: observing.read,
      signal: course.signal,
    })
    const observed = await observing.end()
    /** @type {GrowthRecord} */
    const growth = {
      schemaVersion: SCHEMA_VERSION,
      cpus,
      stepSidecars: STEP_SIDECARS,
      sidecarsMost: Number(arm.conditions.sidecars),
      backends: BACKENDS,
      deadlineSeconds,
      steps: taken,
      ended,
      control: observed?.samples.map(sumReadings) ?? null,
    }
    const exits = ended ? await awaitEarlyExits(control) : []
    return { deployment, ...UNLOADED, findings: createFindings(growth, exits) }
  })
}

/**
 * Creates the processes of an arm's growth, with the addresses that the target gives them.
 * @param {Pick<StartRequest, 'testbed' | 'arm' | 'start' | 'folder'>} options
 * @returns {Promise<Growth>}
 * @throws the error of the file system if the scripts cannot be read, that of the target, or as `createGrowth`
 */
async function createPlacedGrowth({ testbed, arm, start, folder }) {
  const sidecars = Number(arm.conditions.sidecars)
  const names = listGrowthNames(sidecars)
  const shared = createSpecOptions({ testbed, arm, folder })
  return createGrowth({
    ...shared,
    places: await testbed.site.target.placesFor(start, [...names.applications, CONTROL, ...names.sidecars]),
    scriptFiles: readTextFiles(shared.folders.scripts),
    ...chooseControl(testbed.programs, arm),
    link: testbed.layout.topologies[arm.link],
    sidecars,
  })
}

/**
 * Creates the findings of a growth that is over.
 * @param {GrowthRecord} growth
 * @param {TrialRecord['ended']} exits of the control plane
 * @returns {StartFindings}
 */
function createFindings(growth, exits) {
  return {
    observed: { partFiles: { growth } },
    record: { outcome: 'completed', growth: computeGrowthNumbers(growth), ended: exits },
    isOver: true,
    assertWhole: async () => {},
  }
}

/**
 * Watches the control plane, and aborts `failing` when it exits or is stopped, so that no step waits for its
 * deadline.
 * @param {Handle[]} control its processes
 * @param {AbortController} failing
 * @returns {() => void} ends the watch for stops; a later exit still aborts `failing`
 */
function watchControl(control, failing) {
  for (const process of control) process.exited.then(() => failing.abort())
  const timer = setInterval(() => control.some(process => process.isStopped()) && failing.abort(), WATCH_MS)
  return () => clearInterval(timer)
}

/**
 * Asserts that the control plane has its CPU limit, if one was planned.
 * @param {Target} target
 * @param {Handle[]} control its processes
 * @throws {BenchError} if the kernel reports another limit or none, or cannot be read; an error of the target
 */
async function assertControlLimited(target, control) {
  if (!control.some(({ spec }) => spec.cpuLimitCores !== null)) return
  const observed = await observeControlNow(target, control)
  for (const [i, { spec }] of control.entries()) {
    const { cpuLimitCores: planned } = spec
    const reported = observed?.states[i].cpuLimitCores ?? null
    if (planned === null || Math.abs((reported ?? Infinity) - planned) <= CAP_TOLERANCE) continue
    const mismatch = `capped at ${planned} cores, and the kernel says ${reported ?? 'no quota'}`
    throw new BenchError(`the control plane was to be ${mismatch}`)
  }
}
