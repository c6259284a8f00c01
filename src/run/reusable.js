import { UsageError } from '../lib/errors.js'
import { nameOf } from '../model/arms.js'
import { groupOf } from '../model/axes.js'
import { readRun } from '../records/records.js'

/**
 * Trials of earlier runs that a search may take instead of measuring again.
 * @import { Arm, Tool, TrialRecord } from '../model/types.ts'
 * @import { Reusable } from './search.js'
 */

const SAME_MACHINE = ['bootId', 'cpuModel', 'cpus', 'kernel', 'cgroupVersion', 'node']

/**
 * Opens runs of this machine, since its start, with the same programs and settings.
 * @param {{ folders: string[], machine: Record<string, unknown>, tools: Record<string, Tool>,
 *   settings: { trafficPolicy: string, app: string } }} options
 * @returns {Reusable}
 * @throws {UsageError} for a run of another machine, or with other programs or settings
 */
export function openReusable({ folders, machine, tools, settings }) {
  const found = folders.flatMap(folder => {
    const { manifest, records } = readRun(folder)
    const differing = [
      ...SAME_MACHINE.filter(name => manifest.machine[name] !== machine[name]).map(name => `machine.${name}`),
      ...Object.keys(tools).filter(name => (manifest.tools[name]?.sha256 ?? tools[name].sha256) !== tools[name].sha256),
      ...(manifest.settings.trafficPolicy === settings.trafficPolicy ? [] : ['traffic policy']),
      ...(manifest.settings.app === settings.app ? [] : ['applications']),
    ]
    if (differing.length > 0) {
      throw new UsageError(`--from ${folder}: nothing of it can be taken here: it differs in ${differing.join(', ')}`)
    }
    return records.filter(r => r.outcome !== 'invalid' && r.takenFrom === undefined).map(record => ({ folder, record }))
  })
  const used = new Set()
  return {
    take(arm) {
      const next = found.find(entry => !used.has(entry) && isSameTrial(arm, entry.record))
      if (!next) return null
      used.add(next)
      return next
    },
  }
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
