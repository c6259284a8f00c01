import { describe, expect, it } from 'vitest'
import { readAvailableBytes } from '../../src/node/machine.js'
import { assertRoom, checkPorts, checkRoom } from '../../src/prepare/room.js'

const MIB = 2 ** 20

describe('assertRoom', () => {
  it('refuses a machine with too little memory, with the numbers', () => {
    expect(() => assertRoom(280 * MIB - 1)).toThrow(
      'memory: 279 MiB can be had; a run needs at least 280 MiB (the kit 80, the parity corpus 140, three sidecars 60): end other programs',
    )
    expect(() => assertRoom(280 * MIB)).not.toThrow()
  })

  it('refuses a machine with too few local ports, and says which setting has them', () => {
    expect(() => assertRoom(280 * MIB, 21)).toThrow(
      'local ports: 21; a run needs at least 1000 (net.ipv4.ip_local_port_range), and one of new connections (churn) 10000: wait a minute, or widen the range',
    )
    expect(checkPorts(5000)).toMatchObject({ isEnough: true, isEnoughForChurn: false })
    expect(checkPorts(28_232).text).toBe(
      'local ports: 28232; a run needs at least 1000 (net.ipv4.ip_local_port_range), and one of new connections (churn) 10000',
    )
  })

  it('asks this machine if no number is given', () => {
    expect(readAvailableBytes()).toBeGreaterThan(10 * MIB)
    expect(checkRoom().text).toMatch(/^memory: \d+ MiB can be had/)
  })
})
