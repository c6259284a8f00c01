import { describe, expect, it } from 'vitest'
import { findTrialBound } from '../../src/judge/gates/gate.js'
import { isSteady, judgeTrial, listGateFindings, USES } from '../../src/judge/gates.js'
import { QUANTITIES } from '../../src/judge/quantities.js'
import { createRequestKind } from '../../src/model/requests.js'
import { loadResult } from '../../src/model/schemas/load-result.js'
import { createFakeProcess, createRecord } from '../fakes/fake-records.js'

const bound = (
  /** @type {any[]} */ processes,
  idleFraction = 0.5,
  kind = /** @type {'closed' | 'open'} */ ('closed'),
) => findTrialBound({ processes, generatorCpus: 1, idleFraction, kind })

const HOST = { cpus: 2, idleFraction: 0.5, stealFraction: 0, foreignCores: 0 }
const FAR = { cpus: 4, idleFraction: 0.01, stealFraction: 0, foreignCores: 2.5, clockAheadMs: 0, roundTripMs: 0.2 }

describe('what bound a trial of the open loop', () => {
  const arm = { load: { kind: /** @type {const} */ ('open'), users: 64, ratePerSecond: 100 } }
  const BURST = { factor: 10, beginsSeconds: 0.2, seconds: 0.5 }
  /** @param {Partial<import('../../src/model/types.ts').LoadResult>} load @param {typeof BURST | null} [burst] */
  const boundOf = (load, burst = null) => {
    const record = createRecord({
      arm: { load: { ...arm.load, burst } },
      load: { reportedUsers: null, lagP99Ms: 0, ...load },
    })
    const { boundBy, gates } = judgeTrial(/** @type {any} */ (record), ['steady'])
    return [boundBy, ...gates.map(({ gate }) => gate)]
  }

  it('are the drops if requests that were due never started, of a burst, too', () => {
    // A second at 100/s in which ten times as much was due for half a second.
    expect(boundOf({ due: 550, verified: 300, dropped: 250 }, BURST)).toEqual(['drops', 'drops', 'knee'])
    expect(boundOf({ due: 550, verified: 550, dropped: 0 }, BURST)).toEqual(['rate'])
  })

  it('is another rate if the generator was told of one: nobody else knows what was due', () => {
    for (const due of [98, 102, 550]) expect(boundOf({ due, verified: due, dropped: 0 })).toContain('asked-rate')
    // A burst that was not sent.
    expect(boundOf({ due: 100, verified: 100, dropped: 0 }, BURST)).toContain('asked-rate')
    for (const due of [99, 100, 101]) expect(boundOf({ due, verified: due, dropped: 0 })).toEqual(['rate'])
  })

  it('is what it was in runs whose generator did not count what was due', () => {
    expect(boundOf({ verified: 60, dropped: 40 })).toEqual(['rate', 'drops', 'knee'])
  })
})

describe('a loud pair', () => {
  /** @type {any} */
  const LOUD = { due: 2000, verified: 2000, failed: 0, failures: [], quiet: [500, 500] }
  /** A process of a pair, the first of which is loud. @param {number} pair @param {Parameters<typeof createFakeProcess>[0]} [fields] */
  const inPair = (pair, fields) =>
    createFakeProcess({
      service: pair === 1 ? 'gateway' : `gateway-of-${pair}`,
      copyOf: pair === 1 ? null : 'gateway',
      ...{ cpuLimitCores: null, cpuLimitReadBackCores: null },
      ...fields,
    })
  const podsOf = (/** @type {number[]} */ bytes) =>
    bytes.map((receivedBytes, i) => ({
      service: i === 0 ? 'gateway' : `gateway-of-${i + 1}`,
      ...{ copyOf: i === 0 ? null : 'gateway', passages: 1, receivedBytes },
    }))
  /**
   * @param {import('../../src/model/types.ts').ProcessRecord[]} processes
   * @param {{ loud?: any, load?: any, host?: any, podCpuCores?: number }} [fields]
   */
  const judge = (processes, { loud = LOUD, load, host = HOST, podCpuCores } = {}) =>
    judgeTrial(
      createRecord({
        arm: {
          cpuLimitCores: null,
          load: { kind: 'open', users: 64, ratePerSecond: 1000, loudPerSecond: 2000, ...load?.arm },
          conditions: { pairs: 3, ...(podCpuCores !== undefined && { podCpuCores }) },
        },
        ...{ processes, host },
        load: { reportedUsers: null, lagP99Ms: 0, loud: loud ?? undefined, ...load?.result },
      }),
      [],
    )
  const gatesOf = (/** @type {ReturnType<typeof judge>} */ { gates }) => gates.map(({ gate }) => gate)

  it('may be saturated: the rate of the others is judged by their own sidecars and applications', () => {
    const quiet = [2, 3].map(pair => inPair(pair))
    for (const busy of /** @type {any[]} */ ([
      { busiestThreadCores: 0.99 },
      { cpuLimitCores: 0.25, cpuLimitReadBackCores: 0.25, cpuCores: 0.25 },
    ])) {
      const { boundBy, gates } = judge([inPair(1, busy), ...quiet])
      expect(boundBy).toBe('rate')
      expect(gates).toMatchObject([{ gate: 'loud-saturated', spoils: [] }])
      // The same in a quiet pair is above the knee.
      expect(gatesOf(judge([inPair(1), inPair(2, busy), inPair(3)]))).toContain('knee')
    }
    expect(judge([inPair(1, { busiestThreadCores: 0.99 }), ...quiet]).reasons).toEqual([
      'loud-saturated: the loud pair was saturated (worker): the loud pair answered 2000 of 2000 requests that were due, and 0 failed',
    ])
  })

  it('and a proxy of all pods may be saturated: a warning that spoils nothing while the others keep their rate', () => {
    const shared = inPair(1, { service: 'node-proxy', busiestThreadCores: 0.99, pods: podsOf([4e6, 2e6, 2e6]) })
    const { boundBy, gates, reasons } = judge([shared])
    expect(boundBy).toBe('rate')
    expect(gates).toMatchObject([{ gate: 'loud-saturated', spoils: [] }])
    expect(reasons.join()).toContain('the proxy of all pods was saturated (worker)')
    const slow = judge([shared], { load: { result: { verified: 900, verifiedInSecondHalf: 450 } } })
    expect(gatesOf(slow)).toEqual(['loud-saturated', 'knee'])
    // Without a loud pair it is what bound the trial.
    const alone = judge([shared], { loud: null, load: { arm: { loudPerSecond: undefined } } })
    expect([alone.boundBy, ...gatesOf(alone)]).toEqual(['worker', 'knee'])
  })

  it('does not excuse a machine or a generator that is used up', () => {
    const all = [1, 2, 3].map(pair => inPair(pair))
    expect(gatesOf(judge(all, { host: { ...HOST, idleFraction: 0.01 } }))).toEqual(['knee'])
    const generator = createFakeProcess({ role: 'generator', cpuLimitCores: null, cpuCores: 0.9 })
    expect(gatesOf(judge([...all, generator]))).toEqual(['generator', 'knee'])
  })

  it.each([
    ['the generator counted no requests to the loud pair', null, {}],
    ['the loud pair answered 0 of 2000 requests that were due, and 2000 failed', { verified: 0, failed: 2000 }, {}],
    ['the loud pair answered 0 of 2000 requests', { verified: 0 }, { busiestThreadCores: 1 }],
    ['the loud pair answered 999 of 2000 requests', { verified: 999 }, {}],
  ])('that was not loud makes a trial invalid: %s', (reason, loud, busy) => {
    const judged = judge([inPair(1, busy), inPair(2), inPair(3)], { loud: loud && { ...LOUD, ...loud } })
    expect(judged.outcome).toBe('invalid')
    expect(judged.gates.find(({ gate }) => gate === 'not-loud')?.reason).toContain(reason)
  })

  it('of another rate than asked for makes a trial invalid, whatever share of it was answered', () => {
    const processes = [1, 2, 3].map(pair => inPair(pair))
    expect(judge(processes, { loud: { ...LOUD, due: 20, verified: 20 } })).toMatchObject({
      outcome: 'invalid',
      reasons: ['asked-rate: 20 requests to the loud pair were due in the window, and the rate asks for 2000'],
    })
  })

  it('that was less loud than asked spoils the latency beside it, unless it could do no more', () => {
    const less = { ...LOUD, verified: 1899 }
    const processes = [1, 2, 3].map(pair => inPair(pair))
    const { gates, outcome } = judge(processes, { loud: less })
    expect(outcome).toBe('completed')
    expect(gates).toMatchObject([{ gate: 'loud', spoils: ['latency'] }])
    expect(gates[0].reason).toBe(
      'the loud pair answered 1899 of 2000 requests that were due, and 0 failed: give a smaller --loud',
    )
    expect(judge(processes, { loud: { ...LOUD, verified: 1900 } }).gates).toEqual([])
    const [, ...quiet] = processes
    for (const verified of [1899, 501])
      expect(gatesOf(judge([inPair(1, { busiestThreadCores: 1 }), ...quiet], { loud: { ...LOUD, verified } }))).toEqual(
        ['loud-saturated'],
      )
  })

  it('is excused by no application of the kit that is saturated: that is no work of a proxy', () => {
    const application = inPair(1, { role: 'application', busiestThreadCores: 0.95 })
    const gates = (/** @type {number} */ verified) =>
      judge([application, inPair(1), inPair(2), inPair(3)], { loud: { ...LOUD, verified } }).gates
    expect(gates(2000)).toEqual([])
    expect(gates(1500)).toMatchObject([{ gate: 'loud', spoils: ['latency'] }])
    expect(gates(900).map(({ gate }) => gate)).toEqual(['not-loud'])
  })

  it('that is saturated must still get more than a quiet pair', () => {
    // 1000 requests to two quiet pairs.
    const processes = [inPair(1, { busiestThreadCores: 1 }), inPair(2), inPair(3)]
    expect(judge(processes, { loud: { ...LOUD, verified: 500 } })).toMatchObject({
      outcome: 'invalid',
      reasons: expect.arrayContaining([
        'not-loud: the loud pair answered 500 of 2000 requests that were due, and 0 failed: nothing was loud beside the others, which answered 500 each',
      ]),
    })
  })

  it('is judged without its failed requests if an older kit did not count them', () => {
    const processes = [1, 2, 3].map(pair => inPair(pair))
    const counted = { due: 2000, verified: 1899 }
    expect(loadResult.shape.loud.parse(counted)).toEqual(counted)
    expect(judge(processes, { loud: counted }).reasons).toEqual([
      'loud: the loud pair answered 1899 of 2000 requests that were due: give a smaller --loud',
    ])
    expect(QUANTITIES.loudFailed.measure({ record: createRecord({ load: { loud: counted } }) })).toBe(null)
  })

  it('and a proxy of all pods may refuse requests to it, if none of the others failed', () => {
    const shared = inPair(1, { service: 'node-proxy', overflows: 60, pods: podsOf([4e6, 2e6, 2e6]) })
    const gates = (/** @type {number} */ failed, result = {}) =>
      gatesOf(judge([shared], { loud: { ...LOUD, verified: 2000 - failed, failed }, load: { result } }))
    expect(gates(40)).toEqual(['loud-errors'])
    expect(gates(0)).toEqual(['overflow'])
    expect(gates(40, { failed: 1 })).toEqual(['overflow', 'loud-errors'])
  })

  it('whose requests fail has no CPU per request, and what the others measure stays', () => {
    const processes = [1, 2, 3].map(pair => inPair(pair, { overflows: pair === 1 ? 40 : 0 }))
    const loud = { ...LOUD, verified: 1960, failed: 40, failures: ['status 503'] }
    const { gates } = judge(processes, { loud })
    expect(gates).toEqual([
      {
        gate: 'loud-errors',
        reason: '40 requests to the loud pair failed (2 %, at most 0.1 %): status 503',
        spoils: ['cpuPerRequest'],
      },
    ])
    expect(
      judge(
        processes.map(p => ({ ...p, overflows: 0 })),
        { loud: { ...LOUD, failed: 2 } },
      ).gates,
    ).toEqual([])
    expect(gatesOf(judge(processes.map(p => ({ ...p, overflows: 1 }))))).toEqual(['overflow', 'overflow'])
  })

  it('is beside others that each had their share of the load', () => {
    const processes = [1, 2, 3].map(pair => inPair(pair))
    const spread = (/** @type {number[]} */ quiet) => judge(processes, { loud: { ...LOUD, quiet } }).reasons
    expect(spread([800, 270, 530])).toEqual([])
    expect(spread([1000, 0])).toEqual([
      'quiet-pairs: pair 3 was sent 0 requests, and its share is 500: give more --users',
    ])
  })

  it('hides no bytes that went past a sidecar beside it, nor is hidden by the others', () => {
    // 1000 requests of 2 KiB through the quiet pairs, and 2000 through the loud one.
    const all = (/** @type {number[]} */ bytes) =>
      bytes.map((receivedBytes, i) => inPair(i + 1, { passages: 1, receivedBytes }))
    const pods = (/** @type {number[]} */ bytes) => [inPair(1, { service: 'node-proxy', pods: podsOf(bytes) })]
    for (const passing of [all, pods]) {
      expect(judge(passing([4.1e6, 1.1e6, 1.1e6])).gates).toEqual([])
      expect(judge(passing([6.4e6, 1.1e5, 1.1e5])).reasons).toEqual([
        expect.stringMatching(/^passage: gateway-of-2's sidecar received 220000 bytes, and 1000 verified requests /),
      ])
      expect(judge(passing([2e6, 3e6, 3e6])).reasons).toEqual([
        expect.stringMatching(/^passage: gateway's sidecar received 2000000 bytes, and 2000 verified requests /),
      ])
    }
    // The share of a quiet pod is that of the quiet pods.
    expect(judge(pods([4.1e6, 2.1e6, 0])).reasons).toEqual([
      'passage: the proxy of the node received 0 bytes in the pod of gateway-of-3, and its share of the 1000 verified requests is 1024000: they went past it',
    ])
    // At a low rate connections of the others may close.
    expect(judge(all([4.1e6, 0, 0]), { load: { arm: { ratePerSecond: 1 } } }).reasons.join()).not.toContain('passage')
    expect(judge(all([0, 0, 0]), { load: { arm: { ratePerSecond: 1 } } }).reasons.join()).toContain('passage: gateway')
  })

  it('is no source of the answers of the others', () => {
    const all = (/** @type {number[]} */ seconds) =>
      seconds.map((cpuSeconds, i) => inPair(i + 1, { role: 'application', cpuSeconds }))
    expect(judge(all([0.5, 0.1, 0.1])).gates).toEqual([])
    expect(judge(all([0.5, 0, 0])).reasons).toEqual([
      "source: gateway-of-2's application did no work for 1000 answers: something before it gave them",
    ])
  })
})

describe('a neighbour of the kit', () => {
  const conditions = { neighbourCores: 2, cpuRequestCores: 0.1 }
  /** @param {number} ran @param {number | undefined} waited @param {Partial<typeof HOST>} [host] */
  const find = (ran, waited, host = { idleFraction: 0.01 }) => {
    const threads = [{ id: 1, name: 'x', cpuSeconds: ran, waitSeconds: waited }]
    const neighbour = createFakeProcess({
      ...{ service: 'neighbour', role: 'neighbour', cpuLimitCores: null, cpuLimitReadBackCores: null },
      ...{ cpuCores: ran, cpuSeconds: ran, threads },
    })
    const record = createRecord({ arm: { conditions }, processes: [neighbour], host: { ...HOST, ...host } })
    return listGateFindings(record).filter(({ gate }) => ['kit-neighbour', 'spare-cpu'].includes(gate))
  }

  it('is as asked if it ran, or waited for a CPU that others had', () => {
    expect(find(2, 0)).toEqual([])
    expect(find(1.2, 0.7)).toEqual([])
  })

  it('spoils everything if it wanted less, ran more, or is not there', () => {
    const [less] = find(1.2, 0.5)
    expect(less.reason).toBe('the neighbour burnt 1.20 CPUs and waited for 0.50, and 2 were asked for')
    expect(less.spoils).toEqual(USES)
    expect(find(2.3, 0)[0].reason).toBe('the neighbour burnt 2.30 CPUs, and 2 were asked for')
    // A kernel that does not say how long threads waited.
    expect(find(1.2, undefined)).toEqual([])
    const [none] = listGateFindings(createRecord({ arm: { conditions } }))
    expect(none.reason).toBe('a neighbour of 2 CPUs was asked for, and none ran')
  })

  it('is reported if CPUs were idle beside it, and then spoils nothing', () => {
    const [spare] = find(2, 0, { idleFraction: 0.2 })
    expect(spare).toMatchObject({ gate: 'spare-cpu', spoils: [] })
    expect(spare.reason).toMatch(/^20 % of 2 CPUs were idle beside a neighbour of 2: /)
  })

  it('fills the machine, which is no bound of the trial', () => {
    const neighbour = createFakeProcess({ service: 'neighbour', role: 'neighbour', cpuLimitCores: null })
    expect(bound([createFakeProcess({}), neighbour], 0.01, 'open')).toBe('rate')
    expect(bound([createFakeProcess({})], 0.01, 'open')).toBe('host')
  })
})

describe('a pod with a quota of its own', () => {
  const arm = { conditions: { podCpuCores: 1 }, cpuLimitCores: null }
  /** @param {[number, number | null][]} used and read back, of the sidecar and its application @param {string[]} services */
  const find = (used, services = ['gateway', 'gateway']) =>
    listGateFindings(
      createRecord({
        arm,
        processes: used.map(([cpuCores, cpuLimitReadBackCores], i) =>
          createFakeProcess({
            ...{ service: services[i], role: i === 0 ? 'sidecar' : 'application', cpuLimitCores: null },
            ...{ cpuCores, cpuSeconds: cpuCores, cpuLimitReadBackCores },
          }),
        ),
      }),
    ).flatMap(({ gate, reason }) => (gate === 'pod-cap' ? [reason] : []))

  it('is in force if both read it back, and use it together', () =>
    expect(
      find([
        [0.6, 1],
        [0.4, 1],
      ]),
    ).toEqual([]))

  it('is not where the kernel has another, or both use more', () => {
    expect(
      find([
        [0.6, null],
        [0.4, 1],
      ]),
    ).toEqual(["gateway's sidecar was to be in a pod of 1 cores, and the kernel says no quota"])
    expect(
      find([
        [0.7, 1],
        [0.6, 1],
      ]),
    ).toEqual(["gateway's sidecar and application used 1.300 cores in a pod of 1"])
    expect(
      find(
        [
          [0.7, 1],
          [0.6, 1],
        ],
        ['gateway', 'ratings'],
      ),
    ).toEqual([])
  })

  it('binds if both together use it up', () => {
    const processes = ['sidecar', 'application'].map(role =>
      createFakeProcess({ role: /** @type {any} */ (role), cpuLimitCores: null, cpuCores: 0.48 }),
    )
    const input = { processes, generatorCpus: 1, idleFraction: 0.5, kind: /** @type {const} */ ('closed') }
    expect(findTrialBound({ ...input, podCpuCores: 1 })).toBe('pod')
    expect(findTrialBound({ ...input, podCpuCores: 2 })).toBe('users')
  })
})

describe('a quota that cannot be seen', () => {
  /** @param {{ waited: number, ran?: number, throttledFraction?: number, cpuSet?: string }} process @param {Partial<typeof HOST>} [host] */
  const find = ({ waited, ran = 0.25, throttledFraction = 0, cpuSet = '0-1' }, host = {}) => {
    const threads = [{ id: 1, name: 'x', cpuSeconds: ran, waitSeconds: waited }]
    const fields = {
      cpuLimitCores: null,
      cpuLimitReadBackCores: null,
      cpuCores: ran,
      cpuSeconds: ran,
      throttledFraction,
      cpuSet,
      threads,
    }
    const processes = ['sidecar', 'application'].map(role =>
      createFakeProcess({ .../** @type {any} */ (fields), role }),
    )
    const window = { seconds: 1, startLateMs: 0, endLateMs: 0 }
    const record = createRecord({
      processes,
      host: { ...HOST, idleFraction: 0.75, ...host },
      .../** @type {any} */ ({ window }),
    })
    return listGateFindings(/** @type {any} */ (record)).flatMap(({ gate, reason }) =>
      gate === 'hidden-quota' ? [reason] : [],
    )
  }

  it('is reported if threads wait, no cap of the run holds them, and CPUs are idle', () => {
    expect(find({ waited: 0.6 })).toEqual([
      "threads of gateway's sidecar, gateway's application waited for a CPU all the time, 1.2 on average, while 75 % of 2 CPUs were idle and no cap of this run held them: a group that is not visible from here, of this job or container, has a quota, near the 0.50 cores that they used: raise it, or give sidecars a smaller --cpu",
    ])
  })

  it('is not reported if the cap of the run, the other processes or the few CPUs of a process explain the wait', () => {
    expect(find({ waited: 0.3 })).toEqual([])
    expect(find({ waited: 0.6, throttledFraction: 0.1 })).toEqual([])
    expect(find({ waited: 0.6 }, { foreignCores: 1 })).toEqual([])
    expect(find({ waited: 0.6 }, { idleFraction: 0.1 })).toEqual([])
    expect(find({ waited: 0.6, cpuSet: '3' })).toEqual([])
    expect(find({ waited: 0.6, cpuSet: '0,2-3' })).toHaveLength(1)
  })
})

describe('the service time of an application', () => {
  const waited = { count: 400, meanMs: 30, lateP50Ms: 0.4, lateP99Ms: 1.2 }
  const times = (/** @type {number} */ fastestMs, meanMs = 32) => ({
    distribution: {
      count: 1000,
      meanMs,
      grid: /** @type {[number, number][]} */ ([
        [0, fastestMs],
        [0.5, meanMs],
      ]),
    },
  })
  /** @param {Partial<import('../../src/model/types.ts').LoadResult>} load @param {string} [serviceTime] */
  const findOf = (load, serviceTime = '30ms') => {
    const requests = [createRequestKind({ responseBytes: 100, serviceTime }, 1024)]
    const arm = {
      load: { kind: /** @type {const} */ ('open'), ratePerSecond: 1000, payloadBytes: undefined, requests },
    }
    const record = createRecord({ arm, load: { lagP99Ms: 0, ...load } })
    return listGateFindings(/** @type {any} */ ({ ...record, boundBy: 'rate' }))
      .filter(({ gate }) => ['service-time', 'late-application'].includes(gate))
      .map(({ reason }) => reason)
  }

  it('is kept if the application says so, and no answer came before it was over', () => {
    expect(findOf({ waited, ...times(30.1) })).toEqual([])
    expect(findOf({}, '0ms')).toEqual([])
  })

  it('is not kept if the application waits less, says nothing, or says what was not so', () => {
    expect(findOf({ waited: { ...waited, meanMs: 20 }, ...times(30.1) })).toEqual([
      'the application waited 20.0 ms on average, and 30.0 were asked for',
    ])
    expect(findOf({ ...times(30.1) })).toEqual(['the application told no service time'])
    expect(findOf({ waited, ...times(12.1) })).toEqual([
      'an answer came after 12.1 ms, before the service time of 30 ms was over',
    ])
    expect(findOf({ waited, ...times(12.1, 14) })).toHaveLength(2)
  })

  it('is not judged by times of requests that failed, which a sidecar may do at once', () => {
    expect(findOf({ waited, failed: 1, ...times(0.2) })).toEqual([])
    expect(findOf({ waited, failed: 0, ...times(0.2) })).toHaveLength(1)
  })

  it('is a mean of drawn times within five standard errors', () => {
    // A standard error of 1.5 ms.
    expect(findOf({ waited: { ...waited, meanMs: 37 }, ...times(1, 40) }, 'exp:30ms')).toEqual([])
    expect(findOf({ waited: { ...waited, meanMs: 38 }, ...times(1, 40) }, 'exp:30ms')).toEqual([
      'the application waited 38.0 ms on average, and 30.0 were asked for',
    ])
    expect(findOf({ waited, ...times(1, 20) }, 'exp:30ms')).toEqual([
      'answers came after 20.0 ms on average, sooner than the 30.0 ms that the application says it waited',
    ])
  })

  it('spoils latency alone where the application answers late', () => {
    expect(findOf({ waited: { ...waited, lateP50Ms: 1.1 }, ...times(30.1) })).toEqual([
      'the application answered later than its service time: half by more than 1.1 ms (at most 1), 1 in 100 by more than 1.2 (at most 5)',
    ])
    expect(findOf({ waited: { ...waited, lateP99Ms: 5.1 }, ...times(30.1) })).toHaveLength(1)
  })
})

it('a mix is judged by the kinds that were sent', () => {
  const requests = [7, 2, 1].map((weight, i) => ({ ...createRequestKind({}, 1024), path: `/${i}`, weight }))
  const gatesOf = (/** @type {number[]} */ ...kinds) => {
    const record = createRecord({ arm: { load: { payloadBytes: undefined, requests } }, load: { kinds } })
    return listGateFindings(/** @type {any} */ (record)).flatMap(({ gate, reason }) => (gate === 'mix' ? [reason] : []))
  }
  expect(gatesOf(700, 200, 100)).toEqual([])
  expect(gatesOf(729, 200, 71)).toEqual([])
  expect(gatesOf(740, 200, 60)).toEqual([
    '740 of 1000 requests were POST /0, and 700 are its share',
    '60 of 1000 requests were POST /2, and 100 are its share',
  ])
})

describe('an answer in chunks', () => {
  const requests = [createRequestKind({ responseBytes: 100, serviceTime: '30ms', chunks: '10/5ms' }, 1024)]
  const gatesOf = (/** @type {number[]} */ ...spans) => {
    const streams = spans.map(spanMs => ({ firstByteMs: 31, longestGapMs: 5, spanMs }))
    const record = createRecord({ arm: { load: { payloadBytes: undefined, requests } }, streams })
    return listGateFindings(/** @type {any} */ (record)).filter(({ gate }) => gate === 'streams')
  }

  it('is passed on if most answers arrive over the time in which they are written, else reported, which spoils nothing', () => {
    expect(gatesOf(45, 44, 0, 0)).toEqual([])
    expect(gatesOf()).toEqual([])
    const [{ reason, spoils }] = gatesOf(45, 0, 1, 22)
    expect(reason).toBe(
      '3 of 4 answers came at once, and their chunks were written over 45 ms: the first is not passed on before the last is written',
    )
    expect(spoils).toEqual([])
  })
})

describe('findBoundOrDrops', () => {
  const application = createFakeProcess({ role: 'application', cpuLimitCores: null, busiestThreadCores: 0.95 })
  const generator = createFakeProcess({ role: 'generator', cpuLimitCores: null, cpuCores: 0.9 })
  const sidecar = createFakeProcess({})

  it('is the sidecar from 95 % of its cap on, whatever else is busy', () => {
    expect(bound([createFakeProcess({ cpuCores: 0.2375 }), application, generator], 0.01)).toBe('sidecar')
    expect(bound([createFakeProcess({ cpuCores: 0.237 })])).toBe('users')
  })

  it('is a worker thread that fills a core', () => {
    expect(bound([createFakeProcess({ cpuLimitCores: 2, cpuCores: 1.2, busiestThreadCores: 0.96 })])).toBe('worker')
  })

  it('is the application before the generator, and the generator before the host', () => {
    expect(bound([sidecar, application, generator], 0.01)).toBe('application')
    expect(bound([sidecar, generator], 0.01)).toBe('generator')
    expect(bound([sidecar], 0.01)).toBe('host')
  })

  it('is the generator where its own machine is used up, and not this one', () => {
    const on = (/** @type {Partial<typeof FAR>} */ fields) =>
      findTrialBound({
        ...{ processes: [sidecar], generatorCpus: 4, idleFraction: 0.5, kind: 'closed' },
        loadHost: { ...FAR, ...fields },
      })
    expect(on({})).toBe('generator')
    expect(on({ idleFraction: 0.2 })).toBe('users')
  })

  it('is a generator that was throttled', () => {
    const throttled = createFakeProcess({
      role: 'generator',
      cpuLimitCores: null,
      cpuCores: 0.1,
      throttledFraction: 0.1,
    })
    expect(bound([throttled])).toBe('generator')
  })

  it('is the number of users, or the rate, if nothing is saturated', () => {
    expect(bound([sidecar])).toBe('users')
    expect(bound([sidecar], 0.5, 'open')).toBe('rate')
  })
})

describe('isSteady', () => {
  const { load } = createRecord()
  it('allows halves that differ by 20 %', () => {
    expect(isSteady({ ...load, verified: 1000, verifiedInSecondHalf: 550 })).toBe(true)
    expect(isSteady({ ...load, verified: 1000, verifiedInSecondHalf: 551 })).toBe(false)
    expect(isSteady({ ...load, verified: 1000, verifiedInSecondHalf: 449 })).toBe(false)
  })
})

describe('listGateFindings', () => {
  /** @param {Parameters<typeof createRecord>[0]} fields */
  const listGates = fields => listGateFindings(createRecord(fields)).map(({ gate, reason }) => `${gate}: ${reason}`)
  const application = createFakeProcess({ role: 'application', cpuLimitCores: null, cpuCores: 0.1, cpuSeconds: 0.1 })
  const generator = createFakeProcess({ service: 'k6', role: 'generator', cpuLimitCores: null, cpuCores: 0.1 })
  /** @param {Parameters<typeof createFakeProcess>[0]} fields */
  const having = fields => ({ processes: [createFakeProcess(fields)] })
  const open = { kind: /** @type {const} */ ('open'), users: 64, ratePerSecond: 1000 }

  it('finds nothing wrong with a good trial, with one failure in a thousand, or with an open loop below the knee', () => {
    expect(listGates({})).toEqual([])
    expect(listGates({ load: { failed: 1 } })).toEqual([])
    expect(listGates({ arm: { load: open }, load: { reportedUsers: null, lagP99Ms: 1 }, boundBy: 'rate' })).toEqual([])
  })

  it('blames the ports of the machine of the load for requests that could not be sent', () => {
    const failures = ['dial tcp 127.0.0.1:15001: connect: cannot assign requested address']
    expect(listGates({ load: { failed: 20, failures } }).join()).toContain(
      'cannot assign requested address; the machine of the load ran out of local ports, which is no fault of the plane',
    )
  })

  it('holds the CPU time of a group against that of its processes and threads, both ways', () => {
    const by = (/** @type {number} */ leastSeconds, /** @type {number | null} */ mostSeconds, processes = 1) =>
      having({ cpuSeconds: 0.5, cpuCores: 0.1, byProcesses: { leastSeconds, mostSeconds, processes } })
    expect(listGates(by(0.55, 0.55))).toEqual([])
    expect(listGates(by(0.57, 0.57, 2))).toEqual([])
    expect(listGates(by(0.56, 0.56))).toEqual([
      "accounting: the group of gateway's sidecar counted 0.50 s of CPU time, and its processes used 0.56 s",
    ])
    // Children that ended count for what is below, and nobody knows of a process that ended otherwise.
    expect(listGates(by(0.1, 0.45))).toEqual([])
    expect(listGates(by(0.1, null))).toEqual([])
    expect(listGates(by(0.1, 0.4)).join()).toContain('counted 0.50 s of CPU time, and its processes used 0.40 s')
    // An idle process works for a moment between the sample and the reading of its processes, before which its group is read again.
    const late = (/** @type {number} */ groupSeconds) =>
      having({ cpuSeconds: 0.05, byProcesses: { leastSeconds: 0, mostSeconds: 0, processes: 1, groupSeconds } })
    expect(listGates(late(0))).toEqual([])
    expect(listGates(late(0.05)).join()).toContain('counted 0.05 s of CPU time, and its processes used 0.00 s')
    const threads = [1, 2].map(id => ({ id, name: 'worker', cpuSeconds: 0.15 }))
    expect(listGates(having({ threads })).join()).toContain('counted 0.10 s of CPU time, and its processes used 0.30 s')
    expect(listGates(having({ outside: ['process 7 is not in /sys/fs/cgroup/cpuacct/x'] }))).toEqual([
      "accounting: process 7 is not in /sys/fs/cgroup/cpuacct/x, where gateway's sidecar is counted",
    ])
  })

  it('finds bytes that bypassed a sidecar only if they were counted, over all copies, and for new connections in answers', () => {
    const passing = { passages: 2, receivedBytes: 4 * 1024 * 1000 }
    const copies = [
      createFakeProcess({ passages: 1, receivedBytes: 1.9e6, service: 'ratings' }),
      createFakeProcess({ passages: 1, receivedBytes: 2e5, service: 'ratings-2', copyOf: 'ratings' }),
    ]
    expect(listGates(having(passing))).toEqual([])
    expect(listGates(having({ passages: 2 }))).toEqual([])
    // An answer of 2 KiB without a request body carries as much as an echo of 1 KiB.
    const arm = { load: { payloadBytes: undefined, requests: [createRequestKind({ responseBytes: 2048 }, 1024)] } }
    const small = createFakeProcess({ passages: 1, receivedBytes: 1.8e6 })
    const large = createFakeProcess({ passages: 1, receivedBytes: 1.9e6 })
    expect(listGates({ arm, processes: [small] })).toHaveLength(1)
    expect(listGates({ arm, processes: [large] })).toEqual([])
    // A pipeline may make the answer to its own request by itself.
    const request = { method: 'GET', path: '/', requestBytes: 0, status: 200 }
    expect(
      listGates({ arm: { load: { ownRequest: request } }, processes: [{ ...small, receivedBytes: 60_000 }] }),
    ).toEqual([])
    expect(
      listGates({ arm: { load: { ownRequest: request } }, processes: [{ ...small, receivedBytes: 350 }] }),
    ).toEqual([
      "passage: gateway's sidecar received 350 bytes, and 1000 verified requests carry 18000 through it: they went past it",
    ])
    expect(
      listGates({ arm: { load: { ownRequest: { ...request, requestBytes: 2048 } } }, processes: [small] }),
    ).toHaveLength(1)
    expect(listGates({ processes: copies })).toEqual([])
    // One of many pods goes past the proxy of a node: the sum hardly shows it.
    const podsOf = (/** @type {number[]} */ bytes) =>
      having({
        service: 'node-proxy',
        receivedBytes: 4e6,
        pods: bytes.map((receivedBytes, i) => {
          const copyOf = i === 0 ? null : 'gateway'
          return { service: `gateway${i === 0 ? '' : `-of-${i + 1}`}`, copyOf, passages: 1, receivedBytes }
        }),
      })
    expect(listGates(podsOf([1e6, 1e6]))).toHaveLength(0)
    expect(listGates(podsOf([4e5, 5e5]))).toEqual([
      "passage: gateway's sidecar received 900000 bytes, and 1000 verified requests carry 2048000 through it: they went past it",
    ])
    expect(listGates(podsOf([2.1e6, 0]))).toEqual([
      'passage: the proxy of the node received 0 bytes in the pod of gateway-of-2, and its share of the 1000 verified requests is 1024000: they went past it',
    ])
    // The bytes of the process are those of all pods, and none of a pod that was not counted.
    const { processes } = podsOf([0, 0])
    const uncounted = processes.map(({ pods, ...process }) => ({
      ...process,
      receivedBytes: 1000,
      pods: pods?.map(({ receivedBytes, ...pod }) => pod),
    }))
    expect(listGates({ processes: uncounted })).toEqual([])
    const half = [createFakeProcess({ ...passing, receivedBytes: 2 * 1024 * 1000, cpuSeconds: 1e-3 })]
    expect(listGates({ processes: half })).toHaveLength(1)
    expect(listGates({ processes: half, arm: { load: { connections: 'new' } } })).toEqual([])
  })

  it('makes no claim of bytes past a sidecar whose connections closed, and finds one that is bypassed while they live', () => {
    const bypassed = { passages: 2, receivedBytes: 1024 }
    const closing = (/** @type {{ accepted: number, connected: number }} */ closedConnections, load = {}) =>
      listGates({ processes: [createFakeProcess({ ...bypassed, closedConnections })], arm: { load } })
    expect(closing({ accepted: 0, connected: 0 })).toHaveLength(1)
    expect(closing({ accepted: 0, connected: 1 })).toEqual([])
    expect(closing({ accepted: 1, connected: 0 })).toEqual([])
    // Each request closes the connection that brought it; the answers come over others.
    const resting = (/** @type {number} */ connected) =>
      listGates({
        processes: [
          createFakeProcess({ ...bypassed, cpuSeconds: 1e-3, closedConnections: { accepted: 1000, connected } }),
        ],
        arm: { load: { connections: 'new' } },
      })
    expect(resting(0)).toHaveLength(1)
    expect(resting(1)).toEqual([])
  })

  // Bytes carried one connection for one: at neither edge of the window was any of them open.
  const UNSEEN = { passages: 1, receivedBytes: 0, closedConnections: { accepted: 0, connected: 0 } }
  /** @param {Parameters<typeof createFakeProcess>[0]} process whose requests come seldom, each over a new connection */
  const findUnseen = process =>
    listGates({
      processes: [createFakeProcess({ ...UNSEEN, ...process })],
      arm: { load: { kind: 'open', ratePerSecond: 20, connections: 'new' } },
      load: { verified: 100 },
    }).filter(reason => reason.startsWith('passage'))

  it('accuses no sidecar whose connections opened and closed unseen, at a low rate, and finds one that did no work', () => {
    expect(findUnseen({ cpuSeconds: 100 * 80e-6 })).toEqual([])
    expect(findUnseen({ cpuSeconds: 100 * 2e-6 })).toEqual([
      "passage: gateway's sidecar received 0 bytes, and 100 verified requests carry 102400 through it: they went past it",
    ])
    // One process serves all pods: what it used is no more for it.
    const pods = [0, 1].map(i => ({
      service: i ? 'gateway-of-2' : 'gateway',
      copyOf: i ? 'gateway' : null,
      ...UNSEEN,
    }))
    expect(findUnseen({ pods, cpuSeconds: 100 * 80e-6 })).toEqual([])
    // Bytes of some connections were seen, so those of the others went past.
    expect(findUnseen({ receivedBytes: 20_000, cpuSeconds: 100 * 80e-6 })).toHaveLength(1)
    const [first, second] = pods
    expect(findUnseen({ pods: [{ ...first, receivedBytes: 20_000 }, second], cpuSeconds: 100 * 80e-6 })).not.toEqual([])
    expect(findUnseen({ pods, cpuSeconds: 100 * 6e-6 }).join()).toContain("gateway's sidecar received 0 bytes")
  })

  it('counts no CPU that a sidecar uses when idle, so that it hides no bypass', () => {
    // 5 ms in a window of a second, where 100 requests are taken for seen from 1 ms on.
    const having = (/** @type {Parameters<typeof createFakeProcess>[0]} */ process) =>
      findUnseen({ idleCpuCores: 5e-3, ...process })
    expect(having({ cpuSeconds: 5.5e-3 })).toEqual([
      "passage: gateway's sidecar received 0 bytes, and 100 verified requests carry 102400 through it: they went past it",
    ])
    expect(having({ cpuSeconds: 5.5e-3, idleCpuCores: undefined })).toEqual([])
    expect(having({ cpuSeconds: 5e-3 + 100 * 80e-6 })).toEqual([])
    const pods = [0, 1].map(i => ({
      service: i ? 'gateway-of-2' : 'gateway',
      copyOf: i ? 'gateway' : null,
      ...UNSEEN,
    }))
    expect(having({ pods, cpuSeconds: 5.5e-3 })).not.toEqual([])
    expect(having({ pods, cpuSeconds: 5e-3 + 100 * 80e-6 })).toEqual([])
  })

  it.each([
    [
      'errors: 2 requests failed (0.20 %, at most 0.1 %): status 503',
      { load: { failed: 2, failures: ['status 503'] } },
    ],
    ['answers: 1 answers came back with a wrong body or nonce', { load: { corrupted: 1 } }],
    ['answers: 3 users had not done three requests when the window opened', { load: { coldUsers: 3 } }],
    ['hung-users: 2 of 10 users never came through the window: their requests hung', { load: { reportedUsers: 8 } }],
    ['answers: no request was answered correctly in the window', { load: { verified: 0, distribution: null } }],
    [
      "source: gateway's application did no work for 1000 answers: something before it gave them",
      having({ ...application, cpuSeconds: 0.0005 }),
    ],
    [
      "passage: gateway's sidecar received 1024000 bytes, and 1000 verified requests carry 2048000 through it: they went past it",
      having({ passages: 1, receivedBytes: 1024 * 1000 }),
    ],
    [
      "cap: gateway's sidecar was to be capped at 0.25 cores, and the kernel says no quota",
      having({ cpuLimitReadBackCores: null }),
    ],
    [
      "cap: gateway's sidecar was to be capped at 0.25 cores, and the kernel says 0.5",
      having({ cpuLimitReadBackCores: 0.5 }),
    ],
    ["cap: gateway's sidecar used 0.300 cores under a cap of 0.25", having({ cpuCores: 0.3 })],
    [
      "workers: gateway's sidecar listens with 2 sockets an address, and 1 workers were asked for",
      having({ workers: 2 }),
    ],
    ["restart: gateway's sidecar is another process than was started", having({ isReplaced: true })],
    ["oom: the kernel killed 1 processes of gateway's sidecar for memory", having({ oomKills: 1 })],
    ['samples: 2 readings have a number missing', { samples: { count: 35, largestGapSeconds: 0.1, missing: 2 } }],
    ['samples: no sample for 1.4 s of the window', { samples: { count: 20, largestGapSeconds: 1.4, missing: 0 } }],
    [
      'samples: an edge of the window was read 600 ms late',
      { window: { startMs: 0, endMs: 1000, seconds: 1, startLateMs: 600, endLateMs: 0 } },
    ],
    ["overflow: gateway's sidecar answered 7 requests itself, for overflow", having({ overflows: 7 })],
    [
      'little: rate × time gives 11.0 requests under way, and there were 10 users',
      { load: { distribution: { count: 1000, meanMs: 11, grid: [] } } },
    ],
  ])('finds what spoils everything: %s', (words, fields) => {
    const gates = listGateFindings(createRecord(/** @type {any} */ (fields)))
    expect(gates.map(({ gate, reason }) => `${gate}: ${reason}`)).toContain(words)
    expect(gates[0].spoils).toEqual(USES)
  })

  it.each([
    ['generator: the generator used 81 % of its CPUs (at most 80 %)', having({ ...generator, cpuCores: 0.81 })],
    [
      'generator: the machine of the load was 99 % busy, 2.50 cores of it with something else',
      { loadHost: FAR, boundBy: 'generator' },
    ],
    [
      'generator: a round trip to the machine of the load took 7.0 ms (at most 5): users wait on the way',
      { loadHost: { ...FAR, idleFraction: 0.5, roundTripMs: 7 } },
    ],
    ['generator: the generator was throttled', having({ ...generator, throttledFraction: 0.1 })],
    [
      'generator: by rate × time 8.0 of 10 users waited for answers: the others spent their time in the generator',
      { load: { distribution: { count: 1000, meanMs: 8, grid: [] } } },
    ],
    [
      "application: gateway's application was 70 % busy (below 70 %)",
      having({ ...application, busiestThreadCores: 0.7 }),
    ],
    ["application: gateway's application was throttled", having({ ...application, throttledFraction: 0.1 })],
  ])('finds what spoils capacity and latency, and nothing else: %s', (words, fields) => {
    const [finding, ...others] = listGateFindings(createRecord(/** @type {any} */ (fields)))
    expect(`${finding.gate}: ${finding.reason}`).toBe(words)
    expect(finding.spoils).toEqual(['capacity', 'latency'])
    expect(others).toEqual([])
  })

  it.each([
    ['neighbour: something else used 0.30 cores of this machine', { host: { ...HOST, foreignCores: 0.3 } }],
    ["neighbour: 12 % of this machine's CPU time was stolen by its host", { host: { ...HOST, stealFraction: 0.12 } }],
    ['steady: the halves of the window differ by more than 20 %', { isSteady: false }],
  ])('finds what leaves CPU per request and memory: %s', (words, fields) => {
    const [finding] = listGateFindings(createRecord(fields))
    expect(`${finding.gate}: ${finding.reason}`).toBe(words)
    expect(USES.filter(use => !finding.spoils.includes(use))).toEqual(['cpuPerRequest', 'memory'])
  })

  it.each([
    [
      'drops: 5 requests were dropped in the window: no user was free to send them',
      { dropped: 7, verified: 995 },
      'rate',
    ],
    ['generator: requests started late: 1 in 100 by more than 6.0 ms (at most 5)', { lagP99Ms: 6 }, 'rate'],
    ['knee: bound by sidecar: above the knee', {}, 'sidecar'],
    ['knee: 980 requests/s were answered of 1000 asked for: above the knee', { verified: 980 }, 'rate'],
  ])('finds what spoils the latency of an open loop: %s', (words, load, boundBy) => {
    const gates = listGateFindings(
      createRecord({
        arm: { load: open },
        load: { reportedUsers: null, lagP99Ms: 0, ...load },
        boundBy: /** @type {any} */ (boundBy),
      }),
    )
    expect(gates.map(({ gate, reason }) => `${gate}: ${reason}`)).toEqual([words])
    expect(gates[0].spoils).toContain('latency')
    expect(gates[0].spoils).not.toContain('cpuPerRequest')
  })

  it('lets pass what was dropped while users connected, before the window', () => {
    const load = { reportedUsers: null, lagP99Ms: 0, dropped: 50, verified: 999 }
    expect(listGateFindings(createRecord({ arm: { load: open }, load, boundBy: 'rate' }))).toEqual([])
  })

  it('takes any number of sockets of a program whose threads nobody knows', () => {
    expect(listGateFindings(createRecord(having({ workers: 2, askedWorkers: null })))).toEqual([])
  })

  it('requires nothing of a load if there is none', () => {
    const idle = createRecord({ arm: { load: { kind: 'idle', users: 0 } }, load: { verified: 0, reportedUsers: 0 } })
    expect(listGateFindings({ ...idle, load: /** @type {any} */ (null) })).toEqual([])
  })

  describe("by the kubelet's counters", () => {
    const unread = { cpuLimitReadBackCores: null, workers: null, busiestThreadCores: null, throttledFraction: null }
    const unknown = { ...unread, oomKills: null, threads: [], cpuSet: '' }
    const samples = {
      ...{ count: 12, largestGapSeconds: 20, missing: 0, source: /** @type {const} */ ('kubelet'), clockOffsetMs: 0 },
    }
    const window = { startMs: 0, endMs: 120_000, seconds: 120, startLateMs: 0, endLateMs: 0 }
    const load = { verified: 120_000, verifiedInSecondHalf: 60_000 }
    /** @param {Partial<import('../../src/model/types.ts').ProcessRecord>} fields */
    const gatesOf = (fields, changed = {}) =>
      listGateFindings(createRecord({ samples, window, load, ...having({ ...unknown, ...fields }), ...changed }))

    it('finds nothing wrong with what the kubelet does not count, without a cap', () => {
      expect(gatesOf({ cpuLimitCores: null })).toEqual([])
    })

    it('finds a cap that was not read back, which spoils capacity and latency, and nothing else', () => {
      expect(gatesOf({})).toEqual([
        {
          gate: 'cap-unread',
          spoils: ['capacity', 'latency'],
          reason:
            "gateway's sidecar was to be capped at 0.25 cores, which could not be verified: the kubelet reports no quota",
        },
      ])
    })

    it('finds a cap that was not held, which spoils everything', () => {
      const reason = "gateway's sidecar used 0.300 cores under a cap of 0.25"
      expect(gatesOf({ cpuCores: 0.3 })[0]).toEqual({ gate: 'cap', spoils: USES, reason })
    })

    it('finds a window below two minutes, which spoils everything', () => {
      const short = { ...window, endMs: 119_000, seconds: 119 }
      const [finding] = gatesOf({ cpuLimitCores: null }, { window: short, load: { ...load, verified: 119_000 } })
      const reason = "the kubelet's counters take a window of 2 minutes at least, and it was 119 s"
      expect(finding).toEqual({ gate: 'samples', spoils: USES, reason })
    })

    it('finds a process that was replaced, and numbers that are missing', () => {
      expect(gatesOf({ cpuLimitCores: null, isReplaced: true }).map(g => g.gate)).toEqual(['restart'])
      const holes = { ...samples, missing: 1 }
      expect(gatesOf({ cpuLimitCores: null }, { samples: holes }).map(g => g.gate)).toEqual(['samples'])
    })

    it('takes what an application used for its busiest thread', () => {
      const application = { role: /** @type {const} */ ('application'), cpuLimitCores: null, cpuSeconds: 84 }
      expect(gatesOf({ ...application, cpuCores: 0.7 }).map(g => g.reason)).toEqual([
        "gateway's application was 70 % busy (below 70 %)",
      ])
      expect(gatesOf({ ...application, cpuCores: 0.69 })).toEqual([])
    })

    it('is bound by its workers if they fill a core each', () => {
      const sidecar = { ...unknown, cpuLimitCores: null, askedWorkers: 2 }
      expect(bound([createFakeProcess({ ...sidecar, cpuCores: 1.9 })])).toBe('worker')
      expect(bound([createFakeProcess({ ...sidecar, cpuCores: 1.8 })])).toBe('users')
    })
  })

  it('needs a cap read back, and no gap, of the kernel', () => {
    expect(listGates(having({ cpuLimitReadBackCores: null }))).toHaveLength(1)
    const samples = { ...createRecord().samples, largestGapSeconds: 20, source: 'cgroup' }
    const words = 'samples: no sample for 20.0 s of the window'
    expect(listGates(/** @type {any} */ ({ samples }))).toEqual([words])
  })

  it('leaves out a gate that the experiment sets aside', () => {
    expect(listGateFindings(createRecord({ isSteady: false }), ['steady'])).toEqual([])
  })
})

describe('copies of a service', () => {
  it('answer together: one that was never asked did nothing wrong, and all of them cannot have done nothing', () => {
    const source = (/** @type {number} */ cpuSeconds) => {
      const processes = [
        { service: 'server', cpuSeconds },
        { service: 'server-2', cpuSeconds: 0, copyOf: 'server' },
        { service: 'echo-7', cpuSeconds: 0.1 },
      ].map(fields => createFakeProcess({ role: 'application', cpuLimitCores: null, ...fields }))
      return listGateFindings(createRecord({ processes })).filter(({ gate }) => gate === 'source')
    }
    expect(source(0.1)).toEqual([])
    expect(source(0)).toHaveLength(1)
  })
})
