import { describe, expect, it } from 'vitest'
import { readAvailableBytes } from '../../src/node/machine.js'
import { assertMemoryAndPorts, checkMemory, checkPorts } from '../../src/prepare/memory-and-ports.js'

const MIB = 2 ** 20

describe('assertMemoryAndPorts', () => {
  it('refuses a machine with too little memory, with the numbers', () => {
    expect(() => assertMemoryAndPorts(280 * MIB - 1)).toThrow(
      'memory: 279 MiB can be had; a run needs at least 280 MiB (the kit 80, the parity corpus 140, three sidecars 60): end other programs',
    )
    expect(() => assertMemoryAndPorts(280 * MIB)).not.toThrow()
  })

  it('refuses a machine with too few local ports, and says which setting has them', () => {
    expect(() => assertMemoryAndPorts(280 * MIB, 21)).toThrow(
      'local ports: 21; a run needs at least 1000 (net.ipv4.ip_local_port_range), and one of new connections (churn) 10000: wait a minute, or widen the range',
    )
    expect(checkPorts(5000)).toMatchObject({ isEnough: true, isEnoughForChurn: false })
    expect(checkPorts(28_232).text).toBe(
      'local ports: 28232; a run needs at least 1000 (net.ipv4.ip_local_port_range), and one of new connections (churn) 10000',
    )
  })

  it('asks this machine if no number is given', () => {
    expect(readAvailableBytes()).toBeGreaterThan(10 * MIB)
    expect(checkMemory().text).toMatch(/^memory: \d+ MiB can be had/)
  })
})
