import { describe, expect, it } from 'vitest'
import { renderFindings } from '../../../src/kinds/sections.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @import { ResultOf, SearchResult, SizeResult } from '../../../src/model/types.ts' */

const MIB = 2 ** 20
/** @type {SearchResult} */
const knee = {
  ...{
    plane: 'pipy',
    variant: null,
    profile: null,
    link: 'pair',
    looksFor: 'knee',
    unit: 'requests/s',
    unchargedBytes: null,
  },
  ...{ held: 993, failed: 1037, why: 'p99 60.0 ms, over 50 ms', isFound: true },
  steps: [
    { value: 993, held: true, why: 'held: p99 9.9 ms', trials: ['s1', 's2'] },
    { value: 1037, held: false, why: 'p99 60.0 ms, over 50 ms', trials: ['s3', 's4'] },
    { value: 1010, held: null, why: 'a neighbour', trials: ['s5'] },
  ],
}
/** @type {SearchResult} */
const cpu = { ...knee, looksFor: 'cpu', unit: 'cores', held: 0.3273, failed: 0.2846, why: 'slow', steps: [] }
/** @type {SearchResult} */
const memory = {
  ...{ ...knee, looksFor: 'memory', unit: 'bytes', held: 5 * MIB, failed: 4.75 * MIB, why: 'killed', steps: [] },
  unchargedBytes: 3e6,
}
/** @type {SizeResult} */
const size = {
  ...{ plane: 'pipy', variant: null, profile: null, cpu, memory, isChecked: true, extrapolated: null },
  ...{ ratePerSecond: 500, p99LimitMs: 20, p99Ms: 9.9, services: [], line: null },
  checks: [
    { what: 'at the answer', mustHold: true, held: true, why: 'held: p99 9.9 ms', trials: ['s1', 's2'] },
    { what: 'at 0.7 × the CPU', mustHold: false, held: false, why: 'bound by the sidecar', trials: ['s3'] },
  ],
}
const CPU =
  'pipy, pair: smallest CPU limit that holds: 0.3273 cores; the bracket is [0.2846 cores failed, 0.3273 cores held]: slow'
const MEMORY =
  'pipy, pair: smallest memory limit that holds: 5.00 MiB; the bracket is [4.75 MiB failed, 5.00 MiB held]: killed'

/** @param {Partial<Pick<ResultOf<'search'>, 'searches' | 'sizes'>>} findings */
const render = findings => renderFindings(createSummary([{ plane: 'pipy' }], findings))

describe('the findings of a search', () => {
  it('says the answer, its bracket and every step with its trials', () => {
    expect(render({ searches: [knee] })).toEqual([
      'pipy, pair: highest rate that holds: 993 requests/s; the bracket is [1037 requests/s failed, 993 requests/s held]: p99 60.0 ms, over 50 ms',
      '    993 requests/s   held       held: p99 9.9 ms (s1, s2)',
      '    1037 requests/s  failed     p99 60.0 ms, over 50 ms (s3, s4)',
      '    1010 requests/s  not judged a neighbour (s5)',
    ])
  })

  it('says why there is no answer, and up to where there is', () => {
    const [up, none] = [819200, null].map(held =>
      render({ searches: [{ ...knee, held, failed: null, isFound: false, why: 'nothing failed', steps: [] }] }),
    )
    expect(up).toEqual([
      'pipy, pair: highest rate that holds: not reachable on this machine beyond 819200 requests/s: nothing failed',
    ])
    expect(none).toEqual(['pipy, pair: highest rate that holds: not reachable on this machine: nothing failed'])
  })

  it('calls nothing unreachable if others spoiled the trials', () => {
    const steps = [{ ...knee.steps[0], held: null, why: 'a neighbour' }]
    const searches = [{ ...knee, held: null, failed: null, isFound: false, why: 'a neighbour', steps }]
    expect(render({ searches })[0]).toBe(
      'pipy, pair: highest rate that holds: no answer, for not every value could be judged: a neighbour',
    )
  })

  it('says where nothing failed', () => {
    const [line] = render({ searches: [{ ...memory, failed: null, why: 'nothing failed' }] })
    expect(line).toContain('the bracket is [nothing failed, 5.00 MiB held]: nothing failed')
  })

  it('is empty without a search', () => expect(render({ searches: [] })).toEqual([]))
})

describe('the findings of a sizing', () => {
  it('gives the limits for a pod spec, rounded up, with how they were checked', () => {
    expect(render({ sizes: [size] })).toEqual([
      CPU,
      MEMORY,
      // 5242880 + 3000000 bytes are 7.86 MiB, in whole limits 8.
      '  memory limit to give: 8 MiB, above every limit that killed here, with 2.9 MiB of file pages that were not charged to the sidecar',
      '  checked at the answer: holds, as it must (held: p99 9.9 ms; 2 trials)',
      '  checked at 0.7 × the CPU: does not hold, as it must (bound by the sidecar; 1 trials)',
      '  pipy, for the pod spec of each sidecar:',
      '    resources:',
      '      requests: { cpu: 328m, memory: 8Mi }',
      '      limits: { cpu: 328m, memory: 8Mi }',
      '',
    ])
  })

  it('does not mention file pages if there were almost none', () => {
    const lines = render({ sizes: [{ ...size, memory: { ...memory, unchargedBytes: 0 } }] })
    expect(lines.join('\n')).not.toContain('file pages')
    expect(lines).toContain('      limits: { cpu: 328m, memory: 5Mi }')
  })

  it('says loudly that the answer did not pass its check', () => {
    const [check] = size.checks
    const checks = [
      { ...check, held: false },
      { ...check, held: null },
    ]
    const lines = render({ sizes: [{ ...size, isChecked: false, checks }] })
    expect(lines.slice(3, 6)).toEqual([
      '  checked at the answer: does not hold, AND IT MUST NOT BE SO (held: p99 9.9 ms; 2 trials)',
      '  checked at the answer: not judged (held: p99 9.9 ms; 2 trials)',
      '  pipy: the answer did NOT pass its own check; what was found:',
    ])
  })

  it('gives no limits if one was not found', () => {
    const text = (/** @type {Partial<SizeResult>} */ fields) => render({ sizes: [{ ...size, ...fields }] }).join('\n')
    const checks = [{ ...size.checks[0], what: 'at the CPU limit alone', held: null, why: 'a neighbour' }]
    expect(render({ sizes: [{ ...size, memory: null, checks, isChecked: false }] })).toEqual([
      CPU,
      '  no limits are given, and no memory was tried:',
      '  checked at the CPU limit alone: not judged (a neighbour; 2 trials)',
      '',
    ])
    expect(text({ memory: { ...memory, isFound: false } })).not.toContain('resources')
    expect(text({ cpu: { ...cpu, held: null, isFound: false }, memory: null })).not.toContain('resources')
  })

  it('says of an extrapolation that it is one, and through which points', () => {
    const extrapolated = {
      ...{ cores: 10.1, baseMillicores: 100, slopeMillicoresPerRequestPerSecond: 2.5 },
      points: [593, 395].map(ratePerSecond => ({
        ...{ ratePerSecond, millicores: 100 + 2.5 * ratePerSecond, residualMillicores: 0 },
      })),
    }
    const none = { ...cpu, held: null, failed: 2, isFound: false, why: 'at 2 cores: slow' }
    expect(render({ sizes: [{ ...size, cpu: none, memory: null, checks: [], extrapolated }] })).toEqual([
      'pipy, pair: smallest CPU limit that holds: not reachable on this machine: at 2 cores: slow',
      '  EXTRAPOLATED, not measured: about 10.10 cores for the busiest sidecar, by the line 100 millicores + 250.0 per 100 requests/s through 593/s 1583, 395/s 1088',
      '',
    ])
  })
})
