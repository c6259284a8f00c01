import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { writeSummary } from '../../src/prepare/write-summary.js'
import { appendTrial, createResultsFolder, writeObservation } from '../../src/records/write.js'
import { createManifest } from './fake-manifest.js'
import { createArm, createFakeProcess, createRecord } from './fake-records.js'

/**
 * A run on disk, without having run: rounds of none, pipy and envoy, whose numbers follow from the round.
 * @import { Arm, Manifest, Reading, RunSettings, TrialRecord } from '../../src/model/types.ts'
 */

// Up and down: a trend would be said.
const OFFSETS = [30, 10, 60, 20, 50, 40]
const GRID = [...Array.from({ length: 99 }, (_, i) => i / 100), 0.99, 0.995, 0.999]

/** @param {Parameters<typeof createArm>[0]} [fields] of every arm */
export function createArms(fields = {}) {
  return [
    createArm({ ...fields, id: 'link-none', plane: 'none', cpuLimitCores: null }),
    createArm({ ...fields, id: 'link-pipy-0.25', plane: 'pipy' }),
    createArm({ ...fields, id: 'link-envoy-0.25', plane: 'envoy' }),
  ]
}

/**
 * @typedef {{ arms?: Arm[], rounds?: number, recorded?: number, manifest?: Partial<Omit<Manifest, 'settings'>>,
 *   settings?: Partial<RunSettings>, change?: (record: TrialRecord) => TrialRecord }} FakeRun recorded: trials, fewer where the run
 *   was cut short
 */

/** Creates a run that is on no disk. @param {FakeRun} [options] */
export function createFakeRun({ arms = createArms(), rounds = 6, manifest = {}, settings = {}, ...options } = {}) {
  const { recorded = arms.length * rounds, change = record => record } = options
  const records = Array.from({ length: recorded }, (_, i) =>
    change(createTrial(arms[i % arms.length], 1 + Math.floor(i / arms.length))),
  )
  return { manifest: createManifest({ arms, rounds, settings, ...manifest }), records }
}

/** @param {FakeRun & { folder: string }} options */
export function writeFakeRun({ folder, ...options }) {
  const { manifest, records } = createFakeRun(options)
  createResultsFolder(folder)
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest))
  for (const record of records) {
    appendTrial(folder, record)
    if (record.window === null) continue
    mkdirSync(path.join(folder, 'raw', record.trial.id), { recursive: true })
    const names = record.processes.map(p => `${p.service}-${p.role}`)
    const samples = Array.from({ length: 21 }, (_, at) => ({
      epochMs: -1000 + 100 * at,
      readings: record.processes.map(p => createReading(at, p.cpuCores)),
    }))
    writeObservation(folder, { trial: record.trial, samples, names })
  }
  return { summary: writeSummary(folder) }
}

/** @param {Arm} arm @param {number} round @returns {TrialRecord} */
function createTrial(arm, round) {
  const base = { none: 3000, pipy: 2000, envoy: 1000 }[arm.plane] ?? 1500
  const verified = base + OFFSETS[(round - 1) % OFFSETS.length]
  const cpuCores = { pipy: 0.2, envoy: 0.24 }[arm.plane] ?? 0.2
  const sidecar = createFakeProcess({
    cpuCores,
    cpuSeconds: cpuCores,
    files: [{ name: 'config.json', sha256: 'a'.repeat(64) }],
  })
  return createRecord({
    ...{ arm, round },
    load: {
      ...{ verified, verifiedInSecondHalf: verified / 2 },
      distribution: { count: verified, meanMs: 1, grid: GRID.map(q => [q, (1 + q + round / 100) * (3000 / base)]) },
    },
    processes: arm.plane === 'none' ? [] : [sidecar],
    boundBy: arm.plane === 'none' ? 'generator' : 'sidecar',
    phasesSeconds: { start: 0.5 },
  })
}

/** @param {number} at tenths of a second @param {number} cores @returns {Reading} */
function createReading(at, cores) {
  return {
    ...{ atSeconds: at / 10, cpuSeconds: (cores * at) / 10, periods: at, throttledPeriods: at > 10 ? at - 10 : 0 },
    ...{ throttledSeconds: 0, anonBytes: 1e7 + 1e5 * at, workingSetBytes: 2e7, peakBytes: 3e7, oomKills: 0 },
  }
}
