import { describe, expect, it } from 'vitest'
import { summariseValues } from '../../src/lib/stats.js'
import { listArms } from '../../src/model/results.js'
import { tabulatePivots } from '../../src/report/arms-table.js'
import { renderSectionsText } from '../../src/report/section-text.js'
import { createResult, createSummary } from '../fakes/fake-summary.js'

/** @import { Shows, Summary } from '../../src/model/types.ts' @import { ArmFields } from '../fakes/fake-summary.js' */

/** @param {Summary} summary */
const renderPivots = summary =>
  renderSectionsText([
    {
      ...{ id: 'results', name: 'Results' },
      blocks: tabulatePivots(summary.results[0], summary.shows).map(table => ({
        type: /** @type {const} */ ('table'),
        table,
      })),
    },
  ])
const six = (/** @type {number} */ value) => Array(6).fill(value)
/** @param {ArmFields[]} arms @param {Partial<Shows>} shows */
const render = (arms, shows) =>
  renderPivots(
    createSummary(arms, {
      shows: { quantities: ['p99'], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false, ...shows },
    }),
  )
/** @param {string} plane @param {number} ratePerSecond @param {number} p99 @param {Partial<ArmFields>} [fields] @returns {ArmFields} */
const at = (plane, ratePerSecond, p99, fields = {}) => ({ plane, load: { ratePerSecond }, p99: [p99], ...fields })

describe('tabulatePivots, on a terminal', () => {
  it('has a column for every value of the axis, and a row for every quantity and plane', () => {
    const arms = [at('pipy', 100, 1), at('envoy', 100, 2), at('pipy', 200, 3), at('envoy', 200, 4)]
    const withThroughput = arms.map((arm, i) => ({ ...arm, throughput: [100 * (i + 1)] }))
    expect(render(withThroughput, { across: 'ratePerSecond', quantities: ['p99', 'throughput'] })).toEqual([
      [
        'requests/s             100      200',
        'p99 ms, pipy           1.0      3.0',
        'p99 ms, envoy          2.0      4.0',
        'requests/s, pipy       100      300',
        'requests/s, envoy      200      400',
        'bound by, pipy     sidecar  sidecar',
        'bound by, envoy    sidecar  sidecar',
      ],
    ])
  })

  it('shows the interval if there is one', () => {
    const [lines] = render([at('pipy', 100, 1, { p99: [1, 2, 3, 4, 5, 6] })], { across: 'ratePerSecond' })
    expect(lines.map(line => line.trim().split(/ {2,}/).at(-1))).toEqual(
      expect.arrayContaining(['3.5', '[1.0, 6.0]', 'sidecar']),
    )
  })

  it('has a table of its own for every other value that the arms differ in', () => {
    const arms = ['plaintext', 'rsa-2048'].flatMap(tls =>
      [100, 200].map(rate => at('pipy', rate, rate, { conditions: { tls: /** @type {'plaintext'} */ (tls) } })),
    )
    const tables = render(arms, { across: 'ratePerSecond' })
    expect(tables.map(([head]) => head)).toEqual(['plaintext:', 'mTLS rsa-2048:'])
    const p99Rows = tables.map(lines => lines.find(line => line.startsWith('p99'))?.split(/ {2,}/))
    expect(p99Rows).toEqual(Array(2).fill(['p99 ms, pipy', '100.0', '200.0']))
  })

  it('puts what is without sidecars beside each table that it goes with', () => {
    const caps = [0.5, 1].flatMap(cpuLimitCores => [
      at('pipy', 100, 2, { cpuLimitCores }),
      at('pipy', 200, 3, { cpuLimitCores }),
    ])
    const tables = render([at('none', 100, 1), at('none', 200, 1.5), ...caps], { across: 'ratePerSecond' })
    expect(tables.map(([head]) => head)).toEqual(['0.5 cores:', '1 core:'])
    for (const lines of tables) expect(lines.join('\n')).toMatch(/p99 ms, none +1\.0 +1\.5\n/)
  })

  it('puts it beside no table of another link', () => {
    const arms = ['ratings', 'pair'].flatMap((link, i) => [
      at('none', 100, i + 1, { link }),
      at('pipy', 100, 9, { link }),
    ])
    const tables = render(arms, { across: 'ratePerSecond' })
    expect(tables.map(lines => lines.find(l => l.startsWith('p99 ms, none'))?.split(/ {2,}/)[1])).toEqual([
      '1.0',
      '2.0',
    ])
  })

  it('repeats what is without sidecars in every column of an axis that only sidecars have', () => {
    const tls = /** @type {const} */ (['plaintext', 'rsa-2048'])
    const arms = [at('none', 100, 1), ...tls.map((t, i) => at('pipy', 100, i + 2, { conditions: { tls: t } }))]
    const [lines] = render(arms, { across: 'tls' })
    expect(lines[0].split(/ {2,}| (?=rsa)/)).toEqual(['TLS', 'plaintext', 'rsa-2048'])
    expect(lines.join('\n')).toMatch(/p99 ms, none +1\.0 +1\.0\n/)
    expect(lines.join('\n')).toMatch(/p99 ms, pipy +2\.0 +3\.0\n/)
  })

  it('shows a dash if there is no value, no row without any, and says what was not measured', () => {
    const arms = [at('pipy', 100, 1), { ...at('pipy', 200, 1), p99: [null] }, at('envoy', 100, 3)]
    const [lines] = render(arms, { across: 'ratePerSecond', quantities: ['p99', 'capacity'] })
    const text = lines.join('\n')
    expect(text).toMatch(/p99 ms, pipy +1\.0 +-\n/)
    expect(text).toMatch(/p99 ms, envoy +3\.0 +-\n/)
    expect(text).toMatch(/bound by, envoy +sidecar +not measured$/)
    expect(text).not.toContain('capacity')
  })

  it('says that all trials of an arm failed, and that an idle one was idle', () => {
    const summary = createSummary([at('pipy', 100, 1), { plane: 'envoy', fields: { boundBy: null } }])
    const [failed, idle] = listArms(summary)
    const arms = [
      { ...failed, trials: { completed: 0, failed: 3, invalid: 0 } },
      { ...idle, load: { ...failed.load, kind: /** @type {const} */ ('idle') } },
    ]
    const text = renderPivots({ ...summary, results: [createResult({ arms })] })
      .flat()
      .join('\n')
    expect(text).toMatch(/bound by, pipy +failed/)
    expect(text).toMatch(/bound by, envoy +idle/)
  })

  it('shows CPU of each sidecar beside the sum, of at most three, and of no copy', () => {
    const of = (/** @type {string[]} */ services) => {
      const summary = createSummary([at('pipy', 100, 1)], {
        shows: { quantities: ['cpuCores'], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false },
      })
      const [arm] = listArms(summary)
      const sidecars = services.map(service => ({
        ...arm.sidecars[0],
        service,
        copyOf: service === 'server-2' ? 'server' : null,
        cpuCores: summariseValues([0.25]),
      }))
      const cpuCores = summariseValues([0.25 * services.length])
      const [lines] = renderPivots({
        ...summary,
        results: [createResult({ arms: [{ ...arm, ...{ cpuCores }, sidecars }] })],
      })
      return lines.filter(line => line.startsWith('CPU')).map(line => line.split(/ {2,}| (?=0\.)/))
    }
    expect(of(['client', 'server', 'server-2'])).toEqual([
      ['CPU cores, pipy', '0.750'],
      ['CPU cores, pipy: client', '0.250'],
      ['CPU cores, pipy: server', '0.250'],
    ])
    expect(of(['client'])).toEqual([['CPU cores, pipy', '0.250']])
    expect(of(['a', 'b', 'c', 'd'])).toEqual([['CPU cores, pipy', '1.000']])
  })

  it('leaves out the arm that repeats one (A/A)', () => {
    const arms = [at('pipy', 100, 1), at('pipy', 100, 9, { fields: { repeatOf: 'x' } })]
    expect(render(arms, { across: 'ratePerSecond' }).flat().join('\n')).not.toContain('A/A')
  })

  it('stays within 120 columns with the columns of the kit', () => {
    const arms = [100, 500, 1000, 2000, 4000].flatMap(rate =>
      ['none', 'pipy', 'envoy'].map(plane => at(plane, rate, 1, { p99: six(rate / 7), throughput: six(rate) })),
    )
    const lines = render(arms, { across: 'ratePerSecond', quantities: ['p99', 'throughput'] }).flat()
    expect(lines.length).toBeGreaterThan(3)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(120)
  })
})
