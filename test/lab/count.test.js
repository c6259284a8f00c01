import { expect, it } from 'vitest'
import { findHandshake, spreadOf } from '../../src/lab/count.js'

it('a handshake is what a burst costs beyond its requests, for each connection that it opened', () => {
  const bursts = [
    { requests: 4, connections: 3, total: 4 * 100 + 3 * 5000 },
    { requests: 8, connections: 4, total: 8 * 100 + 4 * 5100 },
    { requests: 8, connections: 0, total: 800 },
  ]
  const found = findHandshake(bursts, 100)
  expect(found).toEqual({ value: 5050, counts: [5000, 5100] })
  expect(found && spreadOf(found)).toBeCloseTo(100 / 5050)
})

it('a handshake is unknown where fewer than two bursts opened connections', () => {
  expect(findHandshake([{ requests: 4, connections: 0, total: 400 }], 100)).toBeNull()
  expect(findHandshake([{ requests: 4, connections: 1, total: 5400 }], 100)).toBeNull()
})
