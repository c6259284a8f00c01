import { describe, expect, it } from 'vitest'
import { compareTargets, renderAgreement } from '../../bench/self/agreement.js'
import { createTurns } from '../../bench/self/turns.js'
import { createArm, createFakeProcess, createRecord } from '../fakes/fake-records.js'

/**
 * A run of six rounds with a plane and none.
 * @param {{ cores: number[], applicationCores?: number, spread?: number }} options of the sidecar, round by round
 */
function side({ cores, applicationCores = 0.1, spread = 0.01 }) {
  const arms = [createArm({ plane: 'pipy' }), createArm({ plane: 'none', cpuLimitCores: null })]
  const application = (/** @type {number} */ cpuCores) =>
    createFakeProcess({ role: 'application', cpuLimitCores: null, cpuCores })
  const records = cores.flatMap((cpuCores, i) => [
    createRecord({ arm: arms[0], round: i + 1, processes: [createFakeProcess({ cpuCores }), application(0.1)] }),
    createRecord({ arm: arms[1], round: i + 1, processes: [application(applicationCores)] }),
  ])
  const pair = { quantity: 'cpuPerRequest', service: null, a: 'pipy', b: 'pipy', aaSpread: spread }
  const summary = /** @type {any} */ ({ results: [{ comparisons: [{ ...pair, ratio: { median: 1 } }] }] })
  return { arms, records, summary, rounds: cores.length, seed: 1 }
}
const six = (/** @type {number} */ value) => [0.99, 1, 1.01, 1, 0.995, 1.005].map(f => f * value)

describe('compareTargets', () => {
  it('agrees if the difference is below the noise', () => {
    const agreement = compareTargets({ local: side({ cores: six(0.2) }), other: side({ cores: six(0.204) }) })
    expect(agreement.planes[0]).toMatchObject({ name: 'pipy at 0.25', verdict: 'no-difference-shown', floor: 0.03 })
    expect(renderAgreement(agreement, 'kubernetes')).toMatch(
      /^pipy at 0\.25: agrees within the noise floor: 2\.0 % more \[/,
    )
  })

  it('says by how much it does not, and what the network adds', () => {
    const other = side({ cores: six(0.24), applicationCores: 0.15 })
    const agreement = compareTargets({ local: side({ cores: six(0.2) }), other })
    expect(agreement.planes[0]).toMatchObject({ verdict: 'higher' })
    const text = renderAgreement(agreement, 'kubernetes')
    expect(text).toMatch(/pipy at 0\.25: does not agree: 20\.0 % more \[/)
    expect(text).toMatch(/The pod network, by none: .* \(× 1\.50\)/)
  })

  it('takes the noise of the noisier side for the floor', () => {
    const agreement = compareTargets({
      local: side({ cores: six(0.2) }),
      other: side({ cores: six(0.21), spread: 0.08 }),
    })
    expect(agreement.planes[0]).toMatchObject({ floor: 0.08, verdict: 'no-difference-shown' })
  })

  it('does not call it agreement if the rounds scatter widely', () => {
    const other = side({ cores: [0.15, 0.2, 0.25, 0.21, 0.3, 0.18] })
    const text = renderAgreement(compareTargets({ local: side({ cores: six(0.2) }), other }), 'kubernetes')
    expect(text).toMatch(/^pipy at 0\.25: no difference shown: /)
  })

  it('names no verdict below six rounds', () => {
    const agreement = compareTargets({ local: side({ cores: [0.2] }), other: side({ cores: [0.3] }) })
    expect(agreement.planes[0].verdict).toBe('indicative')
  })
})

describe('createTurns', () => {
  it('lets each go on in its turn, and goes round those that have left', async () => {
    /** @type {string[]} */
    const order = []
    const run = async (/** @type {string} */ name, /** @type {any} */ turn, /** @type {number} */ times) => {
      for (let i = 0; i < times; i++) {
        await turn.awaitTurn()
        order.push(name)
        await new Promise(resolve => setImmediate(resolve))
        turn.endTurn()
      }
      turn.leave()
    }
    const [a, b] = createTurns(2)
    await Promise.all([run('a', a, 4), run('b', b, 2)])
    expect(order.join('')).toBe('ababaa')
  })
})
