import { describe, expect, it } from 'vitest'
import { evaluateClaims } from '../../src/analysis/claims/claims.js'
import { groupUntested, renderClaimCounts, renderClaims } from '../../src/report/claims.js'
import { readKitClaims } from '../../src/verbs/read-claims.js'
import { createSummary } from '../fakes/fake-summary.js'

/** @import { ClaimResult } from '../../src/analysis/claims/claims.js' */

const source = /** @type {const} */ ({ title: 'A page', publisher: 'Us', did: '', hardware: null, read: 'table' })
/** @type {ClaimResult} */
const result = {
  ...{ id: 'one', says: 'Pipy 2, Envoy 1.', read: 'table', experiment: 'cap', published: [], file: 'a.yaml', source },
  ...{ theirs: '2 (±25 %)', status: 'reproduced', ours: '2.10 [2.00, 2.20] (1 core)', reason: '', runId: 'r1' },
}
/** @type {ClaimResult} */
const untested = {
  ...{ ...result, id: 'two', status: 'not testable here', theirs: null, ours: null, reason: 'why', runId: null },
  ...{ experiment: null, file: 'b.yaml', source: { ...source, unlike: 'more CPUs' } },
}

describe('renderClaims', () => {
  it('says each claim with its status, theirs, ours and the reason, by source, and counts those of the runs', () => {
    expect(renderClaims([result, { ...result, status: 'contradicted', reason: 'because' }, untested], ['cap'])).toEqual(
      [
        'A page (Us)',
        '  reproduced         one: Pipy 2, Envoy 1.',
        '                     theirs 2 (±25 %), ours 2.10 [2.00, 2.20] (1 core)',
        '  contradicted       one: Pipy 2, Envoy 1.',
        '                     theirs 2 (±25 %), ours 2.10 [2.00, 2.20] (1 core): because',
        '',
        'A page (Us)',
        '  unlike here: more CPUs',
        '  not testable here:',
        '    why:',
        '      two',
        '',
        '2 claims: 1 reproduced, 0 direction only, 1 contradicted, 0 not testable here.',
        'Of other experiments, or of none: 1.',
      ],
    )
  })

  it('says of which run each answer is, if there are several', () => {
    const lines = renderClaims([result, { ...result, runId: 'r2', reason: 'because' }], ['cap'])
    expect(lines[2]).toBe('                     theirs 2 (±25 %), ours 2.10 [2.00, 2.20] (1 core) [r1]')
    expect(lines[4]).toContain(': because [r2]')
  })

  it('says the reason once of all claims that have it', () => {
    const others = [untested, { ...untested, id: 'three' }, { ...untested, id: 'four', reason: 'other' }]
    expect(groupUntested([result, ...others])).toEqual([
      { reason: 'why', ids: ['two', 'three'] },
      { reason: 'other', ids: ['four'] },
    ])
    expect(renderClaims(others, ['cap']).filter(line => line.includes('why'))).toHaveLength(1)
  })

  it('counts the claims, and names those that are contradicted', () => {
    expect(renderClaimCounts([result, untested, { ...result, id: 'three', status: 'contradicted' }])).toEqual([
      'Of 3 published claims: 1 reproduced, 0 direction only, 1 contradicted, 1 not testable here.',
      'Contradicted: three.',
    ])
    expect(renderClaimCounts([result])).toHaveLength(1)
    expect(renderClaimCounts([])).toEqual([])
  })

  it('says all claims of the kit in 100 columns', () => {
    const results = evaluateClaims({ files: readKitClaims(), summaries: [createSummary([])] })
    const lines = renderClaims(results, ['cap'])
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(100)
    const count = results.filter(({ experiment }) => experiment === 'cap').length
    expect(count).toBeLessThan(results.length)
    expect(lines.slice(-2)).toEqual([
      `${count} claims: 0 reproduced, 0 direction only, 0 contradicted, ${count} not testable here.`,
      `Of other experiments, or of none: ${results.length - count}.`,
    ])
  })
})
