import { describe, expect, it } from 'vitest'
import { createHistory } from '../../src/analysis/history.js'
import { createRandom } from '../../src/lib/random.js'
import { METHOD_VERSION } from '../../src/model/versions.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm, createRecord, describeFakeProcess } from '../fakes/fake-records.js'

/** @import { ReadRun } from '../../src/analysis/history.js' */
/** @import { Manifest, RunSettings } from '../../src/model/types.ts' */

const SIDECAR = createArm({ plane: 'pipy' })
const NONE = createArm({ plane: 'none', id: 'none', capCores: null })
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
            ? describeFakeProcess({ cpuCores: cores })
            : describeFakeProcess({ role: 'application', cpuCores: Number(without) }),
        ],
      }),
    ),
  }
}

/** @param {number} count @param {(i: number) => Parameters<typeof createRun>[1]} of */
const createRuns = (count, of) => Array.from({ length: count }, (_, i) => createRun(i, of(i)))
/** A share of noise. @param {() => number} random @param {number} share */
const around = (random, share) => 1 + share * (random() + random() + random() - 1.5)
const scripts = (/** @type {string} */ sha256) => ({
  scripts: [...WRITTEN.scripts.slice(0, 2), { ...WRITTEN.scripts[2], sha256 }],
})

describe('a history', () => {
  it('finds where a script made sidecars dearer, and says that the applications did not change', () => {
    const random = createRandom(1)
    const runs = createRuns(16, i => ({
      cores: (i < 9 ? 0.1 : 0.12) * around(random, 0.02),
      without: 0.05 * around(random, 0.02),
      manifest: scripts((i < 9 ? 'a' : 'b').repeat(64)),
    }))
    const { steps, lines, test } = createHistory(runs)
    expect(lines.map(line => [line.quantity, line.isControl])).toEqual([
      ['cpuPerRequest', false],
      ['capacity', false],
      ['rss', false],
      ['applicationCpuPerRequest', true],
    ])
    expect(steps).toEqual([
      expect.objectContaining({ quantity: 'cpuPerRequest', run: 9, runs: [9, 7], cause: 'sidecars' }),
    ])
    expect(steps[0].ratio).toBeCloseTo(1.2, 1)
    expect(steps[0].control).toBeCloseTo(1, 1)
    expect(steps[0].changes).toEqual([
      { run: 9, label: 'scripts of pipy', old: `sha256 ${'a'.repeat(12)}`, next: `sha256 ${'b'.repeat(12)}` },
    ])
    expect(test).toEqual({ falseAlarms: 0.02, lines: 4, runsNeeded: 12 })
  })

  it('calls a step the machine’s where the applications have it without sidecars', () => {
    const random = createRandom(2)
    const factor = (/** @type {number} */ i) => (i < 8 ? 1 : 1.25) * around(random, 0.02)
    const runs = createRuns(16, i => ({ cores: 0.1 * factor(i), without: 0.05 * factor(i) }))
    const { steps } = createHistory(runs)
    expect(steps.map(({ quantity, cause }) => [quantity, cause])).toEqual([
      ['cpuPerRequest', 'machine'],
      ['applicationCpuPerRequest', null],
    ])
  })

  it('leaves it open where what serves the applications was exchanged there', () => {
    const tools = (/** @type {string} */ version) => ({ pipy: { ...WRITTEN.tools.pipy, version } })
    const runs = createRuns(16, i => ({
      ...{ cores: i < 8 ? 0.1 : 0.13, without: i < 8 ? 0.05 : 0.065 },
      manifest: { tools: tools(i < 8 ? '1.5.18' : '2.0.2') },
    }))
    const [step] = createHistory(runs).steps
    expect(step).toMatchObject({ quantity: 'cpuPerRequest', cause: 'undecided', changes: [{ label: 'pipy', run: 8 }] })
  })

  it('cannot tell whose a step is where nothing was measured without sidecars', () => {
    const [step] = createHistory(createRuns(16, i => ({ cores: i < 8 ? 0.1 : 0.13, without: null }))).steps
    expect(step).toMatchObject({ cause: 'unknown', control: null })
  })

  it('has a step in at most 5 of 100 in which nothing changed', () => {
    const alarms = Array.from({ length: 100 }, (_, seed) => {
      const random = createRandom(100 + seed)
      return createHistory(
        createRuns(20, () => ({ cores: 0.1 * around(random, 0.3), without: 0.05 * around(random, 0.3) })),
      ).steps.length
    }).filter(steps => steps > 0)
    expect(alarms.length).toBeLessThanOrEqual(5)
  }, 60_000)

  it('passes over steps of less than 3 %', () => {
    const random = createRandom(3)
    const runs = createRuns(20, i => ({ cores: (i < 10 ? 0.1 : 0.102) * around(random, 0.001) }))
    expect(createHistory(runs).steps).toEqual([])
  })

  it.each(
    /** @type {[string, object][]} */ ([
      [`method version: 0 in old, ${METHOD_VERSION} in new`, { methodVersion: 0 }],
      ['profile: smoke in old, standard in new: smoke is comparable with nothing', { settings: { profile: 'smoke' } }],
      ['CPU model: B CPU in old, A CPU in new', { machine: { ...WRITTEN.machine, cpuModel: 'B CPU' } }],
      ['pipy at 0.25 cores: cap: 1 cores in old, 0.25 cores in new', { arms: [{ ...SIDECAR, capCores: 1 }] }],
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
