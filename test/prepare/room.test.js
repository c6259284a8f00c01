import { describe, expect, it } from 'vitest'
import { readRoomBytes } from '../../src/node/machine.js'
import { assertRoom, describeRoom } from '../../src/prepare/room.js'

const MIB = 2 ** 20

describe('assertRoom', () => {
  it('refuses a machine with too little memory, with the numbers', () => {
    expect(() => assertRoom(280 * MIB - 1)).toThrow(
      'memory: 279 MiB can be had; a run needs at least 280 MiB (the kit 80, the parity corpus 140, three sidecars 60): end other programs',
    )
    expect(() => assertRoom(280 * MIB)).not.toThrow()
  })

  it('asks this machine where no number is given', () => {
    expect(readRoomBytes()).toBeGreaterThan(10 * MIB)
    expect(describeRoom().text).toMatch(/^memory: \d+ MiB can be had/)
  })
})
