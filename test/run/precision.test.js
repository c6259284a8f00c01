import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { chooseRunStatus } from '../../src/analysis/status.js'
import { verifyRun } from '../../src/analysis/verify.js'
import { findSequenceDepth, SEQUENCE_LEAST } from '../../src/lib/confidence-sequence.js'
import { EXIT } from '../../src/lib/errors.js'
import { listComparisons } from '../../src/model/results.js'
import { measurePreparation } from '../../src/prepare/measure.js'
import { renderNotes } from '../../src/report/notes.js'
import { readInterruptedRun } from '../../src/run/resume.js'
import { createStoppingRule } from '../../src/run/stopping-rule.js'
import { createFakeLoad, createFakePlane, createFakeTarget, createInterruption } from '../fakes/fake-bench.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { prepareFake } from '../fakes/fake-run.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { GateParity } from '../../src/run/kind.js' */

const AXES = '{ plane: [cheap, dear], link: [gateway-ratings], cpuLimitCores: [1], users: [10] }'
const MORE = 'profiles: { standard: { hasControl: false, warmupSeconds: 1, windowSeconds: 1 } }'
// One round far above the others, and one far below: an interval without the outermost two values is narrow.
const FAR = /** @type {Record<number, number>} */ ({ 1: 1.3, 2: 0.7 })
const ENDS_AFTER = Array.from({ length: 30 }, (_, n) => n).find(n => findSequenceDepth(n) === 2) ?? 0

// Its trials take a second of the real clock each: the minute in which the host takes the CPU spoils one, and moves the end.
describe('a run that goes on until it is precise', { retry: 3 }, () => {
  let out = ''
  /** @type {string[]} */
  let said
  beforeEach(() => {
    out = path.join(makeFolder('precision-test'), 'run')
    said = []
  })

  /** @param {{ maxMinutes?: number, far?: typeof FAR, load?: any, signal?: AbortSignal, isResumed?: boolean,
   *   gate?: GateParity, dies?: string, planes?: string[] }} [options] dies: the plane whose sidecars die, side by side with others */
  async function measureFake({ maxMinutes = 60, far = FAR, load, isResumed = false, ...options } = {}) {
    const { signal = new AbortController().signal, gate = async () => [], dies, planes } = options
    const target = await createFakeTarget({
      cores: ({ folder }) => 0.1 * (folder.includes('cheap') ? (far[Number(/r(\d+)-/.exec(folder)?.[1])] ?? 1) : 2),
      ending: ({ role, armId }, isObserved) =>
        dies && isObserved && role === 'sidecar' && armId?.includes(dies) ? 'status 134' : null,
    })
    const precision = { width: 0.03, maxMinutes }
    const fakeOptions = {
      ...{ load: load ?? createFakeLoad(), precision },
      axes: planes ? AXES.replace('cheap, dear', planes.join(', ')) : AXES,
      more: dies ? `measure: [cost]\n${MORE}` : MORE,
      planes: planes?.map(name => createFakePlane(name)),
    }
    const { preparation, site } = prepareFake({ target, ledgers: path.dirname(out), ...fakeOptions })
    const { summary } = await measurePreparation({
      ...{ preparation, site, out, signal, gate },
      execution: { command: ['bench'], interrupted: isResumed ? readInterruptedRun(out) : undefined },
      watcher: { say: line => said.push(line) },
    })
    return { summary, plan: preparation.plan }
  }
  const manifest = () => JSON.parse(readFileSync(path.join(out, 'manifest.json'), 'utf8'))
  const ids = () =>
    readFileSync(path.join(out, 'trials.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line).trial.id)

  it('ends with the first round that is precise enough, says so, and can be computed again', async () => {
    const { summary, plan } = await measureFake()
    expect(ENDS_AFTER).toBeGreaterThan(SEQUENCE_LEAST)
    expect(manifest()).toMatchObject({ rounds: ENDS_AFTER, precision: { width: 0.03, ended: 'reached' } })
    expect(manifest().precision.mostRounds).toBe(plan.rounds)
    expect(ids()).toEqual(plan.trials.slice(0, 2 * ENDS_AFTER).map(trial => trial.id))
    expect(summary.precision).toMatchObject({ rounds: ENDS_AFTER, isReached: true, ended: 'reached' })
    expect(listComparisons(summary)[0]).toMatchObject({ quantity: 'cpuPerRequest', verdict: 'lower' })
    expect(listComparisons(summary)[0].ratio.values).toHaveLength(ENDS_AFTER)
    const lines = said.filter(line => line.startsWith('after '))
    expect(lines).toHaveLength(ENDS_AFTER)
    expect(lines[SEQUENCE_LEAST - 2]).toContain('has no interval yet')
    expect(lines[SEQUENCE_LEAST - 1]).toMatch(/after 8 rounds: .* is 85\.7 % wide; for 3\.0 % it needs about \d+ more/)
    expect(lines.at(-1)).toContain('is 0.0 % wide; at most 3.0 % was asked for')
    expect(verifyRun({ folder: out, findLoad: () => createFakeLoad() }).agrees).toBe(true)
  })

  it('ends if the time is over, and says what is missing', async () => {
    const noisy = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [i, i % 2 ? 1.2 : 0.8]))
    const { summary, plan } = await measureFake({ maxMinutes: 1.2, far: noisy })
    expect(plan.rounds).toBeGreaterThanOrEqual(SEQUENCE_LEAST)
    expect(manifest()).toMatchObject({ rounds: plan.rounds, precision: { ended: 'time' } })
    expect(summary.precision).toMatchObject({ isReached: false, ended: 'time' })
    expect(summary.precision?.pairs[0].roundsMore).toBeGreaterThan(100)
  })

  it('goes on if it was cut short, also with more time, and ends as if it had not been', async () => {
    await expect(measureFake(createInterruption(7))).rejects.toThrow('interrupted')
    expect(manifest()).toMatchObject({ rounds: 4, precision: { ended: null } })
    const { plan } = await measureFake({ isResumed: true, maxMinutes: 90 })
    expect(manifest()).toMatchObject({ rounds: ENDS_AFTER, precision: { ended: 'reached', mostRounds: plan.rounds } })
    expect(ids()).toEqual(plan.trials.slice(0, 2 * ENDS_AFTER).map(trial => trial.id))
  })

  it('fails before its first round if a plane that does not serve leaves no pair', async () => {
    /** @type {GateParity} */
    const gate = async ({ arms, leaveOut }) => {
      leaveOut?.(
        arms.filter(({ plane }) => plane === 'dear'),
        'it ended with status 134',
      )
      return []
    }
    await expect(measureFake({ gate })).rejects.toThrow('it ended with status 134')
    expect(said.filter(line => line.startsWith('after '))).toEqual([])
    expect(manifest().ended).toBe('failed')
  })

  it('ends once sidecars that died leave no pair, and says so', async () => {
    const { summary } = await measureFake({ dies: 'dear' })
    expect(manifest()).toMatchObject({ ended: 'finished', rounds: 1, precision: { ended: 'no-pair' } })
    expect(summary.precision).toMatchObject({ isReached: false, pairs: [] })
    expect(said).toContain('after 1 round: no pair is left to compare')
    expect(renderNotes(summary)).toContain(
      'This run ended early, and the precision was NOT reached: after 1 round: no pair is left to compare.',
    )
    expect(chooseRunStatus(summary, { isVerdictRequired: false }).status).toBe(EXIT.noResult)
    expect(verifyRun({ folder: out, findLoad: () => createFakeLoad() }).agrees).toBe(true)
  })

  it('waits for no precision of an arm that was left out', async () => {
    const { summary } = await measureFake({ dies: 'dear', planes: ['cheap', 'dear', 'fake'], far: {} })
    expect(manifest().precision.ended).toBe('reached')
    expect(summary.precision?.pairs.map(({ a, b }) => [a, b])).toEqual([['cheap', 'fake']])
    expect(listComparisons(summary).some(({ b }) => b === 'dear')).toBe(true)
  })
})

describe('createStoppingRule', () => {
  it('begins no round that would end after the time', () => {
    let nowMs = 0
    const manifest = createManifest()
    const stopping = createStoppingRule({
      ...{ precision: { width: 0.03, maxMinutes: 10 }, mostRounds: 100, recordedRounds: 1, say: () => {} },
      assess: () => ({ isReached: false, hasPairs: true, roundsMore: 5, sentence: '' }),
      writeManifest: fields => Object.assign(manifest, fields),
      now: () => nowMs,
    })
    const over = Array.from({ length: 4 }, (_, i) => {
      stopping.begin(i + 1)
      nowMs += 180_000
      return stopping.endRound(i + 1)
    })
    expect(over).toEqual([false, false, true, true])
    expect(manifest.precision?.ended).toBe('time')
  })
})
