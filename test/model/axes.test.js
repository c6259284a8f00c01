import { describe, expect, it } from 'vitest'
import {
  AXES,
  AXIS_NAMES,
  CONDITION_AXES,
  CONTROL_PLANE_NAMES,
  createGroupKey,
  listVariedAxes,
  renderAxes,
} from '../../src/model/arms.js'
import { createRequestKind, REQUEST_AXES } from '../../src/model/requests.js'
import { conditions as conditionsSchema } from '../../src/model/schemas.js'
import { createArm } from '../fakes/fake-records.js'

/** @import { AxisName, Conditions } from '../../src/model/types.ts' */

const armWith = (/** @type {Partial<Conditions>} */ conditions) => createArm({ conditions })
const open = (/** @type {number} */ ratePerSecond) => createArm({ load: { kind: 'open', ratePerSecond } })

describe('AXES', () => {
  it('take their own default values', () => {
    for (const name of AXIS_NAMES) {
      for (const value of AXES[name].values.filter(v => v !== null)) expect(AXES[name].schema.parse(value)).toBe(value)
    }
  })

  it('record their values as the condition of the same name', () => {
    const every = AXIS_NAMES.filter(name => AXES[name].recorded)
    expect(every).toEqual([...Object.keys(conditionsSchema.shape)].filter(name => name !== 'simulated'))
    const empty = conditionsSchema.safeParse({})
    expect(empty.error?.issues.map(({ path }) => path[0])).toEqual(
      CONDITION_AXES.every.filter(name => name !== 'features'),
    )
    for (const name of [...CONDITION_AXES.sparse, ...CONTROL_PLANE_NAMES])
      expect(AXES[name].values, name).toEqual([null])
  })

  it('read, of an arm that nothing was asked of, their defaults', () => {
    const others = /** @type {AxisName[]} */ (['link', 'cpuLimitCores', 'users'])
    for (const name of AXIS_NAMES.filter(n => !others.includes(n))) {
      expect([name, AXES[name].readValue(createArm({}))]).toEqual([name, AXES[name].values[0]])
    }
  })

  it.each(
    /** @type {[AxisName, any, string][]} */ ([
      ['link', 'pair', 'link pair'],
      ['services', 1, '1 service'],
      ['services', 10, '10 services'],
      ['pairs', null, 'the link once'],
      ['pairs', 50, '50 pairs'],
      ['ending', null, 'no sidecar ends'],
      ['ending', 'sigterm', 'ended by SIGTERM'],
      ['ending', 'graceful', 'ended gracefully'],
      ['ending', 'told', 'ended gracefully, its client told before'],
      ['interception', null, 'no namespaces'],
      ['interception', 'none', 'no redirection'],
      ['interception', 'redirect', 'redirection'],
      ['loudPerSecond', 0, 'no loud pair'],
      ['loudPerSecond', 500, '500 requests/s more to one pair'],
      ['ratePerSecond', 100, '100 requests/s'],
      ['users', 50, '50 users'],
      ['payloadBytes', 1024, '1024 bytes'],
      ['method', 'GET', 'GET'],
      ['method', null, 'POST, echoed'],
      ['requestBytes', 400, 'request 400 bytes'],
      ['requestBytes', null, 'request of the payload'],
      ['requestHeaderBytes', 400, 'request headers 400 bytes'],
      ['requestHeaderBytes', null, 'no more headers'],
      ['responseBytes', 0, 'response 0 bytes'],
      ['responseBytes', null, 'response of the payload'],
      ['serviceTime', 'exp:30ms', 'service time exp:30ms'],
      ['serviceTime', null, 'service time none'],
      ['chunks', '10/5ms', 'chunks 10/5ms'],
      ['chunks', null, 'not in chunks'],
      ['traffic', 'shop-0123abcd', 'traffic shop-0123abcd'],
      ['traffic', null, 'one kind of request'],
      ['connections', 'new', 'connections new'],
      ['burstSeconds', 5, 'burst of 5 s'],
      ['tls', 'plaintext', 'plaintext'],
      ['tls', 'rsa-2048', 'mTLS rsa-2048'],
      ['protocol', 'http/2', 'HTTP/2'],
      ['protocol', 'grpc', 'gRPC'],
      ['workers', null, 'workers by cap'],
      ['workers', 2, '2 workers'],
      ['configuredServices', 100, '100 configured services'],
      ['memoryLimitBytes', null, 'no memory limit'],
      ['memoryLimitBytes', 2 ** 25, '32 MiB'],
      ['changesPerMinute', null, 'configured once'],
      ['changesPerMinute', 60, '60 changes/min'],
      ['changed', 'certificate', 'certificate changed'],
      ['features', 'lean', 'no features'],
      ['features', 'access-log', 'access-log'],
      ['features', 'all', 'all features'],
      ['sidecars', null, 'no control plane'],
      ['sidecars', 1600, '1600 sidecars'],
      ['controlCpuLimitCores', null, 'control plane without a cap'],
      ['controlCpuLimitCores', 1.5, 'control plane at 1.5 cores'],
      ['controlMemoryBytes', null, 'control plane without a memory limit'],
      ['controlMemoryBytes', 2 ** 28, 'control plane with 256 MiB'],
      ['shards', null, 'not in shards'],
      ['shards', 3, '3 shards'],
      ['assignment', null, 'assigned by round-robin'],
      ['assignment', 'legacy-hash', 'assigned by legacy-hash'],
      ['areServicesRemoved', null, 'services from the start'],
      ['areServicesRemoved', true, 'services removed again'],
      ['isShardRemoved', null, 'no shard removed'],
      ['isShardRemoved', true, 'a shard removed'],
      ['sizes', null, 'equal sizes'],
      ['sizes', 'random', 'random sizes'],
      ['commitsPerSecond', null, 'commits at no rate'],
      ['commitsPerSecond', 50, 'at most 50 commits/s'],
      ['commitsAtOnce', null, 'commits at once by default'],
      ['commitsAtOnce', 8, '8 commits at once'],
      ['cpuLimitCores', null, 'no cap'],
      ['cpuLimitCores', 0.25, '0.25 cores'],
    ]),
  )('says of %s %j: %s', (name, value, words) => expect(AXES[name].render(value)).toBe(words))

  // What arms are called by, and told apart by, in tables: two limits of one MiB would be one arm.
  it('distinguish two memory limits that differ by less than 1 MiB', () => {
    const { render } = AXES.memoryLimitBytes
    expect(render(12.25 * 2 ** 20)).not.toBe(render(12 * 2 ** 20))
  })

  it.each(
    /** @type {[AxisName, any][]} */ ([
      ['services', 0],
      ['pairs', 251],
      ['ratePerSecond', -1],
      ['users', 1.5],
      ['payloadBytes', 0],
      ['method', 'get'],
      ['requestBytes', -1],
      ['requestHeaderBytes', 8],
      ['requestHeaderBytes', 8193],
      ['responseBytes', 2 ** 25],
      ['serviceTime', '30'],
      ['serviceTime', '11s'],
      ['chunks', '0/5ms'],
      ['chunks', '1000/20ms'],
      ['traffic', { name: 'shop', kinds: [] }],
      ['connections', 'kep'],
      ['burstSeconds', 0],
      ['tls', 'rsa'],
      ['protocol', 'http/3'],
      ['workers', 0],
      ['configuredServices', -1],
      ['memoryLimitBytes', 0],
      ['changesPerMinute', -1],
      ['changed', 'key'],
      ['features', 'acces-log'],
      ['features', 'access-log+access-log'],
      ['features', ''],
      ['features', 'lean+access-log'],
      ['sidecars', 0],
      ['controlCpuLimitCores', 0.001],
      ['controlMemoryBytes', 1024],
      ['shards', 101],
      ['assignment', 'random'],
      ['sizes', 'large'],
      ['isShardRemoved', false],
      ['commitsPerSecond', 9],
      ['commitsAtOnce', 257],
      ['cpuLimitCores', 0],
    ]),
  )('refuse, of %s, %j', (name, value) => expect(AXES[name].schema.safeParse(value).success).toBe(false))
})

describe('findVaried', () => {
  it('names the axes in which arms differ, in the order of the axes', () => {
    expect(
      listVariedAxes([createArm({}), createArm({ conditions: { tls: 'plaintext' }, load: { users: 20 } })]),
    ).toEqual(['users', 'tls'])
    expect(listVariedAxes([createArm({ cpuLimitCores: 1 }), createArm({ cpuLimitCores: 2, link: 'x' })])).toEqual([
      'link',
      'cpuLimitCores',
    ])
    expect(listVariedAxes([createArm({}), createArm({ plane: 'envoy' })])).toEqual([])
  })

  it('does not mind what arms without a cap have not', () => {
    const none = createArm({ plane: 'none', cpuLimitCores: null, load: { users: 5 } })
    expect(listVariedAxes([none, createArm({}), armWith({ workers: 2 })])).toEqual(['workers'])
  })

  it('judges all arms if none has a cap', () => {
    expect(listVariedAxes([1, 2].map(users => createArm({ cpuLimitCores: null, load: { users } })))).toEqual(['users'])
  })

  it('is empty for no arms', () => expect(listVariedAxes([])).toEqual([]))
})

describe('renderAxes', () => {
  it('says what an arm has, in the requested order', () => {
    expect(renderAxes(open(100), ['cpuLimitCores', 'ratePerSecond', 'tls'])).toBe(
      '0.25 cores, 100 requests/s, mTLS ecdsa-p256',
    )
    expect(renderAxes(open(100), [])).toBe('')
  })
})

describe('groupOf', () => {
  it('is the same for another plane, and for another length or certificate', () => {
    const group = createGroupKey(createArm({}))
    expect(createGroupKey(createArm({ plane: 'envoy', variant: '/x', repeatOf: 'y' }))).toBe(group)
    expect(createGroupKey(createArm({ load: { windowSeconds: 9, warmupSeconds: 9 } }))).toBe(group)
  })

  it('is another for every axis, but for the one that is left out', () => {
    /** @param {'load' | 'conditions'} part @param {Record<string, unknown>} values */
    const each = (part, values) =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { [part]: { [name]: value } }]))
    /** @type {Record<string, Parameters<typeof createArm>[0]>} */
    const others = {
      link: { link: 'x' },
      cpuLimitCores: { cpuLimitCores: 2 },
      burstSeconds: { load: { burst: { factor: 5, beginsSeconds: 2, seconds: 1 } } },
      ...each('load', {
        users: 2,
        payloadBytes: 1,
        connections: 'new',
        ratePerSecond: 5,
        idleConnections: 5,
        loudPerSecond: 500,
        traffic: 'shop-0123abcd',
        placement: 'apart',
      }),
      ...Object.fromEntries(
        [
          { method: 'PUT' },
          { requestBytes: 5 },
          { requestHeaderBytes: 50 },
          { responseBytes: 5 },
          { serviceTime: '5ms' },
          { chunks: '2/5ms' },
        ].map(option => [
          Object.keys(option)[0],
          { load: { requests: [createRequestKind({ method: 'POST', ...option }, 1024)] } },
        ]),
      ),
      ...each('conditions', {
        ...{ services: 2, pairs: 2, ending: 'sigterm', interception: 'none', tls: 'plaintext', protocol: 'http/2' },
        ...{ workers: 2, configuredServices: 1, memoryLimitBytes: 1, changesPerMinute: 0, changed: 'certificate' },
        ...{ features: 'access-log', sidecars: 2, controlCpuLimitCores: 1, controlMemoryBytes: 1, shards: 2 },
        ...{ assignment: 'legacy-hash', sizes: 'random', commitsPerSecond: 50, commitsAtOnce: 2 },
        ...{ isShardRemoved: true, areServicesRemoved: true },
        ...{ cpuRequestCores: 0.1, neighbourCores: 1, podCpuCores: 1 },
      }),
    }
    expect(Object.keys(others).toSorted()).toEqual(AXIS_NAMES.toSorted())
    const answered = createArm({ load: { payloadBytes: undefined, requests: [createRequestKind({}, 1024)] } })
    for (const name of AXIS_NAMES) {
      const isOfRequests = REQUEST_AXES.some(axis => axis === name)
      const arm = isOfRequests
        ? createArm({ load: { payloadBytes: undefined, ...others[name].load } })
        : createArm(others[name])
      const usual = isOfRequests ? answered : createArm({})
      expect([name, createGroupKey(arm)]).not.toEqual([name, createGroupKey(usual)])
      expect([name, createGroupKey(arm, name)]).toEqual([name, createGroupKey(usual, name)])
    }
  })

  it('is the same for features in the order of an older kit', () => {
    const [old, now] = ['rate-limit+header-rewrite', 'header-rewrite+rate-limit']
    expect(createGroupKey(armWith({ features: old }))).toBe(createGroupKey(armWith({ features: now })))
  })

  it('is another for another kind of load', () => {
    expect(createGroupKey(createArm({ load: { kind: 'idle' } }))).not.toBe(createGroupKey(createArm({})))
  })
})
