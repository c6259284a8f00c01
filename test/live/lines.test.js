import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { formatValue, QUANTITIES } from '../../src/judge/quantities.js'
import { growthPart, renderGrowthEndings } from '../../src/kinds/growth/numbers.js'
import { createLineView, renderTrialLine } from '../../src/live/lines.js'
import { createRunState } from '../../src/live/state.js'
import { listArms, listComparisons } from '../../src/model/results.js'
import { createFakeLoad, createFakeTarget } from '../fakes/fake-bench.js'
import { createArm, createRecord } from '../fakes/fake-records.js'
import { runFake } from '../fakes/fake-run.js'
import { makeFolder } from '../fakes/scratch.js'
import { ARMS, endRepeat, endTrial, plan } from './fake-events.js'

/** @import { ProcessSpec } from '../../src/model/types.ts' @import { RunEvent } from '../../src/run/events.js' */

function createLines() {
  const state = createRunState()
  /** @type {string[]} */
  const lines = []
  const view = createLineView({ state, say: line => lines.push(line) })
  const publish = (/** @type {RunEvent} */ event) => {
    state.apply(event)
    view.publish(event)
  }
  return { lines, publish }
}

describe('a line', () => {
  const withGap = (/** @type {number} */ largestGapSeconds) => {
    const record = /** @type {any} */ (createRecord())
    return renderTrialLine({ ...record, samples: { ...record.samples, source: 'cgroup', largestGapSeconds } })
  }

  it('says that samples came late, if one was missed by more than 0.1 s', () => {
    expect(withGap(0.19)).not.toContain('gap')
    expect(withGap(0.42)).toContain(', sampled with a gap of 0.4 s')
  })

  it('is printed for a repeat, and for a trial only if it failed, or a gate found something new', () => {
    const { lines, publish } = createLines()
    const [none, cheap, dear] = ARMS
    const gates = [{ gate: 'neighbour', spoils: /** @type {any} */ ([]), reason: 'busy' }]
    const invalid = { outcome: /** @type {const} */ ('invalid'), reasons: ['busy'], gates }
    publish(plan())
    publish(endTrial({ arm: none, processes: [] }))
    publish(endTrial({ arm: cheap }))
    publish(endTrial({ arm: dear, ...invalid }))
    publish(endRepeat(1))
    publish(endTrial({ arm: dear, round: 2, ...invalid }))
    publish(endTrial({ arm: cheap, round: 2, outcome: 'failed', reasons: ['it died'] }))
    publish(endRepeat(2, { secondsLeft: 0 }))
    expect(lines).toEqual([
      expect.stringMatching(/^repeat 1 of 2: link-dear: 1000 requests\/s.*, invalid: busy$/),
      expect.stringMatching(
        /^at 0\.25 CPU each, repeat 1 of 2 \(60 s left\), medians so far: none 1000 requests\/s, cheap \d+ µs/,
      ),
      'repeat 1 of 2: link-cheap: failed: it died',
      expect.stringMatching(
        /^at 0\.25 CPU each, repeat 2 of 2, medians so far: .* than dear \(1 repeat: no interval yet\)$/,
      ),
    ])
  })
})

describe('a number of a line', () => {
  let folder = ''
  beforeEach(() => {
    folder = path.join(makeFolder('lines-test'), 'run')
  })
  const cores = (/** @type {ProcessSpec} */ { role, armId = '', folder }) =>
    role !== 'sidecar' ? 0.05 : `${armId} ${folder}`.includes('dear') ? 0.2 : 0.1

  it.each(['cost', 'capacity'])('is that of the report: %s', async kind => {
    const { lines, publish } = createLines()
    // Each repeat has another rate, so that a median is none of the last.
    let calls = 0
    const load = createFakeLoad({ results: () => ({ verified: 1000 - 40 * (++calls % 5) }) })
    const more = `measure: [${kind}]`
    const { summary } = await runFake({ folder, target: await createFakeTarget({ cores }), load, more, watch: publish })
    const last = `${lines.at(-1)}`
    const arms = listArms(summary).filter(({ repeatOf }) => repeatOf === null)
    expect(arms.length).toBeGreaterThanOrEqual(2)
    for (const arm of arms) {
      const cost = arm.cpuPerRequestMicros.median
      if (cost !== null) expect(last).toContain(`${arm.plane} ${formatValue(QUANTITIES.cpuPerRequest, cost)} µs`)
      const rate = formatValue(QUANTITIES.throughput, Number(arm.throughputPerSecond.median))
      if (kind === 'capacity') expect(last).toContain(`${rate} requests/s`)
      else expect(last).not.toContain('requests/s')
    }
    const [pair] = listComparisons(summary).filter(c => c.quantity === 'cpuPerRequest' && !c.service && !c.isControl)
    expect(last).toContain(
      `cheap uses ${(100 * (1 - Number(pair.ratio.median))).toFixed(1)} % less CPU per request than dear`,
    )
    expect(lines).toHaveLength(kind === 'capacity' ? 6 : 12)
  })

  it('is that of the report: a trial of a search, at the seconds of its own load', () => {
    const arm = createArm({ plane: 'cheap', load: { kind: 'open', ratePerSecond: 100 } })
    const record = createRecord({ arm, load: { verified: 540, interleaved: { seconds: 0.5, perTenth: [] } } })
    const rate = formatValue(QUANTITIES.throughput, Number(QUANTITIES.throughput.measure({ record })))
    expect(renderTrialLine(record)).toContain(`${rate} requests/s`)
    // Over the whole window it would be half as much.
    expect(rate).toBe('1080')
  })

  it('is that of the report: how long a rollout took, and nothing if the report has nothing', () => {
    const first = { seconds: 1.234, each: {}, censoredSeconds: 0, lastCensoredSeconds: 0, hostIdle: 0.9 }
    const numbers = /** @type {any} */ ({ sidecars: 20, cpus: 2, first })
    const record = /** @type {any} */ ({ ...createRecord({ rollout: numbers }), load: null })
    const row = QUANTITIES.rolloutSeconds
    const seconds = formatValue(row, Number(row.measure({ record })))
    expect(seconds).toBe('1.23')
    expect(renderTrialLine(record)).toContain(`20 sidecars: rollout ${seconds} s`)
    expect(renderTrialLine(record)).not.toContain('undefined')
    const late = { ...numbers, first: { ...first, lastCensoredSeconds: 1 } }
    expect(renderTrialLine({ ...record, rollout: late })).toContain('20 sidecars: rollout not timed')
  })

  it('is that of the report: how far a growth came', () => {
    const ended = { sidecars: 300, reason: /** @type {any} */ ('deadline'), what: 'late', seconds: 1 }
    const growth = /** @type {any} */ ({ sidecars: 200, ended, steps: [] })
    const rounds = [{ sidecars: 200, failedAt: 300, reason: ended.reason }]
    const [ending] = renderGrowthEndings({ rounds: /** @type {any} */ (rounds), hasControl: true }).split(' (')
    expect(growthPart.renderProgress(growth, () => '')).toBe(ending)
    expect(renderTrialLine(createRecord({ growth }))).toContain(ending)
  })
})
