import { describe, expect, it } from 'vitest'
import {
  listPlaneDifferences,
  renderCheckTimes,
  renderOpenPolicy,
  tabulateParity,
} from '../../../src/parity/verdict/table.js'
import { createParityRow as row } from '../../fakes/fake-records.js'

describe('tabulateParity', () => {
  it('gives planes that do equal work one line, in the order of the rows', () => {
    const parity = ['pipy', 'envoy'].flatMap(plane => [
      row({ plane, name: 'parity-tls', found: 'TLS' }),
      row({ plane, name: 'parity-answers', found: '46 of 46' }),
    ])
    const { columns, rows } = tabulateParity({ parity })
    expect(columns.map(([name]) => name)).toEqual(['', 'data planes', 'found'])
    expect(rows).toEqual([
      ['answers', 'pipy, envoy', '46 of 46'],
      ['tls', 'pipy, envoy', 'TLS'],
    ])
  })

  it('gives a plane that does otherwise its own line, and says what is expected', () => {
    const parity = [row({ found: 'TLS' }), row({ plane: 'envoy', found: 'no TLS', expected: 'TLS' })]
    expect(tabulateParity({ parity }).rows).toEqual([
      ['tls', 'pipy', 'TLS'],
      ['tls', 'envoy', 'no TLS (TLS is expected)'],
    ])
  })

  it('names the configuration if more than one is measured', () => {
    const parity = [row({ found: 'TLS' }), row({ tls: 'plaintext', found: 'no TLS' })]
    const { columns, rows } = tabulateParity({ parity })
    expect(columns.map(([name]) => name)).toEqual(['', 'TLS', 'data planes', 'found'])
    expect(rows).toEqual([
      ['tls', 'mTLS ecdsa-p256', 'pipy', 'TLS'],
      ['tls', 'plaintext', 'pipy', 'no TLS'],
    ])
  })
})

describe('listPlaneDifferences', () => {
  it('has what differs alike in one line, and the reason if the plane declares one', () => {
    const differences = ['a GET: headers of its own: via', 'a HEAD: headers of its own: via']
    const parity = [row({ differences }), row({ plane: 'caddy', differences, lacks: ['it adds itself'] })]
    expect(listPlaneDifferences({ parity })).toEqual([
      'pipy: a GET and 1 more: headers of its own: via',
      'caddy: it adds itself',
    ])
  })
})

describe('renderOpenPolicy', () => {
  it('names the open policy if sidecars speak TLS', () => {
    expect(renderOpenPolicy({ parity: [row({ trafficPolicy: 'open' })] })).toEqual([
      "Traffic policy open, as in the published comparison: a sidecar accepts any identity of the mesh's CA",
    ])
    expect(renderOpenPolicy({ parity: [row({ trafficPolicy: 'listed' })] })).toEqual([])
    expect(renderOpenPolicy({ parity: [row({ trafficPolicy: 'open', tls: 'plaintext' })] })).toEqual([])
  })
})

describe('tellTried', () => {
  it('says when an earlier run made a check, and nothing if this run made all', () => {
    const earlier = row({ triedAt: '2026-11-25T22:16:41.000Z' })
    expect(renderCheckTimes({ parity: [row({})] })).toEqual([])
    expect(renderCheckTimes({ parity: [earlier] })[0]).toMatch(/^Equal work was tried on 2026-11-25 22:16 UTC, /)
    expect(renderCheckTimes({ parity: [earlier, row({})] })[0]).toMatch(
      /^Some of equal work was tried on 2026-11-25 22:16 UTC, /,
    )
  })
})
