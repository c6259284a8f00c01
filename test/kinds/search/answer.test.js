import { describe, expect, it } from 'vitest'
import { parseNodeOptions } from '../../../src/kinds/search/nodes.js'
import { createResultSoFar, startSearch } from '../../../src/kinds/search/searches.js'
import { renderTrialTables } from '../../../src/kinds/search/trial-rows.js'
import { renderFindings } from '../../../src/kinds/sections.js'
import { createRequestKind } from '../../../src/model/requests.js'
import { createAnswer } from '../../../src/report/answer/answer.js'
import { renderAnswerText } from '../../../src/report/answer/text.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, runSearch } from '../../fakes/fake-search.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @import { AnsweredSize } from '../../../src/kinds/search/size-answer.js' @import { Answered as AnsweredResult } from '../../../src/kinds/sections.js'
 * @import { SizeResult } from '../../../src/model/types.ts' */

const MIB = 2 ** 20
/** @param {string} plane @param {Parameters<typeof createFakeSidecar>[0]} truth @param {number} [neighbourCores] */
const sizeOf = (plane, truth, neighbourCores) => {
  const template = createArm({
    plane,
    id: plane,
    load: { kind: 'open', ratePerSecond: 120, windowSeconds: 9 },
    conditions: neighbourCores === undefined ? {} : { neighbourCores },
  })
  const spec = {
    kind: /** @type {const} */ ('size'),
    p99Ms: 80,
    precision: 0.05,
    isExtrapolated: false,
    trialsToConfirm: 3,
  }
  return /** @type {AnsweredSize} */ (
    runSearch(startSearch({ template, spec, cpus: 2 }), createFakeSidecar(truth)).result
  )
}
const pipy = sizeOf('pipy', { cores: 0.04, peakBytes: 20 * MIB })
const envoy = sizeOf('envoy', { cores: 0.15, peakBytes: 70 * MIB })
const busy = sizeOf('envoy', { cores: 0.15, peakBytes: 70 * MIB, spoiledEvery: 1 })
const tooMuch = sizeOf('envoy', { cores: 3 })
/** @param {AnsweredSize[]} sizes */
const summaryOf = sizes =>
  createSummary([{ plane: 'pipy', load: { payloadBytes: 14336 } }], { sizes, searches: [], machine: { cpus: 2 } })
/** @param {AnsweredSize[]} sizes @param {AnsweredResult['place']} [place] */
const answer = (sizes, place) => createAnswer(summaryOf(sizes), { place })
/** @param {AnsweredSize[]} sizes @param {AnsweredResult['place']} [place] */
const render = (sizes, place) =>
  renderAnswerText(answer(sizes, place), { more: ['Paste: --format yaml, helm, compose'] })
const fleet = { node: parseNodeOptions('2c4g', '1c,2g'), nodes: 300 }

describe('the answer of a size', () => {
  it('leads with requests, limits, the p99 at them, how often it was met, and the pods that fit', () => {
    const [{ columns, rows }] = answer([pipy, envoy], fleet).pictures
    expect(columns.map(({ heading }) => heading)).toEqual([
      ...['CPU request', 'CPU limit', 'memory limit', 'p99 ≤ 80 ms', 'met', 'pods on 2c4g', ''],
    ])
    expect(rows.map(({ label, cells }) => [label, ...cells.map(cell => cell?.text)])).toEqual([
      // 0.04 × 1.15, and place 7 of the grid: the one below is the first that is more than 15 % above; 1000 / 54 pods.
      ['pipy', '46m', '54m', '30Mi', '5.0 ms', '3 of 3', '18', 'confirmed'],
      ['envoy', '173m', '216m', '105Mi', '5.0 ms', '3 of 3', '4', 'confirmed'],
    ])
  })

  it('leads with the CPU request, without a limit, beside a neighbour', () => {
    const truth = { cores: 0.04, peakBytes: 20 * MIB }
    const beside = answer([sizeOf('pipy', truth, 2)], fleet)
    expect(beside.pictures[0].rows[0].cells.map(cell => cell?.text)).toEqual([
      ...['54m', 'no limit', '30Mi', '5.0 ms', '3 of 3', '18', 'confirmed'],
    ])
    const requests = (/** @type {typeof beside} */ { basis }) => basis.filter(line => line.startsWith('CPU requests'))
    const tried = 'CPU requests were tried without a CPU limit'
    expect(requests(beside)).toEqual([`${tried}.`])
    expect(requests(answer([sizeOf('pipy', truth, 1)]))).toEqual([
      `${tried}: the neighbour left 1 of 2 CPUs to all, whatever they request (--neighbour 2c fills this machine).`,
    ])
    expect(requests(answer([pipy]))).toEqual([])
    expect(renderTrialTables([sizeOf('pipy', truth, 2)]).join(' ')).toContain(
      'CPU: the request of each sidecar, without a CPU limit, beside the neighbour.',
    )
  })

  it('says what the first plane saves a pod, and on the nodes of a fleet', () => {
    // 188 - 47 and 105 - 30; times 300.
    expect(answer([pipy, envoy], fleet).verdicts).toEqual([
      'The limits of a pod with pipy: 162m less CPU and 75Mi less memory than with envoy: 48.6 cores and 22.0 GiB less on 300 nodes.',
      'On 300 nodes, one such pod each: pipy 16.2 cores and 8.8 GiB; envoy 64.8 cores and 30.8 GiB.',
    ])
    expect(answer([pipy]).verdicts).toEqual([
      'pipy needs 54m CPU and 30Mi memory: confirmed: 3 of 3 trials at these limits met the p99; the next will below 5 ms.',
    ])
  })

  it('says which memory a limit counts, and that it was tried so where it was', () => {
    const memoryOf = (/** @type {AnsweredSize} */ size) =>
      answer([size]).basis.find(line => line.startsWith('Memory is')) ?? null
    expect(memoryOf(pipy)).toBe(
      "Memory is what a pod's limit counts: its working set and droppable file pages, against which it was tried; neither RSS nor PSS.",
    )
    const untried = /** @type {AnsweredSize} */ ({ ...pipy, answer: { ...pipy.answer, trials: [] } })
    expect(memoryOf(untried)).not.toContain('tried')
    expect(memoryOf(tooMuch)).toBeNull()
  })

  it.each([
    ['30ms', '30 ms.'],
    ['exp:10ms', '10 ms on average and 46.1 ms at its own p99.'],
  ])('says what service time of %s is in the p99', (serviceTime, words) => {
    const load = { requests: [createRequestKind({ serviceTime, method: 'GET', responseBytes: 2048 }, 1)] }
    const summary = createSummary([{ plane: 'pipy', load }], { sizes: [pipy], searches: [], machine: { cpus: 2 } })
    const basis = createAnswer(summary, {}).basis.find(line => line.includes('service time'))
    expect(basis).toBe(`The p99 includes the service time of the application, ${words}`)
  })

  it('fits a screen', () => {
    for (const lines of [render([pipy, envoy], fleet), render([pipy, busy, tooMuch], fleet)].map(t => t.split('\n'))) {
      expect(lines.length).toBeLessThanOrEqual(16)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
    }
  })

  it('keeps the pods that fit on a screen where trials at confirmed limits were not judged', () => {
    const istio = sizeOf('envoy', { cores: 0.15, peakBytes: 70 * MIB })
    const spoiled = { ...istio, profile: 'istio', answer: { ...istio.answer, notJudged: 1 } }
    const text = render([pipy, spoiled], fleet)
    expect(text).toContain('  envoy:istio  ')
    expect(text).toMatch(/met +pods on 2c4g/)
  })

  it('says of an estimate that it is one, and why', () => {
    const { pictures, warnings } = answer([pipy, busy])
    expect(pictures[0].rows[1].cells.map(cell => cell?.text)).toEqual([
      ...['173m', expect.anything(), expect.anything(), undefined, '0 of 0, 4 not judged', 'estimated'],
    ])
    expect(warnings).toEqual(['envoy: estimated: no trial at these limits could be judged: a busy neighbour.'])
  })

  it('says that limits were confirmed while other programs used the CPUs', () => {
    const beside = sizeOf('envoy', { cores: 0.15, peakBytes: 70 * MIB, isBeside: true })
    expect(beside.answer).toMatchObject({ state: 'confirmed', met: 3, besideOthers: 3 })
    expect(answer([beside]).pictures[0].rows[0].cells.map(cell => cell?.text)).toContain('3 of 3, beside others')
    expect(answer([pipy, beside]).warnings).toEqual([
      'Other programs used the CPUs in trials that met the p99 all the same (envoy in 3 of 3): on a quiet node less may do.',
    ])
    expect(pipy.answer).not.toHaveProperty('besideOthers')
  })

  it('says of a load that this machine cannot show why it has no limits', () => {
    const { pictures, warnings } = answer([pipy, tooMuch], fleet)
    expect(pictures[0].rows[1].cells.at(-1)).toEqual({ text: 'no limits here' })
    expect(warnings).toEqual(['envoy: no limits: with 2 CPUs: bound by the sidecar.'])
  })
})

describe('the report of a size', () => {
  it('lists every trial with its limits, state, p99 and why', () => {
    const lines = renderFindings(summaryOf([pipy, busy]))
    for (const { trial, why } of [...(pipy.trials ?? []), ...(busy.trials ?? [])])
      expect(lines.some(line => line.includes(` ${trial} `) && line.includes(why))).toBe(true)
    expect(renderTrialTables([busy]).filter(line => line.includes('not judged'))).toHaveLength(6)
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
          createResultSoFar({ template, spec, cpus: 2, tried: trials.slice(0, i + 1), isOver: false })
        ),
    )
    expect(cut.slice(0, -1).map(({ answer }) => answer?.state)).toEqual(cut.slice(1).map(() => 'estimated'))
    expect(cut.at(-1)?.answer?.state).toBe('confirmed')
    expect(cut.every(({ answer }) => answer?.limits !== null)).toBe(true)
  })
})
