import { describe, expect, it } from 'vitest'
import { evaluateClaims, parseClaims } from '../../../src/analysis/claims/claims.js'
import { listExperiments } from '../../../src/prepare/read-experiment.js'
import { readClaims } from '../../../src/verbs/read-claims.js'
import { createSummary } from '../../fakes/fake-summary.js'

const EXPERIMENTS = listExperiments()

const six = (/** @type {number} */ value) => Array(6).fill(value)
const text = `source:
  title: Title
  publisher: Publisher
  did: what was done
  hardware: null
  read: table
experiment: cap
claims:
  one:
    says: Pipy delivers 2, Envoy 1.
    published:
      - { label: pipy, value: 2, unit: requests/s }
    relation:
      ratio: { quantity: capacity, of: { plane: pipy }, to: { plane: envoy }, ratio: 2, tolerance: 0.25 }
`
/** @param {string} wrong @param {string} right */
const parseWith = (right, wrong) => () =>
  parseClaims(text.replace(right, wrong), 'a.yaml', { experiments: EXPERIMENTS })

describe('parseClaims', () => {
  it('gives each claim its name, and what it takes from its file', () => {
    const { file, source, claims } = parseClaims(text, 'a.yaml', { experiments: EXPERIMENTS })
    expect({ file, title: source.title }).toEqual({ file: 'a.yaml', title: 'Title' })
    expect(claims).toMatchObject([
      { id: 'one', experiment: 'cap', read: 'table', relation: { ratio: { ratio: 2, otherCaps: 'ratio' } } },
    ])
  })

  it('lets a claim name another experiment, and how it was read', () => {
    const yaml = text.replace('    says:', '    experiment: hops\n    read: chart\n    says:')
    expect(parseClaims(yaml, 'a.yaml').claims).toMatchObject([{ experiment: 'hops', read: 'chart' }])
  })

  it.each([
    ['experiment:', 'experimant:', 'a.yaml:7: experimant: unknown name "experimant"; did you mean "experiment"?'],
    ['says', 'sais', 'a.yaml:10: claims.one.sais: unknown name "sais"; did you mean "says"?'],
    [
      'tolerance',
      'tolerence',
      'a.yaml:14: claims.one.relation.ratio.tolerence: unknown name "tolerence"; did you mean "tolerance"?',
    ],
    [
      '{ plane: pipy }',
      '{ plane: pipy, cpuLimitCore: 1 }',
      'unknown name "cpuLimitCore"; did you mean "cpuLimitCores"?',
    ],
    ['experiment: cap', 'experiment: capp', 'a.yaml:7: experiment: unknown experiment "capp"; did you mean "cap"?'],
    [
      'capacity',
      'capasity',
      'a.yaml:14: claims.one.relation.ratio.quantity: unknown quantity "capasity"; did you mean "capacity"?',
    ],
    ['{ plane: pipy }', '{ plane: pipy, tls: plain }', 'a.yaml:14: claims.one.relation.ratio.of.tls: unknown value'],
    ['value: 2,', 'value: two,', 'a.yaml:12: claims.one.published.0.value'],
    [
      'ratio: { quantity',
      'rasio: { quantity',
      'a.yaml:14: claims.one.relation.rasio: unknown name "rasio"; did you mean "ratio"?',
    ],
    [
      '    relation:',
      '    relation:\n      untestable: { why: x }',
      'a.yaml:13: claims.one.relation: give one of ratio, shape, plateau, balance, growth and untestable',
    ],
    ['  one:', '  one: {}\n  one:', 'a.yaml:10: Map keys must be unique'],
  ])('names file, line and what is right for %j, written %j', (right, wrong, message) => {
    expect(parseWith(right, wrong)).toThrow(message)
  })

  it.each([
    ['shape: flit, quantity: p99, over: users, among: { plane: envoy }', 'unknown shape "flit"; did you mean "flat"?'],
    ['shape: flat, quantity: p99, over: user, among: { plane: envoy }', 'unknown axis "user"; did you mean "users"?'],
    ['shape: flat, quantity: p99, over: users, among: { }', 'among names no plane'],
    ['shape: line, quantity: p99, over: plane, among: { }', 'a line needs an axis of numbers'],
    ['shape: bends, quantity: p99, over: tls, among: { plane: pipy }', 'a line needs an axis of numbers'],
  ])('names what is right for { %s }', (shape, message) => {
    const relation = text.slice(text.indexOf('ratio: {'))
    expect(parseWith(relation, `shape: { ${shape} }\n`)).toThrow(message)
  })
})

describe('readClaims', () => {
  const files = readClaims('bench/claims', { experiments: EXPERIMENTS })
  const claims = files.flatMap(file => file.claims)

  it('reads every file of the kit, sorted, each claim with a name of its own', () => {
    const topics = files.map(({ file }) => file.replace(/^bench\/claims\/(.*)\.yaml$/, '$1'))
    expect(topics).toEqual([
      ...['ambient-sidecar-debate', 'cap', 'churn', 'connections', 'envoy-knee', 'gateway-memory', 'gateways', 'grow'],
      ...['hops', 'istio-ambient', 'istio-reference', 'mesh-resources', 'mtls-tax', 'open-policy', 'proxy-ladder'],
      ...['rate-ladder', 'rollout', 'rules-of-thumb', 'shards'],
    ])
    expect(new Set(claims.map(claim => claim.id)).size).toBe(claims.length)
  })

  it.each([
    ['cap', [3283, 87, 89, 97, 3395, 77, 79, 84, 130, 52, 2189, 102, 104, 109, 200, 108]],
    ['cap', [2839, 76, 77, 79, 100, 34, 1097, 201, 203, 285, 100, 105, 12, 65, 30]],
    ['rate-ladder', [4.4, 4.3, 4.2, 4.3, 4.5, 9.6, 9.4, 9.7, 9.4, 9.8, 0.04, 0.15, 0.26, 0.61, 1.21, 60, 0.1, 140]],
    ['connections', [5, 8, 9.4, 17.7]],
    ['hops', [0.6, 0.9, 1.7, 1.1, 2.8, 4.9, 4.2, 5.7, 7.5]],
    ['open-policy', [138, 180, 304, 482, 106, 192, 435, 710]],
    ['rollout', [200, 400, 800, 1600, 1, 50]],
    ['grow', [260, 787, 440, 968, 460, 982, 2.7, 20, 40, 90, 150]],
    ['shards', [61.5, 29.5, 19, 18, 17.5, 45, 30, 12, 11, 22, 9]],
    ['shards', [75, 37, 21, 0.55, 0.23, 0.32, 227, 0.02, 110, 0.27, 136, 0.06, 109, 0.12, 163, 0.17, 131, 75, 48, 15]],
    ['istio-reference', [0.2, 60, 0.18, 0.3, 0.4, 0.43, 0.45]],
    ['envoy-knee', [1.17, 1.27, 1.45, 5.44, 51, 115, 96]],
    ['proxy-ladder', [0.51, 1.56, 0.85, 1.91, 1.63, 2.93, 2.14, 8.25, 602, 3340, 2.26, 3.94]],
    ['churn', [37076, 35206]],
    ['ambient-sidecar-debate', [2.35, 2.64, 5.16, 0.16, 0.3, 0.6, 1.48, 0.27, 0.55, 1.12, 2.54, 278, 159]],
    ['istio-ambient', [0.2, 0.06, 0.25, 60, 12]],
    ['mesh-resources', [191.79, 125.56, 5218, 1413, 1105]],
    ['gateways', [33641, 130208]],
    ['gateway-memory', [25.85, 31.97, 38.13, 60.31, 80.52, 130.77, 130.91, 131.07]],
    ['rules-of-thumb', [1.67, 2000, 0.8, 150, 0.05, 20, 40, 80, 0.48, 23, 1.4, 2.1]],
    ['mtls-tax', [166, 33]],
  ])('has every number published of %s', (topic, numbers) => {
    const { claims } = files.find(({ file }) => file === `bench/claims/${topic}.yaml`) ?? { claims: [] }
    expect(claims.flatMap(claim => claim.published.map(p => p.value))).toEqual(expect.arrayContaining(numbers))
  })

  it('has the ratio of the two numbers it publishes, of one unit, first over second', () => {
    const pairs = claims.filter(
      ({ published, relation }) => relation.ratio && published.length === 2 && published[0].unit === published[1].unit,
    )
    expect(pairs.length).toBeGreaterThan(9)
    for (const { id, published, relation } of pairs) {
      const [first, second] = published
      expect(first.value / second.value / Number(relation.ratio?.ratio), id).toBeCloseTo(1, 2)
    }
  })

  it('refuses an experiment that there is not', () => {
    expect(() => readClaims('bench/claims', { experiments: EXPERIMENTS.filter(name => name !== 'churn') })).toThrow(
      /bench\/claims\/churn\.yaml:\d+: experiment: unknown experiment "churn"/,
    )
  })
})

describe('evaluateClaims', () => {
  it('says what came out with lean planes, and with those that were published, as they are deployed', () => {
    const redirected = { interception: /** @type {const} */ ('redirect') }
    const published = [
      { plane: 'pipy', fields: { id: 'a', profile: 'fsm' }, conditions: redirected, capacity: six(80) },
      { plane: 'envoy', fields: { id: 'b', profile: 'osm-1.1' }, conditions: redirected, capacity: six(100) },
    ]
    const lean = [
      { plane: 'pipy', capacity: six(200) },
      { plane: 'envoy', capacity: six(100) },
    ]
    const withDeployed = text.replace('claims:', 'deployed: { pipy: pipy:fsm, envoy: envoy:osm-1.1 }\nclaims:')
    const answer = (/** @type {Parameters<typeof createSummary>[0]} */ arms, from = withDeployed) =>
      evaluateClaims({ files: [parseClaims(from, 'a.yaml')], summaries: [createSummary(arms)] }).map(
        ({ status, isDeployed = false }) => ({ status, isDeployed }),
      )
    const [reproduced, contradicted] = ['reproduced', 'contradicted'].map(status => ({ status, isDeployed: false }))
    expect(answer([...lean, ...published])).toEqual([reproduced, { ...contradicted, isDeployed: true }])
    expect(answer(lean)).toEqual([reproduced])
    expect(answer([...lean, ...published], text)).toEqual([reproduced])
    expect(answer(published)[0].status).toBe('not testable here')
  })

  const files = [parseClaims(text, 'a.yaml')]
  const run = (/** @type {string} */ id, /** @type {number[]} */ pipy, experiment = 'cap') => {
    const arms = [
      { plane: 'pipy', capacity: pipy },
      { plane: 'envoy', capacity: pipy.map(() => 100) },
    ]
    return createSummary(arms, { id, experiment })
  }

  it('gives a claim the answer of the run, beside theirs', () => {
    expect(evaluateClaims({ files, summaries: [run('r', six(200))] })).toMatchObject([
      {
        ...{ id: 'one', file: 'a.yaml', source: { title: 'Title' }, experiment: 'cap', theirs: '2 (±25 %)' },
        ...{ status: 'reproduced', ours: '2.00 [2.00, 2.00] (link pair, 200 users, 1 core)', reason: '', runId: 'r' },
      },
    ])
  })

  it('is not testable without a run of its experiment', () => {
    expect(evaluateClaims({ files, summaries: [run('r', [200], 'hops')] })).toMatchObject([
      { status: 'not testable here', ours: null, reason: 'no run of cap', runId: null },
    ])
  })

  it('says why a claim is testable nowhere, and where it was read off a chart', () => {
    const untestable = text.replace(/ratio: \{.*\}/, 'untestable: { why: other hardware }')
    expect(evaluateClaims({ files: [parseClaims(untestable, 'b.yaml')], summaries: [run('r', [1])] })).toMatchObject([
      { status: 'not testable here', theirs: null, reason: 'other hardware', runId: null },
    ])
    const chart = parseClaims(text.replace('read: table', 'read: chart'), 'c.yaml')
    expect(evaluateClaims({ files: [chart], summaries: [] })[0].theirs).toBe('2 (±25 %, read off a chart)')
  })

  it('takes of several runs one that could be tested, of those the last, and says who is of another mind', () => {
    const few = run('few', [200, 200])
    const reproduced = run('first', six(200))
    const contradicted = run('second', six(50))
    const first = { status: 'reproduced', reason: '', runId: 'first' }
    expect(evaluateClaims({ files, summaries: [reproduced, few] })[0]).toMatchObject(first)
    expect(evaluateClaims({ files, summaries: [reproduced, contradicted] })[0]).toMatchObject({
      status: 'contradicted',
      reason: 'on the other side of 1; first: reproduced, 2.00 [2.00, 2.00] (link pair, 200 users, 1 core)',
      runId: 'second',
    })
  })
})
