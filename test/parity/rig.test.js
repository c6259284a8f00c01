import { describe, expect, it } from 'vitest'
import { chooseTimeouts } from '../../src/parity/rig.js'

describe('chooseTimeouts', () => {
  it('gives a request four seconds, a connection a quarter of them, and on a slow machine as many times the start of the upstreams', () => {
    expect(chooseTimeouts(0.25)).toEqual({ connectSeconds: 1, requestSeconds: 4, idleSeconds: 64 })
    expect(chooseTimeouts(0.3).requestSeconds).toBe(4)
    expect(chooseTimeouts(2)).toMatchObject({ connectSeconds: 8, requestSeconds: 32 })
    expect(chooseTimeouts(100).requestSeconds).toBe(60)
  })
})
