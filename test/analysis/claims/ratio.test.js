import { describe, expect, it } from 'vitest'
import { testRatio } from '../../../src/analysis/claims/ratio.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { createParityRow } from '../../fakes/fake-records.js'
import { createSummary } from '../../fakes/fake-summary.js'

/**
 * @import { ArmFields } from '../../fakes/fake-summary.js' @import { Ratio } from '../../../src/analysis/claims/schema.js'
 */

const UNTESTED = 'not testable here'
const six = (/** @type {number | null} */ value) => Array(6).fill(value)
const pipy = { plane: 'pipy', cpuLimitCores: 1 }
const envoy = { plane: 'envoy', cpuLimitCores: 1 }
/** Published: half as much. @type {Ratio} */
const half = {
  ...{ quantity: 'capacity', of: pipy, to: envoy, ratio: 0.5, tolerance: 0.2 },
  otherCaps: 'ratio',
}
/** @param {ArmFields[]} arms @param {Partial<Ratio>} [relation] @param {Parameters<typeof createSummary>[1]} [fields] */
const ask = (arms, relation = {}, fields = {}) => testRatio({ ...half, ...relation }, createSummary(arms, fields))
const pair = (/** @type {(number | null)[]} */ a, b = six(100)) => [
  { ...pipy, capacity: a },
  { ...envoy, capacity: b },
]

describe('testRatio', () => {
  it('is not testable of shards if the control plane of the fewer did not bind', () => {
    const of = { plane: 'pipy', shards: 6 }
    const shards = (/** @type {number | null} */ atLimit) =>
      ask(
        [3, 6].map(count => ({
          plane: 'pipy',
          load: { kind: /** @type {const} */ ('idle') },
          conditions: { sidecars: 60, shards: count },
          fields: /** @type {any} */ ({
            rollout: {
              rolloutSeconds: summariseValues(six(6 / count)),
              controlAtLimitRolloutFraction: summariseValues([count === 3 ? atLimit : 0.1]),
            },
          }),
        })),
        { quantity: 'rolloutSeconds', of, to: { ...of, shards: 3 } },
      )
    expect(shards(0.6).status).toBe('reproduced')
    expect(shards(0.1)).toMatchObject({
      ...{ status: UNTESTED, reason: expect.stringContaining('the control plane did not bind (3 shards') },
    })
  })

  it('reproduces what is within the tolerance, by the ratios of the rounds', () => {
    expect(ask(pair([50, 52, 54, 56, 58, 60], [100, 100, 100, 100, 100, 100]))).toEqual({
      status: 'reproduced',
      ours: '0.55 [0.50, 0.60] (link pair, 200 users, 1 core)',
      reason: '',
    })
    expect(ask(pair([10, 20, 30, 40, 50, 60], [20, 40, 60, 80, 100, 120])).ours).toContain('0.50 [0.50, 0.50]')
  })

  it('shows the direction alone outside of the tolerance', () => {
    expect(ask(pair(six(61)))).toMatchObject({ status: 'direction only', reason: 'outside of the tolerance' })
    expect(ask(pair(six(59)))).toMatchObject({ status: 'reproduced' })
  })

  it('contradicts on the other side of 1, even within the tolerance', () => {
    expect(ask(pair(six(150)))).toMatchObject({ status: 'contradicted', reason: 'on the other side of 1' })
    expect(ask(pair(six(105)), { ratio: 0.97 })).toMatchObject({ status: 'contradicted' })
  })

  it('shows no difference if the interval includes 1, the gap is below 3 %, or below the noise of the run', () => {
    const unclear = { status: UNTESTED, reason: 'no difference shown' }
    expect(ask(pair([40, 50, 60, 60, 60, 101]))).toMatchObject(unclear)
    expect(ask(pair(six(98)))).toMatchObject(unclear)
    const control = { isControl: true, quantity: 'capacity', service: null, ratio: { median: 1.6 } }
    expect(ask(pair(six(50)), {}, { comparisons: [/** @type {any} */ (control)] })).toMatchObject(unclear)
  })

  it('is indicative below six rounds', () => {
    expect(ask(pair([50, 50, 50], [100, 100, 100]))).toEqual({
      status: UNTESTED,
      ours: '0.50 (link pair, 200 users, 1 core)',
      reason: 'indicative only: 0.50 in 3 rounds, 6 are needed',
    })
  })

  it('says in how many rounds it was spoiled, and by what', () => {
    const spoiled = [{ gate: 'generator', trials: 2, reason: 'x' }]
    const arms = [{ ...pipy, capacity: [50, 50, 50, 50, null, null], fields: { spoiled } }, pair([])[1]]
    expect(ask(arms)).toMatchObject({ status: UNTESTED, reason: 'no value in 2 of 6 rounds (pipy generator)' })
    const unbound = [{ ...pipy, capacity: six(null), fields: { boundBy: /** @type {const} */ ('users') } }]
    expect(ask([...unbound, pair([])[1]])).toMatchObject({
      ...{ status: UNTESTED, ours: null, reason: 'no value in 6 of 6 rounds (pipy bound by users)' },
    })
  })

  it('says that planes did no equal work', () => {
    const parity = [
      createParityRow({ plane: 'pipy', found: 'TLS', expected: null }),
      createParityRow({ plane: 'envoy', found: 'none', expected: null }),
    ]
    const reason = 'no equal work: parity-tls: pipy: TLS; envoy: none'
    expect(ask(pair(six(50)), {}, { parity })).toMatchObject({ status: UNTESTED, reason })
    const relaxes = [{ gate: 'parity-tls', why: 'its axis' }]
    expect(ask(pair(six(50)), {}, { parity, relaxes })).toMatchObject({ status: 'reproduced' })
  })

  it('says which plane was not measured', () => {
    const notMeasured = [{ plane: 'envoy', reason: 'no program' }]
    const answer = { status: UNTESTED, ours: null, reason: 'not measured: envoy' }
    expect(ask([{ ...pipy, capacity: six(1) }], {}, { notMeasured })).toEqual(answer)
    const at = { of: { plane: 'envoy', link: 'pair', ratePerSecond: 4000 } }
    expect(ask(pair(six(1)), at).reason).toBe('no arm here is envoy, link pair, 4000 requests/s')
  })

  it('takes neither a variant nor the arm of an A/A pair', () => {
    const others = [
      { ...pipy, capacity: six(500), fields: { variant: './mine' } },
      { ...pipy, capacity: six(500), fields: { repeatOf: 'x' } },
    ]
    expect(ask([...others, ...pair(six(50))]).ours).toContain('0.50')
    expect(ask([...others, pair([])[1]]).reason).toBe('no arm here is pipy')
  })

  it('compares arms that are alike but for what the claim compares', () => {
    const arms = [
      { ...pipy, link: 'ratings', capacity: six(10) },
      { ...envoy, link: 'pair', capacity: six(100) },
    ]
    expect(ask(arms).reason).toBe('no two arms here are alike but for what the claim compares')
    const links = { of: { ...pipy, link: 'ratings' }, to: { ...envoy, link: 'pair' } }
    expect(ask(arms, links)).toMatchObject({ status: 'direction only', ours: '0.10 [0.10, 0.10] (200 users, 1 core)' })
  })

  it('distinguishes conditions', () => {
    const at = (/** @type {'plaintext' | 'ecdsa-p256'} */ tls, /** @type {number} */ p99) => ({
      ...{ ...envoy, conditions: { tls }, load: { ratePerSecond: 100 }, p99: six(p99) },
    })
    const [of, to] = ['ecdsa-p256', 'plaintext'].map(tls => ({ plane: 'envoy', tls }))
    const relation = { quantity: 'p99', of, to, ratio: 2 }
    expect(ask([at('plaintext', 5), at('ecdsa-p256', 11)], relation)).toEqual({
      status: 'reproduced',
      ours: '2.20 [2.20, 2.20] (link pair, 100 requests/s, 200 users, 1 core)',
      reason: '',
    })
  })

  it('compares with no mesh whatever the cap and its users, and says what bound throughput', () => {
    const arms = [
      { ...pipy, load: { users: 50 }, throughput: six(50) },
      {
        ...{ plane: 'none', conditions: { tls: /** @type {const} */ ('plaintext') }, throughput: six(100) },
        fields: { boundBy: /** @type {const} */ ('generator') },
      },
    ]
    expect(ask(arms, { quantity: 'throughput', to: { plane: 'none' } })).toEqual({
      status: 'reproduced',
      ours: '0.50 [0.50, 0.50] (link pair, 50 users, 1 core)',
      reason: 'none was bound by generator',
    })
  })

  it('holds the response time against what users and throughput make of it', () => {
    const arms = [{ ...pipy, p99: six(110), throughput: six(2000) }]
    const little = { quantity: 'p90', toQuantity: 'meanByLittle', of: pipy, to: pipy, ratio: 1.1, tolerance: 0.05 }
    expect(ask(arms, little)).toEqual({
      status: 'reproduced',
      ours: '1.10 [1.10, 1.10] (link pair, 200 users, 1 core)',
      reason: 'response times at saturation',
    })
  })

  it('reads one sidecar', () => {
    const arms = [
      { ...pipy, cores: six(0.5) },
      { ...envoy, cores: six(1) },
    ]
    const cores = (/** @type {string} */ service) =>
      ask(arms, { quantity: 'cpuCores', of: { ...pipy, service }, to: { ...envoy, service } })
    expect(cores('gateway')).toMatchObject({ status: 'reproduced' })
    expect(cores('ratings')).toEqual({ status: UNTESTED, ours: null, reason: 'cpuCores was not measured' })
  })
})

describe('testRatio at other caps than the published', () => {
  const at = (/** @type {number} */ cap, /** @type {number} */ a) =>
    pair(six(a)).map(arm => ({ ...arm, cpuLimitCores: cap }))

  it('takes the published cap before a larger one', () => {
    expect(ask([...at(2, 10), ...at(1, 50), ...at(0.5, 20)])).toMatchObject({ status: 'reproduced', reason: '' })
  })

  it('takes the largest that there is, and says so', () => {
    expect(ask([...at(0.1, 10), ...at(0.25, 50)])).toEqual({
      status: 'reproduced',
      ours: '0.50 [0.50, 0.50] (link pair, 200 users)',
      reason: 'at 0.25 cores; published at 1',
    })
  })

  it('takes another cap if the published has no value', () => {
    const unbound = at(1, 0).map(arm => ({ ...arm, capacity: six(null) }))
    expect(ask([...unbound, ...at(0.5, 50)]).reason).toBe('at 0.5 cores; published at 1')
  })

  it('shows the direction alone, or nothing, if the ratio is of its cap', () => {
    expect(ask(at(0.25, 50), { otherCaps: 'direction' })).toMatchObject({
      status: 'direction only',
      reason: 'only the direction carries over; at 0.25 cores; published at 1',
    })
    expect(ask(at(0.25, 50), { otherCaps: 'never' })).toMatchObject({
      ...{ status: UNTESTED, ours: null, reason: 'published at a cap of 1, here 0.25' },
    })
    expect(ask(at(1, 50), { otherCaps: 'never' })).toMatchObject({ status: 'reproduced' })
  })

  it('needs both caps if the claim compares two', () => {
    const two = { of: { plane: 'envoy', cpuLimitCores: 2 }, to: { plane: 'envoy', cpuLimitCores: 1 }, ratio: 2 }
    const arms = (/** @type {number[]} */ caps) =>
      caps.map(cap => ({ ...envoy, cpuLimitCores: cap, capacity: six(100 * cap) }))
    expect(ask(arms([0.5, 1]), two)).toMatchObject({ reason: 'published at a cap of 2 and 1, here 0.5 and 1' })
    expect(ask(arms([0.5, 1, 2]), two)).toMatchObject({ status: 'reproduced', reason: '' })
  })

  describe('of rounds that went on until they were precise', () => {
    const precision = { width: 0.02, mostRounds: 200, ended: null, rounds: 100, isReached: true, pairs: [] }
    const rounds = (/** @type {number} */ value, /** @type {number} */ spoiled) =>
      Array.from({ length: 100 }, (_, i) => (i < spoiled ? null : value))
    const askOf = (/** @type {(number | null)[]} */ values) =>
      ask(pair(values, rounds(100, 0)), { ratio: 0.98 }, { precision })

    it('tolerates one spoiled round of a hundred, but not eleven', () => {
      expect(askOf(rounds(50, 1))).toMatchObject({ status: 'direction only' })
      expect(askOf(rounds(50, 11)).reason).toContain('no value in 11 of 100 rounds')
    })
  })
})
