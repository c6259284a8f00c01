import { describe, expect, it } from 'vitest'
import { evaluateClaims } from '../../src/analysis/claims/claims.js'
import { renderClaims } from '../../src/report/claims.js'
import { readClaims } from '../../src/verbs/read-claims.js'
import { createSummary } from '../fakes/fake-summary.js'

/** @import { ClaimResult } from '../../src/analysis/claims/claims.js' */

const source = /** @type {const} */ ({ title: 'A page', publisher: 'Us', did: '', hardware: null, read: 'table' })
/** @type {ClaimResult} */
const result = {
  ...{ id: 'one', says: 'Pipy 2, Envoy 1.', read: 'table', experiment: 'cap', published: [], file: 'a.yaml', source },
  ...{ theirs: '2 (±25 %)', status: 'reproduced', ours: '2.10 [2.00, 2.20] (1 cores)', reason: '', runId: 'r1' },
}
/** @type {ClaimResult} */
const untested = {
  ...{ ...result, id: 'two', status: 'not testable here', theirs: null, ours: null, reason: 'why', runId: null },
  ...{ experiment: null, file: 'b.yaml', source: { ...source, unlike: 'more CPUs' } },
}

describe('renderClaims', () => {
  it('says each claim with its status, theirs, ours and the reason, by source, and counts them', () => {
    expect(renderClaims([result, { ...result, status: 'contradicted', reason: 'because' }, untested])).toEqual([
      'A page (Us)',
      '  reproduced         one: Pipy 2, Envoy 1.',
      '                     theirs 2 (±25 %), ours 2.10 [2.00, 2.20] (1 cores)',
      '  contradicted       one: Pipy 2, Envoy 1.',
      '                     theirs 2 (±25 %), ours 2.10 [2.00, 2.20] (1 cores): because',
      '',
      'A page (Us)',
      '  unlike here: more CPUs',
      '  not testable here  two: Pipy 2, Envoy 1.',
      '                     why',
      '',
      '3 claims: 1 reproduced, 0 direction only, 1 contradicted, 1 not testable here.',
    ])
  })

  it('says of which run each answer is, where there are several', () => {
    const lines = renderClaims([result, { ...result, runId: 'r2', reason: 'because' }])
    expect(lines[2]).toBe('                     theirs 2 (±25 %), ours 2.10 [2.00, 2.20] (1 cores) [r1]')
    expect(lines[4]).toContain(': because [r2]')
  })

  it('says only the claims of an experiment', () => {
    expect(renderClaims([result, untested], { experiment: 'cap' }).join('\n')).not.toContain('two')
    expect(renderClaims([result, untested], { experiment: 'hops' })).toEqual([])
  })

  it('says all claims of the kit in 120 columns', () => {
    const experiments = [
      'cap',
      'cap-ladder',
      'rate-ladder',
      'connections',
      'hops',
      'open-policy',
      'knee',
      'churn',
      'mtls-tax',
    ]
    const files = readClaims('bench/claims', { experiments })
    const lines = renderClaims(evaluateClaims({ files, summaries: [createSummary([])] }))
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(120)
    expect(lines.at(-1)).toBe(
      `${files.flatMap(f => f.claims).length} claims: 0 reproduced, 0 direction only, 0 contradicted, ${files.flatMap(f => f.claims).length} not testable here.`,
    )
  })
})
