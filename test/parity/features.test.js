import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FEATURES } from '../../src/model/features.js'
import { listLogDifferences } from '../../src/parity/features/access-log.js'
import { listTraceDifferences } from '../../src/parity/features/headers.js'
import {
  collectAnswersWhileEjected,
  listBrokenDifferences,
  listEjectionDifferences,
} from '../../src/parity/features/outlier-ejection.js'
import { listLimitDifferences, listRetryDifferences } from '../../src/parity/features/refusals.js'
import { parseRouteMetrics } from '../../src/parity/features/route-metrics.js'

const line = {
  ...Object.fromEntries(FEATURES['access-log'].fields.map(field => [field, null])),
  ...{ start_time: '2026-11-22T15:00:00.123Z', method: 'POST', duration: 1, time_to_first_byte: 0 },
  ...{ upstream_cluster: 'server', upstream_host: '127.0.0.1:15003' },
}
const expected = { method: 'POST', upstream_cluster: 'server' }

describe('listLogDifferences', () => {
  it('finds nothing wrong with a line of all fields', () => expect(listLogDifferences([line], expected)).toEqual([]))

  it('names what a line lacks, has beyond the fields, and has otherwise', () => {
    const { method, ...others } = line
    expect(listLogDifferences([{ ...others, more: 1, duration: '1' }], expected)).toEqual([
      'no method at client',
      'more beyond the fields at client',
      'method undefined at client, expected "POST"',
      'duration "1" at client',
    ])
  })

  it('wants one line for a request', () => {
    expect(listLogDifferences([], expected)).toEqual(['0 lines for one request at client'])
    expect(listLogDifferences([line, line], expected)).toEqual(['2 lines for one request at client'])
  })
})

describe('listTraceDifferences', () => {
  const [one, two, trace] = ['1', '2'].map(digit => digit.repeat(32)).concat('4bf92f3577b34da6a3ce929d0e0e4736')
  const created = [one, two].map(id => `00-${id}-00f067aa0ba902b7-00`)
  const continued = `00-${trace}-1111111111111111-01`

  it('finds nothing wrong with two new traces and one that goes on', () =>
    expect(listTraceDifferences({ created, continued, tracestate: 'vendor=1' })).toEqual([]))

  it('names a trace that is not made, not of its own, or goes on as the same span', () => {
    expect(listTraceDifferences({ created: [undefined, created[0]], continued, tracestate: undefined })).toEqual([
      'traceparent none, made of none',
      'tracestate undefined, passed on of vendor=1',
    ])
    expect(listTraceDifferences({ created: [created[0], created[0]], continued, tracestate: 'vendor=1' })).toEqual([
      'two requests in one trace',
    ])
    const same = `00-${trace}-00f067aa0ba902b7-01`
    expect(listTraceDifferences({ created, continued: same, tracestate: 'vendor=1' })).toEqual([
      `traceparent ${same}, passed on of ${trace}`,
    ])
  })
})

describe('parseRouteMetrics', () => {
  const names = { path: '/', requests: 'requests', durations: 'ms' }
  const text = (/** @type {number} */ last) => `# TYPE requests counter
requests{route="a",code="200"} 3
requests{route="a",code="503"} 1
requests{route="b",code="200"} 9
ms_bucket{route="a",le="0.5"} 1
ms_bucket{route="a",le="+Inf"} ${last}
ms_count{route="a"} 4
`
  it('sums a route over its codes', () =>
    expect(parseRouteMetrics(text(4), names, '"a"')).toEqual({ requests: 4, durations: 4, isCumulative: true }))

  it('sees buckets that are not cumulative', () =>
    expect(parseRouteMetrics(text(0), names, '"a"').isCumulative).toBe(false))

  it('is 0 without metrics', () =>
    expect(parseRouteMetrics('', names, 'a')).toEqual({ requests: 0, durations: 0, isCumulative: true }))
})

describe('listLimitDifferences', () => {
  const answers = (/** @type {number} */ passed, /** @type {number} */ refused) => [
    ...Array.from({ length: passed }, () => 200),
    ...Array.from({ length: refused }, () => 429),
  ]
  it('wants as many as the limit to come through, and some not', () => {
    expect(listLimitDifferences(answers(12, 28), 200)).toEqual([])
    expect(listLimitDifferences(answers(9, 31), 200)).toEqual(['9 of 40 answered 200, 31 429'])
    expect(listLimitDifferences(answers(40, 0), 200)).toEqual(['40 of 40 answered 200, 0 429'])
  })

  it('wants others to come through later, and no other answer', () => {
    expect(listLimitDifferences(answers(10, 30), 429)).toEqual(['429 after the limit was filled again'])
    expect(listLimitDifferences([...answers(10, 29), 503], 200)).toEqual(['an answer other than 200 and 429'])
  })
})

describe('listEjectionDifferences', () => {
  const answers = (/** @type {string[]} */ ...upstreams) => upstreams.map(upstream => ({ status: 200, upstream }))

  it('wants every request at the endpoint that is left, and the other back after its time', () => {
    expect(listEjectionDifferences({ answers: answers('a', 'a'), backSeconds: 2.1 })).toEqual([])
    expect(listEjectionDifferences({ answers: answers('a', 'b'), backSeconds: 0.2 })).toEqual([
      '1 of 2 requests not at the endpoint that was left',
      'back 0.2 s after an ejection of 2 s',
    ])
    expect(listEjectionDifferences({ answers: answers('a'), backSeconds: null })).toEqual([
      'not back 5 s after an ejection of 2 s',
    ])
  })

  it('leaves out what is answered when the other may be back, on a machine so busy', async () => {
    const ask = async (/** @type {number} */ i) => answers(i < 4 ? 'a' : 'b')[0]
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const slowly = (/** @type {number} */ i) => {
      vi.advanceTimersByTime(450)
      return ask(i)
    }
    const inTime = await collectAnswersWhileEjected(slowly, performance.now())
    vi.useRealTimers()
    expect(inTime).toEqual(answers('a', 'a', 'a', 'a'))
    expect(await collectAnswersWhileEjected(ask, performance.now())).toHaveLength(10)
    const none = ['no request was answered within the 2 s of an ejection']
    expect(listEjectionDifferences({ answers: [], backSeconds: 2.1 })).toEqual(none)
    expect(listBrokenDifferences(3, [])).toEqual(none)
    expect(listBrokenDifferences(3, answers('b', 'b'))).toEqual([])
    expect(listBrokenDifferences(3, answers('b', 'a'))).toEqual(['1 of 2 requests served after 3 broken connections'])
  })
})

describe('listRetryDifferences', () => {
  it('wants as many tried again as the budget has, and others again later', () => {
    expect(listRetryDifferences([504, 504, 503, 504, 503, 504, 503, 504], [504, 504])).toEqual([])
    expect(listRetryDifferences([504, 504, 504, 504, 504, 504, 504, 504], [504, 503])).toEqual([
      '0 of 8 requests not tried again, expected 3',
      'a request not tried again when the others had ended',
    ])
    expect(listRetryDifferences([504, 503, 503, 200, 503, 504, 504, 504], [504, 504])).toEqual([
      'answered 200, expected 503 and 504',
    ])
  })
})
