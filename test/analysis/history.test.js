import { describe, expect, it } from 'vitest'
import { createHistory } from '../../src/analysis/history.js'
import { METHOD_VERSION } from '../../src/model/versions.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm, createFakeProcess, createRecord } from '../fakes/fake-records.js'

/** @import { ReadRun } from '../../src/analysis/history.js' */
/** @import { Manifest, RunSettings } from '../../src/model/types.ts' */

const SIDECAR = createArm({ plane: 'pipy' })
const NONE = createArm({ plane: 'none', id: 'none', cpuLimitCores: null })
const WRITTEN = createManifest({ arms: [SIDECAR, NONE], rounds: 1 })

/**
 * A run of one round; at 1000 requests a second a millicore is 1 µs a request.
 * @param {number} i
 * @param {{ cores?: number, without?: number | null, manifest?: Partial<Omit<Manifest, 'settings'>> & { settings?: Partial<RunSettings> } }} [options]
 *   cores: of the sidecar; without: of the applications without sidecars, null where they are not measured
 * @returns {ReadRun}
 */
function createRun(i, { cores = 0.1, without = 0.05, manifest = {} } = {}) {
  const startedAt = `2026-01-${`${i + 1}`.padStart(2, '0')}T00:00:00.000Z`
  const arms = without === null ? [SIDECAR] : [SIDECAR, NONE]
  return {
    folder: `run-${i + 1}`,
    manifest: createManifest({ arms, rounds: 1, run: { ...WRITTEN.run, startedAt }, ...manifest }),
    records: arms.map(arm =>
      createRecord({
        arm,
        boundBy: 'sidecar',
        processes: [
          arm.hasSidecars
            ? createFakeProcess({ cpuCores: cores })
            : createFakeProcess({ role: 'application', cpuCores: Number(without) }),
        ],
      }),
    ),
  }
}

/** @param {number} count @param {(i: number) => Parameters<typeof createRun>[1]} of */
const createRuns = (count, of) => Array.from({ length: count }, (_, i) => createRun(i, of(i)))
const scripts = (/** @type {string} */ sha256) => ({
  scripts: [...WRITTEN.scripts.slice(0, 2), { ...WRITTEN.scripts[2], sha256 }],
})

describe('a history', () => {
  it('follows each quantity of each arm, and the applications without sidecars, run by run, with what changed', () => {
    const runs = createRuns(4, i => ({
      ...{ cores: i < 2 ? 0.1 : 0.12, without: 0.05 },
      manifest: scripts((i < 2 ? 'a' : 'b').repeat(64)),
    }))
    const { runs: listed, lines } = createHistory(runs)
    expect(lines.map(line => [line.quantity, line.isControl])).toEqual([
      ['cpuPerRequest', false],
      ['capacity', false],
      ['rss', false],
      ['applicationCpuPerRequest', true],
    ])
    const medians = lines.map(line => line.values.map(({ median }) => median && Math.round(median)))
    expect([medians[0], medians[3]]).toEqual([
      [100, 100, 120, 120],
      [50, 50, 50, 50],
    ])
    expect(listed.map(({ changes }) => changes)).toEqual([
      [],
      [],
      [{ label: 'scripts of pipy', old: `sha256 ${'a'.repeat(12)}`, next: `sha256 ${'b'.repeat(12)}` }],
      [],
    ])
  })

  it.each(
    /** @type {[string, object][]} */ ([
      [`method version: 0 in old, ${METHOD_VERSION} in new`, { methodVersion: 0 }],
      ['profile: smoke in old, standard in new: smoke is comparable with nothing', { settings: { profile: 'smoke' } }],
      ['CPU model: B CPU in old, A CPU in new', { machine: { ...WRITTEN.machine, cpuModel: 'B CPU' } }],
      ['pipy at 0.25 cores: cap: 1 core in old, 0.25 cores in new', { arms: [{ ...SIDECAR, cpuLimitCores: 1 }] }],
    ]),
  )('leaves a run out, with the reason: %s', (reason, manifest) => {
    const { runs, left } = createHistory([createRun(0, { manifest }), createRun(1), createRun(2)])
    expect(runs.map(run => run.folder)).toEqual(['run-2', 'run-3'])
    expect(left).toEqual([{ folder: 'run-1', reasons: [expect.stringContaining(reason)] }])
  })

  it('is that of the last run that can be compared, or of the one that is named', () => {
    const smoke = { settings: { profile: 'smoke' } }
    const other = { machine: { cpuModel: 'B CPU' } }
    const runs = [createRun(0, { manifest: other }), createRun(1), createRun(2, { manifest: smoke })]
    expect(createHistory(runs).reference).toBe('run-2')
    expect(createHistory(runs, 'run-1').runs.map(run => run.folder)).toEqual(['run-1'])
    const none = createHistory([runs[2]])
    expect(none).toMatchObject({ reference: null, runs: [], lines: [], left: [{ folder: 'run-3' }] })
  })

  it('marks a change after runs in which the tool was not used', () => {
    const tools = (/** @type {string} */ version) => ({ tools: { pipy: { ...WRITTEN.tools.pipy, version } } })
    const runs = [tools('1'), { tools: {} }, tools('2')].map((manifest, i) => createRun(i, { manifest }))
    expect(createHistory(runs).runs.map(run => run.changes.map(({ label }) => label))).toEqual([[], [], ['pipy']])
  })

  it('counts a trial in the run that measured it only', () => {
    const run = createRun(1)
    run.records[0].takenFrom = 'run-1, r1-link-pipy'
    const [line] = createHistory([createRun(0), run]).lines
    expect(line.values.map(({ median }) => median === null)).toEqual([false, true])
  })
})
