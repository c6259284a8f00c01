import { UsageError } from '../lib/errors.js'
import { nameOf } from '../model/arms.js'
import { groupOf } from '../model/axes.js'
import { findScripts, nameScripts } from '../model/scripts.js'
import { METHOD_VERSION } from '../model/versions.js'
import { readRun } from '../records/records.js'

/**
 * Trials of earlier runs that a search may take instead of measuring again.
 * @import { Arm, Kit, Layout, Manifest, Placement, RunSettings, ScriptFolder, Tool, TrialRecord } from '../model/types.ts'
 */

/**
 * Trials of earlier runs that a search may take; each record is given once.
 * @typedef {{ take: (arm: Arm) => { folder: string, record: TrialRecord } | null }} Reusable
 */

const SAME_MACHINE = ['bootId', 'cpuModel', 'cpus', 'kernel', 'cgroupVersion', 'capWay', 'node']
const SAME_LOAD_HOST = ['host', 'cpuModel', 'cpus', 'address']

/**
 * What trials are measured with now.
 * @typedef {object} Setting
 * @property {Record<string, unknown>} machine
 * @property {Record<string, Tool>} tools
 * @property {ScriptFolder[]} scripts
 * @property {Layout} layout
 * @property {Kit} kit
 * @property {Pick<RunSettings, 'trafficPolicy' | 'app' | 'relaxes'>} settings
 */

/**
 * Why trials of another run cannot stand beside those that are measured now.
 * @param {Manifest} manifest of the other run
 * @param {Setting} now
 * @returns {string[]} what differs; none where they can
 */
export function findDifferences(manifest, { machine, tools, scripts, layout: { topologies }, kit, settings }) {
  const relaxedBy = (/** @type {{ relaxes: { gate: string }[] }} */ { relaxes }) =>
    relaxes.map(({ gate }) => gate).join()
  return [
    ...(manifest.methodVersion === METHOD_VERSION ? [] : ['method version']),
    ...(manifest.kit.sha256 === kit.sha256 ? [] : ["the kit's code"]),
    ...SAME_MACHINE.filter(name => manifest.machine[name] !== machine[name]).map(name => `machine.${name}`),
    ...(nameLoadHost(manifest.machine) === nameLoadHost(machine) ? [] : ['the machine of the load']),
    ...Object.keys(tools).filter(name => (manifest.tools[name]?.sha256 ?? tools[name].sha256) !== tools[name].sha256),
    ...scripts.filter(own => isOther(own, findScripts(manifest, own))).map(own => `the scripts of ${nameScripts(own)}`),
    ...Object.keys(topologies)
      .filter(link => Object.hasOwn(manifest.topologies, link))
      .filter(link => JSON.stringify(manifest.topologies[link]) !== JSON.stringify(topologies[link]))
      .map(link => `the link ${link}`),
    ...(manifest.settings.trafficPolicy === settings.trafficPolicy ? [] : ['traffic policy']),
    ...(manifest.settings.app === settings.app ? [] : ['applications']),
    ...(relaxedBy(manifest.settings) === relaxedBy(settings) ? [] : ['the gates set aside']),
  ]
}

/**
 * Opens runs of this machine, since its start, with the same kit, programs, scripts and settings.
 * @param {Setting & { folders: string[] }} options
 * @returns {Reusable}
 * @throws {UsageError} for a run of another machine, or with another kit, other programs, scripts or settings
 */
export function openReusable({ folders, ...now }) {
  const { placementOf } = now.layout
  const found = folders.flatMap(folder => {
    const { manifest, records } = readRun(folder)
    const differing = findDifferences(manifest, now)
    if (differing.length > 0) {
      throw new UsageError(
        `--from ${folder}: its trials cannot be reused, because it differs in ${differing.join(', ')}: leave it out of --from to measure them again`,
      )
    }
    return records.filter(r => r.outcome !== 'invalid' && r.takenFrom === undefined).map(record => ({ folder, record }))
  })
  const used = new Set()
  return {
    take(arm) {
      const next = found.find(
        entry => !used.has(entry) && isSameTrial(arm, entry.record) && isPlacedAs(placementOf(arm), entry.record),
      )
      if (!next) return null
      used.add(next)
      return next
    },
  }
}

/**
 * Scripts that only one of two runs used are no difference.
 * @param {ScriptFolder} own
 * @param {ScriptFolder | undefined} other
 */
function isOther(own, other) {
  return other !== undefined && other.sha256 !== own.sha256
}

/** @param {Record<string, any>} machine */
function nameLoadHost({ loadHost }) {
  return loadHost && SAME_LOAD_HOST.map(name => loadHost[name]).join()
}

/**
 * @param {Placement | null} placement
 * @param {TrialRecord} record
 */
function isPlacedAs(placement, record) {
  return JSON.stringify(record.placement) === JSON.stringify(placement)
}

/**
 * @param {Arm} arm
 * @param {TrialRecord} record
 */
function isSameTrial(arm, { trial }) {
  const other = trial.arm
  return (
    nameOf(arm) === nameOf(other) &&
    arm.variant === other.variant &&
    groupOf(arm) === groupOf(other) &&
    other.load.hasCertificate === arm.load.hasCertificate &&
    other.load.burst?.factor === arm.load.burst?.factor &&
    other.load.windowSeconds >= arm.load.windowSeconds
  )
}
