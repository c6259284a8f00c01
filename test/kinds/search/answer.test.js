import { describe, expect, it } from 'vitest'
import { listTrialRows, renderAnswer, sayAnswer } from '../../../src/kinds/search/answer.js'
import { readNode } from '../../../src/kinds/search/nodes.js'
import { describeTrials, startSearch } from '../../../src/kinds/search/searches.js'
import { tellFindings } from '../../../src/kinds/sections.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, runSearch } from '../../fakes/fake-search.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @import { Answered } from '../../../src/kinds/search/answer.js' @import { SizeResult } from '../../../src/model/types.ts' */

const MIB = 2 ** 20
/** @param {string} plane @param {Parameters<typeof createFakeSidecar>[0]} truth */
const sizeOf = (plane, truth) => {
  const template = createArm({ plane, id: plane, load: { kind: 'open', ratePerSecond: 120, windowSeconds: 9 } })
  const spec = {
    kind: /** @type {const} */ ('size'),
    p99Ms: 80,
    precision: 0.05,
    isExtrapolated: false,
    trialsToConfirm: 3,
  }
  return /** @type {Answered} */ (runSearch(startSearch({ template, spec, cpus: 2 }), createFakeSidecar(truth)).found)
}
const pipy = sizeOf('pipy', { cores: 0.04, peakBytes: 20 * MIB })
const envoy = sizeOf('envoy', { cores: 0.15, peakBytes: 70 * MIB })
const busy = sizeOf('envoy', { cores: 0.15, peakBytes: 70 * MIB, spoiledEvery: 1 })
const tooMuch = sizeOf('envoy', { cores: 3 })
const summary = createSummary([{ plane: 'pipy', load: { payloadBytes: 14336 } }])
/** @param {Answered[]} sizes @param {Parameters<typeof renderAnswer>[1]} [options] */
const render = (sizes, options) => renderAnswer({ ...summary, sizes }, options)
const fleet = { node: readNode('2c4g', '1c,2g'), nodes: 300 }

describe('renderAnswer', () => {
  it('leads with requests, limits, the p99 at them, how often it was met, and the pods that fit', () => {
    const lines = render([pipy, envoy], fleet)
    expect(lines[0]).toContain('size · 120 requests/s · p99 at most 80 ms · POST 14 KiB, echoed')
    const rows = lines
      .filter(line => /^ {2}(each sidecar|pipy|envoy) {2}/.test(line))
      .map(line => line.trim().split(/ {2,}/))
    expect(rows).toEqual([
      ['each sidecar', 'CPU request', 'CPU limit', 'memory limit', 'p99 at it', 'met', 'pods on 2c4g'],
      // 0.04 × 1.15, and place 6 of the grid, the first that is more than 15 % above; 1000 / 47 pods.
      ['pipy', '46m', '47m', '30Mi', '5.0 ms', '3 of 3', '21', 'confirmed'],
      ['envoy', '173m', '188m', '105Mi', '5.0 ms', '3 of 3', '5', 'confirmed'],
    ])
  })

  it('says what the first plane saves a pod, and on the nodes of a fleet', () => {
    const text = render([pipy, envoy], fleet).join('\n').replaceAll(/\n */g, ' ')
    // 188 - 47 and 105 - 30; times 300.
    expect(text).toContain('pipy needs 141m less and 75Mi less a pod than envoy: 42.3 cores and 22.0 GiB on 300 nodes.')
    expect(text).toContain(
      'On 300 nodes, one such pod each: pipy 14.1 cores and 8.8 GiB; envoy 56.4 cores and 30.8 GiB.',
    )
  })

  it('fits a screen: 100 columns, and 16 lines of two planes beside what was asked with --node and --nodes', () => {
    expect(render([pipy, envoy]).length).toBeLessThanOrEqual(16)
    for (const line of render([pipy, busy], fleet)) expect(line.length).toBeLessThanOrEqual(110)
  })

  it('says of an estimate that it is one, and why', () => {
    const text = render([pipy, busy]).join('\n').replaceAll(/\n */g, ' ')
    expect(text).toMatch(/envoy +173m .* 0 of 0, 4 not judged +estimated/)
    expect(text).toContain('envoy: estimated: no trial at these limits could be judged: a busy neighbour.')
  })

  it('says of a load that this machine cannot show why it has no limits', () => {
    const text = render([pipy, tooMuch], fleet).join('\n').replaceAll(/\n */g, ' ')
    expect(text).toMatch(/envoy +- +- +- +- +0 of \d - +no limits here|envoy .*no limits here/)
    expect(text).toContain('envoy: no limits: with 2 CPUs: bound by the sidecar.')
  })
})

describe('the report of a size', () => {
  it('has the state of the answer in a line', () => {
    expect(sayAnswer(pipy)).toBe(
      'pipy, 120 requests/s with a p99 of at most 80 ms: CPU request 46m, CPU limit 47m, memory limit 30Mi; confirmed: 3 of 3 trials at these limits met the p99; the next will below 5 ms',
    )
  })

  it('lists every trial with its limits, state, p99 and why', () => {
    const lines = tellFindings({ ...summary, sizes: [pipy, busy] })
    for (const { trial, why } of [...(pipy.trials ?? []), ...(busy.trials ?? [])])
      expect(lines.some(line => line.includes(` ${trial} `) && line.includes(why))).toBe(true)
    expect(listTrialRows([busy]).filter(line => line.includes('not judged'))).toHaveLength(6)
  })

  it('has an answer for a search that was cut short after any trial', () => {
    const template = createArm({
      plane: 'pipy',
      id: 'pipy',
      load: { kind: 'open', ratePerSecond: 120, windowSeconds: 9 },
    })
    const spec = {
      kind: /** @type {const} */ ('size'),
      p99Ms: 80,
      precision: 0.05,
      isExtrapolated: false,
      trialsToConfirm: 3,
    }
    const { trials } = runSearch(
      startSearch({ template, spec, cpus: 2 }),
      createFakeSidecar({ cores: 0.04, peakBytes: 20 * MIB }),
    )
    const cut = trials.map(
      (_, i) =>
        /** @type {SizeResult} */ (
          describeTrials({ template, spec, cpus: 2, tried: trials.slice(0, i + 1), isOver: false })
        ),
    )
    expect(cut.slice(0, -1).map(({ answer }) => answer?.state)).toEqual(cut.slice(1).map(() => 'estimated'))
    expect(cut.at(-1)?.answer?.state).toBe('confirmed')
    expect(cut.every(({ answer }) => answer?.limits !== null)).toBe(true)
  })
})
