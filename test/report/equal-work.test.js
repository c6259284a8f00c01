import { describe, expect, it } from 'vitest'
import { createAnswer } from '../../src/report/answer/answer.js'
import { renderParity } from '../../src/report/equal-work.js'
import { createArm, createParityRow, DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { createResult, createSummary } from '../fakes/fake-summary.js'

/** @import { ParityRow, SummaryArm } from '../../src/model/types.ts' */

const SETS = ['lean', 'access-log', 'metrics']
const arms = /** @type {SummaryArm[]} */ (
  SETS.flatMap(features =>
    ['pipy', 'envoy'].map(plane => createArm({ plane, conditions: { ...DEFAULT_CONDITIONS, features } })),
  )
)
/** @param {Partial<ParityRow>} [wrong] of Pipy with the access log */
const rowsWith = (wrong = {}) =>
  SETS.slice(1).flatMap(features =>
    ['pipy', 'envoy'].map(plane =>
      createParityRow({
        ...{ name: 'parity-features', plane, features, found: features },
        ...(plane === 'pipy' && features === 'access-log' ? wrong : {}),
      }),
    ),
  )

describe('equal work', () => {
  it('holds if planes do alike with each set of features', () =>
    expect(renderParity({ results: [createResult({ arms })], parity: rowsWith(), relaxes: [] })).toEqual([
      'Equal-work check: passed.',
    ]))

  it('is reported separately for a plane as deployed, and holds between the others', () => {
    const parity = rowsWith({ found: 'nothing', expected: 'access-log', isDeployed: true })
    expect(renderParity({ results: [createResult({ arms })], parity, relaxes: [] })).toEqual([
      'Equal-work check: passed between the other planes.',
      'pipy does its own work, as deployed: features differs.',
    ])
  })

  it('does not hold in what the experiment sets aside, and the answer says so', () => {
    const relaxes = [{ gate: 'parity-features', why: 'they are what is varied' }]
    const wrong = { found: '1 differences of access-log', expected: 'access-log' }
    const [heading, , ...table] = renderParity({ results: [createResult({ arms })], parity: rowsWith(wrong), relaxes })
    expect(heading).toBe('Equal-work check: passed but for what the experiment sets aside:')
    expect(table.join('\n')).toContain('1 differences of access-log (access-log is expected)')
    expect(renderParity({ results: [createResult({ arms })], parity: rowsWith(), relaxes })).toEqual([
      'Equal-work check: passed.',
    ])
  })

  it('is unequal or untried in the headline', () => {
    const measured = { plane: 'pipy', cpuPerRequest: [30, 30] }
    const answer = (/** @type {ParityRow[]} */ parity) => createAnswer(createSummary([measured], { parity }))
    const why = 'does not serve the corpus: the sidecar of client died: signal SIGKILL'
    const untried = createParityRow({ found: why, expected: 'served', differences: [why] })
    expect(answer([untried])).toMatchObject({
      warnings: ['UNEQUAL WORK (tls): their costs cannot be compared; the report says what differs.'],
      basis: ['2 repeats.'],
    })
    expect(answer([createParityRow({})])).toMatchObject({ warnings: [], basis: ['Equal work: passed.', '2 repeats.'] })
  })

  it('is less for a plane that carries bytes, beside those that parse requests', () => {
    const measured = { plane: 'pipy', cpuPerRequest: [30, 30] }
    const rows = ['parity-tls', 'parity-protocol'].map(name =>
      createParityRow({
        name,
        plane: 'ztunnel',
        found: 'HTTP/2',
        expected: 'TCP',
        isDeployed: true,
        carriesBytes: true,
      }),
    )
    const { warnings } = createAnswer(createSummary([measured], { parity: rows }))
    expect(warnings).toEqual(['As meshes deploy them, work is not equal (ztunnel; ztunnel carries bytes).'])
    const own = rows.map(row => ({ ...row, isDeployed: undefined, found: 'TCP' }))
    expect(createAnswer(createSummary([measured], { parity: own })).warnings).toEqual([
      'ztunnel carries bytes: routes, retries and metrics by request are not its work.',
    ])
  })

  it('holds if all planes lack the same, with a note', () => {
    const lacking = { found: 'some', expected: 'all', lacks: ['it has none'] }
    const parity = ['pipy', 'envoy'].map(plane => createParityRow({ name: 'parity-upstreams', plane, ...lacking }))
    const leanArms = arms.filter(arm => arm.conditions.features === 'lean')
    expect(renderParity({ results: [createResult({ arms: leanArms })], parity, relaxes: [] })).toEqual([
      'Equal-work check: passed; all lack the same: it has none.',
    ])
  })

  it('does not hold if an arm ignores its features, even if no other is like it', () => {
    const wrong = { found: '1 differences of access-log', expected: 'access-log' }
    for (const of of [arms, arms.filter(arm => arm.plane === 'pipy')])
      expect(renderParity({ results: [createResult({ arms: of })], parity: rowsWith(wrong), relaxes: [] })[0]).toBe(
        'Equal-work check: NOT passed:',
      )
  })
})
