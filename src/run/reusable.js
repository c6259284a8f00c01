import { UsageError } from '../lib/errors.js'
import { createGroupKey, renderArmName } from '../model/arms.js'
import { findRecordedScripts, renderScriptsOwner } from '../model/tools.js'
import { METHOD_VERSION } from '../model/versions.js'
import { readRun } from '../records/records.js'

/**
 * Trials of earlier runs that a search may take instead of measuring again.
 * @import { Arm, Kit, Layout, Manifest, RunSettings, ScriptFolder, Tool, TrialRecord } from '../model/types.ts'
 */

/**
 * @typedef {object} Reusable
 * @property {(arm: Arm, isUsable?: (record: TrialRecord) => boolean) => ReusableRecord | null} takeRecord
 *   returns the first record of the same arm and placement for which `isUsable` (by default all) holds, with its folder, and
 *   never returns it again; a window longer than the arm's fits, too; null: no record is left that fits
 */
/**
 * @typedef {object} ReusableRecord
 * @property {string} folder of its run
 * @property {TrialRecord} record
 */

/**
 * The machine, programs, scripts and settings with which trials are measured.
 * @typedef {object} Setting
 * @property {Record<string, unknown>} machine as the manifest has it
 * @property {Record<string, Tool>} tools by name
 * @property {ScriptFolder[]} scripts
 * @property {Layout} layout
 * @property {Kit} kit
 * @property {Pick<RunSettings, 'trafficPolicy' | 'app' | 'relaxes'>} settings
 */

const SAME_MACHINE = ['bootId', 'cpuModel', 'cpus', 'kernel', 'cgroupVersion', 'capWay', 'node']
const SAME_LOAD_HOST = ['host', 'cpuModel', 'cpus', 'address']

/**
 * Lists what differs from a run, so that new trials cannot be compared with its trials. Tools, scripts and links that only one
 * of the two uses are ignored.
 * @param {Manifest} manifest of the run
 * @param {Setting} now of the run that begins
 * @returns {string[]} names of what differs, for an error; []: nothing
 */
export function listSettingDifferences(manifest, { machine, tools, scripts, layout: { topologies }, kit, settings }) {
  const renderRelaxedGates = (/** @type {{ relaxes: { gate: string }[] }} */ { relaxes }) =>
    relaxes.map(({ gate }) => gate).join()
  /** Links that both runs use. */
  const sharedLinks = Object.keys(topologies).filter(link => Object.hasOwn(manifest.topologies, link))
  return [
    ...(manifest.methodVersion === METHOD_VERSION ? [] : ['method version']),
    ...(manifest.kit.sha256 === kit.sha256 ? [] : ["the kit's code"]),
    ...SAME_MACHINE.filter(name => manifest.machine[name] !== machine[name]).map(name => `machine.${name}`),
    ...(createLoadHostKey(manifest.machine) === createLoadHostKey(machine) ? [] : ['the machine of the load']),
    ...Object.keys(tools).filter(name => (manifest.tools[name]?.sha256 ?? tools[name].sha256) !== tools[name].sha256),
    ...scripts
      .filter(recorded => (findRecordedScripts(manifest, recorded)?.sha256 ?? recorded.sha256) !== recorded.sha256)
      .map(recorded => `the scripts of ${renderScriptsOwner(recorded)}`),
    ...sharedLinks
      .filter(link => JSON.stringify(manifest.topologies[link]) !== JSON.stringify(topologies[link]))
      .map(link => `the link ${link}`),
    ...(manifest.settings.trafficPolicy === settings.trafficPolicy ? [] : ['traffic policy']),
    ...(manifest.settings.app === settings.app ? [] : ['applications']),
    ...(renderRelaxedGates(manifest.settings) === renderRelaxedGates(settings) ? [] : ['the gates set aside']),
  ]
}

/**
 * Reads the run in a folder that was passed with an option.
 * @param {string} option name of the option, for the error
 * @param {string} folder
 * @returns {{ manifest: Manifest, records: TrialRecord[], warnings: string[] }} warnings: which lines are left out, and why
 * @throws {UsageError} that names the option, if the folder holds no run that can be read
 */
export function readNamedRun(option, folder) {
  try {
    return readRun(folder)
  } catch (cause) {
    throw new UsageError(`${option} ${folder}: ${/** @type {Error} */ (cause).message}`, { cause })
  }
}

/**
 * Reads the trials of runs to reuse, without invalid trials and those that these runs took from other runs.
 * @param {Setting & { folders: string[] }} options folders: of the runs
 * @returns {Reusable}
 * @throws {UsageError} if a folder holds no run that can be read, or a run differs from this one (`listSettingDifferences`)
 */
export function readReusableTrials({ folders, ...now }) {
  const { placementOf } = now.layout
  const reusable = folders.flatMap(folder => {
    const { manifest, records } = readNamedRun('--from', folder)
    const differing = listSettingDifferences(manifest, now)
    if (differing.length > 0)
      throw new UsageError(
        `--from ${folder}: its trials cannot be reused, because it differs in ${differing.join(', ')}: leave it out of --from to measure them again`,
      )
    const measured = records.filter(({ outcome, takenFrom }) => outcome !== 'invalid' && takenFrom === undefined)
    return measured.map(record => ({ folder, record }))
  })
  return {
    takeRecord(arm, isUsable = () => true) {
      const placement = JSON.stringify(placementOf(arm))
      const isPlacedAlike = (/** @type {TrialRecord} */ record) => JSON.stringify(record.placement) === placement
      const index = reusable.findIndex(
        ({ record }) => coversArm(record.trial.arm, arm) && isPlacedAlike(record) && isUsable(record),
      )
      return index === -1 ? null : reusable.splice(index, 1)[0]
    },
  }
}

/**
 * Says whether a recorded trial also measures an arm: it has the same plane, link, load and conditions, whatever its id, and a window
 * at least as long as the arm's.
 * @param {Arm} recorded
 * @param {Arm} arm
 * @returns {boolean}
 */
function coversArm(recorded, arm) {
  const isSamePlane = renderArmName(arm) === renderArmName(recorded) && arm.variant === recorded.variant
  const isSameLoad =
    recorded.load.hasCertificate === arm.load.hasCertificate && recorded.load.burst?.factor === arm.load.burst?.factor
  const isLongEnough = recorded.load.windowSeconds >= arm.load.windowSeconds
  return isSamePlane && createGroupKey(arm) === createGroupKey(recorded) && isSameLoad && isLongEnough
}

/**
 * Creates a key of the properties that identify the load's own machine.
 * @param {Record<string, any>} machine
 * @returns {string | undefined} undefined: the load runs beside the services
 */
const createLoadHostKey = ({ loadHost }) => loadHost && SAME_LOAD_HOST.map(name => loadHost[name]).join()
