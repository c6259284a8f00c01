import { describe, expect, it } from 'vitest'
import { listLeftOutArms } from '../../../src/judge/record/deaths.js'

describe('findLeftOut', () => {
  /** Records of a deployment a round. @param {string[]} ids of its arms @param {string[][]} dead by round */
  const run = (ids, dead) =>
    dead.flatMap((armIds, i) =>
      ids.map(id => ({
        trial: { kind: 'cost', interleaving: `r${i + 1}-interleaved`, arm: { id } },
        ended: armIds.map(armId => ({ role: 'sidecar', service: 'gateway', how: 'status 134', armId })),
      })),
    )
  const find = (/** @type {Parameters<typeof run>} */ ...args) => [
    ...listLeftOutArms(/** @type {any[]} */ (run(...args))),
  ]

  it('finds an arm whose sidecars died twice beside others', () => {
    expect(find(['a', 'b'], [['b'], [], ['b']])).toEqual(['b'])
    expect(find(['a', 'b'], [['b'], ['a']])).toEqual([])
  })

  it('finds none where all died, which go on together', () => {
    expect(
      find(
        ['a', 'b'],
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
      ),
    ).toEqual([])
    const both = [
      ['a', 'b'],
      ['a', 'b'],
    ]
    expect(find(['a', 'b', 'none'], both)).toEqual(['a', 'b'])
  })

  it('finds none that died alone', () => {
    expect(find(['a'], [['a'], ['a']])).toEqual([])
  })
})
