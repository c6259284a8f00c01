import { describe, expect, it } from 'vitest'
import { listRefusals, matchArms, renderMatchedArm } from '../../src/analysis/match-arms.js'
import { renderArmName } from '../../src/model/arms.js'
import { createArm } from '../fakes/fake-records.js'

/** @import { Arm, AxisName } from '../../src/model/types.ts' */

const pipy = (/** @type {Parameters<typeof createArm>[0]} */ fields = {}) => createArm({ plane: 'pipy', ...fields })
const variant = (/** @type {string} */ name, folder = '/x') => pipy({ id: name, variant: `${folder}/${name}` })

/** Which arms are compared, new and old, and which are not. @param {Arm[]} old @param {Arm[]} next @param {AxisName[]} [varied] */
function match(old, next, varied = []) {
  const { matches, unmatched } = matchArms({ old, next })
  return {
    matched: matches.map(m => `${renderArmName(m.next)}, ${renderArmName(m.old)}`),
    refused: listRefusals(unmatched, varied),
  }
}

describe('matchArms', () => {
  it('matches each arm with the one of its name in its place', () => {
    const [quarter, half] = [pipy(), pipy({ cpuLimitCores: 0.5 })]
    const { matches, unmatched } = matchArms({
      old: [half, quarter, variant('a')],
      next: [pipy(), pipy({ cpuLimitCores: 0.5 })],
    })
    expect(matches.map(m => m.old)).toEqual([quarter, half])
    expect(unmatched).toEqual({ old: [variant('a')], next: [] })
  })

  it('matches two variants of a plane if each run has one', () => {
    expect(match([variant('a', '/somewhere')], [variant('b', '/elsewhere')]).matched).toEqual(['pipy=b, pipy=a'])
    expect(match([pipy()], [variant('b')]).matched).toEqual(['pipy=b, pipy'])
  })

  it('matches those of one name first, and the variants that are left', () => {
    expect(match([pipy(), variant('a')], [variant('b'), pipy()])).toEqual({
      matched: ['pipy=b, pipy=a', 'pipy, pipy'],
      refused: [],
    })
  })

  it('does not choose between variants', () => {
    expect(match([variant('a'), variant('b')], [variant('c')])).toEqual({
      matched: [],
      refused: [
        { arm: 'pipy=c at 0.25 cores', differing: ['plane: pipy=a in old, pipy=c in new'] },
        { arm: 'pipy=b at 0.25 cores', differing: ['plane: pipy=b in old, pipy=c in new'] },
      ],
    })
    expect(match([variant('c')], [variant('a'), variant('b')])).toEqual({
      matched: [],
      refused: [
        { arm: 'pipy=a at 0.25 cores', differing: ['plane: pipy=c in old, pipy=a in new'] },
        { arm: 'pipy=b at 0.25 cores', differing: ['plane: pipy=c in old, pipy=b in new'] },
      ],
    })
  })
})

describe('listRefusals', () => {
  it('names the request of a pipeline if it has changed, and its own no more than that of the kit', () => {
    const asking = (/** @type {string} */ path) =>
      pipy({ load: { ownRequest: { method: 'GET', path, requestBytes: 0, status: 200 } } })
    expect(match([asking('/a')], [asking('/a')]).refused).toEqual([])
    expect(match([asking('/a')], [asking('/b')])).toEqual({
      matched: [],
      refused: [
        {
          arm: 'pipy at 0.25 cores',
          differing: ['request: GET /a, answered 200 in old, GET /b, answered 200 in new'],
        },
      ],
    })
    expect(match([pipy()], [asking('/b')]).refused[0].differing).toContain(
      "request: the kit's in old, GET /b, answered 200 in new",
    )
  })

  it.each(
    /** @type {[string, Parameters<typeof createArm>[0]][]} */ ([
      ['cap: 0.25 cores in old, 0.5 cores in new', { cpuLimitCores: 0.5 }],
      ['cap: 0.25 cores in old, no cap in new', { cpuLimitCores: null }],
      ['link: link in old, pair in new', { link: 'pair' }],
      ['users: 10 users in old, 20 users in new', { load: { users: 20 } }],
      ['window: 1 s in old, 10 s in new', { load: { windowSeconds: 10 } }],
      ['client: plaintext in old, mTLS in new', { load: { hasCertificate: true } }],
      ['TLS: mTLS ecdsa-p256 in old, plaintext in new', { conditions: { tls: 'plaintext' } }],
      ['memory limit: no memory limit in old, 64 MiB in new', { conditions: { memoryLimitBytes: 2 ** 26 } }],
      [
        'burst: none in old, 5 times the rate for 1 s after 2 s in new',
        { load: { burst: { factor: 5, beginsSeconds: 2, seconds: 1 } } },
      ],
    ]),
  )('refuses an arm with another %s', (differing, fields) => {
    const { matched, refused } = match([pipy()], [pipy(fields)])
    expect(matched).toEqual([])
    expect(refused.map(r => r.differing)).toEqual([[differing]])
  })

  it('distinguishes memory limits that are written alike', () => {
    const at = (/** @type {number} */ memoryLimitBytes) => pipy({ conditions: { memoryLimitBytes } })
    expect(match([at(2 ** 26)], [at(2 ** 26 + 1)])).toMatchObject({
      matched: [],
      refused: [{ differing: ['memory limit: 64 MiB in old, 64 MiB in new'] }],
    })
  })

  it('names what the nearest arm differs in, of the same name rather than of another', () => {
    const old = [
      pipy({ id: 'far', cpuLimitCores: 0.5, link: 'pair' }),
      pipy({ id: 'variant', cpuLimitCores: 0.5, variant: '/x/a' }),
      pipy({ id: 'near', cpuLimitCores: 0.75 }),
    ]
    expect(match(old, [pipy()]).refused[0].differing).toEqual(['cap: 0.75 cores in old, 0.25 cores in new'])
  })

  it('refuses another load with all in which it differs', () => {
    const open = pipy({ load: { kind: 'open', ratePerSecond: 300, users: 64 } })
    expect(match([pipy()], [open]).refused[0].differing).toEqual([
      'load: closed loop in old, open loop in new',
      'requests/s: none in old, 300 requests/s in new',
      'users: 10 users in old, 64 users in new',
    ])
  })

  it('says which run has no arm of a plane', () => {
    const [one, two] = [pipy(), createArm({ plane: 'envoy' })]
    expect(match([one], [one, two]).refused).toEqual([
      { arm: 'envoy at 0.25 cores', differing: ['not in the old run'] },
    ])
    expect(match([one, two], [one]).refused).toEqual([
      { arm: 'envoy at 0.25 cores', differing: ['not in the new run'] },
    ])
  })
})

describe('renderMatchedArm', () => {
  it.each([
    [{}, [], 'pipy at 0.25 cores'],
    [{ cpuLimitCores: null }, [], 'pipy'],
    [{ link: 'pair' }, ['link'], 'pipy at 0.25 cores, link pair'],
    [{ load: { users: 20 } }, ['users', 'cpuLimitCores'], 'pipy at 0.25 cores, 20 users'],
    [{ load: { burst: null } }, ['burstSeconds'], 'pipy at 0.25 cores'],
  ])('is the name, the cap and what varies, if it has it: %j %j', (fields, varied, label) => {
    expect(renderMatchedArm({ arm: pipy(fields), variedAxes: /** @type {AxisName[]} */ (varied) })).toBe(label)
  })

  it('names both variants', () => {
    expect(renderMatchedArm({ arm: variant('b'), partner: variant('a'), variedAxes: [] })).toBe(
      'pipy=b and pipy=a at 0.25 cores',
    )
  })
})
