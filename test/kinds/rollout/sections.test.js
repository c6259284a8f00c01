import { describe, expect, it } from 'vitest'
import { rolloutSections } from '../../../src/kinds/rollout/sections.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { createAnswer } from '../../../src/report/answer/answer.js'
import { createResult, createSummary, createSummaryArm } from '../../fakes/fake-summary.js'

/** @import { Conditions, SummaryArm } from '../../../src/model/types.ts' */

const shows = { quantities: ['rolloutSeconds'], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false }
/** @param {Partial<Conditions>} conditions @param {Record<string, number>} rollout by header */
const arm = (conditions, rollout) =>
  createSummaryArm({
    ...{ plane: 'pipy', load: { kind: 'idle' }, conditions: { sidecars: 60, ...conditions } },
    fields: /** @type {any} */ ({
      boundBy: null,
      rollout: Object.fromEntries(Object.entries(rollout).map(([name, value]) => [name, summariseValues([value])])),
    }),
  })
const limits = (/** @type {number} */ rollout, /** @type {number} */ change) => ({
  ...{ controlAtLimitRolloutFraction: rollout, controlAtLimitChangeFraction: change },
})

/** @param {SummaryArm[]} arms */
const answer = arms =>
  createAnswer({ ...createSummary([]), shows, results: [createResult({ kind: 'rollout', arms, controlNeeds: [] })] })
/** @param {SummaryArm[]} arms */
const render = arms => answer(arms).verdicts.join(' ')

describe('the answer of a rollout', () => {
  it('says of each number of shards its time, and whether the control plane bound it', () => {
    const arms = [
      arm({ shards: 1 }, { rolloutSeconds: 3.97, ...limits(0.9, 0.8) }),
      arm({ shards: 3 }, { rolloutSeconds: 2.06, ...limits(0.25, 0.1) }),
      arm({ shards: 6 }, { rolloutSeconds: 1.4, ...limits(0.24, 0.6) }),
      arm({ shards: 9 }, { rolloutSeconds: 1.36, ...limits(0.01, 0.02) }),
    ]
    const [{ rows }] = answer(arms).pictures
    expect(rows.map(({ label, cells }) => [label, cells[0]?.text])).toEqual([
      ['1 shard', '3.97 s'],
      ['3 shards', '2.06 s'],
      ['6 shards', '1.40 s'],
      ['9 shards', '1.36 s'],
    ])
    expect(render(arms)).toBe(
      'In 1 of 4 rows the control plane was the limit of rollout and change. In 1 of 4 rows the control plane was the limit of the rollout. ' +
        'In 1 of 4 rows the control plane was the limit of the change, and not of the rollout. ' +
        'In 1 of 4 rows the control plane was not the limit.',
    )
    expect(arms.map(arm => rolloutSections.renderBound?.(arm))).toEqual([
      'control: rollout, change',
      'control: rollout',
      'control: change',
      null,
    ])
  })

  it('is about the most sidecars if nothing else varies, and leaves out what does not run', () => {
    const most = arm({ sidecars: 400 }, { rolloutSeconds: 9, changeAllSeconds: 2, controlPeakBytes: 2 ** 26 })
    const arms = [arm({ sidecars: 200 }, { rolloutSeconds: 5 }), most]
    const times = 'within 9.00 s and a change of it within 2.00 s.'
    expect(render(arms)).toBe(`pipy: 400 sidecars had their first configuration ${times}`)
    expect(rolloutSections.renderBound?.(most)).toBeNull()
    const sampled = arm({ sidecars: 400 }, { rolloutSeconds: 9, changeAllSeconds: 2, changeAskedSidecars: 32 })
    expect(render([sampled])).toMatch('within 9.00 s and a change of it within 2.00 s (32 of 400 asked).')
    const simulated = arm({ sidecars: 1600, simulated: 1200 }, { controlPeakBytes: 2 ** 28 })
    expect(render([simulated])).toBe('pipy (1200 of 1600 simulated): 1600 sidecars were configured.')
    const pods = arm({ sidecars: 60, simulated: 30 }, { podReadyMaxSeconds: 5 })
    expect(render([pods])).toMatch('60 sidecars 30 of them were ready pods within 5.00 s')
    expect(render([arm({}, { rolloutSeconds: 1, ...limits(0, 0) })])).toBe(
      'pipy: 60 sidecars had their first configuration within 1.00 s. The control plane was not the limit.',
    )
  })

  it('says that the most sidecars were configured too soon to be timed, unless something else took the time away', () => {
    const spoil = (/** @type {string[]} */ ...gates) => ({
      ...arm({ sidecars: 20 }, {}),
      spoiled: gates.map(gate => ({ gate, part: 'rollout', trials: 1, reason: 'late' })),
    })
    const timed = arm({ sidecars: 10 }, { rolloutSeconds: 0.3 })
    expect(answer([timed, spoil('resolution')]).notMeasured).toEqual([
      {
        what: 'time of the rollout of pipy',
        why: '20 sidecars are configured too soon for this machine to time: take more with --sidecars',
        commands: [],
      },
    ])
    for (const arms of [[timed], [spoil()], [spoil('resolution', 'probe-cost')]])
      expect(answer(arms).notMeasured).toEqual([])
  })
})
